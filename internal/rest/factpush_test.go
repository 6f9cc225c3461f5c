package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// A stream by facts sends the change that brings them, not the one that published the
// report, nor the facts that are found again in history. A replay agrees with it. The
// change list and the list of reports have history too; a past state is without facts.
func TestStreamByFacts(t *testing.T) {
	s, header := startLive(t)
	from := s.feed.Newest()
	const q = "fact=buyback_programme&min_amount=50000000"
	l := s.listen("/api/v1/stream?"+q, header)
	l.want("hello", nil)
	all := s.listen("/api/v1/stream", header)
	all.want("hello", nil)
	// state appends the facts of a report, as the rules find them some time after it was
	// published.
	state := func(number int64, event disclosure.Event, kind disclosure.FactKind, fields map[string]string) {
		t.Helper()
		_, err := s.store.Append(t.Context(), store.Batch{New: event, Aside: []disclosure.Report{{
			ID:           fmt.Sprintf("ip-%d", number),
			Type:         disclosure.IP,
			Number:       number,
			Facts:        []disclosure.Fact{{Kind: kind, Fields: fields}},
			FactsRules:   1,
			FactsReadyAt: time.Now(),
		}}})
		s.must(err)
	}
	amount := func(text string) map[string]string {
		return map[string]string{"max_amount": text, "currency": "EUR"}
	}
	for i := range int64(5) {
		s.fileNow(90001 + i)
	}
	state(90001, disclosure.Published, disclosure.BuybackProgramme, amount("49999999"))
	state(90002, disclosure.Published, disclosure.BuybackProgramme, amount("50000000"))
	state(90003, disclosure.Published, disclosure.Dividend, map[string]string{"gross_per_share": "1"})
	state(90004, disclosure.Backfilled, disclosure.BuybackProgramme, amount("70000000"))
	state(90005, disclosure.Published, disclosure.BuybackProgramme, amount("60000000"))
	var seq int64
	check := func(l *listener) {
		t.Helper()
		for _, want := range []string{"ip-90002", "ip-90005"} {
			var got change
			if l.want("report.updated", &got); got.ID != want {
				t.Fatalf("got %+v, want %s", got, want)
			}
			seq = got.Seq
		}
	}
	check(l)
	replay := s.listen(fmt.Sprintf("/api/v1/stream?%s&after=%s", q, s.at(from)), header)
	replay.want("hello", nil)
	check(replay)
	var list struct{ Data []change }
	s.getWith(http.StatusOK, "/api/v1/changes?"+q+"&after="+s.at(from), header).decode(&list)
	var changes []string
	for _, c := range list.Data {
		changes = append(changes, c.ID+" "+c.Event)
	}
	want := []string{"ip-90002 report.updated", "ip-90004 report.backfilled", "ip-90005 report.updated"}
	if !slices.Equal(changes, want) {
		t.Errorf("changes: got %q, want %q", changes, want)
	}
	for i := range 9 { // of all changes that are no history
		want := "report.published"
		if i >= 5 {
			want = "report.updated"
		}
		all.want(want, nil)
	}

	reports := func(query string) string {
		t.Helper()
		return s.getWith(http.StatusOK, "/api/v1/reports?"+query, header).ids()
	}
	for query, want := range map[string]string{
		q:                                     "ip-90005 ip-90004 ip-90002",
		fmt.Sprintf("%s&as_of=%d", q, from+5): "", // published, without facts
		fmt.Sprintf("%s&as_of=%d", q, seq-1):  "ip-90004 ip-90002",
		fmt.Sprintf("%s&as_of=%d", q, seq):    "ip-90005 ip-90004 ip-90002",
		"fact=dividend":                       "ip-90003",
		fmt.Sprintf("as_of=%d&fact=dividend", from): "",
	} {
		if got := reports(query); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
	facets, err := s.catalog.Snapshot().Facets(t.Context(), disclosure.Filter{
		Fact:      disclosure.BuybackProgramme,
		MinAmount: "50000000",
		Currency:  "EUR",
	})
	if err != nil || facets.Total != 3 || facets.Types[0] != (catalog.Facet{Value: "IP", Total: 3}) {
		t.Errorf("the facets are %+v, %v", facets, err)
	}
}
