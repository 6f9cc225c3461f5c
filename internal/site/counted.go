package site

import (
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/site/chart"
	"pregon/internal/site/render"
)

// countedDays is the longest period that is drawn by day. A longer one is drawn by month.
const countedDays = 92

// maxPeriods is more than the days or months of a chart.
const maxPeriods = 2000

// countedFigures returns the figures of the reports that meet conditions.
func (s *Site) countedFigures(q *request, list query.List) (*analyticsPage, error) {
	out := &analyticsPage{JSON: "/api/v1/reports/counts" + q.parameters("by", string(catalog.ByMonth))}
	types, err := s.counts(q, list, catalog.ByType, len(disclosure.Types))
	if err != nil {
		return nil, err
	}
	totals := catalog.Totals{All: types.Total}
	for _, c := range types.Data {
		if c.Value != nil {
			*countIn(&totals.ByType, disclosure.Type(*c.Value)) = c.Count
		}
	}
	out.Totals = q.totals(totals)
	if list.Filter.Type != "" {
		out.Totals = out.Totals[:1] // the others are 0
	}
	overTime, err := s.countedTime(q, list)
	if err != nil {
		return nil, err
	}
	out.Time = []*chart.Chart{overTime}
	out.Ranks, err = s.countedRanks(q, list)
	return out, err
}

// counts returns the first counts of the reports of a list by a dimension.
func (s *Site) counts(q *request, list query.List, by catalog.Dimension, most int) (*query.Counts, error) {
	list.Page = 1
	list.Limit = most
	return s.Query.Counts(q.Context(), q.snapshot, query.CountList{List: list, By: by})
}

// countedTime returns the chart of a list by day or by month, and type.
func (s *Site) countedTime(q *request, list query.List) (*chart.Chart, error) {
	months, err := s.countedPeriods(q, list, catalog.ByMonth)
	if err != nil {
		return nil, err
	}
	from, to := q.span(list.Filter, months)
	if to-from >= countedDays {
		return q.monthlyChart(from, to, months), nil
	}
	days, err := s.countedPeriods(q, list, catalog.ByDay)
	if err != nil {
		return nil, err
	}
	return q.dailyChart(from, to, days), nil
}

// countedPeriods returns the reports of a list by type in each day or month that has any.
func (s *Site) countedPeriods(q *request, list query.List, by catalog.Dimension) (map[string]catalog.Counts, error) {
	wanted := list.Filter.Type
	out := map[string]catalog.Counts{}
	for _, t := range disclosure.Types {
		if wanted != "" && wanted != t {
			continue
		}
		list.Filter.Type = t
		found, err := s.counts(q, list, by, maxPeriods)
		if err != nil {
			return nil, err
		}
		for _, c := range found.Data {
			counts := out[c.Name]
			*countIn(&counts, t) = c.Count
			out[c.Name] = counts
		}
	}
	return out, nil
}

// countIn returns where the number of a type is.
func countIn(c *catalog.Counts, t disclosure.Type) *int {
	switch t {
	case disclosure.IP:
		return &c.IP
	case disclosure.HR:
		return &c.HR
	}
	return &c.OIR
}

// span returns the days of a chart: those of the filter up to the present day. A long period
// begins with the first month that has reports.
func (q *request) span(f disclosure.Filter, months map[string]catalog.Counts) (from, to disclosure.Day) {
	to = disclosure.DayOf(q.now)
	if f.To != 0 {
		to = min(to, f.To)
	}
	if f.From != 0 && to-f.From < countedDays {
		return f.From, to
	}
	first := to
	for month := range months {
		first = min(first, parseDay(month+"-01"))
	}
	return max(f.From, first), to
}

// dailyChart draws reports by day.
func (q *request) dailyChart(from, to disclosure.Day, found map[string]catalog.Counts) *chart.Chart {
	var days []catalog.Daily
	for d := from; d <= to; d++ {
		counts := found[d.String()]
		days = append(days, catalog.Daily{
			Date:   d.String(),
			Total:  counts.IP + counts.HR + counts.OIR,
			Counts: counts,
		})
	}
	c := q.countedChart("days", q.dailyTable(days))
	if len(days) <= monthDays+1 {
		c.SetBars(q.typeBars(q.daySlots(days), ""))
	} else {
		c.SetBars(q.typeBars(q.daySlots(days), "wide"), q.typeBars(q.weekSlots(days), "narrow"))
	}
	q.explainCuts(c)
	return c
}

// monthlyChart draws reports by month.
func (q *request) monthlyChart(from, to disclosure.Day, found map[string]catalog.Counts) *chart.Chart {
	var months []catalog.Monthly
	start := from.Start()
	last := to.Start()
	first := time.Date(start.Year(), start.Month(), 1, 0, 0, 0, 0, disclosure.Madrid)
	for m := first; !m.After(last); m = m.AddDate(0, 1, 0) {
		name := m.Format("2006-01")
		counts := found[name]
		months = append(months, catalog.Monthly{
			Month:  name,
			Total:  counts.IP + counts.HR + counts.OIR,
			Counts: counts,
		})
	}
	list := func(begin, end string) string { // of the part of a month that is in the period
		return q.listOf("from", max(begin, from.String()), "to", min(end, to.String()))
	}
	c := q.countedChart("months", q.monthsTable(months, list))
	c.SetBars(q.typeBars(q.monthSlots(months, list), ""))
	q.explainCuts(c)
	return c
}

func (q *request) countedChart(id string, t *chart.Table) *chart.Chart {
	return q.typeChart(id, "/analytics/"+id+".csv"+q.parameters(), t)
}

// countedRank is a chart of the values of a dimension with the most reports.
type countedRank struct {
	id        string
	by        catalog.Dimension
	parameter string // of the filter
	most      int
}

var countedRanks = []countedRank{
	{"issuers", catalog.ByIssuer, "issuer", 10},
	{"markets", catalog.ByMarket, "market", 10},
	{"sectors", catalog.BySector, "sector", 10},
	{"categories", catalog.ByCategory, "category", 20},
}

// countedRanks returns the charts of issuers, markets, sectors and categories. One whose
// reports are all of one value has nothing to compare, and is left out.
func (s *Site) countedRanks(q *request, list query.List) (out []*chart.Chart, err error) {
	for _, rank := range countedRanks {
		found, err := s.counts(q, list, rank.by, rank.most)
		if err != nil {
			return nil, err
		}
		if len(found.Data) > 1 {
			out = append(out, q.countedRank(rank, found))
		}
	}
	return out, nil
}

func (q *request) countedRank(rank countedRank, found *query.Counts) *chart.Chart {
	e := q.edition
	t := &chart.Table{Columns: []chart.Column{
		{Name: rank.parameter, Text: e.Text("filter." + rank.parameter)},
		chart.NumberColumn("filings", e.Text("chart.reports")),
	}}
	for _, c := range found.Data {
		name := chart.Cell{Text: e.countName(rank.by, c), Value: c.Name}
		number := e.numberCell(c.Count)
		if c.Value != nil {
			name.URL = q.with("/analytics", rank.parameter, *c.Value)
			number.URL = q.listOf(rank.parameter, *c.Value)
		}
		t.Rows = append(t.Rows, []chart.Cell{name, number})
	}
	return &chart.Chart{
		ID:      rank.id,
		Caption: e.Text("chart.by." + rank.parameter),
		CSV:     "/analytics/" + rank.id + ".csv" + q.parameters(),
		Table:   t,
		Ranks:   chart.RanksOf(t),
	}
}

// countName returns the name of what is counted as pages show it.
func (e edition) countName(by catalog.Dimension, c query.Count) string {
	if by == catalog.ByIssuer {
		return disclosure.DisplayName(c.Name)
	}
	if by == catalog.BySector {
		return e.Sector(c.Name)
	}
	if e.Language == render.English && c.NameEN != nil {
		return *c.NameEN
	}
	return c.Name
}
