package main_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pregon/internal/store"
)

// front is a proxy of the kit in front of replicas: two, or up to three with HAProxy.
type front struct {
	name string
	args func(t *testing.T, dir, address string, replicas []string) []string
}

var fronts = []front{
	{"nginx", nginxArgs},
	{"caddy", caddyArgs},
	haproxy,
}

var haproxy = front{"haproxy", haproxyArgs}

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

// haproxyArgs leaves out the servers of the file for which there is no replica.
func haproxyArgs(t *testing.T, dir, address string, replicas []string) []string {
	t.Helper()
	text := adapt(t, "haproxy/haproxy.cfg", "bind :80\n", "bind "+address+"\n", "maxconn 9000", "maxconn 200")
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    server ") {
			if len(replicas) == 0 {
				continue
			}
			fields := strings.Fields(line)
			line, replicas = strings.Replace(line, fields[2], replicas[0], 1), replicas[1:]
		}
		kept.WriteString(line)
	}
	file := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(kept.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"/usr/sbin/haproxy", "-db", "-f", file}
}

// start starts the proxy and returns its address.
func (f front) start(t *testing.T, replicas ...*service) string {
	t.Helper()
	address, dir := fmt.Sprintf("127.0.0.1:%d", port(t)), t.TempDir()
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

// TestProxies uses streams, subscriptions, long polls and compressed answers through
// each proxy: events arrive while a stream is open, and the end of one replica is not
// seen by requests.
func TestProxies(t *testing.T) {
	for _, f := range fronts {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			spec := engines["postgres"](t)
			args := []string{"--trusted-proxy", "127.0.0.1", "--drain", "3s", "--base-url", "https://pregon.example"}
			replicas := []*service{startReplica(t, spec, args...), startReplica(t, spec, args...)}
			key, db := pregon(t, spec, "keys", "create", "--plan", "enterprise"), openStore(t, spec)
			base := f.start(t, replicas...)

			streamed(t, base, key, db)
			subscribed(t, base, key, db)
			eventually(t, func() error { return polled(t, base, key, db) })
			compressed(t, base)
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

// subscribed checks the same for the notifications of a subscription over MCP.
func subscribed(t *testing.T, base, key string, db store.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	resp, err := subscribe(ctx, base, key)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	l := &listener{resp, bufio.NewReader(resp.Body)}
	await := func(method string) {
		t.Helper()
		for {
			f, err := l.next()
			if err != nil {
				t.Fatalf("waiting for %s: %v", method, err)
			}
			if strings.Contains(f.data, method) {
				return
			}
		}
	}
	await("notifications/subscriptions/acknowledged")
	for n := range 3 {
		file(t, db, n+1)
		await("notifications/resources/updated")
	}
}

// polled returns an error unless a long poll is answered with a report that is
// published after it was sent. A replica that does not know the last one yet answers at once.
func polled(t *testing.T, base, key string, db store.Store) error {
	t.Helper()
	after, err := db.Newest(t.Context())
	if err != nil {
		return err
	}
	ctx, sent := context.WithCancel(context.Background())
	traced := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { sent() }})
	var publisher sync.WaitGroup
	publisher.Go(func() {
		<-ctx.Done()
		file(t, db, 1)
	})
	defer publisher.Wait()
	defer sent()
	var list struct{ Data []pushed }
	status, err := call(traced, base, key, http.MethodGet, fmt.Sprintf("/api/v1/changes?after=%d&wait=25", after), nil, &list)
	if err != nil || status != http.StatusOK {
		t.Fatalf("a long poll: %d %v", status, err)
	}
	if len(list.Data) == 0 {
		return errors.New("a long poll is answered without a change")
	}
	return nil
}

// compressed checks that an answer is compressed once, and only when the client asks.
func compressed(t *testing.T, base string) {
	t.Helper()
	get := func(encoding string) (*http.Response, []byte) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/openapi.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", encoding)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %v", resp.Status, err)
		}
		return resp, body
	}
	whole, text := get("identity")
	resp, packed := get("gzip")
	if whole.Header.Get("Content-Encoding") != "" || !slices.Equal(resp.Header.Values("Content-Encoding"), []string{"gzip"}) {
		t.Fatalf("encodings %q and %q, want none and gzip", whole.Header.Get("Content-Encoding"), resp.Header.Values("Content-Encoding"))
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if unpacked, err := io.ReadAll(r); err != nil || !bytes.Equal(unpacked, text) {
		t.Errorf("the compressed answer is another: %d bytes, want %d: %v", len(unpacked), len(text), err)
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
