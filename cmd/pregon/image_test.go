package main_test

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pregon/internal/test/longtest"
)

// image is the image `plain`, built by buildah.
type image struct {
	dir    string // of the test
	root   string // the directory with its files
	config imageConfig
}

type imageConfig struct {
	User            string
	Env             []string
	Entrypoint, Cmd []string
	Healthcheck     struct{ Test []string }
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
	for _, wrong := range []struct{ base, want string }{
		{"GO_IMAGE=localhost/golang:test", "GO_IMAGE is localhost/golang:test: it must have a digest"},
		{"DEBIAN_IMAGE=none", "set-the-argument-go-image.invalid"},
	} {
		if said, err := i.build(t, wrong.base, "plain"); err == nil || !strings.Contains(said, wrong.want) {
			t.Errorf("built with %s: %v, %s, want %q", wrong.base, err, said, wrong.want)
		}
	}
	goImage := "GO_IMAGE=localhost/golang@" + base.FromImageDigest
	if said, err := i.build(t, goImage, "plain"); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if said, err := i.build(t, goImage, "plain", "linux/amd64,linux/arm64"); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	i.root = i.mount(t, "pregon:latest")
	i.config = i.inspect(t, "pregon:latest").Docker.Config
	return i
}

// prepare writes the files of the base and of the project. The program for arm64 is one
// that does nothing: what matters is that make is run for the right platform.
func (i *image) prepare(t *testing.T) {
	t.Helper()
	script := `cd "$1" && mkdir -p base/stub base/usr base/etc/ssl/certs context/deploy data cache &&
		touch base/etc/ssl/certs/ca-certificates.crt context/go.mod context/go.sum && cp -r "$3" context/deploy/container &&
		ln -s usr/bin usr/lib usr/lib64 base/ && install -m 755 "$2" base/stub/pregon-linux-amd64 &&
		printf 'package main\nfunc main() {}\n' >base/main.go &&
		CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build -o base/stub/pregon-linux-arm64 base/main.go &&
		printf '#!/bin/sh\n' >base/stub/go &&
		printf '#!/bin/sh\ninstall -D -m 755 "/stub/pregon-$GOOS-$GOARCH" "${3#OUTPUT=}"\n' >base/stub/make && chmod 755 base/stub/* &&
		printf 'FROM scratch\nCOPY . /\nENV PATH=/stub:/usr/bin\n' >base/Containerfile && chown 65532:65532 data cache &&
		printf '#!/bin/sh\nset -eu\ncommand=$1\nshift\n[ "$command" = manifest ] || set -- --isolation=chroot --pull-never --volume=/usr:/usr:ro "$@"\nexec buildah --storage-driver=vfs --root=%s/store --runroot=%s/run "$command" "$@"\n' "$1" "$1" >builder && chmod 755 builder`
	container, err := filepath.Abs("../../deploy/container")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", i.dir, program, container).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// build runs deploy/container/build with a base image and returns the output.
func (i *image) build(t *testing.T, base string, args ...string) (string, error) {
	t.Helper()
	if err := os.WriteFile(i.dir+"/context/images.env", []byte(base+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), i.dir+"/context/deploy/container/build", args...)
	cmd.Env = append(os.Environ(), "BUILDER="+i.dir+"/builder")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// mount returns the directory with the files of an image.
func (i *image) mount(t *testing.T, name string) string {
	t.Helper()
	return i.buildah(t, "mount", i.buildah(t, "from", "--pull-never", name))
}

// inspected is what buildah knows of an image.
type inspected struct {
	Docker struct {
		Architecture string
		Config       imageConfig
	}
}

func (i *image) inspect(t *testing.T, name string) (known inspected) {
	t.Helper()
	if err := json.Unmarshal([]byte(i.buildah(t, "inspect", "--type=image", name)), &known); err != nil {
		t.Fatal(err)
	}
	return known
}

// checkPlatforms checks that the manifest list has an image for each platform, whose
// program is for that platform.
func (i *image) checkPlatforms(t *testing.T) {
	t.Helper()
	var list struct {
		Manifests []struct {
			Digest   string
			Platform struct{ OS, Architecture string }
		}
	}
	if err := json.Unmarshal([]byte(i.buildah(t, "manifest", "inspect", "pregon:platforms")), &list); err != nil {
		t.Fatal(err)
	}
	machines := map[string]elf.Machine{"linux/amd64": elf.EM_X86_64, "linux/arm64": elf.EM_AARCH64}
	for _, m := range list.Manifests {
		platform := m.Platform.OS + "/" + m.Platform.Architecture
		want, known := machines[platform]
		if !known {
			t.Errorf("the list has %s, or has it twice", platform)
			continue
		}
		delete(machines, platform)
		name := "localhost/pregon@" + m.Digest
		if got := i.inspect(t, name).Docker.Architecture; got != m.Platform.Architecture {
			t.Errorf("the image of %s is for %s", platform, got)
		}
		binary, err := elf.Open(i.mount(t, name) + "/usr/local/bin/pregon")
		if err != nil {
			t.Fatal(err)
		}
		defer binary.Close()
		if binary.Machine != want {
			t.Errorf("the program of %s is for %v", platform, binary.Machine)
		}
	}
	if len(machines) > 0 {
		t.Errorf("the list lacks %v", machines)
	}
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

// TestImage builds the image `plain` for two platforms, and runs its default command, the
// demo, and its health check, on a read-only root.
func TestImage(t *testing.T) {
	longtest.Skip(t, "it builds an image")
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root, to build an image and start as its user")
	}
	i := buildImage(t)
	i.checkPlatforms(t)
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
	// The port of the image may be in use here.
	published := strconv.Itoa(port(t))
	command := slices.Concat(i.config.Entrypoint, i.config.Cmd)
	for n := range command {
		command[n] = strings.ReplaceAll(command[n], "127.0.0.1:8080", "127.0.0.1:"+published)
	}
	env := append(slices.Clone(i.config.Env), "PREGON_LISTEN=0.0.0.0:"+published, "PREGON_RATE=0")
	s, err := startCommand(i.command(command...), env, i.dir)
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
	health.Env = append(slices.Clone(env), "PATH="+os.Getenv("PATH"))
	if out, err := health.CombinedOutput(); err != nil || string(out) != "ready\n" {
		t.Errorf("the health check prints %q, %v", out, err)
	}

	// A person at this machine signs in through the published port.
	eventually(t, func() error {
		if s.door() == "" {
			return fmt.Errorf("it prints no link to sign in:\n%s", s.log)
		}
		return nil
	})
	if link := s.door(); !strings.HasPrefix(link, "http://127.0.0.1:"+published+"/") {
		t.Errorf("the link leads to %s", link)
	} else if resp := knock(t, link); resp.StatusCode != http.StatusSeeOther || len(resp.Cookies()) != 1 {
		t.Errorf("the link is answered with %d and the cookies %v", resp.StatusCode, resp.Cookies())
	}
}
