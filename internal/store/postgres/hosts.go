package postgres

import (
	"context"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// How long a server may take to accept a connection, so that one that hangs is
// reported as a failure. Where there are several, another one may be able to
// answer, so that each has less time, also to answer on a connection that was idle.
const (
	connectTime     = 10 * time.Second
	connectTimeEach = 3 * time.Second
	pingTimeEach    = 2 * time.Second
)

// hosts orders the servers of an address with several hosts. Each new connection
// begins with the one that accepted the last, because a server that hangs delays
// every connection that tries it first. When another server accepts, as after a
// fail-over, the connections to the previous one are discarded.
type hosts struct {
	mu    sync.Mutex
	pools []*pgxpool.Pool   // guarded by mu
	names map[string]string // guarded by mu: host names by IP address
	last  host              // guarded by mu: the server that accepted last
}

type host struct {
	name string
	port uint16
}

// several reports whether an address has more than one server. A server has an
// entry for each way to use TLS.
func several(config *pgx.ConnConfig) bool {
	return slices.ContainsFunc(config.Fallbacks, func(f *pgconn.FallbackConfig) bool {
		return f.Host != config.Host || f.Port != config.Port
	})
}

// newPool returns a pool of connections to the servers of an address.
func (h *hosts) newPool(ctx context.Context, config *pgxpool.Config) (*pgxpool.Pool, error) {
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err == nil {
		h.mu.Lock()
		h.pools = append(h.pools, pool)
		h.mu.Unlock()
	}
	return pool, err
}

// newHosts sets the timeouts of an address and, if it has several servers, makes
// connections begin with the last one.
func newHosts(config *pgxpool.Config) *hosts {
	h := &hosts{names: map[string]string{}}
	several, timeout := several(config.ConnConfig), connectTime
	if several {
		timeout = connectTimeEach
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = timeout
	}
	if !several {
		return h
	}
	if config.PingTimeout == 0 {
		config.PingTimeout = pingTimeEach
	}
	look := config.ConnConfig.LookupFunc
	config.ConnConfig.LookupFunc = func(ctx context.Context, name string) ([]string, error) {
		found, err := look(ctx, name)
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, address := range found {
			h.names[address] = name
		}
		return found, err
	}
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error { h.order(c); return nil }
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error { h.accepted(conn); return nil }
	return h
}

// order puts the last server first.
func (h *hosts) order(c *pgx.ConnConfig) {
	h.mu.Lock()
	last := h.last
	h.mu.Unlock()
	all := append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
	slices.SortStableFunc(all, func(a, b *pgconn.FallbackConfig) int { return rank(a, last) - rank(b, last) })
	c.Host = all[0].Host
	c.Port = all[0].Port
	c.TLSConfig = all[0].TLSConfig
	c.Fallbacks = all[1:]
}

func rank(f *pgconn.FallbackConfig, last host) int {
	if (host{f.Host, f.Port}) == last {
		return 0
	}
	return 1
}

// accepted records the server of a new connection.
func (h *hosts) accepted(conn *pgx.Conn) {
	address, port, err := net.SplitHostPort(conn.PgConn().Conn().RemoteAddr().String())
	if err != nil {
		return // a socket of this machine
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	name, known := h.names[address]
	now := host{name, uint16(number)}
	if !known || now == h.last {
		return
	}
	first := h.last == host{}
	h.last = now
	if first {
		return
	}
	for _, pool := range h.pools {
		pool.Reset()
	}
}
