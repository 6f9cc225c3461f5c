package ingest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/coverage"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// proved returns the proved span of a series, and an error unless the store has
// every report that the simulator published in it.
func (w *world) proved(t disclosure.Type) (coverage.Span, error) {
	w.Helper()
	if err := w.cat.Known().CatchUp(w.Context()); err != nil {
		return coverage.Span{}, err
	}
	s := w.cat.Snapshot()
	span := w.coverage.Proved(coverage.Series{
		Type:  t,
		Since: func(from disclosure.Day) []coverage.Numbered { return coverage.InOrder(s.Numbers(t, from, 0)) },
		Seen: func(number int64) (time.Time, bool) {
			r := w.report(disclosure.ReportID(t, number))
			if r == nil {
				return time.Time{}, false
			}
			return r.FirstSeenAt, true
		},
	}, time.Now())
	if span.From == 0 {
		return span, nil
	}
	for _, f := range w.truth(span.From, today(), t) {
		if f.PublishedAt.Before(span.Until) && w.report(f.ID) == nil {
			return span, fmt.Errorf("%s of %v is missing, though proved from %s until %v", f.ID, f.PublishedAt, span.From, span.Until)
		}
	}
	return span, nil
}

// TestProvedDays: what is proved is true in a new store, after an import alone,
// after the first round, an outage in the middle of a back-fill, and its end.
func TestProvedDays(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	check := func(want disclosure.Day) {
		t.Helper()
		if span, err := w.proved(disclosure.OIR); err != nil || span.From != want {
			t.Errorf("proved from %s: %v; want %s", span.From, err, want)
		}
	}
	check(0)
	s := w.session()
	site := w.odd(s.Ingest)
	old := testMarket().History((today() - 60).Start(), (today() - 50).Start())
	if _, err := w.store.Append(t.Context(), store.Batch{Reports: old[:len(old)/2], New: disclosure.Backfilled}); err != nil {
		t.Fatal(err)
	}
	check(0)
	if err := s.lists.round(t.Context(), disclosure.OIR); err != nil {
		t.Fatal(err)
	}
	first := today() - firstDays
	check(first)

	// A back-fill that fails at the second page of all windows but the first.
	windows := func(n int, fails bool) {
		t.Helper()
		to := first - 1 - disclosure.Day(n*window)
		_, err := s.lists.read(t.Context(), throttle.Backfill, reading{series: disclosure.OIR, from: to - window + 1, to: to, old: true})
		if (err != nil) != fails {
			t.Fatalf("days until %s: %v", to, err)
		}
	}
	windows(0, false)
	site.be(func(request string, page []byte) []byte {
		if strings.Contains(request, "page=1") {
			return nil
		}
		return page
	})
	windows(1, true)
	check(first - window)
	site.be(nil)
	windows(2, false)
	check(first - window) // the days between are lacking
	windows(1, false)
	check(first - 3*window)
}

// TestProvedNumbers: a report that neither feed nor list shows, a number that was
// never published and a late registration end the proved time until they were
// looked up.
func TestProvedNumbers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.newIngest("first")
	site := w.odd(i)
	before := w.publish(`{"type":"oir"}`)
	_, number, _ := disclosure.ParseReportID(before)
	site.be(func(request string, page []byte) []byte {
		if strings.Contains(request, fmt.Sprintf("nreg=%d", number+1)) {
			return nil // it cannot be looked up yet
		}
		return page
	})
	w.run(i.Run)
	w.eventually(func() error {
		if w.report(before) == nil {
			return errors.New("the first report is not stored")
		}
		return nil
	})
	late := w.publish(fmt.Sprintf(`{"type":"oir","number":"%d","published_at":"%s"}`, number+3, time.Now().AddDate(0, 0, -2).Format(time.RFC3339)))
	w.publish(`{"type":"oir"}`)
	first := today() - firstDays
	w.eventually(func() error {
		span, err := w.proved(disclosure.OIR)
		if err != nil && !strings.Contains(err.Error(), late) { // it is seen some time after it was registered
			t.Fatal(err)
		}
		if err != nil || span.Open != number+1 || span.From != first {
			return fmt.Errorf("proved from %s until %v without %d: %w; want it to end before %d", span.From, span.Until, span.Open, err, number+1)
		}
		return nil
	})
	site.be(nil)
	w.eventually(func() error {
		span, err := w.proved(disclosure.OIR)
		if err != nil && !strings.Contains(err.Error(), late) { // it is seen some time after it was registered
			t.Fatal(err)
		}
		if err != nil || span.Open != 0 || span.From != first {
			return fmt.Errorf("proved from %s until %v without %d: %w; want everything", span.From, span.Until, span.Open, err)
		}
		return nil
	})
}

// TestProvedHR: nothing of HR is proved on the day of the first start; after that,
// its numbers are the proof.
func TestProvedHR(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if span, err := w.proved(disclosure.HR); err != nil || span.From != 0 {
		t.Errorf("on the first day proved from %s: %v", span.From, err)
	}
}
