package site

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/site/chart"
	"pregon/internal/site/render"
)

const (
	monthDays = 30
	yearDays  = 365
)

// analyticsPage are the figures of the market.
type analyticsPage struct {
	Totals catalog.Totals
	Types  []typeTotal
	Time   []*chart.Chart // over time, the whole width each
	Ranks  []*chart.Chart
}

// typeTotal is the number of reports of a type.
type typeTotal struct {
	Type  disclosure.Type
	Total int
}

// analytics is the page of figures.
func (s *Site) analytics(q *request) (*render.Page, error) {
	figures := q.snapshot.Analytics(q.now)
	out := &analyticsPage{Totals: figures.Totals, Time: q.timeCharts(figures), Ranks: q.rankCharts(figures)}
	for _, t := range shownTypes {
		out.Types = append(out.Types, typeTotal{t, countOf(figures.Totals.ByType, t)})
	}
	return &render.Page{
		Template:    "analytics",
		Title:       q.edition.Text("analytics.title"),
		Description: q.edition.Text("analytics.description"),
		Data:        out,
		Head:        []render.HeadLink{{Rel: "alternate", Type: "application/json", URL: "/api/v1/analytics"}},
	}, nil
}

// analyticsTable is the table of a chart as CSV.
func (s *Site) analyticsTable(q *request) (*render.Page, error) {
	figures := q.snapshot.Analytics(q.now)
	var names []string
	for _, c := range append(q.timeCharts(figures), q.rankCharts(figures)...) {
		if q.PathValue("table") == c.ID+".csv" {
			return q.csvPage(c.Table)
		}
		names = append(names, c.ID+".csv")
	}
	return nil, fault.New(fault.NotFound, "There is no such table: use /analytics/ and one of %s.",
		strings.Join(names, ", "))
}

// timeCharts returns the charts over time.
func (q *request) timeCharts(figures *catalog.Analytics) []*chart.Chart {
	e := q.edition
	year := q.snapshot.Days(yearDays)
	month := year[len(year)-monthDays:]
	daily := e.typeChart("daily", "/analytics/daily.csv", dailyTable(e, month))
	daily.SetBars(e.typeBars(e.daySlots(month), ""))
	yearly := e.typeChart("yearly", "/analytics/yearly.csv", dailyTable(e, year))
	yearly.SetBars(e.typeBars(e.monthMarks(year), "wide"), e.typeBars(e.weekSlots(year), "narrow"))
	hours := &chart.Chart{
		ID:      "hours",
		Caption: e.Text("chart.hours"),
		Note:    e.Text("chart.hours.note"),
		CSV:     "/analytics/hours.csv",
		Table:   e.hoursTable(figures.WeekHours),
		Heat:    e.newHeat(figures.WeekHours),
		Empty:   figures.Totals.All == 0,
	}
	return []*chart.Chart{q.paceChart(figures.Pace), daily, yearly, hours}
}

// paceChart compares today with the usual.
func (q *request) paceChart(p catalog.Pace) *chart.Chart {
	e := q.edition
	usual := e.Decimal(p.Usual, 1)
	c := &chart.Chart{
		ID:      "pace",
		Caption: e.Text("feed.pace"),
		Note:    e.paceText(p),
		CSV:     "/analytics/pace.csv",
		Pace:    newPaceBar(p),
		Table: &chart.Table{
			Columns: []chart.Column{
				{Name: "time", Text: e.Text("chart.time")},
				chart.NumberColumn("today", e.Text("chart.today")), chart.NumberColumn("usual", e.Text("chart.usual")),
			},
			Rows: [][]chart.Cell{{
				{Text: e.Moment(q.now), Value: e.Exact(q.now)}, e.numberCell(p.Today), {
					Text:  usual,
					Value: strconv.FormatFloat(p.Usual, 'f', -1, 64),
				},
			}},
		},
	}
	c.Empty = c.Pace == nil
	return c
}

// paceText compares today with the usual.
func (e edition) paceText(p catalog.Pace) string {
	decimals := 0
	if p.Usual < 10 {
		decimals = 1
	}
	return e.Text("feed.pace.text", e.Number(p.Today), e.Decimal(p.Usual, decimals))
}

// newPaceBar returns the bar of today's pace, or nil if there is nothing to compare
// with.
func newPaceBar(p catalog.Pace) *chart.Pace {
	longest := int(100 * max(float64(p.Today), p.Usual))
	if longest == 0 {
		return nil
	}
	return &chart.Pace{Width: chart.Percent(100*p.Today, longest), Usual: chart.Percent(int(99*p.Usual), longest)}
}

// typeChart returns a chart of reports by type without its bars.
func (e edition) typeChart(id, address string, t *chart.Table) *chart.Chart {
	return &chart.Chart{
		ID:      id,
		Caption: e.Text("chart." + id),
		Note:    e.Text("chart." + id + ".note"),
		CSV:     address,
		Table:   t,
	}
}

// typeBars draws one bar for each slot, with the types on each other.
func (e edition) typeBars(slots []chart.Slot, class string) *chart.Bars {
	var series []chart.Series
	for _, t := range stacked {
		series = append(series, chart.Series{Class: "of-" + string(t), Name: e.Text("type." + string(t))})
	}
	return chart.NewBars(slots, series, class)
}

// stacked are the types from the bottom of a bar to its top.
var stacked = []disclosure.Type{disclosure.IP, disclosure.HR, disclosure.OIR}

// valuesOf returns counts in the order of stacked.
func valuesOf(c catalog.Counts) (out []int) {
	for _, t := range stacked {
		out = append(out, countOf(c, t))
	}
	return out
}

func countOf(c catalog.Counts, t disclosure.Type) int {
	switch t {
	case disclosure.IP:
		return c.IP
	case disclosure.HR:
		return c.HR
	}
	return c.OIR
}

// parseDay reads a date of the figures.
func parseDay(date string) disclosure.Day {
	d, _ := disclosure.ParseDay(date) // the catalogue wrote it
	return d
}

// figuresText returns counts as text.
func (e edition) figuresText(name string, total int, c catalog.Counts) string {
	parts := []string{}
	for i, n := range valuesOf(c) {
		if n > 0 {
			parts = append(parts, string(stacked[i])+" "+e.Number(n))
		}
	}
	if len(parts) == 0 {
		return name + ": 0"
	}
	return name + ": " + e.Number(total) + " (" + strings.Join(parts, ", ") + ")"
}

// daySlots returns a bar for each day, with the dates of Mondays.
func (e edition) daySlots(days []catalog.Daily) []chart.Slot {
	out := make([]chart.Slot, len(days))
	for i, d := range days {
		day := parseDay(d.Date)
		weekday := day.Weekday()
		out[i] = chart.Slot{
			Title:   e.figuresText(e.Day(day), d.Total, d.Counts),
			Values:  valuesOf(d.Counts),
			Weekend: weekday == time.Saturday || weekday == time.Sunday,
		}
		if weekday == time.Monday {
			out[i].Label = e.DayAndMonth(day)
		}
	}
	return out
}

// monthMarks returns a bar for each day, with the names of months.
func (e edition) monthMarks(days []catalog.Daily) []chart.Slot {
	out := make([]chart.Slot, len(days))
	for i, d := range days {
		start := parseDay(d.Date).Start()
		out[i] = chart.Slot{Values: valuesOf(d.Counts)}
		if start.Day() == 1 {
			out[i].Label = e.monthLabel(start.Year(), start.Month())
		}
	}
	return out
}

// monthLabel returns the year for January, else the name of the month.
func (e edition) monthLabel(year int, m time.Month) string {
	if m == time.January {
		return strconv.Itoa(year)
	}
	return e.ShortMonth(m)
}

// weekSlots returns a bar for each week from Monday on, with the names of some
// months.
func (e edition) weekSlots(days []catalog.Daily) []chart.Slot {
	var out []chart.Slot
	var weeks []catalog.Daily
	for _, d := range days {
		day := parseDay(d.Date)
		if len(out) == 0 || day.Weekday() == time.Monday {
			out = append(out, chart.Slot{Title: e.DayAndMonth(day)})
			weeks = append(weeks, catalog.Daily{})
		}
		at := len(out) - 1
		w := &weeks[at]
		w.Total = w.Total + d.Total
		w.IP = w.IP + d.IP
		w.HR = w.HR + d.HR
		w.OIR = w.OIR + d.OIR
		if start := day.Start(); start.Day() == 1 && start.Month()%3 == 1 {
			out[at].Label = e.monthLabel(start.Year(), start.Month())
		}
	}
	for i, w := range weeks {
		out[i].Values = valuesOf(w.Counts)
		out[i].Title = e.figuresText(e.Text("chart.week", out[i].Title), w.Total, w.Counts)
	}
	return out
}

// typeColumns are the columns of reports by type.
func (e edition) typeColumns(first chart.Column) []chart.Column {
	return []chart.Column{
		first, chart.NumberColumn("total", e.Text("chart.total")),
		chart.NumberColumn("IP", "IP"), chart.NumberColumn("HR", "HR"), chart.NumberColumn("OIR", "OIR"),
	}
}

func (e edition) typeCells(first chart.Cell, total int, c catalog.Counts) []chart.Cell {
	return []chart.Cell{first, e.numberCell(total), e.numberCell(c.IP), e.numberCell(c.HR), e.numberCell(c.OIR)}
}

// dailyTable returns days, the newest first.
func dailyTable(e edition, days []catalog.Daily) *chart.Table {
	t := &chart.Table{Columns: e.typeColumns(chart.Column{Name: "date", Text: e.Text("chart.date")})}
	for i := len(days) - 1; i >= 0; i-- {
		d := days[i]
		t.Rows = append(t.Rows, e.typeCells(chart.TextCell(d.Date), d.Total, d.Counts))
	}
	return t
}

// weekdayNames are the columns of hours in CSV.
var weekdayNames = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// hoursTable returns a row for each hour, which fits narrow windows better than a
// row for each weekday.
func (e edition) hoursTable(hours [7][24]int) *chart.Table {
	t := &chart.Table{Columns: []chart.Column{{Name: "hour", Text: e.Text("chart.hour")}}}
	for d := range hours {
		weekday := time.Weekday((d + 1) % 7)
		t.Columns = append(t.Columns, chart.NumberColumn(weekdayNames[weekday], e.ShortWeekday(weekday)))
	}
	for hour := range 24 {
		row := []chart.Cell{{Text: hourName(hour), Value: strconv.Itoa(hour)}}
		for d := range hours {
			row = append(row, e.numberCell(hours[d][hour]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// rankCharts returns the charts of markets, sectors, categories and issuers.
func (q *request) rankCharts(figures *catalog.Analytics) []*chart.Chart {
	e := q.edition
	reports := chart.NumberColumn("filings", e.Text("chart.reports"))
	markets := &chart.Table{Columns: []chart.Column{
		{Name: "market", Text: e.Text("filter.market")},
		reports,
		chart.NumberColumn("issuers", e.Text("nav.issuers")),
	}}
	for _, m := range figures.Markets {
		name := chart.Cell{Text: m.Market, Value: m.Market, URL: e.Link("/issuers?market=" + url.QueryEscape(m.Market))}
		markets.Rows = append(markets.Rows, []chart.Cell{name, e.numberCell(m.Reports), e.numberCell(m.Issuers)})
	}
	sectors := &chart.Table{Columns: []chart.Column{
		{Name: "sector", Text: e.Text("filter.sector")},
		reports,
		chart.NumberColumn("issuers", e.Text("nav.issuers")),
	}}
	for _, u := range figures.Sectors {
		name := chart.Cell{Text: u.Sector, Value: u.Sector, URL: e.Link("/issuers?sector=" + url.QueryEscape(u.Sector))}
		sectors.Rows = append(sectors.Rows, []chart.Cell{name, e.numberCell(u.Reports), e.numberCell(u.Issuers)})
	}
	categories := &chart.Table{Columns: []chart.Column{{Name: "category", Text: e.Text("filter.category")}, reports}}
	for _, c := range figures.Categories {
		name := chart.Cell{
			Text:  e.Category(c.Category),
			Value: c.Category,
			URL:   e.Link("/search?category=" + url.QueryEscape(c.Category)),
		}
		categories.Rows = append(categories.Rows, []chart.Cell{name, e.numberCell(c.Total)})
	}
	issuers := &chart.Table{Columns: []chart.Column{
		{Name: "issuer", Text: e.Text("filter.issuer")},
		reports,
		chart.NumberColumn("ticker", "Ticker"),
	}}
	for _, i := range figures.Issuers {
		ticker := chart.Cell{}
		if i.Ticker != nil {
			ticker = chart.TextCell(*i.Ticker)
		}
		name := chart.Cell{Text: i.Name, Value: i.Name, URL: e.Link(issuerPath(i.ID))}
		issuers.Rows = append(issuers.Rows, []chart.Cell{name, e.numberCell(i.Total), ticker})
	}
	var out []*chart.Chart
	for _, c := range []struct {
		id string
		*chart.Table
	}{{"issuers", issuers}, {"markets", markets}, {"sectors", sectors}, {"categories", categories}} {
		out = append(out, &chart.Chart{
			ID:      c.id,
			Caption: e.Text("chart." + c.id),
			Note:    e.Text("chart." + c.id + ".note"),
			CSV:     "/analytics/" + c.id + ".csv",
			Table:   c.Table,
			Ranks:   chart.RanksOf(c.Table),
			Empty:   len(c.Rows) == 0,
		})
	}
	return out
}

// issuerPath returns the path of the page of an issuer.
func issuerPath(id string) string { return "/issuers/" + url.PathEscape(id) }
