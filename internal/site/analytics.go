package site

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

const (
	monthDays = 30
	yearDays  = 365
)

// analyticsPage are the figures of the market.
type analyticsPage struct {
	Totals catalog.Totals
	Types  []typeTotal
	Time   []*chart // over time, the whole width each
	Ranks  []*chart
}

// typeTotal is the number of reports of a type.
type typeTotal struct {
	Type  disclosure.Type
	Total int
}

// analytics is the page of figures.
func (s *Site) analytics(q *request) (*page, error) {
	figures := q.snapshot.Analytics(q.now)
	out := &analyticsPage{Totals: figures.Totals, Time: q.timeCharts(figures), Ranks: q.rankCharts(figures)}
	for _, t := range shownTypes {
		out.Types = append(out.Types, typeTotal{t, countOf(figures.Totals.ByType, t)})
	}
	return &page{
		template: "analytics", Title: q.edition.text("analytics.title"), Description: q.edition.text("analytics.description"), Data: out,
		Head: []headLink{{"alternate", "application/json", "/api/v1/analytics"}},
	}, nil
}

// analyticsTable is the table of a chart as CSV.
func (s *Site) analyticsTable(q *request) (*page, error) {
	figures := q.snapshot.Analytics(q.now)
	var names []string
	for _, c := range append(q.timeCharts(figures), q.rankCharts(figures)...) {
		if q.PathValue("table") == c.ID+".csv" {
			return csvPage(c.Table), nil
		}
		names = append(names, c.ID+".csv")
	}
	return nil, fault.New(fault.NotFound, "There is no such table: use /analytics/ and one of %s.", strings.Join(names, ", "))
}

// timeCharts returns the charts over time.
func (q *request) timeCharts(figures *catalog.Analytics) []*chart {
	e := q.edition
	year := q.snapshot.Days(yearDays)
	month := year[len(year)-monthDays:]
	daily := e.typeChart("daily", "/analytics/daily.csv", dailyTable(e, month))
	daily.setBars(newBars(e.daySlots(month), ""))
	yearly := e.typeChart("yearly", "/analytics/yearly.csv", dailyTable(e, year))
	yearly.setBars(newBars(e.monthMarks(year), "wide"), newBars(e.weekSlots(year), "narrow"))
	hours := &chart{
		ID: "hours", Caption: e.text("chart.hours"), Note: e.text("chart.hours.note"), CSV: "/analytics/hours.csv",
		Table: e.hoursTable(figures.WeekHours), Heat: e.newHeat(figures.WeekHours), Empty: figures.Totals.All == 0,
	}
	return []*chart{q.paceChart(figures.Pace), daily, yearly, hours}
}

// paceChart compares today with the usual.
func (q *request) paceChart(p catalog.Pace) *chart {
	e := q.edition
	usual := e.Decimal(p.Usual, 1)
	c := &chart{
		ID: "pace", Caption: e.text("feed.pace"), Note: e.paceText(p), CSV: "/analytics/pace.csv", Pace: newPaceBar(p),
		Table: &table{
			Columns: []column{{Name: "time", Text: e.text("chart.time")}, {"today", e.text("chart.today"), true}, {"usual", e.text("chart.usual"), true}},
			Rows: [][]cell{{
				{Text: e.Moment(q.now), value: e.Exact(q.now)}, e.numberCell(p.Today), {Text: usual, value: strconv.FormatFloat(p.Usual, 'f', -1, 64)},
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
	return e.text("feed.pace.text", e.Number(p.Today), e.Decimal(p.Usual, decimals))
}

// paceBar is a bar with a mark for the usual, both in per cent.
type paceBar struct{ Width, Usual string }

// newPaceBar returns the bar of today's pace, or nil if there is nothing to compare
// with.
func newPaceBar(p catalog.Pace) *paceBar {
	longest := int(100 * max(float64(p.Today), p.Usual))
	if longest == 0 {
		return nil
	}
	return &paceBar{Width: percentOf(100*p.Today, longest), Usual: percentOf(int(99*p.Usual), longest)}
}

// typeChart returns a chart of reports by type without its bars.
func (e edition) typeChart(id, address string, t *table) *chart {
	return &chart{ID: id, Caption: e.text("chart." + id), Note: e.text("chart." + id + ".note"), CSV: address, Table: t}
}

// setBars adds drawings of the same figures.
func (c *chart) setBars(drawings ...*bars) {
	c.Bars = drawings
	for _, s := range drawings[0].Stacks {
		c.Legend = append(c.Legend, s.Type)
	}
	c.Empty = len(c.Legend) == 0
}

// parseDay reads a date of the figures.
func parseDay(date string) disclosure.Day {
	d, _ := disclosure.ParseDay(date) // the catalogue wrote it
	return d
}

// shortDate returns a day without its year.
func (e edition) shortDate(d disclosure.Day) string {
	t := d.Start()
	return strconv.Itoa(t.Day()) + " " + e.shortMonth(t.Month())
}

func (e edition) shortMonth(m time.Month) string { return firstLetters(months[e.Language][m-1], 3) }

// figuresText returns counts as text.
func (e edition) figuresText(name string, total int, c catalog.Counts) string {
	parts := []string{}
	for _, t := range stacked {
		if n := countOf(c, t); n > 0 {
			parts = append(parts, string(t)+" "+e.Number(n))
		}
	}
	if len(parts) == 0 {
		return name + ": 0"
	}
	return name + ": " + e.Number(total) + " (" + strings.Join(parts, ", ") + ")"
}

// daySlots returns a bar for each day, with the dates of Mondays.
func (e edition) daySlots(days []catalog.Daily) []slot {
	out := make([]slot, len(days))
	for i, d := range days {
		day := parseDay(d.Date)
		weekday := day.Weekday()
		out[i] = slot{
			Title: e.figuresText(e.Day(day), d.Total, d.Counts), Total: d.Total, Counts: d.Counts,
			Weekend: weekday == time.Saturday || weekday == time.Sunday,
		}
		if weekday == time.Monday {
			out[i].Label = e.shortDate(day)
		}
	}
	return out
}

// monthMarks returns a bar for each day, with the names of months.
func (e edition) monthMarks(days []catalog.Daily) []slot {
	out := make([]slot, len(days))
	for i, d := range days {
		start := parseDay(d.Date).Start()
		out[i] = slot{Total: d.Total, Counts: d.Counts}
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
	return e.shortMonth(m)
}

// weekSlots returns a bar for each week from Monday on, with the names of some
// months.
func (e edition) weekSlots(days []catalog.Daily) []slot {
	var out []slot
	for _, d := range days {
		day := parseDay(d.Date)
		if len(out) == 0 || day.Weekday() == time.Monday {
			out = append(out, slot{Title: e.shortDate(day)})
		}
		w := &out[len(out)-1]
		w.Total += d.Total
		w.IP, w.HR, w.OIR = w.IP+d.IP, w.HR+d.HR, w.OIR+d.OIR
		if start := day.Start(); start.Day() == 1 && start.Month()%3 == 1 {
			w.Label = e.monthLabel(start.Year(), start.Month())
		}
	}
	for i, w := range out {
		out[i].Title = e.figuresText(e.text("chart.week", w.Title), w.Total, w.Counts)
	}
	return out
}

// typeColumns are the columns of reports by type.
func (e edition) typeColumns(first column) []column {
	return []column{first, {"total", e.text("chart.total"), true}, {"IP", "IP", true}, {"HR", "HR", true}, {"OIR", "OIR", true}}
}

func (e edition) typeCells(first cell, total int, c catalog.Counts) []cell {
	return []cell{first, e.numberCell(total), e.numberCell(c.IP), e.numberCell(c.HR), e.numberCell(c.OIR)}
}

// dailyTable returns days, the newest first.
func dailyTable(e edition, days []catalog.Daily) *table {
	t := &table{Columns: e.typeColumns(column{Name: "date", Text: e.text("chart.date")})}
	for i := len(days) - 1; i >= 0; i-- {
		d := days[i]
		t.Rows = append(t.Rows, e.typeCells(textCell(d.Date), d.Total, d.Counts))
	}
	return t
}

// weekdayNames are the columns of hours in CSV.
var weekdayNames = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// hoursTable returns a row for each hour, which fits narrow windows better than a
// row for each weekday.
func (e edition) hoursTable(hours [7][24]int) *table {
	t := &table{Columns: []column{{Name: "hour", Text: e.text("chart.hour")}}}
	for d := range hours {
		weekday := (d + 1) % 7
		t.Columns = append(t.Columns, column{weekdayNames[weekday], firstLetters(weekdays[e.Language][weekday], 3), true})
	}
	for hour := range 24 {
		row := []cell{{Text: hourName(hour), value: strconv.Itoa(hour)}}
		for d := range hours {
			row = append(row, e.numberCell(hours[d][hour]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// rankCharts returns the charts of markets, categories and issuers.
func (q *request) rankCharts(figures *catalog.Analytics) []*chart {
	e := q.edition
	reports := column{"filings", e.text("chart.reports"), true}
	markets := &table{Columns: []column{{Name: "market", Text: e.text("filter.market")}, reports, {"issuers", e.text("nav.issuers"), true}}}
	for _, m := range figures.Markets {
		name := cell{Text: m.Market, value: m.Market, URL: e.Link("/issuers?market=" + url.QueryEscape(m.Market))}
		markets.Rows = append(markets.Rows, []cell{name, e.numberCell(m.Reports), e.numberCell(m.Issuers)})
	}
	categories := &table{Columns: []column{{Name: "category", Text: e.text("filter.category")}, reports}}
	for _, c := range figures.Categories {
		name := cell{Text: c.Category, value: c.Category, URL: e.Link("/search?category=" + url.QueryEscape(c.Category))}
		categories.Rows = append(categories.Rows, []cell{name, e.numberCell(c.Total)})
	}
	issuers := &table{Columns: []column{{Name: "issuer", Text: e.text("filter.issuer")}, reports, {"ticker", "Ticker", true}}}
	for _, i := range figures.Issuers {
		ticker := cell{}
		if i.Ticker != nil {
			ticker = textCell(*i.Ticker)
		}
		name := cell{Text: i.Name, value: i.Name, URL: e.Link(issuerPath(i.ID))}
		issuers.Rows = append(issuers.Rows, []cell{name, e.numberCell(i.Total), ticker})
	}
	var out []*chart
	for _, c := range []struct {
		id string
		*table
	}{{"issuers", issuers}, {"markets", markets}, {"categories", categories}} {
		out = append(out, &chart{
			ID: c.id, Caption: e.text("chart." + c.id), Note: e.text("chart." + c.id + ".note"), CSV: "/analytics/" + c.id + ".csv",
			Table: c.table, Ranks: ranksOf(c.table), Empty: len(c.Rows) == 0,
		})
	}
	return out
}

// issuerPath returns the path of the page of an issuer.
func issuerPath(id string) string { return "/issuers/" + url.PathEscape(id) }

var analyticsWords = texts{
	"analytics.title":       {"Analítica", "Analytics"},
	"analytics.description": {"Cuántas comunicaciones se registran, de qué tipo, a qué horas, en qué mercados y de qué emisores.", "How many disclosures are filed, of which type, at which hours, on which markets and by which issuers."},
	"analytics.all":         {"Total", "All"},

	"chart.table":           {"Ver la tabla", "Show the table"},
	"chart.empty":           {"No hay datos todavía.", "There is no data yet."},
	"chart.total":           {"Total", "Total"},
	"chart.date":            {"Fecha", "Date"},
	"chart.month":           {"Mes", "Month"},
	"chart.hour":            {"Hora", "Hour"},
	"chart.time":            {"Momento", "Time"},
	"chart.today":           {"Hoy", "Today"},
	"chart.usual":           {"Lo habitual", "Usual"},
	"chart.reports":         {"Comunicaciones", "Disclosures"},
	"chart.week":            {"semana del %s", "week of %s"},
	"chart.daily":           {"Últimos 30 días", "Last 30 days"},
	"chart.daily.note":      {"Comunicaciones por día y tipo. Los fines de semana, sombreados.", "Disclosures by day and type. Weekends are shaded."},
	"chart.yearly":          {"Últimos 365 días", "Last 365 days"},
	"chart.yearly.note":     {"Comunicaciones por día y tipo; en pantallas estrechas, por semana.", "Disclosures by day and type; by week on narrow screens."},
	"chart.hours":           {"Cuándo se comunica", "When disclosures are filed"},
	"chart.hours.note":      {"Todas las comunicaciones por día de la semana y hora de Madrid.", "All disclosures by weekday and hour, Madrid time."},
	"chart.issuers":         {"Emisores más activos", "Most active issuers"},
	"chart.issuers.note":    {"Comunicaciones en los últimos 30 días.", "Disclosures in the last 30 days."},
	"chart.markets":         {"Mercados", "Markets"},
	"chart.markets.note":    {"Todas las comunicaciones de los emisores de cada mercado.", "All disclosures of the issuers of each market."},
	"chart.categories":      {"Categorías", "Categories"},
	"chart.categories.note": {"Las más usadas, en todas las comunicaciones.", "The most used, in all disclosures."},
}
