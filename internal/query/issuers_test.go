package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/query/querytest"
)

func TestSeveralIssuers(t *testing.T) {
	q, _, c := registers(t)
	s := c.Snapshot()
	many := func(n int) string {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("nobody%d", i)
		}
		return strings.Join(names, ",")
	}
	const unknown = querytest.UnknownLEI
	for given, want := range map[string]string{
		"":                             "",
		" ":                            "",
		"bvb":                          "A69000016",
		"BODEGAS DE VALDEBRISA, S.A.":  "A69000016",
		"bvb," + querytest.UnknownISIN: "A69000016," + unknown,
		"bodegas de valdebrisa, S.A. ," + querytest.UnknownISIN: "A69000016," + unknown,
		"bvb, A-69000016 ,,bvb":                                 "A69000016",
		strings.Repeat("bvb,", 120) + "A69000016":               "A69000016",
	} {
		p := query.NewParams(map[string][]string{"issuer": {given}})
		if got := p.LiveFilter(s).Issuer; got != want || p.Err() != nil {
			t.Errorf("%q: got %q, %v; want %q", given, got, p.Err(), want)
		}
	}
	for given, want := range map[string]string{
		",":                                   "Unknown issuer",
		"bvb,bodegass":                        `Unknown issuer "bodegass". Did you mean BODEGAS DE VALDEBRISA, S.A. (A69000016)?`,
		"bvb,nobody":                          `Unknown issuer "nobody".`,
		many(50):                              `Unknown issuer "nobody0".`,
		many(51):                              "may have 50 issuers at most, and has 51",
		many(51) + ",bvb,":                    "may have 50 issuers at most, and has 52",
		"bvb," + strings.Repeat("x", 201):     "may have 200 bytes at most for each issuer",
		strings.Repeat("x", 201):              "may have 200 bytes at most",
		"bvb," + strings.Repeat("x,y,", 3000): "may have 10050 bytes at most",
	} {
		for name, read := range map[string]func(*query.Params){
			"live":      func(p *query.Params) { p.LiveFilter(s) },
			"list":      func(p *query.Params) { p.Filter(s) },
			"facts":     func(p *query.Params) { p.FactList(s) },
			"calendar":  func(p *query.Params) { p.CalendarFeed(s, time.Now()) },
			"positions": func(p *query.Params) { p.PositionList(s, disclosure.Short) },
			"totals":    func(p *query.Params) { p.ShortTotals(s) },
		} {
			p := query.NewParams(map[string][]string{"issuer": {given}})
			read(p)
			if err := p.Err(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %.40q: %v, want %q", name, given, err, want)
			}
		}
	}
	list := func(values string, kind disclosure.PositionKind) (ids []string) {
		p := query.ParseQuery(values)
		l := p.PositionList(s, kind)
		if err := p.Err(); err != nil {
			t.Fatal(err)
		}
		found, err := q.Positions(t.Context(), s.Positions(), l)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found.Entries {
			ids = append(ids, e.ID())
		}
		return ids
	}
	both := "issuer=" + querytest.UnknownISIN + ",bvb"
	if got, all := list(both, disclosure.Short), list("", disclosure.Short); len(got) == 0 || !slices.Equal(got, all) {
		t.Errorf("the short positions in both issuers are %v, in all %v", got, all)
	}
	// A natural person is found within one issuer only.
	if got := list("holder=elena&"+both, disclosure.Holding); len(got) != 0 {
		t.Errorf("a natural person is found in several issuers: %v", got)
	}
	p := query.ParseQuery("person=elena&" + both)
	p.PositionList(s, disclosure.Dealing)
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "person needs one issuer") {
		t.Errorf("a person in several issuers: %v", err)
	}
	p = query.ParseQuery(both)
	p.ShortSeriesIssuer(s)
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "issuer must be one issuer") {
		t.Errorf("a series of several issuers: %v", err)
	}
	p = query.ParseQuery(both)
	totals := q.ShortTotals(s.Positions(), p.ShortTotals(s))
	if totals.Total != 2 || totals.Data[0].Percent != "1.5" {
		t.Errorf("the totals of both issuers are %+v", totals)
	}
}
