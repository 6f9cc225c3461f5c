package postgres

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pregon/internal/retry"
)

// How long the listener waits before it connects again, and for a notification
// before it checks that the server still answers: the connection to a machine that
// lost power never breaks.
const (
	checkEvery   = 10 * time.Second
	checkTime    = 5 * time.Second
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// deafPoll is the interval at which Wait polls while notifications do not arrive.
const deafPoll = 100 * time.Millisecond

// probeTime is how long a notification may take to arrive.
const probeTime = 2 * time.Second

// listen wakes waiting readers whenever a process commits to the log, until ctx
// ends. Its errors are ignored: without it Wait still polls every second, and a
// failure of the database is returned to the callers of the store.
func (s *Store) listen(ctx context.Context) {
	defer close(s.listening)
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		if s.hear(ctx) {
			pause = firstPause
		}
		_ = retry.Sleep(ctx, pause)
	}
}

// hear listens on one connection until it breaks, and reports whether LISTEN
// succeeded. The connection does not belong to the pool, so that it does not use
// up one of the pool's connections.
func (s *Store) hear(ctx context.Context) (listened bool) {
	config := s.pool.Config().ConnConfig
	s.hosts.order(config)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false
	}
	defer hangUp(conn)
	if _, err := conn.Exec(ctx, `LISTEN pregon_log`); err != nil {
		return false
	}
	if !s.probe(ctx, conn) {
		return false
	}
	s.hears.Store(true)
	defer s.hears.Store(false)
	for {
		// Also before the first notification: some may have been missed.
		s.Wake.All()
		if err := hearOne(ctx, conn); err != nil {
			return true
		}
	}
}

// probe reports whether notifications arrive. A connection pooler in transaction mode
// accepts LISTEN, but gives the server's connection to another client afterwards.
func (s *Store) probe(ctx context.Context, conn *pgx.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	probe := "probe " + rand.Text()
	if _, err := s.pool.Exec(ctx, `SELECT pg_notify('pregon_log', $1)`, probe); err != nil {
		return false
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return false
		}
		if n.Payload == probe {
			return true
		}
		s.Wake.All()
	}
}

// hearOne waits for a notification, or until the server has proved to answer.
func hearOne(ctx context.Context, conn *pgx.Conn) error {
	waiting, cancel := context.WithTimeout(ctx, checkEvery)
	defer cancel()
	_, err := conn.WaitForNotification(waiting)
	if err == nil || ctx.Err() != nil || !pgconn.Timeout(err) || conn.IsClosed() {
		return err
	}
	checking, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	return conn.Ping(checking)
}

// hangUp closes the connection and waits until it is closed, which pgx otherwise
// leaves to a goroutine that Close would not wait for.
func hangUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = conn.Close(ctx) // the connection is discarded anyway
	select {
	case <-conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
}
