package console

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/site/chart"
)

// usage is the use of an account as the API returns it.
type usage struct {
	Days []struct {
		Date       string         `json:"date"`
		Total      int            `json:"total"`
		Operations map[string]int `json:"operations"`
	} `json:"days"`
	Operations []struct {
		Operation string `json:"operation"`
		Total     int    `json:"total"`
	} `json:"operations"`
}

// maxSeries is how many operations have a colour of their own.
const maxSeries = 3

// usage returns the charts of the last days, by day and by operation.
func (c *Console) usage(q *request) ([]*chart.Chart, error) {
	var found usage
	if err := c.call(q, http.MethodGet, "/api/v1/account/usage"+q.ownerQuery(), nil, &found); err != nil {
		return nil, err
	}
	out := []*chart.Chart{q.usageByDay(&found)}
	if len(found.Operations) > 0 {
		out = append(out, q.usageByOperation(&found))
	}
	return out, nil
}

// usageByDay draws a bar for each day, with the operations that are used most.
func (q *request) usageByDay(found *usage) *chart.Chart {
	var names []string
	for _, o := range found.Operations[:min(maxSeries, len(found.Operations))] {
		names = append(names, o.Operation)
	}
	series := []chart.Series{{Class: "first"}, {Class: "second"}, {Class: "third"}}[:len(names)]
	table := &chart.Table{Columns: []chart.Column{{Name: "date", Text: q.e.Text("chart.date")}, chart.NumberColumn("total", q.e.Text("chart.total"))}}
	for i, name := range names {
		series[i].Name = name
		table.Columns = append(table.Columns, chart.NumberColumn(name, name))
	}
	if len(found.Operations) > len(names) {
		rest := q.e.Text("usage.rest")
		series = append(series, chart.Series{Class: "rest", Name: rest})
		table.Columns = append(table.Columns, chart.NumberColumn("rest", rest))
	}
	var slots []chart.Slot
	for _, d := range found.Days {
		s := chart.Slot{}
		parts, row, rest := []string{}, []chart.Cell{chart.TextCell(d.Date), {Text: q.e.Number(d.Total)}}, d.Total
		for i, one := range series {
			n := rest
			if i < len(names) {
				n = d.Operations[one.Name]
				rest -= n
			}
			s.Values = append(s.Values, n)
			row = append(row, chart.Cell{Text: q.e.Number(n)})
			if n > 0 {
				parts = append(parts, one.Name+" "+q.e.Number(n))
			}
		}
		table.Rows = append(table.Rows, row)
		if day, ok := disclosure.ParseDay(d.Date); ok {
			s.Title = q.e.Day(day) + ": " + q.e.Number(d.Total)
			s.Weekend = day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
			if day.Weekday() == time.Monday {
				s.Label = strings.TrimSuffix(q.e.ShortDate(day.Start()), " "+d.Date[:4])
			}
		}
		if len(parts) > 0 {
			s.Title += " (" + strings.Join(parts, ", ") + ")"
		}
		slots = append(slots, s)
	}
	slices.Reverse(table.Rows)
	out := &chart.Chart{ID: "usage", Caption: q.e.Text("usage.title"), Note: q.e.Text("usage.note", len(found.Days)), Table: table}
	out.SetBars(chart.NewBars(slots, series, ""))
	return out
}

// usageByOperation ranks the operations.
func (q *request) usageByOperation(found *usage) *chart.Chart {
	table := &chart.Table{Columns: []chart.Column{{Name: "operation", Text: q.e.Text("usage.operation")}, chart.NumberColumn("total", q.e.Text("chart.total"))}}
	for _, o := range found.Operations {
		table.Rows = append(table.Rows, []chart.Cell{chart.TextCell(o.Operation), {Text: q.e.Number(o.Total), Number: o.Total}})
	}
	return &chart.Chart{ID: "operations", Caption: q.e.Text("usage.operations"), Table: table, Ranks: chart.RanksOf(table)}
}
