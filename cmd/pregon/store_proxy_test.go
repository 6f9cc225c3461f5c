package main_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// storeProxy is a proxy in front of PostgreSQL. It can refuse connections, delay
// what it forwards, or stop forwarding, like a server that hangs.
type storeProxy struct {
	url             string
	network, server string       // the address of PostgreSQL
	turned          atomic.Int64 // refused connections
	closed          atomic.Bool  // refuses connections
	delay           atomic.Int64 // in each direction, in nanoseconds
	mu              sync.Mutex
	frozen          bool              // guarded by mu
	thawed          *sync.Cond        // of mu
	waiting         int               // guarded by mu: writes that are held back
	conns           map[net.Conn]bool // guarded by mu: of clients
}

// newStoreProxy starts a proxy in front of a database of pgtest.
func newStoreProxy(t *testing.T, database string) *storeProxy {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &storeProxy{network: "tcp", server: u.Host, conns: map[net.Conn]bool{}}
	if dir := u.Query().Get("host"); dir != "" {
		p.network, p.server = "unix", filepath.Join(dir, ".s.PGSQL.5432")
	}
	u.Host, u.RawQuery = l.Addr().String(), "sslmode=disable"
	p.url, p.thawed = u.String(), sync.NewCond(&p.mu)
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
			conns.Go(func() { p.forward(c) })
		}
	})
	t.Cleanup(func() { l.Close(); p.freeze(false); p.cut(); conns.Wait() })
	return p
}

func (p *storeProxy) forward(c net.Conn) {
	defer c.Close()
	db, err := net.Dial(p.network, p.server)
	if err != nil {
		return
	}
	defer db.Close()
	p.mu.Lock()
	p.conns[c] = true
	p.mu.Unlock()
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{c, db}, {db, c}} {
		both.Go(func() {
			p.copy(pair[1], pair[0])
			pair[0].Close()
			pair[1].Close()
		})
	}
	both.Wait()
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
}

// copy forwards until one side closes the connection.
func (p *storeProxy) copy(to, from net.Conn) {
	type piece struct {
		data []byte
		due  time.Time
	}
	pieces := make(chan piece, 1000)
	go func() {
		defer close(pieces)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			pieces <- piece{data[:n], time.Now().Add(time.Duration(p.delay.Load()))}
			if err != nil {
				return
			}
		}
	}()
	broken := false
	for next := range pieces {
		if broken {
			continue // until the reader ends
		}
		waittest.Pace(context.Background(), time.Until(next.due))
		p.hold()
		if _, err := to.Write(next.data); err != nil {
			broken = true
			from.Close()
		}
	}
}

// hold returns once the proxy is not frozen.
func (p *storeProxy) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting++
	for p.frozen {
		p.thawed.Wait()
	}
	p.waiting--
}

// cut closes all connections.
func (p *storeProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
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
	longtest.Skip(t, "it stops the database for a while")
	t.Parallel()
	p := newStoreProxy(t, pgtest.Database(t))
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
	longtest.Skip(t, "it stops the database for a while")
	t.Parallel()
	p := newStoreProxy(t, pgtest.Database(t))
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
