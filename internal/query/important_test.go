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
	"pregon/internal/store"
)

// Each day has its most important reports first, on whichever page they are.
func TestImportant(t *testing.T) {
	q, db, c := registers(t)
	fact := func(kind disclosure.FactKind) []disclosure.Fact { return []disclosure.Fact{{Kind: kind}} }
	var reports []disclosure.Report
	add := func(typ disclosure.Type, number int64, at, company string, facts []disclosure.Fact) {
		reports = append(reports, disclosure.Report{
			Type:        typ,
			Number:      number,
			CompanyName: company,
			Title:       "Prueba del orden",
			PublishedAt: querytest.Instant(at),
			Facts:       facts,
		})
	}
	const company = "ACEROS DE NAVALBRUMA, S.A."
	add(disclosure.OIR, 90001, "2026-06-02T08:00:00Z", company, fact(disclosure.Dividend))
	add(disclosure.OIR, 90002, "2026-06-02T09:00:00Z", company, nil)
	add(disclosure.IP, 9003, "2026-06-02T07:00:00Z", company, nil)
	add(disclosure.OIR, 90004, "2026-06-02T10:00:00Z", company, fact(disclosure.LiquidityContract))
	add(disclosure.OIR, 90005, "2026-06-02T11:00:00Z", "OTEROS 1, FONDO DE TITULIZACIÓN", nil)
	add(disclosure.OIR, 90006, "2026-06-02T06:00:00Z", company, fact(disclosure.Suspension))
	add(disclosure.OIR, 90007, "2026-06-02T12:00:00Z", company, nil)
	add(disclosure.OIR, 90008, "2026-06-03T06:00:00Z", company, nil)
	add(disclosure.IP, 9009, "2026-06-01T06:00:00Z", company, fact(disclosure.Takeover))
	querytest.Append(t, db, c, store.Batch{New: disclosure.Published, Reports: reports})
	want := "oir-90008 ip-9003 oir-90006 oir-90001 oir-90007 oir-90002 oir-90004 oir-90005 ip-9009"

	filter := disclosure.Filter{From: disclosure.DayOf(querytest.Instant("2026-06-01T10:00:00Z"))}
	for limit := 1; limit <= 10; limit++ {
		var got []string
		for page := 1; (page-1)*limit < len(reports); page++ {
			found, ordered, err := q.Important(t.Context(), c.Snapshot(), query.List{Filter: filter, Page: page, Limit: limit})
			if err != nil || !ordered || found.Total != len(reports) {
				t.Fatalf("limit %d, page %d: got %d of %d, ordered %t, error %v", limit, page, len(found.Reports), found.Total, ordered, err)
			}
			for _, r := range found.Reports {
				got = append(got, r.ID())
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("limit %d: got\n%s, want\n%s", limit, strings.Join(got, " "), want)
		}
	}
	found, _, err := q.Important(t.Context(), c.Snapshot(), query.List{Filter: filter, Page: 9, Limit: 9})
	if err != nil || len(found.Reports) != 0 {
		t.Errorf("after the last page: got %d reports, error %v", len(found.Reports), err)
	}
}

// A day with more reports than can be put in order has the newest first.
func TestImportantBounded(t *testing.T) {
	q, db, c := registers(t)
	at := querytest.Instant("2026-06-02T06:00:00Z")
	var reports []disclosure.Report
	for n := range 2001 {
		reports = append(reports, disclosure.Report{
			Type:        disclosure.OIR,
			Number:      int64(90000 + n),
			CompanyName: "ACEROS DE NAVALBRUMA, S.A.",
			Title:       fmt.Sprint("Prueba ", n),
			PublishedAt: at.Add(time.Duration(n) * time.Second),
		})
	}
	reports[0].Type = disclosure.IP
	for batch := range slices.Chunk(reports, 500) {
		querytest.Append(t, db, c, store.Batch{New: disclosure.Published, Reports: batch})
	}
	list := query.List{
		Filter: disclosure.Filter{From: disclosure.DayOf(at)},
		Page:   1,
		Limit:  5,
	}
	found, ordered, err := q.Important(t.Context(), c.Snapshot(), list)
	if err != nil || ordered || len(found.Reports) != 5 || found.Reports[0].ID() != "oir-92000" {
		t.Fatalf("got %d reports, ordered %t, error %v; want the newest first", len(found.Reports), ordered, err)
	}
	list.Filter.Type = disclosure.IP
	if _, ordered, err := q.Important(t.Context(), c.Snapshot(), list); err != nil || !ordered {
		t.Errorf("a few reports: ordered %t, error %v", ordered, err)
	}
}
