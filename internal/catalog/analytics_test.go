package catalog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

// figures returns the analytics as of now of reports published at some times.
func figures(t *testing.T, now string, published ...string) *catalog.Analytics {
	t.Helper()
	db := newStore(t)
	reports := make([]disclosure.Report, len(published))
	for i, at := range published {
		reports[i] = newReport(disclosure.OIR, int64(i+1), at, bodegas)
	}
	add(t, db, nil, reports...)
	return load(t, db).Snapshot().Analytics(newReport(disclosure.OIR, 1, now, bodegas).PublishedAt)
}

// days returns the days that have reports, and checks that there are 30 days.
func days(t *testing.T, a *catalog.Analytics) string {
	t.Helper()
	if len(a.Daily) != 30 {
		t.Fatalf("got %d days, want 30", len(a.Daily))
	}
	var out []string
	for i, d := range a.Daily {
		if day, ok := disclosure.ParseDay(d.Date); !ok || i > 0 && a.Daily[i-1].Date != (day-1).String() {
			t.Errorf("%s does not follow the day before", d.Date)
		}
		if d.Total > 0 {
			out = append(out, fmt.Sprintf("%s:%d", d.Date, d.Total))
		}
	}
	return strings.Join(out, " ")
}

// Days are Madrid days. Days of 23 and 25 hours each count as one day. The hour
// that occurs twice counts both times, and the skipped hour stays empty.
func TestAnalyticsAcrossClockChanges(t *testing.T) {
	spring := figures(t, "2026-04-10T12:00:00Z",
		"2026-03-28T22:59:59Z", // 28 March 23:59:59
		"2026-03-28T23:00:00Z", // 29 March 00:00:00
		"2026-03-29T00:59:59Z", // 01:59:59
		"2026-03-29T01:00:00Z", // 03:00:00: there is no second hour
		"2026-03-29T21:59:59Z", // 23:59:59
		"2026-03-29T22:00:00Z", // 30 March 00:00:00
	)
	if got, want := days(t, spring), "2026-03-28:1 2026-03-29:4 2026-03-30:1"; got != want {
		t.Errorf("got days %s, want %s", got, want)
	}
	if h := spring.Hours; h[0].Total != 2 || h[1].Total != 1 || h[2].Total != 0 || h[3].Total != 1 || h[23].Total != 2 {
		t.Errorf("hours in spring: %v", h)
	}
	autumn := figures(t, "2026-11-05T12:00:00Z",
		"2026-10-24T21:59:59Z", // 24 October 23:59:59
		"2026-10-24T22:00:00Z", // 25 October 00:00:00
		"2026-10-25T00:30:00Z", // 02:30 in summer time
		"2026-10-25T01:30:00Z", // 02:30 in winter time
		"2026-10-25T22:59:59Z", // 23:59:59
		"2026-10-25T23:00:00Z", // 26 October 00:00:00
	)
	if got, want := days(t, autumn), "2026-10-24:1 2026-10-25:4 2026-10-26:1"; got != want {
		t.Errorf("got days %s, want %s", got, want)
	}
	if h := autumn.Hours; h[0].Total != 2 || h[2].Total != 2 || h[23].Total != 2 {
		t.Errorf("hours in autumn: %v", h)
	}
	if w := autumn.Weekdays; w[5] != (catalog.Weekday{Weekday: "saturday", Total: 1}) || w[6] != (catalog.Weekday{Weekday: "sunday", Total: 4}) || w[0] != (catalog.Weekday{Weekday: "monday", Total: 1}) {
		t.Errorf("weekdays: %v", w)
	}
	var both [7][24]int
	both[5][23], both[6][0], both[6][2], both[6][23], both[0][0] = 1, 1, 2, 1, 1
	if autumn.WeekHours != both {
		t.Errorf("hours by weekday: %v", autumn.WeekHours)
	}
}

// The thirty days end with today, which begins at midnight in Madrid. Reports with
// a later date count in the totals and in no day.
func TestAnalyticsWindow(t *testing.T) {
	a := figures(t, "2026-04-22T22:00:00Z", // 00:00 of the 23rd
		"2026-04-23T22:00:00Z", // tomorrow
		"2026-04-23T21:59:59Z", // today, later
		"2026-04-22T22:00:00Z", // today
		"2026-04-22T21:59:59Z", // yesterday
		"2026-03-24T23:00:00Z", // 25 March 00:00, the first day
		"2026-03-24T22:59:59Z", // the day before it
	)
	if got, want := days(t, a), "2026-03-25:1 2026-04-22:1 2026-04-23:2"; got != want {
		t.Errorf("got days %s, want %s", got, want)
	}
	if a.Daily[29].Date != "2026-04-23" || a.Totals.All != 6 {
		t.Errorf("today is %s, all are %d", a.Daily[29].Date, a.Totals.All)
	}
	if at := a.GeneratedAt.Format(time.RFC3339); at != "2026-04-23T00:00:00+02:00" {
		t.Errorf("unexpected time of the figures: %s", at)
	}
}

// The pace compares today up to now with the same weekday, up to the same time
// on the clock, of the last eight weeks.
func TestPace(t *testing.T) {
	const now = "2026-04-22T10:00:00Z" // Wednesday, 12:00
	ratio := func(f float64) *float64 { return &f }
	for _, test := range []struct {
		name      string
		published string
		want      catalog.Pace
	}{
		{"nothing", "", catalog.Pace{}},
		{"nothing usual", "2026-04-22T08:00:00Z", catalog.Pace{Today: 1}},
		{"now counts and later does not", "2026-04-22T10:00:00Z 2026-04-22T10:00:01Z 2026-04-15T10:00:00Z 2026-04-15T10:00:01Z", catalog.Pace{Today: 1, Usual: 1.0 / 8, Ratio: ratio(8)}},
		{"eight weeks and not nine", "2026-02-25T08:00:00Z 2026-02-18T08:00:00Z", catalog.Pace{Usual: 1.0 / 8, Ratio: ratio(0)}},
		{"other weekdays", "2026-04-21T08:00:00Z 2026-04-16T08:00:00Z", catalog.Pace{}},
		// Before the clocks changed noon was at 11:00 UTC.
		{"the clock and not the sun", "2026-03-25T11:00:00Z 2026-03-25T11:00:01Z", catalog.Pace{Usual: 1.0 / 8, Ratio: ratio(0)}},
		{"as usual", "2026-04-22T08:00:00Z 2026-04-15T08:00:00Z 2026-04-08T08:00:00Z 2026-04-01T08:00:00Z 2026-03-25T08:00:00Z " +
			"2026-03-18T08:00:00Z 2026-03-11T08:00:00Z 2026-03-04T08:00:00Z 2026-02-25T08:00:00Z", catalog.Pace{Today: 1, Usual: 1, Ratio: ratio(1)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, figures(t, now, strings.Fields(test.published)...).Pace); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The lists of categories, issuers and markets have their own orders, which
// include ties.
func TestAnalyticsTops(t *testing.T) {
	db := newStore(t)
	with := func(r disclosure.Report, nif, category string) disclosure.Report {
		r.NIF, r.Category = nif, category
		return r
	}
	add(t, db,
		[]disclosure.Issuer{
			{NIF: "A69000016", Name: bodegas, Ticker: "BVB", Market: "SIBE", Sector: "INDUSTRIA ALIMENTARIA"},
			{NIF: "A69000024", Name: aceros, Market: "BME Growth", Sector: "METALICAS BASICAS"},
			{NIF: "A69000032", Name: "CARTONAJES DE URDANABE, S.L.", Market: "Latibex", Sector: "METALICAS BASICAS"}, // has no reports
			{ID: "fi-4720", Name: "ARDAZUL RENTA FIJA, FI"},
		},
		with(newReport(disclosure.IP, 1, "2026-04-22T08:00:00Z", "OLD NAME"), "A69000016", "Sobre resultados - Sobre dividendos"),
		with(newReport(disclosure.OIR, 2, "2026-04-21T08:00:00Z", bodegas), "A69000016", "SOBRE  RESULTADOS"), // the same category
		with(newReport(disclosure.OIR, 3, "2026-01-01T08:00:00Z", aceros), "A69000024", "Sobre resultados"),   // too old to be active
		with(newReport(disclosure.HR, 4, "2026-04-20T08:00:00Z", "NOT LISTED, S.A."), "A69000040", ""),
		with(newReport(disclosure.HR, 5, "2026-04-20T08:00:00Z", "UNKNOWN, S.A."), "", ""),
	)
	a := load(t, db).Snapshot().Analytics(time.Date(2026, 4, 22, 10, 0, 0, 0, time.UTC))
	bvb := "BVB"
	want := &catalog.Analytics{
		Totals: catalog.Totals{All: 5, ByType: catalog.Counts{IP: 1, HR: 2, OIR: 2}},
		Categories: []catalog.CategoryUse{
			{Category: "Sobre resultados", English: "Results", Total: 3},
			{Category: "Sobre dividendos", English: "Sobre dividendos (es)", Total: 1},
		},
		Issuers: []catalog.IssuerUse{{ID: "A69000016", Name: bodegas, Ticker: &bvb, Total: 2}, {ID: "A69000040", Name: "NOT LISTED, S.A.", Total: 1}},
		Markets: []catalog.MarketUse{{Market: "SIBE", Reports: 2, Issuers: 1}, {Market: "BME Growth", Reports: 1, Issuers: 1}, {Market: "Latibex", Issuers: 1}},
		Sectors: []catalog.SectorUse{{Sector: "INDUSTRIA ALIMENTARIA", Reports: 2, Issuers: 1}, {Sector: "METALICAS BASICAS", Reports: 1, Issuers: 2}},
	}
	got := &catalog.Analytics{Totals: a.Totals, Categories: a.Categories, Issuers: a.Issuers, Markets: a.Markets, Sectors: a.Sectors}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The figures are computed once a minute, and again for a new snapshot.
func TestAnalyticsAreKeptForAMinute(t *testing.T) {
	db := newStore(t)
	add(t, db, nil, newReport(disclosure.IP, 1, "2026-04-22T08:00:00Z", bodegas))
	c := load(t, db)
	at := time.Date(2026, 4, 22, 10, 0, 1, 0, time.UTC)
	first := c.Snapshot().Analytics(at)
	if again := c.Snapshot().Analytics(at.Add(58 * time.Second)); again != first {
		t.Error("the figures were computed twice in a minute")
	}
	if later := c.Snapshot().Analytics(at.Add(59 * time.Second)); later == first || !later.GeneratedAt.Equal(at.Add(59*time.Second)) {
		t.Errorf("a minute later the figures are as of %v", later.GeneratedAt)
	}
	add(t, db, nil, newReport(disclosure.IP, 2, "2026-04-22T08:00:00Z", bodegas))
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if updated := c.Snapshot().Analytics(at); updated.Totals.All != 2 || updated.AsOfSeq != 2 {
		t.Errorf("unexpected totals of a new snapshot: %+v", updated.Totals)
	}
}
