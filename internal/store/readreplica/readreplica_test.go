package readreplica_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/readreplica"
	"pregon/internal/store/storetest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

// both is a store on a primary and its standby.
type both struct {
	*readreplica.Store
	main, standby *postgres.Store
}

func open(ctx context.Context, url, standbyURL string) (*both, error) {
	main, err := postgres.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	standby, err := postgres.OpenStandby(ctx, standbyURL)
	if err != nil {
		return nil, errors.Join(err, main.Close())
	}
	b := &both{main: main, standby: standby}
	if b.Store, err = readreplica.New(ctx, main, standby); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *both) Close() error { return errors.Join(b.main.Close(), b.standby.Close()) }

// TestStandby uses one primary and one standby for all tests, since they take seconds
// to start.
func TestStandby(t *testing.T) {
	longtest.Skip(t, "it needs a standby")
	t.Parallel()
	primary := pgtest.NewCluster(t)
	standby := primary.Standby(t)
	t.Run("Faults", func(t *testing.T) { testFaults(t, primary, standby) })

	// From now on a commit returns when the standby has applied it, so that a test
	// reads its own writes.
	for _, sql := range []string{"ALTER SYSTEM SET synchronous_commit = remote_apply", "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		exec(t, primary, sql)
	}
	var databases atomic.Int64
	t.Run("Store", func(t *testing.T) { // ends before the servers do
		storetest.RunReaders(t, storetest.Engine{Fresh: func(t *testing.T) func() (store.Store, error) {
			name := fmt.Sprintf("test%d", databases.Add(1))
			exec(t, primary, "CREATE DATABASE "+name)
			return func() (store.Store, error) {
				return open(t.Context(), database(primary, name), database(standby, name))
			}
		}})
	})
}

// database returns the address of a database of a cluster.
func database(c *pgtest.Cluster, name string) string {
	return strings.Replace(c.URL(), "/test?", "/"+name+"?", 1)
}

// testFaults: the log is that of the standby, also while it is behind; everything else
// is that of the primary. Both may end and return, without another open.
func testFaults(t *testing.T, primary, standby *pgtest.Cluster) {
	made, err := postgres.Open(t.Context(), primary.URL()) // creates the schema
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	var s *both
	waittest.ForNil(t, func() error { // the standby receives the schema
		s, err = open(t.Context(), primary.URL(), standby.URL())
		return err
	})
	defer s.Close()
	appendOne(t, s, 1)
	if err := s.Wait(t.Context(), 0); err != nil {
		t.Errorf("Wait for the first change: %v", err)
	}

	exec(t, standby, "SELECT pg_wal_replay_pause()")
	appendOne(t, s, 2)
	if err := s.Wait(t.Context(), 1); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Wait for a change that the standby lacks: got %v, want Unavailable", err)
	}
	checkNewest(t, s, 1)
	if all, err := s.Changes(t.Context(), 0, 10); err != nil || len(all) != 1 {
		t.Errorf("Changes: got %d, %v, want the one that the standby has", len(all), err)
	}
	checkPrimary(t, s, "behind")
	renewed, err := s.RenewEpoch(t.Context(), headOf(t, s).Epoch, disclosure.Mark{})
	if err != nil || headOf(t, s).Epoch == renewed.Epoch {
		t.Errorf("the epoch of a standby that is behind is the new one, %s: %v", renewed.Epoch, err)
	}
	if _, err := readreplica.New(t.Context(), s.main, s.standby); err != nil {
		t.Errorf("New with a standby that is behind by an epoch: %v", err)
	}
	exec(t, standby, "SELECT pg_wal_replay_resume()")
	waitFor(t, s, 2)
	waittest.For(t, "the standby has the new epoch", func() bool { return headOf(t, s).Epoch == renewed.Epoch })

	stop(t, standby)
	if _, err := s.Newest(t.Context()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Newest without the standby: got %v, want Unavailable", err)
	}
	appendOne(t, s, 3)
	if err := s.Wait(t.Context(), 2); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Wait without the standby: got %v, want Unavailable", err)
	}
	checkPrimary(t, s, "ended")
	start(t, standby)
	waitFor(t, s, 3)

	stop(t, primary)
	checkNewest(t, s, 3)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Wait(ctx, 3); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait without the primary: got %v, want to wait for the standby", err)
	}
	start(t, primary)
	waittest.ForNil(t, func() error {
		_, err := s.Append(t.Context(), batch(4))
		return err
	})
	waitFor(t, s, 4)
}

// TestOther: a database with another log is refused.
func TestOther(t *testing.T) {
	longtest.Skip(t, "it needs a standby")
	t.Parallel()
	one, err := postgres.Open(t.Context(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	other, err := postgres.Open(t.Context(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := readreplica.New(t.Context(), one, other); fault.KindOf(err) != fault.Invalid {
		t.Errorf("New: got %v, want Invalid", err)
	}
}

func batch(number int64) store.Batch {
	return store.Batch{New: disclosure.Published, Reports: []disclosure.Report{{
		ID: disclosure.ReportID(disclosure.OIR, number), Type: disclosure.OIR, Number: number, CompanyName: "EJEMPLAR FICTICIA, S.A.", Title: "La sociedad informa",
		PublishedAt: time.Date(2026, 4, 22, 8, 0, 33, 0, time.UTC),
	}}}
}

func appendOne(t *testing.T, s *both, number int64) {
	t.Helper()
	if _, err := s.Append(t.Context(), batch(number)); err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until the standby has all changes up to seq.
func waitFor(t *testing.T, s *both, seq int64) {
	t.Helper()
	waittest.ForNil(t, func() error { return s.Wait(t.Context(), seq-1) })
	checkNewest(t, s, seq)
}

func checkNewest(t *testing.T, s *both, want int64) {
	t.Helper()
	if got, err := s.Newest(t.Context()); err != nil || got != want {
		t.Errorf("Newest: got %d, %v, want %d", got, err, want)
	}
}

// checkPrimary checks that a key or a claim takes effect at once.
func checkPrimary(t *testing.T, s *both, name string) {
	t.Helper()
	before, err := s.RecordsSince(t.Context(), "key", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutRecords(t.Context(), nil, store.Record{Kind: "key", ID: name, Body: "{}"}); err != nil {
		t.Fatal(err)
	}
	if after, err := s.RecordsSince(t.Context(), "key", 0); err != nil || len(after) != len(before)+1 {
		t.Errorf("RecordsSince: got %d after %d, %v, want the new one", len(after), len(before), err)
	}
	for _, want := range []bool{true, false} {
		if got, err := s.ClaimNonce(t.Context(), name, time.Now().Add(time.Hour)); err != nil || got != want {
			t.Errorf("ClaimNonce: got %v, %v, want %v", got, err, want)
		}
	}
}

func headOf(t *testing.T, s *both) disclosure.Head {
	t.Helper()
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return head
}

func exec(t *testing.T, c *pgtest.Cluster, sql string) {
	t.Helper()
	if err := c.Exec(sql); err != nil {
		t.Fatal(err)
	}
}

func stop(t *testing.T, c *pgtest.Cluster) {
	t.Helper()
	if err := c.Stop("immediate"); err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T, c *pgtest.Cluster) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
}
