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
		t.Errorf("the store is marked %q, %v: the source said it is a simulation", mark, err)
	}
	// What was filed before we looked is history, whichever surface told it.
	for _, r := range w.cat.Known().Since(time.Now().AddDate(0, 0, -firstDays)) {
		if !r.Backfilled {
			t.Errorf("%s of %v counts as news", r.ID, r.PublishedAt)
		}
	}
	// The directory: companies with ticker and market, funds, managers.
	kinds := map[disclosure.Kind]int{}
	for _, i := range testMarket().Issuers() {
		if strings.Contains(i.Name, "TITULIZACI") || i.Kind == disclosure.Company && i.Market == "" {
			continue // in no register: known once they file
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

// TestOddFilings are those that others fell over.
func TestOddFilings(t *testing.T) {
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
			return fmt.Errorf("%s has to do with %v, want %s and %s", first, r.Related, related, correction)
		}
		if r.CorrectedBy != correction {
			return fmt.Errorf("%s is corrected by %q, want %s", first, r.CorrectedBy, correction)
		}
		return nil
	})
	for _, id := range []string{related, correction} {
		if r := w.report(id); len(r.Related) != 1 || r.Related[0].ID != first || r.CorrectedBy != "" {
			t.Errorf("%s has to do with %v", id, r.Related)
		}
	}
}

// TestNumberTwice: the register has been seen to give a number twice. One of
// the two stands, and they do not take turns.
func TestNumberTwice(t *testing.T) {
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
		t.Errorf("%s changed while nothing was filed: %+v", first, changes)
	}
}

// rounds waits until the lists of OIR were read so many times.
func (w *world) rounds(n int) {
	w.Helper()
	for range n {
		last := w.led.Time(roundClock(disclosure.OIR))
		w.eventually(func() error {
			if !w.led.Time(roundClock(disclosure.OIR)).After(last) {
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

// has reports whether a report is there, and complete.
func (w *world) has(id string) error {
	if r := w.report(id); r == nil || r.EnrichedAt.IsZero() {
		return fmt.Errorf("%s is not there, or not whole: %+v", id, r)
	}
	return nil
}

// TestFeedCut: at the close the feed forgets the day. What came just before it
// may never have been shown there.
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
		t.Errorf("%s was told by %s, backfilled %v; want its page, for the seconds", id, r.TimeFrom, r.Backfilled)
	}
}

// TestLateRegistration: a report that turns up in the list of a day that was
// read already, with a number of today.
func TestLateRegistration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	late := time.Now().Add(-26 * time.Hour).Truncate(time.Second)
	later := time.Now().Add(-100 * time.Hour).Truncate(time.Second)
	w.publish(fmt.Sprintf(`{"type":"oir","published_at":%q}`, late.Format(time.RFC3339)))
	w.publish(fmt.Sprintf(`{"type":"oir","published_at":%q}`, later.Format(time.RFC3339)))
	w.publish(`{"type":"oir"}`) // after it, so that their numbers are missed
	w.whole()
}

// TestGaps: a number that was never given out is asked for once.
func TestGaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	for _, series := range []disclosure.Type{disclosure.OIR, disclosure.HR} {
		first := w.publish(fmt.Sprintf(`{"type":%q}`, series))
		_, n, _ := disclosure.ParseReportID(first)
		w.publish(fmt.Sprintf(`{"type":%q,"number":"%d"}`, series, n+3))
		w.eventually(func() error {
			if w.led.Absent(series, n+1).IsZero() || w.led.Absent(series, n+2).IsZero() {
				return fmt.Errorf("the gap of %s is not explained", series)
			}
			return nil
		})
		if !w.led.Absent(series, n+3).IsZero() || !w.led.Absent(series, n).IsZero() {
			t.Errorf("what was published of %s counts as never published", series)
		}
	}
	w.whole()
}

// TestWhileAway: what is filed while nobody looks is healed, and is news.
func TestWhileAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, stop := w.start()
	w.publish(`{"type":"ip"}`)
	w.whole()
	stop()
	w.arm(`{"kind":"feedcut","surface":"feed","by":"1ms","for":"1h"}`) // and the feed has forgotten it since
	var ids []string
	for range 25 {
		ids = append(ids, w.publish(`{"type":"oir"}`))
	}
	w.start()
	w.whole()
	for _, id := range ids {
		if w.report(id).Backfilled {
			t.Errorf("%s was filed while we were away, and counts as history", id)
		}
	}
}

// TestHalfTold: a process that dies between the feed and the page leaves a
// report half told. The next one goes on with it, also when the feed has
// forgotten the report.
func TestHalfTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, stop := w.start()
	w.arm(`{"kind":"error500","surface":"permalink","for":"1h"}`)
	w.arm(`{"kind":"error500","surface":"list","for":"1h"}`)
	id := w.publish(`{"type":"oir"}`)
	w.eventually(func() error {
		if w.report(id) == nil {
			return errors.New("it is not there")
		}
		return nil
	})
	w.eventually(func() error {
		status, _ := w.led.Status()
		for _, r := range status.Reasons {
			if r.Surface == "permalink-oir" && status.State == health.Degraded {
				return nil
			}
		}
		return fmt.Errorf("the source is %s because of %v, want permalink-oir among the reasons", status.State, status.Reasons)
	})
	stop()
	if !w.report(id).EnrichedAt.IsZero() {
		t.Fatal("the page was read in spite of the fault")
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
			return fmt.Errorf("%s is not there", id)
		}
		if r.TimeFrom == disclosure.FromList || r.EnrichedAt.IsZero() {
			return fmt.Errorf("%s is known from %s only", id, r.TimeFrom)
		}
		return w.truthOf(id, disclosure.HR).differs(r)
	})
	if covered := w.led.Covered(disclosure.HR, today()); covered.IsZero() {
		t.Error("the day of HR was compared and does not count as such")
	}
}

func (w *world) truthOf(id string, t disclosure.Type) filed {
	w.Helper()
	for _, f := range w.truth(today()-1, today(), t) {
		if f.ID == id {
			return f
		}
	}
	w.Fatalf("%s was not filed", id)
	return filed{}
}
