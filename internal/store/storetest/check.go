package storetest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/verify"
)

// CheckLog verifies every invariant of a store without writers and returns its
// log.
func CheckLog(t *testing.T, s store.Store) []disclosure.Change {
	t.Helper()
	ctx := patiently(t)
	log, err := readLog(ctx, s, 0, 64)
	if err != nil {
		t.Fatalf("reading the log: %v", err)
	}
	if err := checkRows(log); err != nil {
		t.Fatal(err)
	}
	newest, err := s.Newest(ctx)
	if err != nil || newest != int64(len(log)) {
		t.Fatalf("Newest = %d, %v; the log has %d changes", newest, err, len(log))
	}
	checkLeaves(ctx, t, s, log)
	heads, seq, err := readCurrent(ctx, s)
	if err != nil || seq != newest {
		t.Fatalf("Current is as of %d, %v; the newest is %d", seq, err, newest)
	}
	want := replay(log)
	if reflect.DeepEqual(want, heads) { // cmp takes minutes for a long log
		return log
	}
	if diff := cmp.Diff(want, heads); diff != "" {
		t.Fatalf("Current is not the newest change of every subject (-log +current):\n%s", diff)
	}
	return log
}

// Verify fails if a store that only the program wrote has a finding of package
// verify.
func Verify(t *testing.T, s store.Store) {
	t.Helper()
	c := verify.New(s.(verify.Store), verify.Options{Most: 5, Found: func(f verify.Finding) { t.Errorf("verifying the store: %v", f) }})
	if err := c.Run(patiently(t)); err != nil {
		t.Error(err)
	}
}

// checkLength is CheckLog for a test that knows how long the log is.
func checkLength(t *testing.T, s store.Store, want int) []disclosure.Change {
	t.Helper()
	log := CheckLog(t, s)
	if len(log) != want {
		t.Fatalf("the log has %d changes, want %d", len(log), want)
	}
	return log
}

// subject identifies an issuer, a report or a position. Their ids are independent.
type subject struct {
	of disclosure.Subject
	id string
}

func subjectOf(c *disclosure.Change) subject {
	return subject{of: c.Of(), id: c.Subject()}
}

// replay keeps the last change of each subject, in order of seq.
func replay(log []disclosure.Change) []disclosure.Change {
	last := map[subject]disclosure.Change{}
	for _, c := range log {
		last[subjectOf(&c)] = c
	}
	bySeq := func(a, b disclosure.Change) int { return int(a.Seq - b.Seq) }
	return slices.SortedFunc(maps.Values(last), bySeq)
}

// checkRows verifies each row of a complete log against the rows before it.
func checkRows(log []disclosure.Change) error {
	last := map[subject]*disclosure.Change{}
	for i := range log {
		c := &log[i]
		if c.Seq != int64(i+1) {
			return fmt.Errorf("change %d has the seq %d", i+1, c.Seq)
		}
		if c.OccurredAt.IsZero() || !c.OccurredAt.Equal(c.OccurredAt.Truncate(time.Microsecond)) {
			return fmt.Errorf("change %d occurred at %v", c.Seq, c.OccurredAt)
		}
		if err := verify.Change(last[subjectOf(c)], c); err != nil {
			return fmt.Errorf("change %d: %w", c.Seq, err)
		}
		last[subjectOf(c)] = c
	}
	return nil
}

// readLog reads all changes after a seq, page by page.
func readLog(ctx context.Context, s store.Store, after int64, page int) ([]disclosure.Change, error) {
	var log []disclosure.Change
	for {
		changes, err := s.Changes(ctx, after, page)
		if err != nil {
			return nil, err
		}
		log = append(log, changes...)
		if len(changes) < page {
			return log, nil
		}
		after = changes[len(changes)-1].Seq
	}
}

func readCurrent(ctx context.Context, s store.Store) (heads []disclosure.Change, seq int64, err error) {
	head, err := s.Current(ctx, func(c disclosure.Change) error {
		heads = append(heads, c)
		return nil
	})
	return heads, head.Seq, err
}
