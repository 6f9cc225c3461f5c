package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pregon/internal/test/longtest"
)

// image is the image `plain`, built by buildah.
type image struct {
	dir    string // of the test
	root   string // the directory with its files
	config struct {
		User            string
		Env             []string
		Entrypoint, Cmd []string
		Healthcheck     struct{ Test []string }
	}
}

// buildImage builds the container file on a base with programs of this machine, in which
// make installs the program of the tests: no registry is needed, and nothing is compiled.
func buildImage(t *testing.T) *image {
	t.Helper()
	i := &image{dir: t.TempDir()}
	i.prepare(t)
	i.buildah(t, "build", "--quiet", "--isolation=chroot", "--pull-never", "--format=docker", "--tag=golang:test", i.dir+"/base")
	var base struct{ FromImageDigest string }
	if err := json.Unmarshal([]byte(i.buildah(t, "inspect", "--type=image", "golang:test")), &base); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []struct{ argument, want string }{
		{"--build-arg=GO_IMAGE=localhost/golang:test", "GO_IMAGE is localhost/golang:test: it must have a digest"},
		{"--build-arg=VERSION=none", "set-the-argument-go-image.invalid"},
	} {
		if said, err := i.build(t, wrong.argument); err == nil || !strings.Contains(said, wrong.want) {
			t.Errorf("built with %s: %v, %s, want %q", wrong.argument, err, said, wrong.want)
		}
	}
	if said, err := i.build(t, "--build-arg=GO_IMAGE=localhost/golang@"+base.FromImageDigest); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	i.root = i.buildah(t, "mount", i.buildah(t, "from", "--pull-never", "pregon"))
	var inspected struct {
		Docker struct{ Config json.RawMessage }
	}
	if err := json.Unmarshal([]byte(i.buildah(t, "inspect", "--type=image", "pregon")), &inspected); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(inspected.Docker.Config, &i.config); err != nil {
		t.Fatal(err)
	}
	return i
}

// prepare writes the files of the base and of the project.
func (i *image) prepare(t *testing.T) {
	t.Helper()
	script := `cd "$1" && mkdir -p base/stub base/usr base/etc/ssl/certs context data cache && touch base/etc/ssl/certs/ca-certificates.crt context/go.mod context/go.sum &&
		ln -s usr/bin usr/lib usr/lib64 base/ && install -m 755 "$2" base/stub/pregon &&
		printf '#!/bin/sh\n' >base/stub/go &&
		printf '#!/bin/sh\ninstall -D -m 755 /stub/pregon "${3#OUTPUT=}"\n' >base/stub/make && chmod 755 base/stub/* &&
		printf 'FROM scratch\nCOPY . /\nENV PATH=/stub:/usr/bin\n' >base/Containerfile && chown 65532:65532 data cache`
	if out, err := exec.Command("sh", "-c", script, "sh", i.dir, program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// build builds the stage `plain` as the image pregon, and returns the output of buildah.
func (i *image) build(t *testing.T, argument string) (string, error) {
	t.Helper()
	out, err := i.buildahCommand(
		t, "build", "--isolation=chroot", "--pull-never", "--format=docker", argument, "--volume=/usr:/usr:ro", "--target=plain", "--tag=pregon",
		"--file=../../deploy/container/Containerfile", i.dir+"/context",
	).CombinedOutput()
	return string(out), err
}

func (i *image) buildahCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	store := []string{"--storage-driver=vfs", "--root=" + i.dir + "/store", "--runroot=" + i.dir + "/run"}
	return exec.CommandContext(t.Context(), "buildah", append(store, args...)...)
}

func (i *image) buildah(t *testing.T, args ...string) string {
	t.Helper()
	cmd := i.buildahCommand(t, args...)
	var diagnostics strings.Builder
	cmd.Stderr = &diagnostics
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("buildah %s: %v\n%s", args[0], err, diagnostics.String())
	}
	return strings.TrimSpace(string(out))
}

// command returns a command in the image: as its user, with a read-only root.
func (i *image) command(args ...string) *exec.Cmd {
	uid, gid, _ := strings.Cut(i.config.User, ":")
	return exec.Command("setpriv", append([]string{
		"--reuid=" + uid, "--regid=" + gid, "--clear-groups", "bwrap", "--unshare-user", "--uid", uid, "--gid", gid,
		"--ro-bind", i.root, "/", "--bind", i.dir + "/data", "/data", "--bind", i.dir + "/cache", "/cache", "--proc", "/proc", "--die-with-parent",
	}, args...)...)
}

// TestImage builds the image `plain`, and runs the program and the health check in it.
func TestImage(t *testing.T) {
	longtest.Skip(t, "it builds an image")
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root, to build an image and start as its user")
	}
	i := buildImage(t)
	for _, name := range []string{"/data", "/cache"} {
		if info, err := os.Stat(i.root + name); err != nil || info.Sys().(*syscall.Stat_t).Uid != 65532 {
			t.Errorf("%s of the image is not of user 65532: %v", name, err)
		}
	}
	if err := os.Mkdir(i.root+"/proc", 0o755); err != nil { // as container runtimes do
		t.Fatal(err)
	}
	for path := i.root; path != "/"; path = filepath.Dir(path) { // bwrap, as that user, must reach them
		if info, err := os.Stat(path); err == nil {
			_ = os.Chmod(path, info.Mode().Perm()|0o011)
		}
	}
	env := append(i.config.Env, "PREGON_LOG_FORMAT=text") // which the test reads
	s, err := startCommand(i.command(slices.Concat(i.config.Entrypoint, i.config.Cmd, []string{"--source", "none", "--listen", "127.0.0.1:0"})...), env, i.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	if err := s.waitReady(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(i.dir + "/data/pregon.db"); err != nil || info.Sys().(*syscall.Stat_t).Uid != 65532 {
		t.Errorf("the store is not of user 65532: %v", err)
	}
	check := i.config.Healthcheck.Test
	if len(check) < 2 || check[0] != "CMD" {
		t.Fatalf("health check %q", check)
	}
	health := i.command(check[1:]...)
	health.Env = append(env, "PATH="+os.Getenv("PATH"), "PREGON_LISTEN="+strings.TrimPrefix(s.url, "http://"))
	if out, err := health.CombinedOutput(); err != nil || string(out) != "ready\n" {
		t.Errorf("the health check prints %q, %v", out, err)
	}
}
