package monitor_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
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

func (b *broken) Fanned(context.Context) (int64, error) { return 0, b.err }

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
		t.Fatalf("%v fail, want %v", got, parts)
	}
	return failures
}

// TestFailures: a part fails after the second failure in a row of one of its
// methods, and is well again when that one succeeds.
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
	_, _ = s.Changes(ctx, 0, 1) // reading works, which does not say that writing does
	want(t, s, "log")
	_, _ = s.Append(ctx, store.Batch{})
	want(t, s)
	b.err = errAway
	for range 2 {
		_, _ = s.Fanned(ctx)
	}
	if f := want(t, s, "deliveries")[0]; f.Writes {
		t.Errorf("without deliveries no report is kept: %+v", f)
	}
}

// TestRefusalsAreNoFailures: the store answered, or the caller went away.
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

// TestDamageStays until a check says otherwise, since other rows can be read.
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
		s.SetDamaged("log")
		want(t, s, "log")
		s.SetDamaged()
		want(t, s)
	})
}

// TestLogOfAnOutage has one line when it begins, one each minute, and one when
// it ends.
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

// TestForgets: a method that failed and is called no more says nothing after a
// while.
func TestForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s, _ := watched(t)
		b.err = errAway
		for range 2 {
			_, _ = s.Fanned(t.Context())
		}
		time.Sleep(time.Minute)
		want(t, s, "deliveries")
		time.Sleep(2 * time.Minute)
		want(t, s)
	})
}
