package main_test

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/proof/prooftest"
	"pregon/internal/proof/remote"
	"pregon/internal/test/longtest"
)

// TestVerifyLogSurvivesKill: a check that is killed at any time leaves files with which
// the next one continues.
func TestVerifyLogSurvivesKill(t *testing.T) {
	longtest.Skip(t, "it kills many times")
	t.Parallel()
	log := prooftest.New(t, 1000)
	_, key := log.Keys()
	file := filepath.Join(t.TempDir(), "checkpoint")
	check := func(server *httptest.Server) *exec.Cmd {
		return exec.Command(program, "verify", "--log", server.URL, "--since", file, "--vkey", key)
	}
	size := int64(0)
	for n := range 40 {
		var cmd *exec.Cmd
		started := make(chan struct{})
		requests := 0
		log.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
			if requests++; requests == 1+n%5 {
				log.Answer(w, r)
				_ = http.NewResponseController(w).Flush()
				<-started
				_ = cmd.Process.Kill() // while it reads the answer, or writes its files
				return true
			}
			return false
		}
		server := httptest.NewServer(log)
		cmd = check(server)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		close(started)
		_ = cmd.Wait() // killed, or done
		server.Close() // waits for requests of the killed process
		h, err := remote.LoadHistory(file)
		if err != nil || h.Warning != "" || h.Checkpoint.Size < size {
			t.Fatalf("after a kill: %v, %q, %d changes after %d", err, h.Warning, h.Checkpoint.Size, size)
		}
		size = h.Checkpoint.Size
		log.Intrude = nil
		log.Grow(len(log.Leaves)+100, "")
	}
	server := httptest.NewServer(log)
	defer server.Close()
	out, err := check(server).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "5000 changes, signed") {
		t.Errorf("the last check: %v\n%s", err, out)
	}
}
