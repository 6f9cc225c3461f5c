package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/mcp"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// pipe is the connection of a listener. It can block.
type pipe struct {
	header http.Header
	stuck  bool

	mu       sync.Mutex
	got      bytes.Buffer
	deadline time.Time
}

func (p *pipe) Header() http.Header { return p.header }
func (p *pipe) WriteHeader(int)     {}
func (p *pipe) Flush()              {}

func (p *pipe) SetReadDeadline(time.Time) error { return nil }

func (p *pipe) SetWriteDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = t
	return nil
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	deadline := p.deadline
	p.mu.Unlock()
	if p.stuck {
		waittest.Pace(context.Background(), time.Until(deadline))
		return 0, fmt.Errorf("write: %w", os.ErrDeadlineExceeded)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got.Write(b)
}

func (p *pipe) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got.String()
}

// Heartbeats keep proxies from closing an idle connection. The first one is sent
// after the response has begun.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipe{header: http.Header{}}
		q := mcp.NewQueue(p, func() { t.Error("the listener is disconnected") })
		time.Sleep(5 * mcp.HeartbeatInterval)
		if got := p.text(); got != "" {
			t.Errorf("the stream begins with %q", got)
		}
		fmt.Fprint(q, "first")
		synctest.Wait()
		if got := p.text(); got != "first" {
			t.Errorf("%q is not sent at once", got)
		}
		time.Sleep(10 * mcp.HeartbeatInterval)
		if n := strings.Count(p.text(), ": all is well\n\n"); n < 10 || n > 12 {
			t.Errorf("got %d heartbeats in ten intervals", n)
		}
		fmt.Fprint(q, "last")
		if q.Close() {
			t.Error("a listener that reads is counted as slow")
		}
		if !strings.HasSuffix(p.text(), "last") {
			t.Errorf("the last message is lost: %q", p.text())
		}
	})
}

// A listener that does not read is disconnected and does not block the writer.
func TestSlowListener(t *testing.T) {
	for name, fill := range map[string]int{"is too far behind": mcp.MaxPending + 100_000, "takes too long": 100} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pipe{header: http.Header{}, stuck: true}
				ctx, cancel := context.WithCancel(t.Context())
				q := mcp.NewQueue(p, cancel)
				began, failed := time.Now(), false
				for sent := 0; sent < fill; sent += 100 {
					if _, err := q.Write(make([]byte, 100)); err != nil {
						failed = true
					}
					synctest.Wait()
				}
				if !time.Now().Equal(began) {
					t.Error("the writer was blocked")
				}
				if far := fill > mcp.MaxPending; failed != far || far != (ctx.Err() != nil) {
					t.Errorf("failed %v, disconnected %v", failed, ctx.Err())
				}
				<-ctx.Done()
				if !q.Close() {
					t.Error("the listener is not counted as slow")
				}
				if waited := time.Since(began); waited > mcp.WriteTimeout {
					t.Errorf("the listener was disconnected after %v", waited)
				}
			})
		})
	}
}

// narrow accepts connections with tiny buffers.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(4096)
	}
	return c, err
}

// A client that subscribes and does not read is disconnected and delays no other
// client.
func TestSlowClient(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	s := startLive(t)
	server := httptest.NewUnstartedServer(s.front)
	server.Listener = narrow{server.Listener}
	server.Start()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	body, header := modern("subscriptions/listen", listenParams(longAddresses()))
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", access.MCPPath, len(body))
	for i := 0; i < len(header); i += 2 {
		fmt.Fprintf(conn, "%s: %s\r\n", header[i], header[i+1])
	}
	fmt.Fprintf(conn, "\r\n%s", body)
	s.settled(1)
	l := s.listen([]string{latest})
	for number := range int64(8) {
		s.file(newReport(disclosure.IP, 90001+number, "2026-05-01T08:00:00Z"))
		l.all(latest)
	}
	s.settled(1) // the slow client is disconnected
	s.file(newReport(disclosure.IP, 90100, "2026-05-01T08:00:00Z"))
	l.all(latest)
}

// The maximum number of URIs of maximum length can be subscribed to and notified.
func TestListenToManyLongURIs(t *testing.T) {
	t.Parallel()
	s := startLive(t)
	uris := longAddresses()
	l := s.listen(uris)
	for number := range int64(3) {
		s.file(newReport(disclosure.IP, 90001+number, "2026-05-01T08:00:00Z"))
		l.all(uris...)
	}
}

// longAddresses returns ten URIs of nearly 500 bytes that select every report.
func longAddresses() []string {
	uris := make([]string, 10)
	for i := range uris {
		uris[i] = fmt.Sprintf("pregon://reports/search?n=%d&pad=%s", i, strings.Repeat("x", 450))
	}
	return uris
}
