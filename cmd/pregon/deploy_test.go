package main_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"pregon/internal/store"
)

// front is a proxy of the kit in front of two replicas.
type front struct {
	name string
	args func(t *testing.T, dir, address string, replicas []string) []string
}

var fronts = []front{
	{"nginx", nginxArgs},
	{"caddy", caddyArgs},
}

// adapt reads a file of the kit and replaces texts that it must contain.
func adapt(t *testing.T, file string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy", file))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replace); i += 2 {
		if !bytes.Contains(text, []byte(replace[i])) {
			t.Fatalf("%s has no %q", file, replace[i])
		}
		text = bytes.ReplaceAll(text, []byte(replace[i]), []byte(replace[i+1]))
	}
	return string(text)
}

// nginxArgs writes the configuration of nginx around the file of the kit.
func nginxArgs(t *testing.T, dir, address string, replicas []string) []string {
	t.Helper()
	site := adapt(t, "nginx/pregon.conf", "127.0.0.1:8080", replicas[0], "127.0.0.1:8081", replicas[1], "listen 80;", "listen "+address+";")
	config := fmt.Sprintf("daemon off;\nuser root;\nmaster_process off;\npid %[1]s/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n"+
		"client_body_temp_path %[1]s/a;\nproxy_temp_path %[1]s/b;\nfastcgi_temp_path %[1]s/c;\nuwsgi_temp_path %[1]s/d;\nscgi_temp_path %[1]s/e;\n%[2]s}\n", dir, site)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"/usr/sbin/nginx", "-p", dir, "-c", file}
}

func caddyArgs(t *testing.T, dir, address string, replicas []string) []string {
	t.Helper()
	text := adapt(t, "compose/Caddyfile", "{$PREGON_DOMAIN:pregon.example}", "http://"+address, "{$PREGON_REPLICAS:pregon-1:8080 pregon-2:8080}", strings.Join(replicas, " "))
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte("{\n\tadmin off\n}\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"caddy", "run", "--adapter", "caddyfile", "--config", file}
}

// start starts the proxy and returns its address.
func (f front) start(t *testing.T, replicas ...*service) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, dir := l.Addr().String(), t.TempDir()
	l.Close()
	var targets []string
	for _, s := range replicas {
		targets = append(targets, strings.TrimPrefix(s.url, "http://"))
	}
	args := f.args(t, dir, address, targets)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if text, err := os.ReadFile(out.Name()); err == nil && t.Failed() {
			t.Logf("%s", text)
		}
	})
	base := "http://" + address
	eventually(t, func() error { return request(t.Context(), base+"/readyz") })
	return base
}

// TestProxies opens a stream through each proxy: events arrive while it is open, and
// the end of one replica is not seen by requests.
func TestProxies(t *testing.T) {
	for _, f := range fronts {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			spec := engines["postgres"](t)
			args := []string{"--trusted-proxy", "127.0.0.1", "--drain", "3s"}
			replicas := []*service{startReplica(t, spec, args...), startReplica(t, spec, args...)}
			key, db := pregon(t, spec, "keys", "create", "--plan", "enterprise"), openStore(t, spec)
			base := f.start(t, replicas...)

			streamed(t, base, key, db)
			forwarded(t, base, replicas)

			done := make(chan error, 1)
			go func() { done <- replicas[0].end(syscall.SIGTERM) }()
			for ended := false; !ended; {
				if err := request(t.Context(), base+"/api/v1/status"); err != nil {
					t.Errorf("while a replica ends: %v", err)
				}
				select {
				case err := <-done:
					if ended = true; err != nil {
						t.Errorf("the replica ended with %v", err)
					}
				default:
				}
			}
			for range 5 {
				if err := request(t.Context(), base+"/api/v1/status"); err != nil {
					t.Errorf("after a replica ended: %v", err)
				}
			}
		})
	}
}

// streamed checks that events arrive one by one: the next is published only after the
// last was received.
func streamed(t *testing.T, base, key string, db store.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient) // a proxy that buffers never passes the event on
	defer cancel()
	l, err := listen(ctx, http.DefaultClient, base, key, "")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Body.Close()
	for n := range 3 {
		if _, err := l.until(file(t, db, n+1)); err != nil {
			t.Fatalf("event %d: %v", n, err)
		}
	}
}

// forwarded checks that the service logs the address of the client and not one that
// the client sends.
func forwarded(t *testing.T, base string, replicas []*service) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/v1/types?forged", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Forwarded-For", "203.0.113.9")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	id := resp.Header.Get("X-Request-Id")
	eventually(t, func() error {
		for _, s := range replicas {
			for line := range strings.Lines(s.log.String()) {
				if strings.Contains(line, id) && strings.Contains(line, "203.0.113.9") {
					t.Fatalf("the forged address is used: %s", line)
				}
				if strings.Contains(line, id) {
					return nil
				}
			}
		}
		return fmt.Errorf("the request %s is not logged", id)
	})
}

// TestKitSettings checks that each setting in deploy/ and docs/deploy.md exists.
func TestKitSettings(t *testing.T) {
	reference, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]bool{"PREGON_DOMAIN": true, "PREGON_REPLICAS": true} // of the compose file itself
	variable, found := regexp.MustCompile(`PREGON_[A-Z0-9_]+`), 0
	check := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range variable.FindAllString(string(text), -1) {
			if found++; !ours[name] && !bytes.Contains(reference, []byte("`"+strings.TrimSuffix(name, "_FILE")+"`")) {
				t.Errorf("%s: %s is not a setting", path, name)
			}
		}
	}
	for _, dir := range []string{"systemd", "container", "compose", "kubernetes/process", "kubernetes/base", "kubernetes/overlays"} {
		err := filepath.WalkDir("../../deploy/"+dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				check(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check("../../docs/deploy.md")
	if found < 20 {
		t.Errorf("found %d settings, want more", found)
	}
}
