package site

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/site/render"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
)

// statusPage is the state of the service.
type statusPage struct {
	Loading   bool
	State     string
	Heading   string
	About     string
	Since     time.Time
	Checked   time.Time
	Reasons   []statusReason
	Figures   []figure
	Surfaces  []statusSurface
	Latency   []latencyTable
	Latest    []latestReport
	Weeks     []calendarWeek
	Weekdays  []string // short names, Monday first
	Missing   []missingDay
	Proved    []provedLine
	Backfill  []backfillJob
	Incidents []statusIncident
}

// figure is a number with what it counts.
type figure struct{ Value, Label string }

// statusReason is a reason why the state is not better.
type statusReason struct {
	Surface string
	Text    string
	English bool // the text exists only in English
	Since   time.Time
}

// statusSurface is a part of the source.
type statusSurface struct {
	Name, State string
	Success     time.Time
	Ago         string
	Failures    int
	Error       string // in English
}

// latencyTable has the times of some types.
type latencyTable struct {
	Types string
	Count int
	Rows  []latencyRow
}

// latencyRow are percentiles of a stage.
type latencyRow struct {
	Stage              string
	P50, P90, P99, Max string
}

// latestReport is the newest report of a type.
type latestReport struct {
	Type, ID, URL string
	Published     time.Time
	Ago           string
	Taken         string // from publication to this site; "" for history
}

// calendarWeek is a row of the calendar, from Monday to Sunday.
type calendarWeek struct {
	Label string
	Days  []calendarDay
}

// provedLine says from when until when no report of a series is missing.
type provedLine struct{ Type, Text string }

// calendarDay is a day of the calendar.
type calendarDay struct {
	Day     disclosure.Day
	Number  int // of the month
	Count   int
	Level   int  // 0 to 4, by the number of reports
	Checked bool // every list was compared with the source
	Running bool // the day has not ended, so that more may be filed
	Missing int  // numbers that were not seen yet
	Future  bool
	Text    string // all of it in words
}

// missingDay are the numbers of a day that were not seen yet.
type missingDay struct {
	Day     disclosure.Day
	Type    string
	Numbers []string
}

// backfillJob is a request for history that is not done.
type backfillJob struct {
	Range, Types string
	Steps, Total int
	New          int
	Trouble      string // in English
}

// statusIncident is a time when the source was degraded or blind.
type statusIncident struct {
	State   string
	Since   time.Time
	Until   time.Time // zero while it lasts
	Lasted  string
	Reasons []statusReason
}

// Bounds of the page.
const (
	calendarWeeks   = 12
	maxMissingShown = 20
)

// status is the page of the state.
func (s *Site) status(q *request) (*render.Page, error) {
	source := s.Query.SourceStatus()
	data := &statusPage{
		Loading:   q.loading,
		State:     string(source.State),
		Since:     source.Since,
		Checked:   source.At,
		Incidents: q.incidents(s.Query.Incidents()),
	}
	data.Heading, data.About = q.edition.Text("status.is."+data.State), q.edition.Text("status.about."+data.State)
	for _, r := range source.Reasons {
		data.Reasons = append(data.Reasons, q.reason(r))
	}
	for _, sf := range source.Surfaces {
		data.Surfaces = append(data.Surfaces, q.surface(sf))
	}
	if q.loading {
		data.State = "loading"
		data.Heading = q.edition.Text("loading.title")
		data.About = q.edition.Text("status.loading")
	}
	if q.snapshot != nil {
		s.fillStatus(q, data)
	}
	return &render.Page{
		Template:    "status",
		Title:       q.edition.Text("status.title"),
		Description: q.edition.Text("status.description"),
		Style:       "status.css",
		Data:        data,
	}, nil
}

// fillStatus adds what needs the catalogue.
func (s *Site) fillStatus(q *request, data *statusPage) {
	e, status := q.edition, s.Query.Status(q.snapshot)
	data.Figures = []figure{
		{e.Number(status.Catalog.Reports), e.Text("status.reports")},
		{e.Number(status.Catalog.Issuers), e.Text("status.issuers")},
	}
	if l := status.Latency[0].RegisteredToAvailable; l != nil {
		data.Figures = append(data.Figures, figure{e.Duration(inDuration(l.P50)), e.Text("status.median")})
	}
	for _, l := range status.Latency {
		t := latencyTable{Types: strings.Join(l.Types, ", "), Count: l.Count}
		for _, stage := range []struct {
			key string
			*query.Percentiles
		}{
			{"seen", l.RegisteredToSeen}, {"available", l.SeenToAvailable}, {
				"enriched",
				l.SeenToEnriched,
			}, {"total", l.RegisteredToAvailable},
		} {
			if p := stage.Percentiles; p != nil {
				t.Rows = append(t.Rows, latencyRow{
					e.Text("status.stage." +
						stage.key), e.Duration(inDuration(p.P50)), e.Duration(inDuration(p.P90)), e.Duration(inDuration(p.P99)), e.Duration(inDuration(p.Max)),
				})
			}
		}
		data.Latency = append(data.Latency, t)
	}
	for _, r := range status.Latest {
		n := latestReport{
			Type:      r.Type,
			ID:        r.ID,
			URL:       e.Link("/reports/" + r.ID),
			Published: r.PublishedAt,
			Ago:       e.Ago(r.PublishedAt, q.now),
		}
		if d := r.AvailableAt.Sub(r.PublishedAt); r.ToSecond && d > 0 && d < time.Hour {
			n.Taken = e.Duration(d)
		}
		data.Latest = append(data.Latest, n)
	}
	for _, j := range status.Backfill {
		b := backfillJob{
			Range: j.From + " – " + j.To,
			Types: strings.Join(j.Types, ", "),
			Steps: j.Steps,
			Total: j.Total,
			New:   j.New,
		}
		if j.Numbers != nil {
			b.Range = *j.Numbers
		}
		if j.Trouble != nil {
			b.Trouble = *j.Trouble
		}
		data.Backfill = append(data.Backfill, b)
	}
	for n := range 7 {
		data.Weekdays = append(data.Weekdays, e.ShortWeekday(time.Weekday((n+1)%7)))
	}
	s.fillCalendar(q, data)
}

func inDuration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// fillCalendar adds the days of the last weeks, the newest week first.
func (s *Site) fillCalendar(q *request, data *statusPage) {
	e, today := q.edition, disclosure.DayOf(q.now)
	monday := today - disclosure.Day((int(today.Weekday())+6)%7)
	from := monday - 7*(calendarWeeks-1)
	days := map[string]*calendarDay{}
	completeness := s.Query.Completeness(q.snapshot, from, today)
	for _, p := range completeness.Series {
		line := provedLine{p.Type, e.Text("status.unproved")}
		if p.From != nil {
			day, _ := disclosure.ParseDay(*p.From)
			line.Text = e.Text("status.proved", e.Day(day), e.Minute(*p.Until))
		}
		data.Proved = append(data.Proved, line)
	}
	for _, d := range completeness.Days {
		c := days[d.Date]
		if c == nil {
			c = &calendarDay{Checked: true}
			days[d.Date] = c
		}
		c.Count += d.Count
		if d.Type != string(disclosure.HR) && d.Checked == nil { // HR has no list by date
			c.Checked = false
		}
		data.addMissing(c, d)
	}
	most := usualMost(days)
	for week := monday; week >= from; week -= 7 {
		w := calendarWeek{Label: e.DayAndMonth(week)}
		for day := week; day < week+7; day++ {
			c := days[day.String()]
			if c == nil {
				c = &calendarDay{Future: true}
			}
			c.Day, c.Number = day, day.Start().Day()
			c.Running = day == today
			c.Level = min((4*c.Count+most-1)/most, 4)
			c.Text = c.inWords(e)
			w.Days = append(w.Days, *c)
		}
		data.Weeks = append(data.Weeks, w)
	}
}

// usualMost returns the count of a busy day: one in ten has more.
func usualMost(days map[string]*calendarDay) int {
	counts := make([]int, 0, len(days))
	for _, d := range days {
		counts = append(counts, d.Count)
	}
	slices.Sort(counts)
	return max(counts[len(counts)*9/10], 1)
}

// addMissing adds the numbers of a day that were not seen yet.
func (data *statusPage) addMissing(c *calendarDay, d query.SeriesDay) {
	var numbers []string
	for _, m := range d.Missing {
		if m.Reason == query.NotYetSeen {
			numbers = append(numbers, m.Number)
		}
	}
	c.Missing += len(numbers)
	if day, ok := disclosure.ParseDay(d.Date); ok && len(numbers) > 0 && len(data.Missing) < maxMissingShown {
		data.Missing = append(data.Missing, missingDay{day, d.Type, numbers[:min(len(numbers), maxMissingShown)]})
	}
}

// inWords describes a day.
func (c *calendarDay) inWords(e edition) string {
	if c.Future {
		return e.Day(c.Day)
	}
	count, _ := e.N("reports", c.Count) // the key exists
	words := []string{e.Day(c.Day) + ": " + count, e.Text("status.unchecked")}
	switch {
	case c.Running:
		words[1] = e.Text("status.running")
	case c.Checked:
		words[1] = e.Text("status.checked")
	}
	if c.Missing > 0 {
		missing, _ := e.N("status.missing", c.Missing) // the key exists
		words = append(words, missing)
	}
	return strings.Join(words, ", ")
}

// incidents returns the log of incidents as readers see it.
func (q *request) incidents(log []coverage.Incident) []statusIncident {
	out := make([]statusIncident, 0, len(log))
	for _, n := range log {
		i := statusIncident{
			State:  string(n.State),
			Since:  n.Since,
			Until:  n.Until,
			Lasted: q.edition.Duration(q.now.Sub(n.Since)),
		}
		if !n.Until.IsZero() {
			i.Lasted = q.edition.Duration(n.Until.Sub(n.Since))
		}
		for _, r := range n.Reasons {
			i.Reasons = append(i.Reasons, q.reason(r))
		}
		out = append(out, i)
	}
	return out
}

// surface returns a part of the source as readers see it.
func (q *request) surface(sf health.Surface) statusSurface {
	return statusSurface{
		q.edition.surfaceName(sf.Name), query.SurfaceState(sf), sf.SuccessAt,
		q.edition.Ago(sf.SuccessAt, q.now), sf.Failures, sf.Error,
	}
}

// surfaceName returns the name of a part of the source.
func (e edition) surfaceName(name string) string {
	if key := "surface." + name; e.Known(key) {
		return e.Text(key)
	}
	return name
}

// reason returns a reason in the language of the page. The error that some have exists
// only in English.
func (q *request) reason(r health.Reason) statusReason {
	return statusReason{
		Surface: q.edition.surfaceName(r.Surface),
		Text:    q.edition.reasonText(r),
		English: r.Code == health.Failed || r.Code == health.StoreFailed,
		Since:   r.Since,
	}
}

// reasonText returns the sentence of a reason.
func (e edition) reasonText(r health.Reason) string {
	key := "reason." + string(r.Code)
	switch r.Code {
	case health.Failed:
		return e.Text(key, r.Params.Detail)
	case health.StoreFailed:
		return e.Text(key, r.Params.Part, r.Params.Detail)
	}
	return e.Text(key)
}
