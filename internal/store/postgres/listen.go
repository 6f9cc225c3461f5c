package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pregon/internal/retry"
)

// How long the listener waits before it connects again.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// listen wakes those who wait whenever a process commits to the log, until ctx
// ends. Its errors go nowhere: without it Wait still looks every second, and
// whatever is wrong with the database the callers of the store will be told.
func (s *Store) listen(ctx context.Context) {
	defer close(s.listening)
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		if s.hear(ctx) {
			pause = firstPause
		}
		_ = retry.Sleep(ctx, pause)
	}
}

// hear listens on one connection until it breaks, and reports whether it came so
// far as to listen. The connection is none of the pool's, so that it takes no
// place there.
func (s *Store) hear(ctx context.Context) (listened bool) {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return false
	}
	defer hangUp(conn)
	if _, err := conn.Exec(ctx, `LISTEN pregon_log`); err != nil {
		return false
	}
	for {
		// Also before the first notification: some may have been missed.
		s.wake.All()
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return true
		}
	}
}

// hangUp returns when the connection is gone for good, which pgx otherwise
// leaves to a goroutine that Close would not wait for.
func hangUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = conn.Close(ctx) // there is nobody to tell
	select {
	case <-conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
}
