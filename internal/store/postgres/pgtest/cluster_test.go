package pgtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// query returns the one value of a query.
func query(ctx context.Context, url, sql string) (value string, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	err = conn.QueryRow(ctx, sql).Scan(&value)
	return value, err
}

func TestClusterStops(t *testing.T) {
	longtest.Skip(t, "it starts and breaks servers")
	c := pgtest.NewCluster(t)
	if _, err := query(t.Context(), c.URL(), "CREATE TABLE t AS SELECT 'kept' AS word"); err != pgx.ErrNoRows {
		t.Fatal(err)
	}
	for _, mode := range []string{"fast", "immediate"} {
		if err := c.Stop(mode); err != nil {
			t.Fatal(err)
		}
		if err := connect(t, c.URL()); err == nil {
			t.Errorf("a server that was stopped (%s) answers", mode)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if word, err := query(t.Context(), c.URL(), "SELECT word FROM t"); err != nil || word != "kept" {
			t.Errorf("after a stop (%s): got %q, %v", mode, word, err)
		}
	}
	if err := c.Stop("slow"); err == nil {
		t.Error("an unknown mode is accepted")
	}
}

func TestClusterFreezes(t *testing.T) {
	longtest.Skip(t, "it starts and breaks servers")
	c := pgtest.NewCluster(t)
	conn, err := pgx.Connect(t.Context(), c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	c.Freeze()
	answered := make(chan error, 1)
	go func() { answered <- conn.Ping(t.Context()) }()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := query(ctx, c.URL(), "SELECT 'x'"); err == nil {
		t.Error("a frozen server answers on a new connection")
	}
	select {
	case err := <-answered:
		t.Errorf("a frozen server answers on an open connection: %v", err)
	default:
	}
	c.Thaw()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// TestStandby: a standby follows, refuses writes, and takes them once promoted.
func TestStandby(t *testing.T) {
	longtest.Skip(t, "it starts and breaks servers")
	c := pgtest.NewCluster(t)
	standby := c.Standby(t)
	write := func(c *pgtest.Cluster) error {
		_, err := query(t.Context(), c.URL(), "SELECT setval('numbers', nextval('numbers'))::text")
		return err
	}
	if _, err := query(t.Context(), c.URL(), "CREATE SEQUENCE numbers"); err != pgx.ErrNoRows {
		t.Fatal(err)
	}
	waittest.ForNil(t, func() error {
		_, err := query(t.Context(), standby.URL(), "SELECT last_value::text FROM numbers")
		return err
	})
	if err := write(standby); err == nil {
		t.Error("the standby takes writes")
	}
	if err := c.Stop("fast"); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(); err != nil {
		t.Fatal(err)
	}
	if err := write(standby); err != nil {
		t.Error(err)
	}
}
