package console

import (
	"context"
	"slices"
	"strings"
	"time"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/site/chart"
)

// maxSeries is how many operations have a colour of their own.
const maxSeries = 3

// usage returns the charts of the last days, by day and by operation.
func (c *Console) usage(q *request) ([]*chart.Chart, error) {
	found, err := do(c, q, manage, func(ctx context.Context, by access.Principal) (account.Usage, error) {
		return c.Account.UsageOf(ctx, by, q.other(), account.LatestUsage())
	})
	if err != nil {
		return nil, err
	}
	out := []*chart.Chart{q.usageByDay(&found)}
	if len(found.Operations) > 0 {
		out = append(out, q.usageByOperation(&found))
	}
	return out, nil
}

// usageByDay draws a bar for each day, with the operations that are used most. What
// is left of them is the last series.
func (q *request) usageByDay(found *account.Usage) *chart.Chart {
	series := []chart.Series{
		{Class: "first"},
		{Class: "second"},
		{Class: "third"},
		{Class: "rest", Name: q.e.Text("usage.rest")},
	}
	series = series[:min(len(series), len(found.Operations))]
	for i := range min(maxSeries, len(series)) {
		series[i].Name = found.Operations[i].Operation
	}
	table := &chart.Table{Columns: []chart.Column{
		{Name: "date", Text: q.e.Text("chart.date")},
		chart.NumberColumn("total", q.e.Text("chart.total")),
	}}
	for _, one := range series {
		table.Columns = append(table.Columns, chart.NumberColumn(one.Name, one.Name))
	}
	var slots []chart.Slot
	for _, d := range found.Days {
		rest := int(d.Total)
		slot := q.daySlot(d.Date, rest)
		row := []chart.Cell{chart.TextCell(d.Date), {Text: q.e.Number(rest)}}
		for i, one := range series {
			n := rest
			if i < maxSeries {
				n = int(d.Operations[one.Name])
			}
			rest -= n
			slot.Values = append(slot.Values, n)
			row = append(row, chart.Cell{Text: q.e.Number(n)})
		}
		slots, table.Rows = append(slots, slot), append(table.Rows, row)
	}
	slices.Reverse(table.Rows)
	out := &chart.Chart{
		ID:      "usage",
		Caption: q.e.Text("usage.title"),
		Note:    q.e.Text("usage.note", len(found.Days)),
		Table:   table,
	}
	out.SetBars(chart.NewBars(slots, series, ""))
	return out
}

// daySlot returns the slot of a day without its values. Mondays have a label.
func (q *request) daySlot(date string, total int) (s chart.Slot) {
	day, ok := disclosure.ParseDay(date)
	if !ok {
		return s
	}
	weekday := day.Weekday()
	s.Title, s.Weekend = q.e.Day(day)+": "+q.e.Number(total), weekday == time.Saturday || weekday == time.Sunday
	if weekday == time.Monday {
		s.Label = strings.TrimSuffix(q.e.ShortDate(day.Start()), " "+date[:4])
	}
	return s
}

// usageByOperation ranks the operations.
func (q *request) usageByOperation(found *account.Usage) *chart.Chart {
	table := &chart.Table{Columns: []chart.Column{
		{Name: "operation", Text: q.e.Text("usage.operation")},
		chart.NumberColumn("total", q.e.Text("chart.total")),
	}}
	for _, o := range found.Operations {
		total := int(o.Total)
		table.Rows = append(table.Rows, []chart.Cell{
			chart.TextCell(o.Operation),
			{Text: q.e.Number(total), Number: total},
		})
	}
	return &chart.Chart{
		ID:      "operations",
		Caption: q.e.Text("usage.operations"),
		Table:   table,
		Ranks:   chart.RanksOf(table),
	}
}
