package main_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	s := startReplica(t, engines["sqlite"](t))
	ask := func() (string, error) {
		out, err := exec.Command(program, "health", "--listen", strings.TrimPrefix(s.url, "http://")).CombinedOutput()
		return string(out), err
	}
	if out, err := ask(); err != nil || out != "ready\n" {
		t.Errorf("got %q, %v", out, err)
	}
	_ = s.end(syscall.SIGKILL)
	if out, err := ask(); err == nil || !strings.Contains(out, "no answer on") {
		t.Errorf("after a kill: got %q, %v", out, err)
	}
}
