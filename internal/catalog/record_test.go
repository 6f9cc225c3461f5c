package catalog_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
)

// everything returns a report with every field set.
func everything() disclosure.Report {
	r := newReport(disclosure.OIR, 40374, "2026-04-22T08:00:33.5Z", bodegas)
	r.ID = "oir-40374"
	r.NIF, r.Ticker, r.Summary, r.Category = "A-69000016", "OWN", "Breve \"y\" <claro>.", "Sobre dividendos - Sobre negocio"
	r.PDFURL, r.SourceURL = "https://regulator.example/d?t=%7b1%7d", "https://regulator.example/s?nreg=40374"
	r.TimeFrom, r.Backfilled, r.CorrectedBy = disclosure.FromFeed, true, "oir-40400"
	r.Related = []disclosure.Relation{
		{ID: "ip-3123", Number: 3123, At: time.Date(2026, 4, 21, 5, 30, 0, 0, time.UTC), Text: "Rectifica «a» la \"anterior\""},
		{Number: 40400},
	}
	r.FirstSeenAt = r.PublishedAt.Add(1118 * time.Millisecond)
	r.AvailableAt = r.FirstSeenAt.Add(4321 * time.Microsecond)
	r.EnrichedAt = r.AvailableAt.Add(time.Minute)
	r.Document = disclosure.Document{Status: disclosure.DocumentReady, Link: r.PDFURL, SHA256: "0a", Type: "pdf", Bytes: 9, Pages: 3, Method: "ocr", Language: "es"}
	r.SummaryOf = "0a"
	r.SummaryMethod, r.SummaryLanguage, r.SummaryEN = "extractive", "es", "Short \"and\" clear."
	r.EvidenceEN = []disclosure.Evidence{{Text: "Short.", Page: 1, Quote: "Breve."}}
	r.Evidence = []disclosure.Evidence{{Text: "Breve «y» claro.", Page: 2, Quote: "Breve \"y\" claro."}}
	r.TextReadyAt = r.EnrichedAt.Add(1234 * time.Microsecond)
	r.SummaryReadyAt = r.TextReadyAt.Add(time.Second)
	r.Facts = []disclosure.Fact{
		{Kind: disclosure.Dividend, Fields: map[string]string{"gross_per_share": "0.25", "form": "cash", "added_later": "«x»"}},
		{Kind: disclosure.Meeting, Fields: map[string]string{"first_call": "2026-05-30T12:00"}},
		{Kind: "new_kind"},
	}
	r.FactsRules, r.FactsOf, r.FactsDetail = 200, "0a", strings.Repeat("0c", 32)
	r.FactsReadyAt = r.SummaryReadyAt
	return r
}

// kept returns a report from a catalogue that holds it.
func kept(t *testing.T, r disclosure.Report) catalog.Report {
	t.Helper()
	log := newMemoryLog()
	log.append(published(r))
	f, ok := load(t, log).Snapshot().Report(disclosure.ReportID(r.Type, r.Number))
	if !ok {
		t.Fatal("the report is not in the catalogue")
	}
	return f
}

// The catalogue keeps every field of a report, in any combination. A field that is
// new to Report fails here until it is kept.
func TestRecordKeepsEveryField(t *testing.T) {
	full := everything()
	check := func(what string, want disclosure.Report) {
		t.Helper()
		if diff := cmp.Diff(&want, kept(t, want).Decode()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("all", full)
	names := reflect.TypeFor[disclosure.Report]()
	needed := []string{"ID", "Type", "Number", "CompanyName", "Title", "PublishedAt"}
	for i := range names.NumField() {
		name := names.Field(i).Name
		if reflect.ValueOf(full).Field(i).IsZero() {
			t.Errorf("everything() does not set %s", name)
		}
		if slices.Contains(needed, name) {
			continue
		}
		without := full
		reflect.ValueOf(&without).Elem().Field(i).SetZero()
		check("without "+name, without)

		only := newReport(disclosure.IP, 7, "2026-04-22T08:00:00Z", aceros)
		only.ID = "ip-7"
		reflect.ValueOf(&only).Elem().Field(i).Set(reflect.ValueOf(full).Field(i))
		check("only "+name, only)
	}
	for _, surface := range []disclosure.Surface{"", disclosure.FromList, disclosure.FromPermalink, disclosure.FromFeed} {
		from := full
		from.TimeFrom = surface
		check("from "+string(surface), from)
	}
}

// The methods that return single texts agree with the decoded report.
func TestTexts(t *testing.T) {
	for _, text := range []string{
		"Dividendo", `Con "comillas"`, `Una \ barra al final \`, `\"`, `,"title":"otro"`, `"company_name":"otra","ticker":"X"`, "Ñandú & <b> €", "tab\ty salto\n", "\u2028", "\\u0022",
	} {
		r := everything()
		r.Title, r.CompanyName, r.Ticker = text+" t", text+" c", text+" k"
		f := kept(t, r)
		if f.Title() != r.Title || f.CompanyName() != r.CompanyName || f.Ticker() != r.Ticker || !f.Published().Equal(r.PublishedAt) {
			t.Errorf("%q: %q, %q, %q", text, f.Title(), f.CompanyName(), f.Ticker())
		}
	}
}

func TestClocks(t *testing.T) {
	r := everything()
	f := kept(t, r)
	at, seen, available, enriched, history := f.Clocks()
	if !at.Equal(r.PublishedAt) || !seen.Equal(r.FirstSeenAt) || !available.Equal(r.AvailableAt) || !enriched.Equal(r.EnrichedAt) || !history {
		t.Errorf("%v %v %v %v %v, want those of %+v", at, seen, available, enriched, history, r)
	}
	if f.Type() != disclosure.OIR {
		t.Errorf("unexpected type %s", f.Type())
	}
	bare := newReport(disclosure.HR, 7, "2026-04-22T08:00:00Z", aceros)
	bare.FirstSeenAt = time.Time{}
	at, seen, available, enriched, history = kept(t, bare).Clocks()
	if at.IsZero() || !seen.IsZero() || !available.IsZero() || !enriched.IsZero() || history {
		t.Errorf("of a report without clocks: %v %v %v %v %v", at, seen, available, enriched, history)
	}
}

// walked returns the reports of the tests of Numbers and Since.
func walked() []disclosure.Change {
	var changes []disclosure.Change
	for n, at := range []string{
		"2026-03-28T22:59:59Z", "2026-03-28T23:00:00Z", // the last second of the 28th in Madrid, and the first of the 29th
		"2026-03-29T21:59:59Z", "2026-03-29T22:00:00Z", // likewise, a day of 23 hours later
	} {
		for _, t := range disclosure.Types {
			changes = append(changes, published(newReport(t, int64(n+1), at, bodegas)))
		}
	}
	return changes
}

func day(t *testing.T, s string) disclosure.Day {
	t.Helper()
	d, ok := disclosure.ParseDay(s)
	if !ok && s != "" {
		t.Fatal(s)
	}
	return d
}

func TestNumbers(t *testing.T) {
	following(t, func(t *testing.T, f *follower) {
		for range f.Snapshot().Numbers(disclosure.HR, 0, 0) {
			t.Error("an empty catalogue has numbers")
		}
		for i, ch := range walked() { // in several segments
			add(t, f.db, nil, *ch.Report)
			f.at(t, int64(i+1), i+1)
		}
		moved := newReport(disclosure.HR, 4, "2026-03-20T08:00:00Z", bodegas)
		add(t, f.db, nil, moved)
		f.at(t, 13, 12)
		s := f.Snapshot()
		for _, test := range []struct {
			typ      disclosure.Type
			from, to string
			want     []int64
		}{
			{disclosure.IP, "", "", []int64{4, 3, 2, 1}},
			{disclosure.IP, "2026-03-29", "2026-03-29", []int64{3, 2}},
			{disclosure.OIR, "2026-03-29", "", []int64{4, 3, 2}},
			{disclosure.OIR, "", "2026-03-28", []int64{1}},
			{disclosure.HR, "", "", []int64{3, 2, 1, 4}},
			{disclosure.HR, "2026-03-30", "", nil},
			{disclosure.HR, "2026-03-29", "2026-03-28", nil},
		} {
			var got []int64
			for n, at := range s.Numbers(test.typ, day(t, test.from), day(t, test.to)) {
				got = append(got, n)
				r, _ := s.Report(disclosure.ReportID(test.typ, n))
				if !at.Equal(r.Decode().PublishedAt) || at.Location() != time.UTC {
					t.Errorf("%s %d has the time %v", test.typ, n, at)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s from %s to %s: %v, want %v", test.typ, test.from, test.to, got, test.want)
			}
		}
		for n := range s.Numbers(disclosure.IP, 0, 0) {
			if n != 4 {
				t.Errorf("after a stop came %d", n)
			}
			break
		}
	})
}

func TestSince(t *testing.T) {
	log := newMemoryLog()
	log.append(walked()...)
	s := load(t, log).Snapshot()
	for _, test := range []struct {
		since time.Time
		want  int
	}{
		{time.Time{}, 12},
		{time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC), 12},
		{time.Date(2026, 3, 28, 22, 59, 59, 0, time.UTC), 12},
		{time.Date(2026, 3, 28, 22, 59, 59, 1, time.UTC), 9},
		{time.Date(2026, 3, 29, 0, 0, 0, 0, disclosure.Madrid), 9},
		{time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC), 6},
		{time.Date(2026, 3, 29, 22, 0, 0, 0, time.UTC), 3},
		{time.Date(2026, 3, 29, 22, 0, 0, 1, time.UTC), 0},
		{time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), 0},
	} {
		var got []string
		for f := range s.Since(test.since) {
			got = append(got, f.Decode().ID)
		}
		var want []string
		for _, f := range reports(s, disclosure.Filter{}, 1, 100).Reports[:test.want] {
			want = append(want, f.Decode().ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("since %v: %v, want %v", test.since, got, want)
		}
	}
}

// bulk returns a log of simulated reports, as they come from the regulator's pages.
func bulk(b *testing.B, size int) *memoryLog {
	b.Helper()
	log := newMemoryLog()
	for r := range market.New(1).Bulk(size, time.Date(2026, 4, 22, 8, 0, 0, 0, time.UTC)) {
		r.TimeFrom, r.Backfilled = disclosure.FromList, true
		r.FirstSeenAt, r.AvailableAt, r.EnrichedAt = r.PublishedAt, r.PublishedAt, r.PublishedAt
		log.append(published(r))
	}
	return log
}

func loaded(b *testing.B, log *memoryLog) *catalog.Catalog {
	b.Helper()
	c := catalog.New(log, quiet)
	if err := c.Load(b.Context()); err != nil {
		b.Fatal(err)
	}
	return c
}

func BenchmarkLoad20k(b *testing.B) {
	log := bulk(b, 20_000)
	for b.Loop() {
		loaded(b, log)
	}
}

// BenchmarkNumbers350k walks all series.
func BenchmarkNumbers350k(b *testing.B) {
	s := loaded(b, bulk(b, 350_000)).Snapshot()
	for b.Loop() {
		n := 0
		for _, t := range disclosure.Types {
			for range s.Numbers(t, 0, 0) {
				n++
			}
		}
		if n != 350_000 {
			b.Fatal(n)
		}
	}
}
