package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
	"pregon/internal/test/longtest"
)

func TestFirstStart(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	w.start()
	w.eventually(func() error {
		return w.exact(today()-firstDays, disclosure.IP, disclosure.OIR)
	})
	w.once()
	if mark, err := w.store.Source(t.Context()); mark != "demo" || err != nil {
		t.Errorf("source of the store: got %q, %v; want demo", mark, err)
	}
	// Reports from before the first start are history, on every surface.
	for _, r := range w.cat.Known().Since(time.Now().AddDate(0, 0, -firstDays)) {
		if !r.Backfilled {
			t.Errorf("%s of %v is not backfilled, want history", r.ID, r.PublishedAt)
		}
	}
	// The directory: companies with ticker and market, funds, managers.
	kinds := map[disclosure.Kind]int{}
	for _, i := range testMarket().Issuers() {
		if strings.Contains(i.Name, "TITULIZACI") || i.Kind == disclosure.Company && i.Market == "" {
			continue // in no register: known after their first report
		}
		got, ok := w.cat.Known().Issuer(i.ID)
		if !ok {
			t.Errorf("%s, %s, is not in the directory", i.ID, i.Name)
			continue
		}
		kinds[got.Kind]++
		if i.Kind == disclosure.Company && (got.Ticker != i.Ticker || got.Market != i.Market) {
			t.Errorf("%s has ticker %q and market %q, want %q and %q", i.Name, got.Ticker, got.Market, i.Ticker, i.Market)
		}
	}
	if kinds[disclosure.Company] < 100 || kinds[disclosure.Fund] < 150 || kinds[disclosure.Manager] < 30 {
		t.Errorf("the directory has %v", kinds)
	}
}

func TestLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	var ids []string
	for n := range 20 {
		ids = append(ids, w.publish(fmt.Sprintf(`{"type":"%s"}`, []string{"ip", "oir", "oir"}[n%3])))
	}
	w.whole()
	for _, id := range ids {
		r := w.report(id)
		if r.Backfilled || r.TimeFrom != disclosure.FromFeed || r.EnrichedAt.IsZero() || r.AvailableAt.Before(r.FirstSeenAt) {
			t.Errorf("%s was not seen live: %+v", id, r)
		}
	}
	w.state(health.Live)
}

// TestOddReports publishes unusual reports: without document, with a shared link,
// related, correcting.
func TestOddReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	first := w.publish(`{"type":"oir","title":"La primera"}`)
	shared := `https://regulator.example/portal/aldia/detalleifialdia.aspx?nReg=2026028165`
	w.publish(`{"type":"oir","document":false}`)
	w.publish(fmt.Sprintf(`{"type":"oir","link":%q}`, shared))
	w.publish(fmt.Sprintf(`{"type":"oir","link":%q}`, shared))
	related := w.publish(fmt.Sprintf(`{"type":"oir","related":%q}`, first[len("oir-"):]))
	correction := w.publish(fmt.Sprintf(`{"type":"oir","corrects":%q}`, first[len("oir-"):]))
	w.whole()
	w.eventually(func() error {
		r := w.report(first)
		var with []string
		for _, other := range r.Related {
			with = append(with, other.ID)
		}
		if slices.Sort(with); !slices.Equal(with, []string{related, correction}) {
			return fmt.Errorf("%s: got relations %v, want %s and %s", first, r.Related, related, correction)
		}
		if r.CorrectedBy != correction {
			return fmt.Errorf("%s is corrected by %q, want %s", first, r.CorrectedBy, correction)
		}
		return nil
	})
	for _, id := range []string{related, correction} {
		if r := w.report(id); len(r.Related) != 1 || r.Related[0].ID != first || r.CorrectedBy != "" {
			t.Errorf("%s: got relations %v, want only %s", id, r.Related, first)
		}
	}
}

// TestNumberTwice: the register has been seen to give a number twice. One of
// the two is kept, and they do not alternate.
func TestNumberTwice(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	w := newWorld(t)
	w.start()
	first := w.publish(`{"type":"oir","title":"Una"}`)
	w.eventually(func() error { return w.has(first) })
	w.publish(fmt.Sprintf(`{"type":"oir","title":"Otra","number":%q}`, first[len("oir-"):]))
	next := w.publish(`{"type":"oir"}`)
	w.eventually(func() error { return w.has(next) })
	w.rounds(2) // the lists may prefer the other of the two
	before := w.changesOf(first)
	w.rounds(3)
	if changes := w.changesOf(first)[len(before):]; len(changes) > 1 { // one may have been under way
		t.Errorf("%s changed without a new report: %+v", first, changes)
	}
}

// rounds waits until the lists of OIR were read n times.
func (w *world) rounds(n int) {
	w.Helper()
	for range n {
		last := w.coverage.Time(roundClock(disclosure.OIR))
		w.eventually(func() error {
			if !w.coverage.Time(roundClock(disclosure.OIR)).After(last) {
				return errors.New("the lists are not read again")
			}
			return nil
		})
	}
}

// changesOf returns the changes of a report.
func (w *world) changesOf(id string) (out []disclosure.Change) {
	w.Helper()
	changes, err := w.store.Changes(w.Context(), 0, 1_000_000)
	if err != nil {
		w.Fatal(err)
	}
	for _, c := range changes {
		if c.Subject() == id {
			out = append(out, c)
		}
	}
	return out
}

// has returns an error unless a report is stored and complete.
func (w *world) has(id string) error {
	if r := w.report(id); r == nil || r.EnrichedAt.IsZero() {
		return fmt.Errorf("%s is missing or incomplete: %+v", id, r)
	}
	return nil
}

// TestFeedCut: at the close the feed drops the reports of the day, and may never have
// shown the last ones.
func TestFeedCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.publish(`{"type":"oir"}`)
	w.whole()
	w.arm(`{"kind":"feedcut","surface":"feed","by":"1ms","for":"1h"}`)
	id := w.publish(`{"type":"oir"}`)
	w.whole()
	if r := w.report(id); r.TimeFrom != disclosure.FromPermalink || r.Backfilled {
		t.Errorf("%s: got time from %s, backfilled %v; want its page, not backfilled", id, r.TimeFrom, r.Backfilled)
	}
}

// TestLateRegistration: a report with a number of today appears in the list of a day
// that was read already.
func TestLateRegistration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	late := time.Now().Add(-26 * time.Hour).Truncate(time.Second)
	later := time.Now().Add(-100 * time.Hour).Truncate(time.Second)
	w.publish(fmt.Sprintf(`{"type":"oir","published_at":%q}`, late.Format(time.RFC3339)))
	w.publish(fmt.Sprintf(`{"type":"oir","published_at":%q}`, later.Format(time.RFC3339)))
	w.publish(`{"type":"oir"}`) // after them, so that their numbers are gaps
	w.whole()
}

// TestGaps: a number that was never used is looked up once.
func TestGaps(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	w := newWorld(t)
	w.start()
	for _, series := range []disclosure.Type{disclosure.OIR, disclosure.HR} {
		first := w.publish(fmt.Sprintf(`{"type":%q}`, series))
		_, n, _ := disclosure.ParseReportID(first)
		w.publish(fmt.Sprintf(`{"type":%q,"number":"%d"}`, series, n+3))
		w.eventually(func() error {
			if w.coverage.Absent(series, n+1).IsZero() || w.coverage.Absent(series, n+2).IsZero() {
				return fmt.Errorf("the missing numbers of %s are not stored as absent", series)
			}
			return nil
		})
		if !w.coverage.Absent(series, n+3).IsZero() || !w.coverage.Absent(series, n).IsZero() {
			t.Errorf("a published number of %s is stored as absent", series)
		}
	}
	w.whole()
}

// TestWhileAway: reports published while ingest is stopped are found at the next
// start, and are not history.
func TestWhileAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, stop := w.start()
	w.publish(`{"type":"ip"}`)
	w.whole()
	stop()
	w.arm(`{"kind":"feedcut","surface":"feed","by":"1ms","for":"1h"}`) // the feed has dropped them since
	var ids []string
	for range 25 {
		ids = append(ids, w.publish(`{"type":"oir"}`))
	}
	w.start()
	w.whole()
	for _, id := range ids {
		if w.report(id).Backfilled {
			t.Errorf("%s was published while ingest was stopped, got backfilled, want new", id)
		}
	}
}

// TestIncompleteReport: a process that dies between the feed and the page leaves a
// report incomplete. The next process completes it, even when the feed has
// dropped the report.
func TestIncompleteReport(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	w := newWorld(t)
	_, stop := w.start()
	w.arm(`{"kind":"error500","surface":"permalink","for":"1h"}`)
	w.arm(`{"kind":"error500","surface":"list","for":"1h"}`)
	id := w.publish(`{"type":"oir"}`)
	w.eventually(func() error {
		if w.report(id) == nil {
			return errors.New("the report is not stored")
		}
		return nil
	})
	w.eventually(func() error {
		status, _ := w.coverage.Status()
		for _, r := range status.Reasons {
			if r.Surface == "permalink-oir" && status.State == health.Degraded {
				return nil
			}
		}
		return fmt.Errorf("the source is %s because of %v, want permalink-oir among the reasons", status.State, status.Reasons)
	})
	stop()
	if !w.report(id).EnrichedAt.IsZero() {
		t.Fatal("the page was read despite the fault")
	}
	w.disarm()
	w.arm(`{"kind":"feedcut","surface":"feed","by":"1ms","for":"1h"}`)
	w.start()
	w.whole()
}

func TestHR(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	id := w.publish(`{"type":"hr"}`)
	w.eventually(func() error {
		r := w.report(id)
		if r == nil {
			return fmt.Errorf("%s is not stored", id)
		}
		if r.TimeFrom == disclosure.FromList || r.EnrichedAt.IsZero() {
			return fmt.Errorf("%s: got time from %s, want its page or the feed", id, r.TimeFrom)
		}
		return w.truthOf(id, disclosure.HR).differs(r)
	})
	if covered := w.coverage.Covered(disclosure.HR, today()); covered.IsZero() {
		t.Error("today is not covered for HR")
	}
}

func (w *world) truthOf(id string, t disclosure.Type) filed {
	w.Helper()
	for _, f := range w.truth(today()-1, today(), t) {
		if f.ID == id {
			return f
		}
	}
	w.Fatalf("%s was not published", id)
	return filed{}
}
