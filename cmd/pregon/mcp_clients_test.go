package main_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pregon/internal/test/longtest"
)

const checkers = "../../checkers"

// runChecker runs a program of checkers/ and expects no error. It uses the Node.js
// installed beside the program, since some need a newer version than that of the
// machine. Processes that the program leaves running are ended.
func runChecker(t *testing.T, args ...string) {
	t.Helper()
	node, err := filepath.Abs(filepath.Join(checkers, "node_modules/.bin/node"))
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp(filepath.Dir(program), "home-") // removed after all tests: a browser uses it for a while after its end
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patient)
	defer cancel()
	env := []string{"HOME=" + home, "NO_COLOR=1"}
	if err := runOther(ctx, checkers, env, slices.Insert(args, 0, node)...); err != nil {
		t.Error(err)
	}
}

// runOther runs a program of others in a directory, with more environment variables. The
// error has its output. Processes that it leaves running are ended.
func runOther(ctx context.Context, dir string, env []string, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) } // so that it ends its browser too
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
	}
	return nil
}

// startMarket starts a service that has the reports of a month, some of them
// with a document that was read.
func startMarket(t *testing.T) *reader {
	t.Helper()
	r := newReader(t, startSource(t), engines["sqlite"](t))
	r.start(t)
	for range 3 {
		r.settles(t, r.publish(t, `{"type":"oir","text":%q}`, dividend))
	}
	return r
}

// The official MCP conformance suite. checkers/conformance.yml lists the checks
// that cannot apply here, and why.
func TestMCPConformance(t *testing.T) {
	longtest.Skip(t, "it needs clients from npm")
	t.Parallel()
	s := startReplica(t, engines["sqlite"](t))
	for name, args := range map[string][]string{
		"2025-06-18":         {"--spec-version", "2025-06-18"},
		"2025-11-25":         {"--suite", "active"},
		"2026-07-28":         {"--requirements", "2026-07-28"},
		"2026-07-28 headers": {"--scenario", "http-header-validation", "--spec-version", "2026-07-28"}, // the set runs it, but does not count it
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := []string{"node_modules/@modelcontextprotocol/conformance/dist/index.js", "server", "--url", s.url + "/api/mcp"}
			runChecker(t, slices.Concat(suite, []string{"--expected-failures", "conformance.yml", "--timeout", "300000"}, args)...)
		})
	}
}

// Third-party clients use everything that the MCP server offers.
func TestMCPClients(t *testing.T) {
	longtest.Skip(t, "it needs clients from npm")
	t.Parallel()
	r := startMarket(t)
	key := pregon(t, r.spec, "keys", "create", "--plan", "pro")
	t.Run("sdk", func(t *testing.T) { runChecker(t, "mcp.mjs", r.serve.url, key, r.source.url) })
	t.Run("inspector", func(t *testing.T) { runChecker(t, "inspector-cli.mjs", r.serve.url, key) })
}

// Third-party hosts show the views.
func TestMCPViews(t *testing.T) {
	longtest.Skip(t, "it needs Chromium")
	t.Parallel()
	r := startMarket(t)
	for name, checker := range map[string]string{"inspector": "inspector-views.mjs", "bridge": "views.mjs"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runChecker(t, checker, r.serve.url)
		})
	}
}

// Lighthouse finds no error in the documents for agents.
func TestLighthouse(t *testing.T) {
	longtest.Skip(t, "it needs Chromium")
	t.Parallel()
	runChecker(t, "lighthouse.mjs", startReplica(t, engines["sqlite"](t)).url)
}
