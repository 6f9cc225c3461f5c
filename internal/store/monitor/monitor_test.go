package monitor_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/monitor"
)

// broken is a store whose calls return an error.
type broken struct {
	store.Store
	err error
}

func (b *broken) Append(context.Context, store.Batch) (store.Outcome, error) {
	return store.Outcome{}, b.err
}

func (b *broken) Changes(context.Context, int64, int) ([]disclosure.Change, error) {
	return nil, b.err
}

func (b *broken) Fanned(context.Context, store.Consumer) (int64, error) { return 0, b.err }

func (b *broken) Release(context.Context, string, ...string) error { return b.err }

var errAway = fault.New(fault.Unavailable, "the database does not answer")

func watched(t *testing.T) (*broken, *monitor.Store, *bytes.Buffer) {
	t.Helper()
	b, log := &broken{}, &bytes.Buffer{}
	return b, monitor.New(b, monitor.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}), log
}

// want checks which parts fail.
func want(t *testing.T, s *monitor.Store, parts ...string) []monitor.Failure {
	t.Helper()
	failures := s.Failures()
	var got []string
	for _, f := range failures {
		got = append(got, f.Part)
	}
	if strings.Join(got, " ") != strings.Join(parts, " ") {
		t.Fatalf("failing parts = %v, want %v", got, parts)
	}
	return failures
}

// TestFailures: a part fails after the second failure in a row of one of its
// methods, and recovers when that method succeeds.
func TestFailures(t *testing.T) {
	ctx := t.Context()
	b, s, _ := watched(t)
	b.err = errAway
	_, _ = s.Append(ctx, store.Batch{})
	want(t, s)
	_, _ = s.Append(ctx, store.Batch{})
	f := want(t, s, "log")[0]
	if f.Reason != errAway.Message || !f.Writes || f.Since.IsZero() {
		t.Errorf("the failure is %+v", f)
	}
	b.err = nil
	_, _ = s.Changes(ctx, 0, 1) // a successful read does not clear a failure to write
	want(t, s, "log")
	_, _ = s.Append(ctx, store.Batch{})
	want(t, s)
	b.err = errAway
	for range 2 {
		_, _ = s.Fanned(ctx, store.ForWebhooks)
	}
	if f := want(t, s, "deliveries")[0]; f.Writes {
		t.Errorf("failing deliveries have Writes set: %+v", f)
	}
}

// TestRefusalsAreNoFailures: rejected and canceled calls are not failures.
func TestRefusalsAreNoFailures(t *testing.T) {
	b, s, _ := watched(t)
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 3 {
		for _, err := range []error{fault.New(fault.Conflict, "x"), fault.New(fault.NotFound, "x"), fault.New(fault.Invalid, "x"), context.Canceled} {
			b.err = err
			_, _ = s.Append(t.Context(), store.Batch{})
		}
		b.err = errors.New("the connection was closed")
		_, _ = s.Append(gone, store.Batch{})
	}
	want(t, s)
	b.err = context.DeadlineExceeded
	for range 2 {
		_, _ = s.Append(t.Context(), store.Batch{})
	}
	want(t, s, "log")
}

// TestDamageStays: damage is kept until a check finds none, since other rows can
// still be read.
func TestDamageStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		b, s, _ := watched(t)
		b.err = fault.Wrap(fault.Unavailable, store.ErrDamaged, "it is damaged")
		_ = s.Release(ctx, "ana")
		b.err = nil
		_ = s.Release(ctx, "ana")
		time.Sleep(time.Hour)
		want(t, s, "deliveries")
		s.SetDamaged("log", true)
		want(t, s, "deliveries", "log")
		s.SetDamaged("deliveries", false)
		want(t, s, "log")
		s.SetDamaged("log", false)
		want(t, s)
	})
}

// sick is a store whose check finds a damaged part, and then takes too long.
type sick struct {
	store.Store

	mu      sync.Mutex
	checks  int           // guarded by mu
	damaged bool          // guarded by mu
	takes   time.Duration // guarded by mu
}

func (s *sick) set(damaged bool, takes time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.damaged, s.takes = damaged, takes
}

func (s *sick) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checks
}

func (s *sick) Check(ctx context.Context, found func(part string, damaged bool)) error {
	s.mu.Lock()
	s.checks++
	damaged, takes := s.damaged, s.takes
	s.mu.Unlock()
	found("notes", damaged)
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, part := range monitor.Parts {
		if part != "notes" {
			found(part, false)
		}
	}
	return nil
}

// TestRunChecks: a check is made at the start and every day, it is canceled after
// some minutes, and the state of the parts that it did not read is kept.
func TestRunChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &bytes.Buffer{}
		db := &sick{damaged: true, takes: time.Hour}
		s := monitor.New(db, monitor.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.RunChecks(ctx) }()
		s.SetDamaged("deliveries", true)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		want(t, s, "deliveries", "notes")
		if !s.Checked().IsZero() || !strings.Contains(log.String(), "check of the store for damage was not completed") || strings.Contains(log.String(), "unread=[]") {
			t.Errorf("Checked after a canceled check = %v\n%s", s.Checked(), log)
		}
		db.set(false, time.Second)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		want(t, s)
		if db.count() != 2 || time.Since(s.Checked()) > time.Hour {
			t.Errorf("%d checks, the last at %v", db.count(), s.Checked())
		}
		db.set(true, time.Second)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		since := want(t, s, "notes")[0].Since
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if again := want(t, s, "notes")[0].Since; db.count() != 4 || !again.Equal(since) {
			t.Errorf("%d checks; damaged since %v, then since %v", db.count(), since, again)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestLogOfAnOutage: an outage is logged when it begins, once a minute, and when it
// ends.
func TestLogOfAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		b, s, log := watched(t)
		b.err = errAway
		for range 241 { // two minutes
			_, _ = s.Append(ctx, store.Batch{})
			time.Sleep(500 * time.Millisecond)
		}
		if n := strings.Count(log.String(), "the store fails"); n != 2 {
			t.Errorf("there are %d lines of two minutes, want 2:\n%s", n, log)
		}
		b.err = nil
		_, _ = s.Append(ctx, store.Batch{})
		if n := strings.Count(log.String(), "the store works again"); n != 1 {
			t.Errorf("there are %d lines of the end, want 1:\n%s", n, log)
		}
	})
}

// TestForgets: the failures of a method that is no longer called are ignored after
// a while.
func TestForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s, _ := watched(t)
		b.err = errAway
		for range 2 {
			_, _ = s.Fanned(t.Context(), store.ForWebhooks)
		}
		time.Sleep(time.Minute)
		want(t, s, "deliveries")
		time.Sleep(2 * time.Minute)
		want(t, s)
	})
}

// TestRareMethod: a method that failed and is not called again does not fail for
// longer than the others.
func TestRareMethod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s, _ := watched(t)
		b.err = errAway
		for range 2 {
			_, _ = s.Fanned(t.Context(), store.ForWebhooks)
			_, _ = s.Append(t.Context(), store.Batch{})
		}
		time.Sleep(10 * time.Second)
		want(t, s, "deliveries", "log") // no other method has succeeded
		b.err = nil
		_, _ = s.Changes(t.Context(), 0, 1)
		want(t, s, "log") // it could be read, and not written
		_, _ = s.PutRecords(t.Context(), nil, store.Record{Kind: store.CoverageKind})
		want(t, s)
	})
}

// TestReportsAreNotStored: while reports cannot be stored, no other call makes it look
// better, neither one that writes something else nor one that writes nothing. It is over
// when reports are stored, or when another process does it.
func TestReportsAreNotStored(t *testing.T) {
	for _, end := range []string{"stored", "another process"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				b, s, _ := watched(t)
				reports := store.Batch{Reports: make([]disclosure.Report, 1)}
				began := time.Now()
				for range 6 {
					b.err = errAway
					_, _ = s.Append(ctx, reports)
					_, _ = s.Append(ctx, reports)
					for _, err := range []error{nil, fault.New(fault.Invalid, "x")} {
						b.err = err
						_, _ = s.Append(ctx, store.Batch{})
						_, _ = s.PutRecords(ctx, nil, store.Record{Kind: store.CoverageKind})
					}
					_, _ = s.Append(ctx, reports) // refused
					time.Sleep(10 * time.Second)
					if f := want(t, s, "log")[0]; !f.Since.Equal(began) || !f.Writes {
						t.Errorf("the failure is %+v, want one of writes since %v", f, began)
					}
				}
				b.err = nil
				if end == "stored" {
					_, _ = s.Append(ctx, reports)
				} else {
					b.err = fault.New(fault.Conflict, "another process holds the lease")
					_, _ = s.AcquireLease(ctx, "ingest", "ana", time.Second)
				}
				want(t, s)
			})
		})
	}
}

func (b *broken) AcquireLease(context.Context, string, string, time.Duration) (store.Lease, error) {
	return store.Lease{}, b.err
}

func (b *broken) PutRecords(context.Context, *store.Lease, ...store.Record) ([]store.Record, error) {
	return nil, b.err
}
