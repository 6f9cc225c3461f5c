package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pregon/internal/test/longtest"
)

// TestLostStore: after the file of a store that was served is lost, no command
// creates an empty one, until the operator asks for it once.
func TestLostStore(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	dir := t.TempDir()
	path, reports := filepath.Join(dir, "pregon.db"), filepath.Join(t.TempDir(), "reports.jsonl")
	store := "sqlite:" + path
	writeReports(t, reports, 3)
	pregon(t, store, "import", "reports", reports)
	s := startReplica(t, store)
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"serve", "--source", "none", "--listen", "127.0.0.1:0"},
		{"import", "reports", reports},
		{"backfill", "--from", "2026-11-01", "--regulator-url", "http://127.0.0.1:1", "--exchange-url", "http://127.0.0.1:1"},
		{"migrate"},
		{"keys", "create", "--plan", "pro"},
		{"export", "reports"},
	} {
		out, err := exec.Command(program, append(command, "--store", store)...).CombinedOutput()
		said := string(out)
		if err == nil || !strings.Contains(said, "there is no store at "+path) {
			t.Errorf("%s: got %v, %s, want a refusal", command[0], err, said)
		}
		if creates := command[0] != "keys" && command[0] != "export"; creates &&
			!(strings.Contains(said, "up to change 3") && strings.Contains(said, "pregon restore") && strings.Contains(said, "--new-store")) {
			t.Errorf("%s does not say what was there and what to do: %s", command[0], said)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("%s created a store", command[0])
		}
	}
	pregon(t, store, "migrate", "--new-store")
	if err := startReplica(t, store).end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}
