package calendar_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/disclosure/calendar"
)

// issued makes a statement of a report that was published on a day of 2026.
func issued(number int64, day string, facts ...disclosure.Fact) calendar.Statement {
	at, err := time.Parse("2006-01-02 15:04", "2026-"+day+" 08:00")
	if err != nil {
		panic(err)
	}
	return calendar.Statement{
		Report: &disclosure.Report{
			ID:          disclosure.ReportID(disclosure.OIR, number),
			Type:        disclosure.OIR,
			Number:      number,
			PublishedAt: at,
		},
		IssuerID: "A69000016",
		Issuer:   "BODEGAS, S.A.",
		Facts:    facts,
	}
}

// corrects marks a report as corrected by another, in the regulator's words.
func corrects(old, by calendar.Statement, words string) {
	old.Report.CorrectedBy = by.Report.ID
	by.Report.Related = append(by.Report.Related, disclosure.Relation{ID: old.Report.ID, Number: old.Report.Number, Text: words})
}

func fact(kind disclosure.FactKind, fields ...string) disclosure.Fact {
	f := disclosure.Fact{Kind: kind, Fields: map[string]string{}}
	for i := 0; i < len(fields); i += 2 {
		f.Fields[fields[i]] = fields[i+1]
	}
	return f
}

func dividend(fields ...string) disclosure.Fact { return fact(disclosure.Dividend, fields...) }

// show returns an entry as a line without its UID.
func show(e calendar.Entry) string {
	status := "confirmed"
	switch {
	case e.Cancelled:
		status = "cancelled"
	case e.Tentative:
		status = "tentative"
	}
	when := e.Day.String()
	if !e.Time.IsZero() {
		when = e.Time.Format("2006-01-02T15:04Z")
	}
	return fmt.Sprintf("%s %s %s %s seq %d", when, e.Kind, status, e.ReportID, e.Sequence)
}

// compare compares entries with lines.
func compare(t *testing.T, got []calendar.Entry, want ...string) {
	t.Helper()
	var lines []string
	uids := map[string]bool{}
	for _, e := range got {
		lines = append(lines, show(e))
		if uids[e.UID] {
			t.Errorf("two entries have the UID %s", e.UID)
		}
		uids[e.UID] = true
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// sameUIDs fails unless entries of a kind have the same UIDs before and after.
func sameUIDs(t *testing.T, kind calendar.Kind, before, after []calendar.Entry) {
	t.Helper()
	of := func(entries []calendar.Entry) (out []string) {
		for _, e := range entries {
			if e.Kind == kind {
				out = append(out, e.UID)
			}
		}
		slices.Sort(out)
		return out
	}
	if a, b := of(before), of(after); !slices.Equal(a, b) || len(a) == 0 {
		t.Errorf("the UIDs of %s were %q and are %q", kind, a, b)
	}
}

func TestEntries(t *testing.T) {
	got := calendar.Entries([]calendar.Statement{
		issued(1, "11-18",
			dividend("gross_per_share", "0.25", "currency", "EUR", "ex_date", "2026-12-15", "record_date", "2026-12-16", "payment_date", "2026-12-17"),
			fact(disclosure.Meeting, "meeting_kind", "ordinary", "first_call", "2026-12-20T12:00", "second_call", "2026-12-21T12:00"),
			fact(disclosure.BuybackProgramme, "event", "start", "ends_on", "2027-06-30"),
			fact(disclosure.Results, "period", "2026"),
			dividend("ex_date", "2026-02-30", "payment_date", "2026-12-18 25:00"), // no dates
		),
	})
	compare(t, got,
		"2026-12-15 ex_date confirmed oir-1 seq 0",
		"2026-12-16 record_date confirmed oir-1 seq 0",
		"2026-12-17 payment confirmed oir-1 seq 0",
		"2026-12-20T11:00Z meeting confirmed oir-1 seq 0",
		"2026-12-21T11:00Z second_call tentative oir-1 seq 0",
		"2027-06-30 programme_end confirmed oir-1 seq 0",
	)
	first := got[0]
	if first.TitleES != "BODEGAS, S.A.: fecha ex-dividendo (0,25 €)" || first.TitleEN != "BODEGAS, S.A.: ex-dividend date (€0.25)" ||
		!strings.HasPrefix(first.HeadlineEN, "Dividend of €0.25 gross per share") {
		t.Errorf("%+v", first)
	}
	without := issued(2, "11-18", dividend("ex_date", "2026-12-15"))
	without.IssuerID = ""
	compare(t, calendar.Entries([]calendar.Statement{without}))
}

// Another report about the same dates is about the same entries, and may add to them.
func TestReminder(t *testing.T) {
	one := issued(1, "11-01", fact(disclosure.Meeting, "first_call", "2026-12-20"))
	two := issued(2, "11-20", fact(disclosure.Meeting, "first_call", "2026-12-20T12:00"))
	three := issued(3, "11-21", fact(disclosure.Meeting, "first_call", "2026-12-20"))
	before := calendar.Entries([]calendar.Statement{one})
	after := calendar.Entries([]calendar.Statement{three, one, two})
	compare(t, after, "2026-12-20T11:00Z meeting confirmed oir-3 seq 2")
	sameUIDs(t, calendar.Meeting, before, after)
	other := issued(4, "11-22", fact(disclosure.Meeting, "first_call", "2026-12-20"))
	other.IssuerID = "A69000024"
	if got := calendar.Entries([]calendar.Statement{one, other}); len(got) != 2 {
		t.Errorf("two issuers share the entry %v", got)
	}
}

// Two dividends may be paid on one day.
func TestTwoOnOneDay(t *testing.T) {
	both := []disclosure.Fact{
		dividend("gross_per_share", "0.1", "currency", "EUR", "payment_date", "2026-12-17"),
		dividend("gross_per_share", "0.3", "currency", "EUR", "payment_date", "2026-12-17"),
	}
	one, two := issued(1, "11-01", both...), issued(2, "11-02", both...)
	before := calendar.Entries([]calendar.Statement{one})
	after := calendar.Entries([]calendar.Statement{one, two})
	if len(before) != 2 || len(after) != 2 {
		t.Fatalf("%v, %v", before, after)
	}
	sameUIDs(t, calendar.Payment, before, after)
}

func TestCorrections(t *testing.T) {
	stated := dividend("ex_date", "2026-12-15", "payment_date", "2026-12-17")
	tests := []struct {
		name  string
		words string
		facts []disclosure.Fact
		want  []string
	}{
		{
			"another date", "Rectifica",
			[]disclosure.Fact{dividend("ex_date", "2026-12-16", "payment_date", "2026-12-17")},
			[]string{"2026-12-16 ex_date confirmed oir-2 seq 2", "2026-12-17 payment confirmed oir-2 seq 2"},
		},
		{
			"one of two dates", "Rectifica",
			[]disclosure.Fact{dividend("payment_date", "2026-12-18")},
			[]string{"2026-12-15 ex_date tentative oir-2 seq 2", "2026-12-18 payment confirmed oir-2 seq 2"},
		},
		{
			"another kind", "Rectifica",
			[]disclosure.Fact{fact(disclosure.Meeting, "first_call", "2026-12-20")},
			[]string{
				"2026-12-15 ex_date cancelled oir-2 seq 2",
				"2026-12-17 payment cancelled oir-2 seq 2",
				"2026-12-20 meeting confirmed oir-2 seq 0",
			},
		},
		{
			"not read yet", "Rectifica", nil,
			[]string{"2026-12-15 ex_date tentative oir-2 seq 1", "2026-12-17 payment tentative oir-2 seq 1"},
		},
		{
			"states nothing", "Rectifica",
			[]disclosure.Fact{},
			[]string{"2026-12-15 ex_date tentative oir-2 seq 2", "2026-12-17 payment tentative oir-2 seq 2"},
		},
		{
			"annulled", "Anula",
			[]disclosure.Fact{},
			[]string{"2026-12-15 ex_date cancelled oir-2 seq 2", "2026-12-17 payment cancelled oir-2 seq 2"},
		},
		{
			"annulled, not read yet", "Deja sin efecto", nil,
			[]string{"2026-12-15 ex_date cancelled oir-2 seq 1", "2026-12-17 payment cancelled oir-2 seq 1"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			old := issued(1, "11-18", stated)
			before := calendar.Entries([]calendar.Statement{old})
			by := issued(2, "11-19", test.facts...)
			by.Facts = test.facts
			corrects(old, by, test.words)
			after := calendar.Entries([]calendar.Statement{by, old})
			compare(t, after, test.want...)
			sameUIDs(t, calendar.ExDate, before, after)
			sameUIDs(t, calendar.Payment, before, after)
			for _, e := range after {
				if e.ReportID == "oir-2" && strings.Contains(e.HeadlineEN, "15 December") {
					t.Errorf("%s still says %s", show(e), e.HeadlineEN)
				}
			}
		})
	}
}

// A correction may be corrected, and a date may be used again.
func TestChainOfCorrections(t *testing.T) {
	one := issued(1, "11-01", dividend("ex_date", "2026-12-15"))
	two := issued(2, "11-02", dividend("ex_date", "2026-12-16"))
	three := issued(3, "11-03", dividend("ex_date", "2026-12-17"))
	reminder := issued(4, "11-04", dividend("ex_date", "2026-12-17"))
	another := issued(5, "11-05", dividend("ex_date", "2026-12-15"))
	before := calendar.Entries([]calendar.Statement{one})
	corrects(one, two, "Rectifica")
	corrects(two, three, "Corrige")
	all := []calendar.Statement{one, two, three, reminder}
	after := calendar.Entries(all)
	compare(t, after, "2026-12-17 ex_date confirmed oir-4 seq 4")
	sameUIDs(t, calendar.ExDate, before, after)
	compare(t, calendar.Entries(append(all, another)),
		"2026-12-15 ex_date confirmed oir-5 seq 0",
		"2026-12-17 ex_date confirmed oir-4 seq 4")

	annulled := issued(6, "11-02")
	annulled.Facts = []disclosure.Fact{}
	again := issued(7, "11-03", dividend("ex_date", "2026-12-15"))
	first := issued(1, "11-01", dividend("ex_date", "2026-12-15"))
	corrects(first, annulled, "Anula")
	corrects(annulled, again, "Rectifica")
	after = calendar.Entries([]calendar.Statement{first, annulled, again})
	compare(t, after, "2026-12-15 ex_date confirmed oir-7 seq 4")
	sameUIDs(t, calendar.ExDate, before, after)
}

// Reports that correct each other in a circle, or themselves, end.
func TestCircle(t *testing.T) {
	one := issued(1, "11-01", dividend("ex_date", "2026-12-15"))
	two := issued(2, "11-02", dividend("ex_date", "2026-12-16"))
	three := issued(3, "11-03", dividend("ex_date", "2026-12-17"))
	corrects(one, two, "")
	corrects(two, one, "")
	corrects(three, three, "")
	compare(t, calendar.Entries([]calendar.Statement{one, two, three}),
		"2026-12-16 ex_date confirmed oir-2 seq 2",
		"2026-12-17 ex_date confirmed oir-3 seq 0")
}

func TestProgrammes(t *testing.T) {
	programme := func(fields ...string) disclosure.Fact { return fact(disclosure.BuybackProgramme, fields...) }
	start := issued(1, "03-01", programme("event", "start", "ends_on", "2026-12-31"))
	before := calendar.Entries([]calendar.Statement{start})
	moved := calendar.Entries([]calendar.Statement{
		start, issued(2, "10-01", programme("event", "change", "ends_on", "2027-06-30")),
	})
	compare(t, moved, "2027-06-30 programme_end confirmed oir-2 seq 1")
	sameUIDs(t, calendar.ProgrammeEnd, before, moved)
	ended := calendar.Entries([]calendar.Statement{start, issued(2, "10-01", programme("event", "end"))})
	compare(t, ended, "2026-12-31 programme_end cancelled oir-2 seq 1")
	suspended := calendar.Entries([]calendar.Statement{start, issued(2, "10-01", programme("event", "suspension"))})
	compare(t, suspended, "2026-12-31 programme_end confirmed oir-1 seq 0")
	second := issued(2, "04-01", programme("event", "start", "ends_on", "2026-11-30"))
	several := calendar.Entries([]calendar.Statement{start, second, issued(3, "10-01", programme("event", "end"))})
	compare(t, several,
		"2026-11-30 programme_end confirmed oir-2 seq 0",
		"2026-12-31 programme_end confirmed oir-1 seq 0")
}

// The order in which reports are given does not matter.
func TestOrderOfReports(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 39))
	var all []calendar.Statement
	for n := range int64(60) {
		s := issued(n+1, fmt.Sprintf("%02d-%02d", 1+n/10, 1+n%28),
			dividend("ex_date", fmt.Sprintf("2026-12-%02d", 1+random.IntN(20))),
			fact(disclosure.BuybackProgramme, "event", []string{"start", "change", "end"}[random.IntN(3)], "ends_on", "2027-01-05"))
		s.IssuerID = fmt.Sprint("I", random.IntN(3))
		all = append(all, s)
		if n > 5 && random.IntN(2) == 0 {
			corrects(all[n-1-random.Int64N(5)], s, []string{"Rectifica", "Anula"}[random.IntN(2)])
		}
	}
	want := calendar.Entries(all)
	for range 20 {
		random.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		if got := calendar.Entries(all); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}
