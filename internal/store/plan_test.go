package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

var (
	now       = time.Date(2026, 4, 22, 8, 0, 33, 123456789, time.UTC)
	micro     = time.Date(2026, 4, 22, 8, 0, 33, 123456000, time.UTC)
	yesterday = now.Add(-24 * time.Hour).Truncate(time.Microsecond)
)

func report(title string) disclosure.Report {
	return disclosure.Report{
		ID: "oir-40374", Type: disclosure.OIR, Number: 40374, CompanyName: "EJEMPLAR FICTICIA, S.A.", Title: title, PublishedAt: yesterday,
	}
}

// kept returns a report as the store has it, first seen at a given time.
func kept(title string, since time.Time) disclosure.Report {
	r := report(title)
	r.FirstSeenAt, r.AvailableAt = since, since
	return r
}

func withTitle(r disclosure.Report, title string) disclosure.Report {
	r.Title = title
	return r
}

func company(name string, former ...string) disclosure.Issuer {
	return disclosure.Issuer{ID: "A69001238", Name: name, FormerNames: former}
}

func TestPlan(t *testing.T) {
	change := func(event disclosure.Event, r disclosure.Report, changed ...string) disclosure.Change {
		return disclosure.Change{Event: event, OccurredAt: micro, Changed: changed, Report: &r}
	}
	issuer := func(i disclosure.Issuer, changed ...string) disclosure.Change {
		return disclosure.Change{Event: disclosure.IssuerUpdated, OccurredAt: micro, Changed: changed, Issuer: &i}
	}
	seen := report("Resultados")
	seen.FirstSeenAt = yesterday
	seenKept := kept("Resultados", micro)
	seenKept.FirstSeenAt, seenKept.Backfilled = yesterday, true
	history, historyKept := report("Resultados"), kept("Resultados", micro)
	history.Backfilled, historyKept.Backfilled = true, true
	comesLater := report("Resultados")
	comesLater.AvailableAt = now.Add(time.Hour)
	corrected, correctedKept := report("Dividendo"), kept("Dividendo", yesterday)
	corrected.CorrectedBy, correctedKept.CorrectedBy = "oir-40400", "oir-40400"
	correcting := report("Rectificación")
	correcting.ID, correcting.Number = "oir-40400", 40400
	correctingKept, correctingHistory := correcting, correcting
	correctingKept.FirstSeenAt, correctingKept.AvailableAt = micro, micro
	correctingHistory.Backfilled, correctingHistory.FirstSeenAt, correctingHistory.AvailableAt = true, yesterday, yesterday
	ancient := kept("Resultados", yesterday.AddDate(-2, 0, 0))
	ancient.PublishedAt = yesterday.AddDate(-2, 0, 0)
	ancientCorrected := disclosure.Report{ID: ancient.ID, Type: ancient.Type, Number: ancient.Number, CorrectedBy: "oir-40400"}
	ancientCorrectedKept := ancient
	ancientCorrectedKept.CorrectedBy = "oir-40400"
	ahead := kept("Resultados", yesterday.AddDate(0, 0, -1))
	ahead.PublishedAt = now.AddDate(1, 0, 0)
	late := kept("Resultados", yesterday)
	late.PublishedAt = yesterday.AddDate(0, 0, -3)

	for name, test := range map[string]struct {
		batch   store.Batch
		known   []any
		want    []disclosure.Change
		outcome store.Outcome
	}{
		"nothing": {},
		"a report of another store keeps its clocks and its origin": {
			batch:   store.Batch{Reports: []disclosure.Report{kept("Resultados", yesterday)}, New: disclosure.Backfilled},
			want:    []disclosure.Change{change(disclosure.Backfilled, kept("Resultados", yesterday))},
			outcome: store.Outcome{New: 1},
		},
		"a report with a future AvailableAt": {
			batch:   store.Batch{Reports: []disclosure.Report{comesLater}, New: disclosure.Backfilled},
			want:    []disclosure.Change{change(disclosure.Backfilled, historyKept)},
			outcome: store.Outcome{New: 1},
		},
		"a new report": {
			batch:   store.Batch{Reports: []disclosure.Report{report("Resultados")}, New: disclosure.Published},
			want:    []disclosure.Change{change(disclosure.Published, kept("Resultados", micro))},
			outcome: store.Outcome{New: 1},
		},
		"a back-filled report with an earlier FirstSeenAt": {
			batch:   store.Batch{Reports: []disclosure.Report{seen}, New: disclosure.Backfilled},
			want:    []disclosure.Change{change(disclosure.Backfilled, seenKept)},
			outcome: store.Outcome{New: 1},
		},
		"a new report marked as history": {
			batch:   store.Batch{Reports: []disclosure.Report{history}, New: disclosure.Published},
			want:    []disclosure.Change{change(disclosure.Published, historyKept)},
			outcome: store.Outcome{New: 1},
		},
		"a known report does not become history": {
			batch:   store.Batch{Reports: []disclosure.Report{history}, New: disclosure.Backfilled},
			known:   []any{kept("Resultados", yesterday)},
			outcome: store.Outcome{Unchanged: 1},
		},
		"a corrected report": {
			batch:   store.Batch{Reports: []disclosure.Report{corrected, corrected}, New: disclosure.Published},
			known:   []any{kept("Resultados", yesterday)},
			want:    []disclosure.Change{change(disclosure.Corrected, correctedKept, "title", "corrected_by")},
			outcome: store.Outcome{Updated: 1, Unchanged: 1},
		},
		"a report of years ago that a new one corrects": {
			batch: store.Batch{Reports: []disclosure.Report{correcting}, Aside: []disclosure.Report{ancientCorrected}},
			known: []any{ancient},
			want: []disclosure.Change{
				change(disclosure.Published, correctingKept),
				change(disclosure.Corrected, ancientCorrectedKept, "corrected_by"),
			},
			outcome: store.Outcome{New: 1},
		},
		"a report of today that one loaded as history corrects": {
			batch:   store.Batch{Reports: []disclosure.Report{correcting}, Aside: []disclosure.Report{corrected}},
			known:   []any{kept("Dividendo", yesterday), correctingHistory},
			want:    []disclosure.Change{change(disclosure.Backfilled, correctedKept, "corrected_by")},
			outcome: store.Outcome{Unchanged: 1},
		},
		"a correction learned while history is loaded": {
			batch:   store.Batch{Reports: []disclosure.Report{corrected}, New: disclosure.Backfilled},
			known:   []any{kept("Dividendo", yesterday)},
			want:    []disclosure.Change{change(disclosure.Backfilled, correctedKept, "corrected_by")},
			outcome: store.Outcome{Updated: 1},
		},
		"news of a report that was seen days ago and is dated next year": {
			batch: store.Batch{Aside: []disclosure.Report{withTitle(ahead, "Dividendo")}},
			known: []any{ahead},
			want:  []disclosure.Change{change(disclosure.Backfilled, withTitle(ahead, "Dividendo"), "title")},
		},
		"something learned about a report of years ago": {
			batch:   store.Batch{Aside: []disclosure.Report{withTitle(ancient, "Dividendo")}},
			known:   []any{ancient},
			want:    []disclosure.Change{change(disclosure.Backfilled, withTitle(ancient, "Dividendo"), "title")},
			outcome: store.Outcome{},
		},
		"something learned about a report that was loaded as history": {
			batch:   store.Batch{Aside: []disclosure.Report{report("Dividendo")}},
			known:   []any{withTitle(historyKept, "Resultados")},
			want:    []disclosure.Change{change(disclosure.Backfilled, withTitle(historyKept, "Dividendo"), "title")},
			outcome: store.Outcome{},
		},
		"something learned about a report that was read late": {
			batch:   store.Batch{Aside: []disclosure.Report{withTitle(late, "Dividendo")}},
			known:   []any{late},
			want:    []disclosure.Change{change(disclosure.Updated, withTitle(late, "Dividendo"), "title")},
			outcome: store.Outcome{},
		},
		"a corrected report that changes again": {
			batch:   store.Batch{Reports: []disclosure.Report{report("Dividendo")}, New: disclosure.Published},
			known:   []any{func() disclosure.Report { r := correctedKept; r.Title = "Resultados"; return r }()},
			want:    []disclosure.Change{change(disclosure.Updated, correctedKept, "title")},
			outcome: store.Outcome{Updated: 1},
		},
		"a known report": {
			batch:   store.Batch{Reports: []disclosure.Report{report("Resultados")}, New: disclosure.Published},
			known:   []any{kept("Resultados", yesterday)},
			outcome: store.Outcome{Unchanged: 1},
		},
		"a changed report keeps its clocks": {
			batch:   store.Batch{Reports: []disclosure.Report{report("Dividendo")}, New: disclosure.Backfilled},
			known:   []any{kept("Resultados", yesterday)},
			want:    []disclosure.Change{change(disclosure.Backfilled, kept("Dividendo", yesterday), "title")},
			outcome: store.Outcome{Updated: 1},
		},
		"a report three times in a batch": {
			batch: store.Batch{Reports: []disclosure.Report{report("Resultados"), report("Resultados"), report("Dividendo")}, New: disclosure.Published},
			want: []disclosure.Change{
				change(disclosure.Published, kept("Resultados", micro)),
				change(disclosure.Updated, kept("Dividendo", micro), "title"),
			},
			outcome: store.Outcome{New: 1, Updated: 1, Unchanged: 1},
		},
		"issuers come first": {
			batch: store.Batch{
				Reports: []disclosure.Report{report("Resultados")}, New: disclosure.Published,
				Issuers: []disclosure.Issuer{company("Uno")},
			},
			want:    []disclosure.Change{issuer(company("Uno")), change(disclosure.Published, kept("Resultados", micro))},
			outcome: store.Outcome{New: 2, NewIssuers: 1},
		},
		"Aside reports come last and are not counted": {
			batch: store.Batch{Reports: []disclosure.Report{report("Resultados")}, Aside: []disclosure.Report{report("Dividendo")}},
			want: []disclosure.Change{
				change(disclosure.Published, kept("Resultados", micro)),
				change(disclosure.Updated, kept("Dividendo", micro), "title"),
			},
			outcome: store.Outcome{New: 1},
		},
		"a renamed issuer, repeated": {
			batch:   store.Batch{Issuers: []disclosure.Issuer{company("Dos"), company("Dos")}},
			known:   []any{company("Uno")},
			want:    []disclosure.Change{issuer(company("Dos", "Uno"), "name", "former_names")},
			outcome: store.Outcome{Updated: 1, Unchanged: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			planned := store.Plan(test.batch, knownOf(test.known), now)
			if diff := cmp.Diff(test.want, planned.Changes); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if planned.Outcome != test.outcome {
				t.Errorf("outcome = %+v, want %+v", planned.Outcome, test.outcome)
			}
		})
	}
}

func knownOf(records []any) store.Known {
	known := store.Known{
		Issuers:   map[string]disclosure.Issuer{},
		Reports:   map[string]disclosure.Report{},
		Positions: map[string]disclosure.Position{},
	}
	for _, record := range records {
		switch r := record.(type) {
		case disclosure.Issuer:
			known.Issuers[r.ID] = r
		case disclosure.Report:
			known.Reports[r.ID] = r
		case disclosure.Position:
			known.Positions[r.ID] = r
		}
	}
	return known
}

// TestPlanSharesNothing: a change must not be modified when the next record of
// the batch is merged into the same subject.
func TestPlanSharesNothing(t *testing.T) {
	b := store.Batch{Issuers: []disclosure.Issuer{company("Uno"), company("Dos"), company("Tres")}}
	changes := store.Plan(b, knownOf(nil), now).Changes
	want := []disclosure.Issuer{company("Uno"), company("Dos", "Uno"), company("Tres", "Uno", "Dos")}
	for i, c := range changes {
		if diff := cmp.Diff(want[i], *c.Issuer); diff != "" {
			t.Errorf("change %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestOutcomeAdd(t *testing.T) {
	got := store.Outcome{Seq: 3, New: 1, Updated: 1, Unchanged: 1}.Add(store.Outcome{Seq: 7, New: 2, Updated: 2, Unchanged: 5})
	if want := (store.Outcome{Seq: 7, New: 3, Updated: 3, Unchanged: 6}); got != want {
		t.Errorf("sum = %+v, want %+v", got, want)
	}
}
