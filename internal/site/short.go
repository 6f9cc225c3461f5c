package site

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/site/chart"
)

const (
	// shortYears is how far back the drawing of short positions goes. The CSV has all.
	shortYears = 5
	// shortNames is how many holders have a colour of their own.
	shortNames = 5
	// shortTableRows is the number of rows of the table under the drawing.
	shortTableRows = 100
)

// shortChart draws the short positions in an issuer on each other. Names that are not
// shown are among the others.
func (d *dossierReader) shortChart(lines []position.Line, natural map[string]bool) *chart.Chart {
	e := d.edition
	c := &chart.Chart{
		ID:      "shorts",
		Caption: e.Text("dossier.shorts"),
		Note:    e.Text("dossier.shorts.note"),
		CSV:     d.data("/shorts/series"),
	}
	total := position.ShortSeries(lines)
	c.Table = e.shortTable(total)
	named := slices.DeleteFunc(slices.Clone(lines), func(l position.Line) bool {
		return l.Name == "" || natural[l.Name] && !d.shown
	})
	names := largestNames(named)
	series := make([]chart.Series, len(names), len(names)+1)
	for i, name := range names {
		series[i] = chart.Series{Class: "of-" + strconv.Itoa(i+1), Name: name}
	}
	series = append(series, chart.Series{Class: "of-rest", Name: e.Text("dossier.others")})
	axis := d.shortAxis(total)
	steps := shortSteps(lines, names, axis.From)
	titles := map[int]string{}
	for _, p := range total {
		titles[int(p.Day)] = e.date(p.Day) + ": " + e.percentage(p.Percent) + e.holdersText(p.Names)
	}
	for i := range steps {
		steps[i].Title = titles[steps[i].At]
	}
	c.SetBars(chart.NewSteps(steps, series, axis, ""))
	return c
}

// holdersText returns the number of holders in parentheses.
func (e edition) holdersText(n int) string {
	text, err := e.N("dossier.holders", n)
	if err != nil {
		return ""
	}
	return " (" + text + ")"
}

// largestNames returns the holders with the largest present positions, and then those with
// the largest past ones.
func largestNames(lines []position.Line) []string {
	present, most := map[string]int{}, map[string]int{}
	var names []string
	for _, l := range lines {
		if _, known := most[l.Name]; !known {
			names = append(names, l.Name)
		}
		for _, p := range l.Points {
			most[l.Name] = max(most[l.Name], hundredths(p.Percent))
		}
		if n := len(l.Points); n > 0 {
			present[l.Name] += hundredths(l.Points[n-1].Percent)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(present[b], present[a]), cmp.Compare(most[b], most[a]))
	})
	return names[:min(len(names), shortNames)]
}

// shortSteps returns the values of some names, and of all others, on each day on which one
// of them changed. What changed before the first day is in a step of that day.
func shortSteps(lines []position.Line, names []string, from int) []chart.Step {
	type change struct{ day, series, by int }
	var changes []change
	for _, l := range lines {
		series := slices.Index(names, l.Name)
		if series < 0 {
			series = len(names)
		}
		was := 0
		for _, p := range l.Points {
			value := hundredths(p.Percent)
			changes = append(changes, change{max(from, int(p.Day)), series, value - was})
			was = value
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.day, b.day) })
	values := make([]int, len(names)+1)
	var steps []chart.Step
	for i, ch := range changes {
		values[ch.series] += ch.by
		if i+1 == len(changes) || changes[i+1].day != ch.day {
			steps = append(steps, chart.Step{At: ch.day, Values: slices.Clone(values)})
		}
	}
	return steps
}

// shortAxis returns the axis of time: from the first day, but some years ago at most, to
// today.
func (d *dossierReader) shortAxis(total []position.Point) chart.Axis {
	today := disclosure.DayOf(d.now)
	first, last := today, today
	if len(total) > 0 {
		first = min(first, total[0].Day)
		last = max(last, total[len(total)-1].Day+1)
	}
	first = max(first, disclosure.DayOf(d.now.AddDate(-shortYears, 0, 0)))
	return chart.Axis{
		From:  int(first),
		To:    int(last),
		Ticks: d.edition.dayTicks(first, last),
		Text: func(value int) string {
			return d.edition.percentage(disclosure.AddDecimals(strconv.FormatFloat(float64(value)/100, 'f', 2, 64)))
		},
	}
}

// longSpan is from how many days on an axis has years only.
const longSpan = 800

// dayTicks returns the labels of an axis: years or, if it is short, quarters too.
func (e edition) dayTicks(from, to disclosure.Day) (ticks []chart.Tick) {
	at := time.Date(from.Start().Year(), time.January, 1, 0, 0, 0, 0, disclosure.Madrid)
	for disclosure.DayOf(at) <= to {
		if day := disclosure.DayOf(at); day >= from && (at.Month() == time.January || to-from < longSpan) {
			ticks = append(ticks, chart.Tick{
				At:    int(day),
				Text:  e.monthLabel(at.Year(), at.Month()),
				Minor: at.Month() != time.January,
			})
		}
		at = at.AddDate(0, 3, 0)
	}
	return ticks
}

// shortTable returns the total on each day on which it changed, the newest first.
func (e edition) shortTable(total []position.Point) *chart.Table {
	t := &chart.Table{Columns: []chart.Column{
		{Text: e.Text("chart.date")},
		chart.NumberColumn("", e.Text("positions.percent")),
		chart.NumberColumn("", e.Text("dossier.names")),
	}}
	for _, p := range slices.Backward(total[max(0, len(total)-shortTableRows):]) {
		t.Rows = append(t.Rows, []chart.Cell{
			{Text: e.date(p.Day)},
			{Text: e.percentage(p.Percent)},
			e.numberCell(p.Names),
		})
	}
	return t
}
