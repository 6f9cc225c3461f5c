package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
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

// TestImageContents runs the program as the image `plain` does: as user 65532, in a
// read-only root with the program, /data, /cache and nothing else.
func TestImageContents(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root, to start as user 65532")
	}
	dir := t.TempDir()
	for _, name := range []string{"data", "cache"} {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, 65532, 65532); err != nil {
			t.Fatal(err)
		}
	}
	for path := dir; path != "/"; path = filepath.Dir(path) { // bwrap, as that user, must reach them
		if info, err := os.Stat(path); err == nil {
			_ = os.Chmod(path, info.Mode().Perm()|0o011)
		}
	}
	binary := filepath.Join(dir, "pregon")
	if out, err := exec.Command("install", "-m", "755", program, binary).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	text, err := os.ReadFile("../../deploy/container/Containerfile")
	if err != nil || !strings.Contains(string(text), "USER 65532:65532") || !strings.Contains(string(text), "PREGON_STORE=sqlite:/data/pregon.db PREGON_CACHE_DIR=/cache SQLITE_TMPDIR=/cache") {
		t.Fatalf("the file has another user or other settings: %v", err)
	}
	cmd := exec.Command("setpriv", "--reuid=65532", "--regid=65532", "--clear-groups", "bwrap", "--unshare-user", "--uid", "65532", "--gid", "65532",
		"--tmpfs", "/", "--ro-bind", binary, "/usr/local/bin/pregon", "--bind", filepath.Join(dir, "data"), "/data", "--bind", filepath.Join(dir, "cache"), "/cache",
		"--proc", "/proc", "--remount-ro", "/", "--die-with-parent", "/usr/local/bin/pregon", "serve", "--source", "none", "--listen", "127.0.0.1:0")
	s, err := startCommand(cmd, []string{"PREGON_STORE=sqlite:/data/pregon.db", "PREGON_CACHE_DIR=/cache", "SQLITE_TMPDIR=/cache"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	if err := s.waitReady(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "data", "pregon.db")); err != nil || info.Sys().(*syscall.Stat_t).Uid != 65532 {
		t.Errorf("the store is not of user 65532: %v %v", info, err)
	}
}
