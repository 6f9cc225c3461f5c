package httpserver_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
)

// countingListener counts the writes to its connections.
type countingListener struct {
	net.Listener
	writes *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countingConn{c, l.writes}, err
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countingConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

// A response of usual size is sent in one write, on a connection that is used again.
func TestWritesOfAResponse(t *testing.T) {
	h := newHarness(t, map[string]http.HandlerFunc{"GET /{size}": func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.PathValue("size"))
		body := bytes.Repeat([]byte("x"), size)
		if r.URL.RawQuery == "" {
			w.Header().Set("Content-Length", strconv.Itoa(size))
			_, _ = w.Write(body)
			return
		}
		_, _ = w.Write(body[:size/2]) // in parts, and of no stated length
		_, _ = w.Write(body[size/2:])
	}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var writes atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx, countingListener{l, &writes}) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	const several = -1
	for _, test := range []struct {
		method, path string
		size         int
		writes       int64
	}{
		{"GET", "/0", 0, 1},
		{"GET", "/100", 100, 1},
		{"GET", "/2048", 2048, 1},
		{"GET", "/5000", 5000, 1},
		{"HEAD", "/5000", 0, 1},
		{"GET", "/65536", 65536, 1},
		{"GET", "/65537", 65537, several},
		{"GET", "/5000?parts", 5000, several},
		{"GET", "/5000", 5000, 1},
	} {
		before := writes.Load()
		req, err := http.NewRequestWithContext(ctx, test.method, "http://"+l.Addr().String()+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || len(body) != test.size || len(bytes.Trim(body, "x")) > 0 {
			t.Errorf("%s %s: got %d bytes, %v", test.method, test.path, len(body), err)
		}
		if got := writes.Load() - before; test.writes != several && got != test.writes {
			t.Errorf("%s %s was sent in %d writes, want %d", test.method, test.path, got, test.writes)
		}
	}
}
