package main_test

import (
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"pregon/internal/store/postgres/pgtest"
)

// storeProxy is a proxy in front of PostgreSQL. It can refuse connections, or stop
// forwarding, like a server that hangs.
type storeProxy struct {
	url     string
	turned  atomic.Int64 // refused connections
	closed  atomic.Bool  // refuses connections
	mu      sync.Mutex
	frozen  bool       // guarded by mu
	thawed  *sync.Cond // of mu
	waiting int        // guarded by mu: writes that are held back
}

func newStoreProxy(t *testing.T) *storeProxy {
	t.Helper()
	u, err := url.Parse(pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u.Host, u.RawQuery = l.Addr().String(), "sslmode=disable"
	p := &storeProxy{url: u.String()}
	p.thawed = sync.NewCond(&p.mu)
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if p.closed.Load() {
				p.turned.Add(1)
				c.Close()
				continue
			}
			conns.Go(func() { p.forward(c, socket) })
		}
	})
	t.Cleanup(func() { l.Close(); p.freeze(false); conns.Wait() })
	return p
}

func (p *storeProxy) forward(c net.Conn, socket string) {
	defer c.Close()
	db, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer db.Close()
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{c, db}, {db, c}} {
		both.Go(func() {
			_, _ = io.Copy(pair[1], held{pair[0], p})
			pair[0].Close()
			pair[1].Close()
		})
	}
	both.Wait()
}

// held is a connection whose bytes the proxy holds back while it is frozen.
type held struct {
	io.Reader
	p *storeProxy
}

func (h held) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	h.p.waiting++
	for h.p.frozen {
		h.p.thawed.Wait()
	}
	h.p.waiting--
	return n, err
}

func (p *storeProxy) freeze(frozen bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = frozen
	p.thawed.Broadcast()
}

// held returns the number of waiting writes.
func (p *storeProxy) held() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting
}

// TestStoreAwayAtTheStart: serve waits for a PostgreSQL that does not answer.
func TestStoreAwayAtTheStart(t *testing.T) {
	t.Parallel()
	p := newStoreProxy(t)
	p.closed.Store(true)
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		eventually(t, func() error {
			if p.turned.Load() == 0 {
				return errors.New("no connection was attempted")
			}
			return nil
		})
		p.closed.Store(false)
	}()
	s := startReplica(t, p.url, "--source", "none", "--wait-store", "5m")
	<-opened
	if log := s.log.String(); !strings.Contains(log, "the store does not answer: waiting for it") { // again every minute
		t.Errorf("the log does not have the line about waiting:\n%s", log)
	}
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// TestStopWhileTheStoreHangs: a signal ends the service although its
// PostgreSQL does not answer.
func TestStopWhileTheStoreHangs(t *testing.T) {
	t.Parallel()
	p := newStoreProxy(t)
	args := slices.Concat([]string{"--source", "cnmv", "--poll", "100ms"}, sourceArgs(startSource(t).url))
	s := startReplica(t, p.url, args...)
	p.freeze(true)
	eventually(t, func() error {
		if p.held() < 3 {
			return errors.New("no query was sent to the store")
		}
		return nil
	})
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Errorf("%v\n%s", err, s.log)
	}
}
