package catalog

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
)

func encoded(r disclosure.Report) record {
	var e encoder
	return record(e.encode(&r))
}

func minimal() disclosure.Report {
	return disclosure.Report{
		ID:          "oir-1",
		Type:        disclosure.OIR,
		Number:      1,
		CompanyName: "EJEMPLAR FICTICIA, S.A.",
		Title:       "La sociedad informa",
		PublishedAt: time.Date(2026, 4, 22, 8, 0, 33, 0, time.UTC),
	}
}

// The facts take about as many bytes as their values.
func TestFactsAreSmall(t *testing.T) {
	r := minimal()
	r.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: strings.Repeat("0a", 32)}
	none := len(encoded(r))
	values := 0
	r.FactsRules = 1
	r.FactsOf = r.Document.SHA256
	r.FactsReadyAt = r.PublishedAt
	if got := len(encoded(r)) - none; got > 16 {
		t.Errorf("a document that was examined takes %d bytes, want 16 at most", got)
	}
	r.FactsDetail = strings.Repeat("0c", 32)
	r.Facts = []disclosure.Fact{{Kind: disclosure.Dividend, Fields: map[string]string{
		"gross_per_share": "0.25",
		"currency":        "EUR",
		"ex_date":         "2026-12-15",
		"payment_date":    "2026-12-17",
	}}}
	for _, value := range r.Facts[0].Fields {
		values += len(value)
	}
	if got := len(encoded(r)) - none; got > values+64 {
		t.Errorf("a fact with %d bytes of values takes %d bytes, want %d at most", values, got, values+64)
	}
	if diff := cmp.Diff(r.Facts, encoded(r).facts()); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// The search for documents that were not examined finds exactly those that want it.
func TestMayWantFacts(t *testing.T) {
	ready := minimal()
	ready.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: strings.Repeat("0a", 32)}
	failed := minimal()
	failed.Document = disclosure.Document{Status: disclosure.DocumentFailed}
	none := ready
	none.FactsRules = 2
	none.FactsOf = ready.Document.SHA256
	found := none
	found.Facts = []disclosure.Fact{{Kind: disclosure.Dividend}}
	found.FactsDetail = strings.Repeat("0c", 32)
	imported := found
	imported.FactsDetail = ""
	for _, r := range []disclosure.Report{minimal(), failed, ready, none, found, imported} {
		for rules := 1; rules <= 3; rules++ {
			if got := encoded(r).mayWantFacts(rules); got != r.WantsFacts(rules) {
				t.Errorf("mayWantFacts(%d) = %t for %+v", rules, got, r)
			}
		}
	}
}

// Every fact is read back as it was written, whatever its names and values.
func FuzzFacts(f *testing.F) {
	f.Add("dividend", "ex_date", "2026-12-15", "", "x", uint16(3), 1, "0a", strings.Repeat("0a", 32), int64(1))
	f.Add("", "", "", "\x00", "\xff", uint16(0), 0, "", "", int64(0))
	f.Add("new_kind", "new_field", strings.Repeat("á", 500), "meeting", "«»", uint16(300), 1<<30, strings.Repeat("0A", 32), "0b",
		int64(1_776_844_833_500_000))
	f.Fuzz(func(t *testing.T, kind, name, value, otherName, otherValue string, repeated uint16, rules int, of, detail string,
		ready int64,
	) {
		r := minimal()
		r.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: "0a"}
		fact := disclosure.Fact{
			Kind:   disclosure.FactKind(kind),
			Fields: map[string]string{name: value, otherName: otherValue},
		}
		for range repeated % 400 {
			r.Facts = append(r.Facts, fact, disclosure.Fact{Kind: fact.Kind}, disclosure.Fact{Fields: map[string]string{}})
		}
		r.FactsRules = rules
		r.FactsOf = of
		r.FactsDetail = detail
		r.FactsReadyAt = instant(uint64(ready))
		made := encoded(r)
		if diff := cmp.Diff(r.Facts, made.facts()); diff != "" {
			t.Errorf("facts (-want +got):\n%s", diff)
		}
		var l links
		if diff := cmp.Diff(&r, made.report(&l)); diff != "" {
			t.Errorf("report (-want +got):\n%s", diff)
		}
	})
}

func BenchmarkFacts(b *testing.B) {
	r := minimal()
	r.FactsRules = 1
	r.Facts = []disclosure.Fact{{Kind: disclosure.Dividend, Fields: map[string]string{
		"gross_per_share": "0.25",
		"currency":        "EUR",
		"ex_date":         "2026-12-15",
		"payment_date":    "2026-12-17",
	}}}
	made := encoded(r)
	for b.Loop() {
		made.facts()
	}
}

// countFacts agrees with facts.
func TestCountFacts(t *testing.T) {
	r := minimal()
	for _, kind := range []disclosure.FactKind{disclosure.Dividend, disclosure.Meeting, disclosure.Dividend, "new_kind"} {
		r.Facts = append(r.Facts, disclosure.Fact{Kind: kind, Fields: map[string]string{"ex_date": "2026-12-15", "new": "x"}})
	}
	r.Facts = append(r.Facts, disclosure.Fact{Kind: disclosure.Rating})
	made := encoded(r)
	for kind, want := range map[disclosure.FactKind]int{
		disclosure.Dividend: 2,
		disclosure.Meeting:  1,
		disclosure.Rating:   1,
		disclosure.Board:    0,
		"new_kind":          1,
		disclosure.AnyFact:  5,
	} {
		if got := made.countFacts(kind); got != want {
			t.Errorf("%d facts are %s, want %d", got, kind, want)
		}
	}
	if got := encoded(minimal()).countFacts(disclosure.AnyFact); got != 0 {
		t.Errorf("a report without facts has %d", got)
	}
}
