package disclosure_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
)

func TestCompareDecimals(t *testing.T) {
	ordered := []string{"-20", "-3.5", "-3.25", "0", "0.0850", "0.09", "1", "1.5", "9.99", "10", "50000000", "50000000.01"}
	for i, a := range ordered {
		for k, b := range ordered {
			got := disclosure.CompareDecimals(a, b)
			if (got < 0) != (i < k) || (got > 0) != (i > k) {
				t.Errorf("CompareDecimals(%s, %s) = %d", a, b, got)
			}
		}
	}
	for _, same := range [][2]string{{"0", "-0.00"}, {"007", "7.0"}, {"1.50", "1.5"}, {"-2.0", "-2"}} {
		if got := disclosure.CompareDecimals(same[0], same[1]); got != 0 {
			t.Errorf("CompareDecimals(%s, %s) = %d", same[0], same[1], got)
		}
	}
}

func TestIsDecimal(t *testing.T) {
	for _, s := range []string{"0", "12", "0.0850", "-3.5"} {
		if !disclosure.IsDecimal(s) {
			t.Errorf("%q is refused", s)
		}
	}
	for _, s := range []string{"", "-", ".5", "5.", "1,5", "+1", "1e3", "--1", "1.2.3", " 1"} {
		if disclosure.IsDecimal(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}

// examined returns a report whose document was examined, and the observation that
// added the facts.
func examined() (report, observed disclosure.Report) {
	report = newReport()
	report.PDFURL = "https://regulator.example/d"
	report.Document = ready(report.PDFURL)
	observed = disclosure.Report{
		Facts:        []disclosure.Fact{{Kind: disclosure.Dividend, Fields: map[string]string{"form": "cash"}}},
		FactsRules:   2,
		FactsOf:      report.Document.SHA256,
		FactsDetail:  strings.Repeat("0d", 32),
		FactsReadyAt: report.PublishedAt.Add(5 * time.Second),
	}
	report.Facts = observed.Facts
	report.FactsRules = observed.FactsRules
	report.FactsOf = observed.FactsOf
	report.FactsDetail = observed.FactsDetail
	report.FactsReadyAt = observed.FactsReadyAt
	return report, observed
}

// without returns the report as it was before its document was examined.
func without(r disclosure.Report) disclosure.Report {
	document := r.Document
	r.ForgetDocument()
	r.Document = document
	return r
}

func TestMergeFacts(t *testing.T) {
	first, observed := examined()
	checkMerge(t, without(first), observed, first, "facts", "facts_ready_at")

	// Newer rules replace the facts. The clock keeps the time of the first.
	newer := observed
	newer.Facts = []disclosure.Fact{{Kind: disclosure.Dividend, Fields: map[string]string{"form": "scrip"}}}
	newer.FactsRules = 3
	newer.FactsReadyAt = observed.FactsReadyAt.Add(time.Hour)
	found := first
	found.Facts = newer.Facts
	found.FactsRules = 3
	checkMerge(t, first, newer, found, "facts")
	checkMerge(t, found, observed, found) // an earlier version of the rules, too late

	// Newer rules that find the same are recorded too, so that they are not applied again.
	same := observed
	same.FactsRules = 3
	recorded := first
	recorded.FactsRules = 3
	checkMerge(t, first, same, recorded, "facts")

	// A document that states nothing was examined too.
	none := disclosure.Report{FactsRules: 2, FactsOf: first.FactsOf, FactsReadyAt: first.FactsReadyAt}
	empty := without(first)
	empty.FactsRules = none.FactsRules
	empty.FactsOf = none.FactsOf
	empty.FactsReadyAt = none.FactsReadyAt
	checkMerge(t, without(first), none, empty, "facts", "facts_ready_at")

	// An import has no details, and takes none away.
	imported := observed
	imported.FactsDetail = ""
	checkMerge(t, first, imported, first)

	// Facts of one document are not kept for another.
	other := first.Document
	other.SHA256 = strings.Repeat("0b", 32)
	replaced := without(first)
	replaced.Document = other
	replaced.FactsReadyAt = first.FactsReadyAt
	checkMerge(t, first, disclosure.Report{Document: other}, replaced, "document", "facts")
	checkMerge(t, replaced, observed, replaced) // found too late

	// A later observation of the report does not change its facts.
	again := first
	again.ForgetDocument()
	checkMerge(t, first, again, first)
}

func TestWantsFacts(t *testing.T) {
	r, _ := examined()
	if r.WantsFacts(1) || r.WantsFacts(2) || !r.WantsFacts(3) {
		t.Error("WantsFacts does not compare the version of the rules")
	}
	if before := without(r); !before.WantsFacts(1) {
		t.Error("a document that was not examined does not want facts")
	}
	imported := r
	imported.FactsDetail = ""
	if !imported.WantsFacts(2) {
		t.Error("facts without what proves them are not found again")
	}
	r.FactsOf = strings.Repeat("0b", 32)
	if !r.WantsFacts(2) {
		t.Error("the facts of another document are taken for those of this one")
	}
	r.Document.Status = disclosure.DocumentFailed
	if r.WantsFacts(9) {
		t.Error("a document without text wants facts")
	}
}

// The API returns facts with rows and evidence, and does not state the version of the
// rules.
func TestReadReportOfAPI(t *testing.T) {
	const head = `{"type":"IP","id":"ip-1","company_name":"X","title":"Y","published_at":"2026-04-22T10:00:33+02:00",
		"document":{"status":"ready","sha256":"0a"},`
	r, err := disclosure.ReadReport([]byte(head + `"facts_ready_at":"2026-04-22T10:00:40+02:00","facts":[{"kind":"dividend",
		"fields":{"form":"cash"},"headline":"Dividendo","rows":[{"date":"2026-04-22"}],
		"evidence":{"form":{"page":1,"quote":"en efectivo","before":"","after":""}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []disclosure.Fact{{Kind: disclosure.Dividend, Fields: map[string]string{"form": "cash"}}}
	if diff := cmp.Diff(want, r.Facts); diff != "" || r.FactsRules != 1 || r.FactsOf != "0a" || r.FactsReadyAt.IsZero() {
		t.Errorf("got %+v: %s", r, diff)
	}
	for facts, rules := range map[string]int{`null`: 0, `[]`: 1} {
		r, err := disclosure.ReadReport([]byte(head + `"facts_ready_at":null,"facts":` + facts + `}`))
		if err != nil || r.Facts != nil || r.FactsRules != rules {
			t.Errorf("facts %s: got %v by the rules %d, want none by %d; %v", facts, r.Facts, r.FactsRules, rules, err)
		}
	}
}

func TestClipFacts(t *testing.T) {
	var facts []disclosure.Fact
	for range 400 {
		facts = append(facts, disclosure.Fact{Kind: disclosure.Dividend, Fields: map[string]string{"form": "cash"}})
	}
	clipped := disclosure.ClipFacts(facts)
	r := newReport()
	r.Facts = clipped
	r.FactsRules = 1
	if err := r.Validate(); err != nil || len(clipped) < 300 {
		t.Errorf("%d facts of %d are kept: %v", len(clipped), len(facts), err)
	}
	if few := disclosure.ClipFacts(facts[:7]); len(few) != 7 {
		t.Errorf("%d of 7 facts are kept", len(few))
	}
}
