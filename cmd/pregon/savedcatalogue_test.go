package main_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pregon/internal/test/longtest"
)

// savedAnswers are the paths whose answers must be the same, however the catalogue came into
// memory.
var savedAnswers = []string{
	"/api/v1/reports?limit=50",
	"/api/v1/reports?search=informe&limit=50",
	"/api/v1/reports?search=%22informe+anual%22&limit=50",
	"/api/v1/reports?type=OIR&page=3&limit=50",
	"/api/v1/reports/counts?by=month",
	"/api/v1/issuers?q=a&limit=50",
}

// answers returns the answers of a service. A status other than 200 is an error.
func (s *service) answers() (string, error) {
	var all strings.Builder
	for _, path := range savedAnswers {
		resp, err := http.Get(s.url + path)
		if err != nil {
			return "", err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return "", err
		}
		if resp.StatusCode != http.StatusOK {
			return "", fmt.Errorf("%s: status %d", path, resp.StatusCode)
		}
		all.Write(body)
	}
	return all.String(), nil
}

// savedFiles waits until the catalogue is saved, and returns its data file.
func savedFiles(t *testing.T, path string) (data string) {
	t.Helper()
	eventually(t, func() error {
		found, err := filepath.Glob(path + ".catalogue-data-*")
		if _, missing := os.Stat(path + ".catalogue"); err != nil || missing != nil || len(found) != 1 {
			return fmt.Errorf("the files are %v, %v, %v", found, err, missing)
		}
		data = found[0]
		return nil
	})
	return data
}

// However a service ends while it saves its catalogue, and whatever happens to the files, each
// start and each running service answer the same.
func TestSavedCatalogue(t *testing.T) {
	longtest.Skip(t, "it kills many times")
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pregon.db")
	spec := "sqlite:" + path
	file := filepath.Join(t.TempDir(), "reports.jsonl")
	writeReports(t, file, 6_000)
	pregon(t, spec, "import", "reports", file)
	dir := t.TempDir()
	start := func(command ...string) *service {
		t.Helper()
		command = append(command, program, "serve", "--listen", "127.0.0.1:0", "--source", "none", "--anonymous-limit", "0",
			"--store", spec)
		s, err := startCommand(exec.Command(command[0], command[1:]...), withoutRegisters, dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.cmd.Process.Kill() })
		if err := s.waitReady(); err != nil {
			t.Fatal(err)
		}
		return s
	}
	// A disk without room: nothing is saved, and the service works.
	first := start("bash", "-c", `ulimit -f 1024; trap '' XFSZ; exec "$@"`, "bash")
	want, err := first.answers()
	if err != nil {
		t.Fatal(err)
	}
	first.logs(t, "cannot be saved")
	if err := first.end(syscall.SIGTERM); err != nil {
		t.Errorf("serve did not end cleanly: %v", err)
	}
	check := func(s *service) {
		t.Helper()
		if got, err := s.answers(); err != nil || got != want {
			t.Errorf("other answers than before (%v):\n%s", err, s.log)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 12 {
		s := start()
		check(s)
		timer := time.NewTimer(time.Duration(rng.IntN(150)) * time.Millisecond)
		<-timer.C
		_ = s.end(syscall.SIGKILL)
		if err := os.Remove(path + ".catalogue"); err != nil && !os.IsNotExist(err) { // so that the next one saves too
			t.Fatal(err)
		}
	}
	s := start()
	data := savedFiles(t, path)
	check(s)
	_ = s.end(syscall.SIGKILL)
	s = start()
	s.logs(t, "catalogue opened")
	check(s)

	// The file is cut short while it is in use: requests may fail for a while, and are never
	// answered wrongly.
	if err := os.Chmod(data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(data, 0); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		got, err := s.answers()
		if err == nil && got != want {
			t.Fatal("something wrong is served")
		}
		return err
	})
	s.logs(t, "built from the log again")
	select {
	case err := <-s.done:
		t.Fatalf("the process ended: %v\n%s", err, s.log)
	default:
	}
	_ = s.end(syscall.SIGKILL)
	check(start())
}

// Two services on one store and one directory share its files.
func TestSavedCatalogueIsShared(t *testing.T) {
	longtest.Skip(t, "it needs PostgreSQL")
	t.Parallel()
	spec := engines["postgres"](t)
	file := filepath.Join(t.TempDir(), "reports.jsonl")
	writeReports(t, file, 6_000)
	pregon(t, spec, "import", "reports", file)
	dir := t.TempDir()
	cache := "--cache-dir=" + dir
	both := []*service{startReplica(t, spec, cache), startReplica(t, spec, cache)}
	want, err := both[0].answers()
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		found, err := filepath.Glob(filepath.Join(dir, "catalogue-*-data-*"))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("the data files are %v, %v", found, err)
		}
		return nil
	})
	both = append(both, startReplica(t, spec, cache))
	both[2].logs(t, "catalogue opened")
	for i, s := range both {
		if got, err := s.answers(); err != nil || got != want {
			t.Errorf("service %d answers otherwise (%v)", i, err)
		}
	}
}
