package rest_test

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/push/events"
	"pregon/internal/query"
	"pregon/internal/rest"
	"pregon/internal/server/httpserver/pipetest"
	"pregon/internal/source/coverage"
	"pregon/internal/store/sqlite"
)

// A stream outlives the write deadline and the timeouts of the server with every
// protocol. With HTTP/2 a deadline ends a stream even while nothing is written.
func TestStreamOutlivesDeadlines(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { outlive(t, protocol) })
		})
	}
}

// streaming serves the API inside a synctest bubble, over unbuffered connections,
// until the test ends. stop ends the streams as a shutdown does.
func streaming(t *testing.T, protocol string) (transport *http.Transport, seats *events.ConnLimiter, stop func()) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	quiet := slog.New(slog.DiscardHandler)
	c := catalog.New(db, quiet)
	hub := events.NewHub(c, db)
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	stopping, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	seats = &events.ConnLimiter{}
	surface, err := rest.New(rest.Options{
		Query: query.New(query.Options{Catalog: c, Coverage: coverage.New(db)}), Events: hub, Conns: seats, Logger: quiet, BaseURL: baseURL,
		Guard: access.NewGuard(access.Options{BaseURL: baseURL, Keys: access.NewKeyring(db, nil), Tokens: bearer}), Stopping: stopping.Done(),
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	surface.Register(mux)

	var protocols http.Protocols
	protocols.SetHTTP1(protocol == "HTTP/1.1")
	protocols.SetUnencryptedHTTP2(protocol == "HTTP/2.0")
	l := pipetest.New()
	server := &http.Server{Handler: mux, Protocols: &protocols, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	transport = &http.Transport{DialContext: l.Dial, Protocols: &protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return transport, seats, stop
}

// open requests a stream.
func open(t *testing.T, transport *http.Transport) *http.Response {
	t.Helper()
	return request(t, transport, rest.StreamPath)
}

// request requests a target as a caller who may read reports.
func request(t *testing.T, transport *http.Transport, target string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://pregon.example"+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer read:reports")
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func outlive(t *testing.T, protocol string) {
	transport, seats, stop := streaming(t, protocol)
	began := time.Now()
	res := open(t, transport)
	if res.StatusCode != http.StatusOK || res.Proto != protocol {
		t.Fatalf("%s %s", res.Proto, res.Status)
	}
	beats, last := 0, ""
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			last = name
		}
		if lines.Text() == "event: heartbeat" {
			if beats++; beats == 15 {
				stop()
			}
		}
	}
	if lived := time.Since(began); last != "goodbye" || lived < 2*time.Minute {
		t.Errorf("the stream ended after %v and %d heartbeats with %q", lived, beats, last)
	}
	if n := seats.Cut(); n != 0 {
		t.Errorf("counted %d streams as cut, want 0", n)
	}
}

// A client that does not read is disconnected and counted.
func TestStreamThatIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport, seats, _ := streaming(t, "HTTP/1.1")
		transport.ReadBufferSize = 16 // the client reads no more
		open(t, transport)
		time.Sleep(time.Minute)
		if n := seats.Cut(); n != 1 || seats.Open() != 0 {
			t.Errorf("%d streams are counted as cut, %d are open", n, seats.Open())
		}
	})
}

// A request that waits for the change of its cursor ends when the service stops.
func TestStopEndsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport, seats, stop := streaming(t, "HTTP/1.1")
		began := time.Now()
		time.AfterFunc(time.Second, stop)
		res := request(t, transport, "/api/v1/changes?after=1&wait=25") // the log is empty
		if waited := time.Since(began); res.StatusCode != http.StatusServiceUnavailable || waited != time.Second {
			t.Errorf("got %s after %v, want 503 when the service stops", res.Status, waited)
		}
		if n := seats.Open(); n != 0 {
			t.Errorf("%d requests are open", n)
		}
	})
}
