package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/postgres/pgtest"
)

var something = store.Batch{Issuers: []disclosure.Issuer{{ID: "A1", Name: "Uno", Kind: disclosure.Company}}}

// TestLockedHead: an append does not wait for ever for another client's lock, and a
// lease can be renewed meanwhile.
func TestLockedHead(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url)
	s.SetPatience(time.Second) // the other statements take less
	holding(t, url, `SELECT seq FROM log_head FOR UPDATE`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := s.Append(ctx, something); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("an append to a locked log ends with %v, want unavailable", err)
	}
	if _, err := s.AcquireLease(ctx, "ingest", "ana", time.Minute); err != nil {
		t.Errorf("a lease cannot be had while the log is locked: %v", err)
	}
}

// TestFrozenWriters: a process that freezes while it has locked the head, between
// two statements or while it sends one, blocks other writers no longer than the
// configured patience.
func TestFrozenWriters(t *testing.T) {
	for name, freeze := range map[string]func(*testing.T, *pgx.Conn){
		"idle": func(*testing.T, *pgx.Conn) {},
		"half a message": func(t *testing.T, conn *pgx.Conn) {
			if _, err := conn.PgConn().Conn().Write([]byte{'Q', 0, 0, 1, 0, 'S'}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Database(t)
			s := open(t, url)
			conn := connect(t, url)
			tx, err := conn.BeginTx(t.Context(), s.Writing(2*time.Second)) // as another process would
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), `SELECT seq FROM log_head FOR UPDATE`); err != nil {
				t.Fatal(err)
			}
			freeze(t, conn)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for ctx.Err() == nil {
				if _, err = s.Append(ctx, something); err == nil {
					return
				}
			}
			t.Errorf("the log stays locked: %v", err)
		})
	}
}

// TestFrozenHolder: a process that freezes while it appends under a lease, or
// renews it, does not keep others from taking the lease over.
func TestFrozenHolder(t *testing.T) {
	for name, statement := range map[string]string{
		"appending": `SELECT term FROM lease WHERE name = 'ingest' FOR SHARE`,
		"renewing":  `UPDATE lease SET expires_at = clock_timestamp() + interval '1 ms' WHERE name = 'ingest'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Database(t)
			s := open(t, url)
			if _, err := s.AcquireLease(t.Context(), "ingest", "ana", time.Millisecond); err != nil {
				t.Fatal(err)
			}
			tx, err := connect(t, url).BeginTx(t.Context(), s.Writing(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second) // less than the patience of the writer
			defer cancel()
			for ctx.Err() == nil {
				if _, err = s.AcquireLease(ctx, "ingest", "eva", time.Minute); err == nil {
					return
				}
			}
			t.Errorf("the lease stays locked: %v", err)
		})
	}
}
