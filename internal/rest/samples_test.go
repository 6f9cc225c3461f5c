package rest_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/query"
	"pregon/internal/query/querytest"
	"pregon/internal/test/longtest"
)

// TestSamples runs the programs of the quick start that the site shows.
func TestSamples(t *testing.T) {
	s := serve(t, query.Options{Source: func() string { return "demo" }})
	s.append(querytest.Market())
	for _, test := range []struct {
		file, as string
		command  []string
	}{
		{"reports.sh", "reports.sh", []string{"sh"}},
		{"reports.py", "reports.py", []string{"python3"}},
		{"reports.mjs", "reports.mjs", []string{"node"}},
		{"reports.go.txt", "reports.go", []string{"go", "run"}},
	} {
		t.Run(test.as, func(t *testing.T) {
			if test.command[0] == "python3" {
				longtest.Skip(t, "it needs Python")
			}
			program := s.sample(t, test.file, test.as, test.command...)
			out, err := program.Output()
			if err != nil || !strings.Contains(string(out), "Resultados del primer trimestre") {
				t.Errorf("it printed %q, %v; want the report of the type IP", out, err)
			}
		})
	}
}

// TestSampleChanges runs the program that follows changes, from
// the beginning.
func TestSampleChanges(t *testing.T) {
	longtest.Skip(t, "it needs Python")
	s := serve(t, query.Options{Source: func() string { return "demo" }})
	s.append(querytest.Market())
	program := s.sample(t, "changes.py", "changes.py", "python3")
	_, key, err := s.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	program.Env = append(os.Environ(), "PREGON_KEY="+key, "PYTHONUNBUFFERED=1")
	said, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Process.Kill(); _ = program.Wait() }()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || line != "issuer.updated A69000016\n" {
		t.Errorf("it printed %q, %v; want the first change", line, err)
	}
}

// TestSampleEventSource runs the program for browsers, with an EventSource that prints its address,
// which then opens a stream.
func TestSampleEventSource(t *testing.T) {
	s, _ := startLive(t)
	program := s.sample(t, "eventsource.mjs", "eventsource.mjs", "node")
	fake := `data:text/javascript,globalThis.EventSource = class {
		constructor(url) { console.log(url); }
		addEventListener() {}
	};`
	program.Args = slices.Insert(program.Args, 1, "--import", fake)
	_, key, err := s.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.ReadReports})
	if err != nil {
		t.Fatal(err)
	}
	program.Env = append(os.Environ(), "PREGON_KEY="+key)
	out, err := program.Output()
	path, ok := strings.CutPrefix(strings.TrimSpace(string(out)), s.server.URL)
	if err != nil || !ok {
		t.Fatalf("it opened %q, %v", out, err)
	}
	s.listen(path, nil).want("hello", nil)
}

// sample returns a program of the site that calls this service.
func (s *service) sample(t *testing.T, file, as string, command ...string) *exec.Cmd {
	t.Helper()
	text, err := os.ReadFile("../site/samples/" + file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), as)
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "BASE", s.server.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	program := exec.CommandContext(t.Context(), command[0], append(command[1:], path)...)
	program.Stderr = os.Stderr
	return program
}
