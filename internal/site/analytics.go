package site

import (
	"math"
	"net/url"
	"slices"
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

// analyticsPage are the figures of the market, or of the reports that meet conditions.
type analyticsPage struct {
	Form   analyticsForm
	JSON   string // address of the same figures
	Totals []total
	Time   []*chart.Chart // over time, the whole width each
	Ranks  []*chart.Chart
}

// total is a number of reports, and the list of them.
type total struct {
	Name  string
	Total int
	URL   string
}

// analyticsForm is the filter of the page.
type analyticsForm struct {
	filterForm
	Issuer  string
	Markets []choice
	Sectors []choice
}

// analyticsDays are the periods that the page offers.
var analyticsDays = []int{7, 30, yearDays}

// analyticsForm returns the filter of the request.
func (q *request) analyticsForm() analyticsForm {
	issuers := q.snapshot.Directory().Issuers()
	f := analyticsForm{
		filterForm: q.formOf(analyticsDays),
		Issuer:     q.values.Get("issuer"),
		Markets:    q.nameChoices(issuers, marketNames, q.values.Get("market"), 0),
		Sectors:    q.nameChoices(issuers, sectorNames, q.values.Get("sector"), 0),
	}
	f.Hidden = slices.DeleteFunc(f.Hidden, func(h hidden) bool {
		return slices.Contains([]string{"issuer", "market", "sector"}, h.Name) // which have fields
	})
	return f
}

// analytics is the page of figures.
func (s *Site) analytics(q *request) (*render.Page, error) {
	out, err := s.figures(q)
	if err != nil {
		return nil, err
	}
	out.Form = q.analyticsForm()
	return &render.Page{
		Template:    "analytics",
		Style:       "analytics.css",
		Title:       q.edition.Text("analytics.title"),
		Description: q.edition.Text("analytics.description"),
		Data:        out,
		NoIndex:     q.parameters() != "",
		Head:        []render.HeadLink{{Rel: "alternate", Type: "application/json", URL: out.JSON}},
	}, nil
}

// analyticsTable is the table of a chart as CSV.
func (s *Site) analyticsTable(q *request) (*render.Page, error) {
	out, err := s.figures(q)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range slices.Concat(out.Time, out.Ranks) {
		if q.PathValue("table") == c.ID+".csv" {
			return q.csvPage(c.Table)
		}
		names = append(names, c.ID+".csv")
	}
	return nil, fault.New(fault.NotFound, "There is no such table: use /analytics/ and one of %s.",
		strings.Join(names, ", "))
}

// figures returns the figures of the market, or those of the reports that meet the
// conditions of the request.
func (s *Site) figures(q *request) (*analyticsPage, error) {
	list := q.list(1)
	if err := q.params.Err(); err != nil {
		return nil, err
	}
	if list.Filter != (disclosure.Filter{}) {
		return s.countedFigures(q, list)
	}
	figures := q.snapshot.Analytics(q.now)
	return &analyticsPage{
		JSON:   "/api/v1/analytics",
		Totals: q.totals(figures.Totals),
		Time:   q.timeCharts(figures),
		Ranks:  q.rankCharts(figures),
	}, nil
}

// totals returns the number of all reports and that of each type.
func (q *request) totals(of catalog.Totals) []total {
	out := []total{{q.edition.Text("analytics.all"), of.All, q.listOf()}}
	for _, t := range shownTypes {
		out = append(out, total{
			Name:  q.edition.Text("type." + string(t)),
			Total: countOf(of.ByType, t),
			URL:   q.listOf("type", string(t)),
		})
	}
	return out
}

// timeCharts returns the charts over time.
func (q *request) timeCharts(figures *catalog.Analytics) []*chart.Chart {
	e := q.edition
	year := q.snapshot.Days(yearDays)
	month := year[len(year)-monthDays:]
	daily := q.typeChart("daily", "/analytics/daily.csv", q.dailyTable(month))
	daily.SetBars(q.typeBars(q.daySlots(month), ""))
	weeks := q.weekSlots(year)
	wide := q.typeBars(e.monthMarks(year), "wide")
	wide.SetHits(weeks)
	yearly := q.typeChart("yearly", "/analytics/yearly.csv", q.dailyTable(year))
	yearly.SetBars(wide, q.typeBars(weeks, "narrow"))
	q.explainCuts(daily)
	q.explainCuts(yearly)
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
		Pace:    e.newPaceBar(p),
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
	c.Empty = p.Today == 0 && p.Usual == 0
	return c
}

// paceText compares today with the usual.
func (e edition) paceText(p catalog.Pace) string {
	decimals := 0
	if p.Usual < 10 {
		decimals = 1
	}
	figures := e.Text("feed.pace.text", e.Number(p.Today), e.Decimal(p.Usual, decimals))
	if p.Usual < leastUsual {
		return figures
	}
	return e.timesText(float64(p.Today)/p.Usual) + " " + figures
}

// leastUsual is the number of reports from which on today is compared with the usual. With fewer,
// as in the first hours of a day, a single report would be many times as many.
const leastUsual = 0.5

// timesText says how many times the usual something is, rounded.
func (e edition) timesText(times float64) string {
	switch {
	case times < 0.95:
		return e.Text("feed.pace.less", e.Percent(times))
	case times < 1.05:
		return e.Text("feed.pace.same")
	case times < 9.95 && math.Round(10*times) != 10*math.Round(times): // 1.5 or 2, not 2.0
		return e.Text("feed.pace.more", e.Decimal(times, 1))
	}
	return e.Text("feed.pace.more", e.Number(int(math.Round(times))))
}

// newPaceBar returns the bar of today's pace, or nil if there is nothing to compare
// with.
func (e edition) newPaceBar(p catalog.Pace) *chart.Pace {
	if p.Usual < leastUsual {
		return nil
	}
	return chart.NewPace(float64(p.Today)/p.Usual, func(times int) string {
		if times == 1 {
			return e.Text("feed.pace.usual")
		}
		return e.Text("feed.pace.times", e.Number(times))
	})
}

// typeChart returns a chart of reports by type without its bars.
func (q *request) typeChart(id, address string, t *chart.Table) *chart.Chart {
	e := q.edition
	return &chart.Chart{
		ID:      id,
		Caption: e.Text("chart." + id),
		Note:    e.Text("chart." + id + ".note"),
		CSV:     address,
		Table:   t,
	}
}

// typeBars draws one bar for each slot, with the types on each other. The simulated market
// files many times faster while it runs than in its history, whose bars would hardly be
// visible beside the whole bar of such a day.
func (q *request) typeBars(slots []chart.Slot, class string) *chart.Bars {
	e := q.edition
	var series []chart.Series
	for _, t := range stacked {
		series = append(series, chart.Series{Class: "of-" + string(t), Name: e.Text("type." + string(t))})
	}
	if q.simulated {
		return chart.NewCutBars(slots, series, class, e.Number)
	}
	return chart.NewBars(slots, series, class)
}

// explainCuts adds to the note of a chart why bars are cut off, if any are.
func (q *request) explainCuts(c *chart.Chart) {
	if slices.ContainsFunc(c.Bars, func(b *chart.Bars) bool { return len(b.Cuts) > 0 }) {
		c.Note += " " + q.edition.Text("chart.cut")
	}
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

func countOf(c catalog.Counts, t disclosure.Type) int { return *countIn(&c, t) }

// listOf returns the address of the list of the reports that meet the conditions of the
// request and others, as names and values.
func (q *request) listOf(conditions ...string) string { return q.with("/", conditions...) }

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
func (q *request) daySlots(days []catalog.Daily) []chart.Slot {
	e := q.edition
	out := make([]chart.Slot, len(days))
	for i, d := range days {
		day := parseDay(d.Date)
		weekday := day.Weekday()
		out[i] = chart.Slot{
			Title:   e.figuresText(e.Day(day), d.Total, d.Counts),
			URL:     q.listOf("from", d.Date, "to", d.Date),
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
func (q *request) weekSlots(days []catalog.Daily) []chart.Slot {
	e := q.edition
	var out []chart.Slot
	var weeks []catalog.Daily
	for _, d := range days {
		day := parseDay(d.Date)
		if len(out) == 0 || day.Weekday() == time.Monday {
			out = append(out, chart.Slot{Title: e.DayAndMonth(day)})
			weeks = append(weeks, catalog.Daily{Date: d.Date})
		}
		at := len(out) - 1
		w := &weeks[at]
		out[at].Days++
		out[at].URL = q.listOf("from", w.Date, "to", d.Date)
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
func (q *request) dailyTable(days []catalog.Daily) *chart.Table {
	e := q.edition
	t := &chart.Table{Columns: e.typeColumns(chart.Column{Name: "date", Text: e.Text("chart.date")})}
	for i := len(days) - 1; i >= 0; i-- {
		d := days[i]
		date := chart.TextCell(d.Date)
		date.URL = q.listOf("from", d.Date, "to", d.Date)
		t.Rows = append(t.Rows, e.typeCells(date, d.Total, d.Counts))
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
		name := chart.Cell{Text: m.Market, Value: m.Market, URL: q.with("/analytics", "market", m.Market)}
		markets.Rows = append(markets.Rows, []chart.Cell{
			name,
			e.linkedNumber(m.Reports, q.listOf("market", m.Market)),
			e.linkedNumber(m.Issuers, q.with("/issuers", "market", m.Market)),
		})
	}
	sectors := &chart.Table{Columns: []chart.Column{
		{Name: "sector", Text: e.Text("filter.sector")},
		reports,
		chart.NumberColumn("issuers", e.Text("nav.issuers")),
	}}
	for _, u := range figures.Sectors {
		name := chart.Cell{Text: e.Sector(u.Sector), Value: u.Sector, URL: q.with("/analytics", "sector", u.Sector)}
		sectors.Rows = append(sectors.Rows, []chart.Cell{
			name,
			e.linkedNumber(u.Reports, q.listOf("sector", u.Sector)),
			e.linkedNumber(u.Issuers, q.with("/issuers", "sector", u.Sector)),
		})
	}
	categories := &chart.Table{Columns: []chart.Column{{Name: "category", Text: e.Text("filter.category")}, reports}}
	for _, c := range figures.Categories {
		name := chart.Cell{
			Text:  e.Category(c.Category),
			Value: c.Category,
			URL:   q.with("/analytics", "category", c.Category),
		}
		total := e.linkedNumber(c.Total, q.listOf("category", c.Category))
		categories.Rows = append(categories.Rows, []chart.Cell{name, total})
	}
	issuers := &chart.Table{Columns: []chart.Column{
		{Name: "issuer", Text: e.Text("filter.issuer")},
		reports,
		chart.NumberColumn("ticker", "Ticker"),
	}}
	since := disclosure.DayOf(q.now) - monthDays + 1
	for _, i := range figures.Issuers {
		ticker := chart.Cell{}
		if i.Ticker != nil {
			ticker = chart.TextCell(*i.Ticker)
		}
		name := chart.Cell{Text: disclosure.DisplayName(i.Name), Value: i.Name, URL: e.Link(issuerPath(i.ID))}
		issuers.Rows = append(issuers.Rows, []chart.Cell{
			name,
			e.linkedNumber(i.Total, q.listOf("issuer", i.ID, "from", since.String())),
			ticker,
		})
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
