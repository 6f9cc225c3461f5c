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
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pregon/internal/store"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/proxytest"
)

// fronts are the proxies of the kit, by name.
var fronts = map[string]func(proxytest.Options) (*proxytest.Proxy, error){
	"nginx":   proxytest.Nginx,
	"caddy":   proxytest.Caddy,
	"haproxy": proxytest.HAProxy,
}

// startFront starts a proxy in front of replicas, until the test ends.
func startFront(t *testing.T, name string, replicas ...*service) *proxytest.Proxy {
	t.Helper()
	o := proxytest.Options{Deploy: "../../deploy", Dir: t.TempDir()}
	for _, s := range replicas {
		o.Replicas = append(o.Replicas, strings.TrimPrefix(s.url, "http://"))
	}
	p, err := fronts[name](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("%.10000s", p.Output())
		}
	})
	return p
}

// TestProxies uses streams, subscriptions, long polls and compressed answers through
// each proxy: events arrive while a stream is open, and the end of one replica is not
// seen by requests.
func TestProxies(t *testing.T) {
	longtest.Skip(t, "it needs nginx, Caddy and HAProxy")
	for name := range fronts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := pgtest.Database(t)
			args := []string{"--trusted-proxy", "127.0.0.1", "--drain", "3s", "--base-url", "https://pregon.example"}
			replicas := []*service{startReplica(t, spec, args...), startReplica(t, spec, args...)}
			key, db := pregon(t, spec, "keys", "create", "--plan", "enterprise"), openStore(t, spec)
			base := "http://" + startFront(t, name, replicas...).Address

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
