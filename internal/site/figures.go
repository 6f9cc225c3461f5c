package site

import (
	"slices"
	"strconv"
	"time"

	"pregon/internal/server/content"
	"pregon/internal/site/chart"
	"pregon/internal/site/render"
)

// newHeat draws the reports by weekday, Monday first, and hour.
func (e edition) newHeat(hours [7][24]int) *chart.Heat {
	h := &chart.Heat{}
	highest := 1
	for _, day := range hours {
		highest = max(highest, slices.Max(day[:]))
	}
	for d, day := range hours {
		weekday := time.Weekday((d + 1) % 7)
		h.Weekdays = append(h.Weekdays, e.ShortWeekday(weekday))
		for hour, n := range day {
			if n > 0 {
				h.Cells = append(h.Cells, chart.HeatCell{
					X:     chart.Percent(hour, 24),
					Width: chart.Percent(1, 25),
					Y:     d * chart.HeatRow,
					Level: 1 + (chart.HeatLevels-1)*n/highest,
					Title: e.Weekday(weekday) + ", " + hourName(hour) + ": " + e.Number(n),
				})
			}
		}
	}
	for hour := 0; hour < 24; hour += 3 {
		h.Labels = append(h.Labels, chart.Label{
			X:      chart.Percent(hour, 24),
			Text:   strconv.Itoa(hour),
			Anchor: "start",
			Minor:  hour%6 != 0,
		})
	}
	return h
}

// hourName returns an hour of the day as a period.
func hourName(hour int) string { return strconv.Itoa(hour) + "–" + strconv.Itoa(hour+1) + " h" }

// numberCell returns a number, with separators on the page and without in CSV.
func (e edition) numberCell(n int) chart.Cell {
	return chart.Cell{Text: e.Number(n), Value: strconv.Itoa(n), Number: n}
}

// linkedNumber returns a number that leads to the list of what it counts.
func (e edition) linkedNumber(n int, address string) chart.Cell {
	cell := e.numberCell(n)
	cell.URL = address
	return cell
}

// csvPage returns a table as CSV, in the dialect of the request.
func (q *request) csvPage(t *chart.Table) (*render.Page, error) {
	dialect := q.params.Dialect()
	if err := q.params.Err(); err != nil {
		return nil, err
	}
	return &render.Page{ContentType: content.CSVType, Body: t.CSV(dialect), NoIndex: true}, nil
}
