package main_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// clientOf returns a client with its own connections.
func clientOf(t *testing.T, http2 bool) *http.Client {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(!http2)
	transport.Protocols.SetUnencryptedHTTP2(http2)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// opened opens a stream that ends with the test or after a timeout.
func opened(t *testing.T, client *http.Client, base, key string, after int64) *listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	l, err := listen(ctx, client, base, key, strconv.FormatInt(after, 10))
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); l.Body.Close() })
	return l
}

// bulk imports many reports and returns the newest seq.
func bulk(t *testing.T, spec string, n int) int64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "reports.jsonl")
	writeReports(t, path, n)
	pregon(t, spec, "import", "reports", path)
	newest, err := openStore(t, spec).Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return newest
}

// TestPushSlowListener has a listener that reads a byte a second of a long
// history. It is disconnected, and another listener gets the history and new events.
func TestPushSlowListener(t *testing.T) {
	longtest.Skip(t, "a listener is slow")
	t.Parallel()
	spec := engines["sqlite"](t)
	newest := bulk(t, spec, 20_000) // more than the buffers of the system hold
	s := startReplica(t, spec)
	db := openStore(t, spec)
	key := pregon(t, spec, "keys", "create", "--plan", "enterprise")

	slow, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	_ = slow.(*net.TCPConn).SetReadBuffer(4 << 10) // the system may use more
	fmt.Fprintf(slow, "GET /api/v1/stream?after=0&%s HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nX-Request-ID: slow-listener\r\n\r\n", everyEventQuery(), key)
	go func() {
		for {
			if _, err := io.CopyN(io.Discard, slow, 1); err != nil {
				return
			}
			waittest.Pace(t.Context(), time.Second)
		}
	}()

	// On a busy machine the other may be disconnected too; it reconnects, as clients do.
	var quick witness
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go (&fleet{serves: []*service{s}}).follow(ctx, key, 0, &quick)
	eventually(t, func() error { return quick.complete(0, newest) })
	eventually(t, func() error {
		if strings.Contains(s.log.String(), "id=slow-listener") { // logged at the end of the request, which the client did not end
			return nil
		}
		return errors.New("the slow listener is still connected")
	})
	newest = file(t, db, 1)
	eventually(t, func() error { return quick.complete(0, newest) })
}

// TestPushManyListeners has 300 listeners reconnect at once, each with its cursor.
// One more than a key may have is refused. They read when all are connected:
// otherwise this process would be too busy to send the next request in time.
func TestPushManyListeners(t *testing.T) {
	longtest.Skip(t, "there are thousands of listeners")
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := newStore(t)
			newest := bulk(t, spec, 50) // fits into the socket buffers, so that no listener is too slow
			s := startReplica(t, spec)
			db := openStore(t, spec)
			var keys []string
			for range 3 {
				keys = append(keys, pregon(t, spec, "keys", "create", "--plan", "enterprise"))
			}
			ctx, cancel := context.WithTimeout(t.Context(), patient)
			defer cancel()
			var all sync.WaitGroup
			listeners := make([]*listener, 300)
			errs := make([]error, 300)
			client := clientOf(t, false)
			for i := range listeners {
				all.Go(func() {
					listeners[i], errs[i] = listen(ctx, client, s.url, keys[i%3], strconv.FormatInt(int64(i)%newest, 10))
				})
			}
			all.Wait()
			for i, l := range listeners {
				if errs[i] != nil {
					t.Fatalf("listener %d: %v", i, errs[i])
				}
				seen, err := l.until(newest)
				if err = errors.Join(err, (&witness{seen: seen}).complete(int64(i)%newest, newest)); err != nil {
					t.Fatalf("listener %d: %v", i, err)
				}
			}
			if _, err := listen(ctx, client, s.url, keys[0], "0"); err == nil || !strings.Contains(err.Error(), "429") {
				t.Errorf("the 101st stream of a key: %v, want 429", err)
			}
			live := file(t, db, 3)
			for i, l := range listeners {
				seen, err := l.until(live)
				if err = errors.Join(err, (&witness{seen: seen}).complete(newest, live)); err != nil {
					t.Fatalf("listener %d: %v", i, err)
				}
				l.Body.Close()
			}
		})
	}
}

// TestPushAtOnce reads each event before the next one happens, over both
// versions of HTTP and with clients that accept compression. When the service
// stops, every listener receives goodbye, and none delays the stop.
func TestPushAtOnce(t *testing.T) {
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := newStore(t)
			s := startReplica(t, spec, "--debug-listen", "127.0.0.1:0")
			db := openStore(t, spec)
			key := pregon(t, spec, "keys", "create", "--plan", "enterprise")
			newest := file(t, db, 1)
			var listeners []*listener
			for major, client := range map[int]*http.Client{1: clientOf(t, false), 2: clientOf(t, true)} {
				for range 10 {
					l := opened(t, client, s.url, key, newest)
					if l.ProtoMajor != major || l.Header.Get("Content-Encoding") != "" || l.Header.Get("Content-Type") != "text/event-stream" {
						t.Fatalf("%s %v, want version %d", l.Proto, l.Header, major)
					}
					if f, err := l.next(); err != nil || f.name != "hello" || !f.at(newest) {
						t.Fatalf("%+v %v, want hello", f, err)
					}
					listeners = append(listeners, l)
				}
			}
			for range 3 {
				newest = file(t, db, 1)
				for _, l := range listeners {
					f, err := l.said()
					if err != nil || f.name != "report.published" || !f.at(newest) {
						t.Fatalf("%+v %v, want change %d", f, err, newest)
					}
				}
			}

			waited := make(chan error, 1)
			go func() {
				status, err := call(t.Context(), s.url, key, http.MethodGet, fmt.Sprintf("/api/v1/changes?wait=25&after=%d", newest), nil, nil)
				if status != http.StatusOK {
					err = errors.Join(err, fmt.Errorf("got status %d, want 200", status))
				}
				waited <- err
			}()
			eventually(t, func() error { return s.listening(len(listeners) + 1) })
			ended := make(chan error, 1)
			go func() { ended <- s.end(syscall.SIGTERM) }()
			for _, l := range listeners {
				f, err := l.said()
				if err != nil || f.name != "goodbye" || !f.at(newest) {
					t.Errorf("%s: %+v %v, want goodbye", l.Proto, f, err)
				}
				if f, err := l.next(); !errors.Is(err, io.EOF) {
					t.Errorf("%s: %+v %v, want the end", l.Proto, f, err)
				}
			}
			if err := <-waited; err != nil {
				t.Errorf("long poll during the stop: got %v, want an answer", err)
			}
			if err := <-ended; err != nil {
				t.Errorf("serve did not end cleanly: %v\n%s", err, s.log)
			}
			if strings.Contains(s.log.String(), "cut off requests") {
				t.Errorf("a request delayed the stop:\n%s", s.log)
			}
		})
	}
}

// said returns the next frame that is not a status or a heartbeat, which depend on
// the time.
func (l *listener) said() (frame, error) {
	for {
		if f, err := l.next(); err != nil || f.name != "status" && f.name != "heartbeat" {
			return f, err
		}
	}
}

var debugAddress = regexp.MustCompile(`msg="listening for debug" address=(\S+)`)

// listening returns an error unless the service counts want listeners and long polls.
func (s *service) listening(want int) error {
	page, err := s.metrics()
	if err != nil {
		return err
	}
	count := regexp.MustCompile(`(?m)^pregon_push_listeners.*`).FindString(page)
	if !strings.HasSuffix(count, fmt.Sprintf(" %d", want)) {
		return fmt.Errorf("%q, want %d", count, want)
	}
	return nil
}
