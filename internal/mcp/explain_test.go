package mcp_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/mcp"
	"pregon/internal/mcp/tools"
	"pregon/internal/store"
)

// An empty list says which of its words find something by themselves.
func TestEmptyList(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	got := s.call("search_reports", `{"search":"results dividendos zzzz","type":"OIR"}`).text()
	for _, want := range []string{
		"results (also resultados) 0 (1 without the other conditions)",
		"dividendos 1;", "zzzz 0.", "The other conditions alone match 2.", "Reports are in Spanish",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the text does not have %q: %s", want, got)
		}
	}
	got = s.call("search_reports", `{"type":"IP","to":"2020-03-01"}`).text()
	if want := "matches if one is left out: without type 0, without from and to 1."; !strings.Contains(got, want) {
		t.Errorf("want %q in %s", want, got)
	}
	if strings.Contains(got, "each word") {
		t.Errorf("a list without a search explains words: %s", got)
	}
	if got := s.call("search_reports", `{"to":"2020-03-01"}`).text(); strings.Contains(got, "left out") {
		t.Errorf("a list with one condition leaves it out: %s", got)
	}
	board := stating(902, time.Now().Add(-time.Hour), disclosure.Board, "action", "appointed")
	board.NIF = "A69000016"
	board.CompanyName = "BODEGAS DE VALDEBRISA, S.A."
	dividend := stating(903, time.Now().Add(-time.Hour), disclosure.Dividend, "gross_per_share", "0.25")
	s.append(store.Batch{Reports: []disclosure.Report{board, dividend}})
	got = s.call("list_facts", `{"search":"valdebrisa zzzz","kind":"dividend"}`).text()
	if want := "Facts that match each word alone: valdebrisa 0 (1 without the other conditions); zzzz 0. The other conditions alone match 1."; !strings.Contains(got, want) {
		t.Errorf("want %q in %s", want, got)
	}
	got = s.call("list_facts", `{"kind":"dividend","from":"2090-01-01"}`).text()
	if want := "left out: without from and to 1, without kind 0."; !strings.Contains(got, want) {
		t.Errorf("want %q in %s", want, got)
	}
	if got := s.call("search_reports", `{"search":"dividendos"}`).text(); strings.Contains(got, "each word") {
		t.Errorf("a list with a report explains words: %s", got)
	}
}

// An empty answer about days before all known reports does not read as if there were none then.
func TestEmptyDays(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	const known = "The oldest report here is of "
	for arguments, want := range map[string]bool{
		`{"to":"1999-12-31"}`: true,
		`{"from":"1999-01-01","to":"1999-12-31","search":"dividendo"}`: true,
		`{"from":"2090-01-01"}`:                 false,
		`{"search":"zzzz"}`:                     false,
		`{"search":"zzzz","from":"1999-01-01"}`: true,
	} {
		if got := s.call("search_reports", arguments).text(); strings.Contains(got, known) != want {
			t.Errorf("%s: got %s", arguments, got)
		}
	}
	if got := s.call("count_reports", `{"by":"type","to":"1999-12-31"}`).text(); !strings.Contains(got, known) {
		t.Errorf("count_reports: got %s", got)
	}
	if out, _ := s.inquire("What was published in 1999?"); !strings.Contains(out.Note, known) {
		t.Errorf("search: noted %s", out.Note)
	}
}

// The English terms that the instructions name are widened, and the tools that they name exist.
func TestInstructions(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	instructions := mcp.Offered().Instructions
	_, list, _ := strings.Cut(instructions, "English market terms in search (")
	list, _, found := strings.Cut(list, " and the like)")
	terms := strings.Split(list, ", ")
	if !found || len(terms) < 4 {
		t.Fatalf("the instructions name no terms: %s", instructions)
	}
	for _, term := range terms {
		if !s.catalog.Snapshot().Directory().Widens(term) {
			t.Errorf("the instructions say that %q is widened", term)
		}
	}
	for _, name := range regexp.MustCompile(`\b(?:search|get|list|read|count)_[a-z]+|service_status`).FindAllString(instructions, -1) {
		if _, err := tools.Named(name); err != nil {
			t.Error(err)
		}
	}
}
