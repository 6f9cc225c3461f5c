package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/store"
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

// checkLength is CheckLog for a test that knows how long the log is.
func checkLength(t *testing.T, s store.Store, want int) []disclosure.Change {
	t.Helper()
	log := CheckLog(t, s)
	if len(log) != want {
		t.Fatalf("the log has %d changes, want %d", len(log), want)
	}
	return log
}

// subject identifies an issuer or a report. Their ids are independent.
type subject struct {
	issuer bool
	id     string
}

func subjectOf(c *disclosure.Change) subject {
	return subject{issuer: c.Issuer != nil, id: c.Subject()}
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
		if err := checkRow(last, c); err != nil {
			return fmt.Errorf("change %d: %w", c.Seq, err)
		}
		last[subjectOf(c)] = c
	}
	return nil
}

func checkRow(last map[subject]*disclosure.Change, c *disclosure.Change) error {
	if (c.Report == nil) == (c.Issuer == nil) {
		return errors.New("it must be about a report or about an issuer")
	}
	if c.OccurredAt.IsZero() || !c.OccurredAt.Equal(c.OccurredAt.Truncate(time.Microsecond)) {
		return fmt.Errorf("it occurred at %v", c.OccurredAt)
	}
	before := last[subjectOf(c)]
	if c.Issuer != nil {
		return checkIssuer(before, c)
	}
	return checkReport(before, c)
}

func checkIssuer(before, c *disclosure.Change) error {
	if c.Event != disclosure.IssuerUpdated {
		return fmt.Errorf("the event of an issuer is %q", c.Event)
	}
	if before == nil {
		return checkFirst(c)
	}
	merged, changed := before.Issuer.Merge(*c.Issuer)
	return checkStep(c, changed, cmp.Diff(merged, *c.Issuer))
}

func checkReport(before, c *disclosure.Change) error {
	if before == nil {
		if c.Event != disclosure.Published && c.Event != disclosure.Backfilled {
			return fmt.Errorf("the first event of %s is %q", c.Subject(), c.Event)
		}
		if c.Event == disclosure.Backfilled && !c.Report.Backfilled {
			return fmt.Errorf("%s is back-filled and its Backfilled field is false", c.Subject())
		}
		if !c.Report.AvailableAt.Equal(c.OccurredAt) || c.Report.FirstSeenAt.IsZero() {
			return fmt.Errorf("%s is available at %v, first seen at %v", c.Subject(), c.Report.AvailableAt, c.Report.FirstSeenAt)
		}
		return checkFirst(c)
	}
	want := disclosure.Updated
	if slices.Contains(c.Changed, "corrected_by") {
		want = disclosure.Corrected
	}
	if c.Event != want && c.Event != disclosure.Backfilled { // TestPlan tests which of the two it is
		return fmt.Errorf("a later event of %s is %q, want %q", c.Subject(), c.Event, want)
	}
	merged, changed := before.Report.Merge(*c.Report)
	return checkStep(c, changed, cmp.Diff(merged, *c.Report))
}

func checkFirst(c *disclosure.Change) error {
	if len(c.Changed) > 0 {
		return fmt.Errorf("%s is new, and yet %v changed", c.Subject(), c.Changed)
	}
	return nil
}

// checkStep verifies that a row differs from the one before it, names all changed
// fields, and has lost no value.
func checkStep(c *disclosure.Change, changed []string, lost string) error {
	if len(changed) == 0 {
		return fmt.Errorf("nothing of %s changed", c.Subject())
	}
	if diff := cmp.Diff(changed, c.Changed); diff != "" {
		return fmt.Errorf("%s names other fields than those that changed:\n%s", c.Subject(), diff)
	}
	if lost != "" {
		return fmt.Errorf("%s lost something:\n%s", c.Subject(), lost)
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
