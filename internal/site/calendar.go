package site

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/disclosure/calendar"
	"pregon/internal/query"
	"pregon/internal/site/render"
)

// Sizes of the calendar.
const (
	dayEntries    = 8   // of a day of the month; the list has all
	listedEntries = 200 // on a page of the list
	issuerDates   = 5   // on the page of an issuer
)

// calendarPage is the calendar, as a month or as a list.
type calendarPage struct {
	Month    string // its name
	Value    string // its parameter: 2026-12
	Day      string // the name of the day, if the list is of one
	Weekdays []weekday
	Weeks    [][]eventDay // of the month
	List     []eventDay   // days that have entries, if the page is a list
	Listed   bool         // the page is a list
	Total    int          // entries of the month or the day
	Next     *render.Link // the next entry after an empty month, or nil
	Previous string       // address of the month before, if there is something
	Later    string       // address of the month after, if there is something
	Today    string       // address of the present month, if this is another
	Views    []choice
	Form     calendarForm
	Feed     string // address to subscribe to, without its scheme
	Address  string // the same with its scheme
	Page     int
	Newer    string // address of the page before, or ""
	Older    string // address of the page after, or ""
}

// weekday is the heading of a column of the month.
type weekday struct{ Name, Short string }

// calendarForm is the filter of the calendar.
type calendarForm struct {
	Issuer  string
	Kinds   []choice
	Sectors []choice
	Hidden  []hidden
	Active  []choice // conditions that are set, with links that remove them
	Clear   string
}

// eventDay is a day with its entries.
type eventDay struct {
	Day     disclosure.Day // 0: a place of the grid in another month
	Number  int            // of the day in its month
	Today   bool
	Entries []calendarEntry
	More    int    // entries that are not shown
	MoreURL string // of the list of the day
}

// calendarEntry is an entry of the calendar.
type calendarEntry struct {
	Day       disclosure.Day
	Date      string // without the weekday
	Time      string // in Madrid, or ""
	Kind      string
	Issuer    string
	Title     string
	Headline  string
	URL       string // of the page of its report
	Cancelled bool
	Tentative bool
}

// calendar is the page of the calendar.
func (s *Site) calendar(q *request) (*render.Page, error) {
	span := q.calendarSpan()
	wanted := q.params.WholeCalendar(q.snapshot)
	page := q.params.Integer("page", 1, 1, query.MaxPage)
	if err := q.params.Err(); err != nil {
		return nil, err
	}
	all, err := s.Query.Entries(q.Context(), q.snapshot, wanted)
	if err != nil {
		return nil, err
	}
	found := entriesBetween(all, span.from, span.to)
	start := span.from.Start()
	out := &calendarPage{
		Month:  q.edition.Text("calendar.month", q.edition.Month(start.Month()), start.Year()),
		Value:  span.month,
		Listed: span.list,
		Total:  len(found),
		Page:   page,
		Form:   q.calendarForm(wanted, span),
	}
	if span.day {
		out.Day = q.edition.Day(span.from)
	}
	q.addMonths(out, all, span)
	if span.list {
		q.addList(out, found)
	} else {
		q.addWeeks(out, found, span)
	}
	feed := q.feedAddress(wanted)
	out.Address = s.BaseURL + feed
	_, out.Feed, _ = strings.Cut(out.Address, ":")
	title := q.edition.Text("calendar.title")
	return &render.Page{
		Template:    "calendar",
		Title:       title + ", " + cmp.Or(out.Day, out.Month),
		Description: q.edition.Text("calendar.description"),
		Style:       "calendar.css",
		Data:        out,
		NoIndex:     len(found) == 0 && q.values.Get("month") != "" || span.list || len(out.Form.Active) > 0,
		Head: []render.HeadLink{
			{Rel: "alternate", Type: "text/calendar", URL: feed},
		},
	}, nil
}

// calendarSpan is what a page of the calendar shows.
type calendarSpan struct {
	month    string // 2026-12
	from, to disclosure.Day
	day      bool // one day only
	list     bool
}

const monthLayout = "2006-01"

// calendarSpan reads the parameters month, day and view.
func (q *request) calendarSpan() calendarSpan {
	today := disclosure.DayOf(q.now)
	var span calendarSpan
	if day := q.params.Day("day"); day != 0 {
		return calendarSpan{
			month: day.String()[:len(monthLayout)],
			from:  day,
			to:    day,
			day:   true,
			list:  true,
		}
	}
	span.month = q.params.Text("month")
	if span.month == "" {
		span.month = today.String()[:len(monthLayout)]
	}
	var ok bool
	if span.from, ok = disclosure.ParseDay(span.month + "-01"); !ok {
		q.params.Reject("month", span.month, "must be a month from 1900-01 on, such as 2026-12")
		span.from = today
	}
	span.to = disclosure.DayOf(span.from.Start().AddDate(0, 1, 0)) - 1
	switch view := q.params.Text("view"); view {
	case "", "month":
	case "list":
		span.list = true
	default:
		q.params.Reject("view", view, "must be month or list")
	}
	return span
}

// entriesBetween returns the entries of some days.
func entriesBetween(all []calendar.Entry, from, to disclosure.Day) []calendar.Entry {
	byDay := func(e calendar.Entry, day disclosure.Day) int { return int(e.Day) - int(day) }
	first, _ := slices.BinarySearchFunc(all, from, byDay)
	end, _ := slices.BinarySearchFunc(all, to+1, byDay)
	return all[first:end]
}

// addMonths adds the links to other months. There is one if that month or one beyond it
// has entries, or is the present one, so that search engines find an end.
func (q *request) addMonths(out *calendarPage, all []calendar.Entry, span calendarSpan) {
	today := disclosure.DayOf(q.now)
	first, last := today, today
	if len(all) > 0 {
		first = min(first, all[0].Day)
		last = max(last, all[len(all)-1].Day)
	}
	start, _ := disclosure.ParseDay(span.month + "-01")
	end := disclosure.DayOf(start.Start().AddDate(0, 1, 0)) - 1
	address := func(d disclosure.Day) string {
		return q.with("/calendar", "month", d.String()[:len(monthLayout)], "day", "")
	}
	if first < start {
		out.Previous = address(start - 1)
	}
	if last > end {
		out.Later = address(end + 1)
	}
	if today < start || today > end {
		out.Today = q.with("/calendar", "month", "", "day", "")
	}
	monthURL := q.with("/calendar", "view", "", "day", "", "month", q.monthParameter(span))
	listURL := q.with("/calendar", "view", "list", "day", "", "month", q.monthParameter(span))
	out.Views = []choice{
		{Text: q.edition.Text("calendar.view.month"), URL: monthURL, Selected: !span.list},
		{Text: q.edition.Text("calendar.view.list"), URL: listURL, Selected: span.list && !span.day},
	}
	if next := entriesBetween(all, max(span.to+1, today), last); out.Total == 0 && len(next) > 0 {
		out.Next = &render.Link{Text: q.edition.Day(next[0].Day), URL: address(next[0].Day)}
	}
}

// monthParameter returns the parameter month for the links of a page: none if it is the
// present month and was not asked for.
func (q *request) monthParameter(span calendarSpan) string {
	if q.values.Get("month") == "" && !span.day {
		return ""
	}
	return span.month
}

// addWeeks adds the month as a grid, from Monday to Sunday.
func (q *request) addWeeks(out *calendarPage, found []calendar.Entry, span calendarSpan) {
	for i := range 7 {
		day := time.Weekday((i + 1) % 7)
		out.Weekdays = append(out.Weekdays, weekday{q.edition.Weekday(day), q.edition.ShortWeekday(day)})
	}
	before := disclosure.Day((span.from.Weekday() + 6) % 7) // days of the first week in the month before
	for monday := span.from - before; monday <= span.to; monday += 7 {
		week := make([]eventDay, 7)
		for i := range week {
			day := monday + disclosure.Day(i)
			if day >= span.from && day <= span.to {
				week[i] = q.newEventDay(day, entriesBetween(found, day, day), dayEntries)
			}
		}
		out.Weeks = append(out.Weeks, week)
	}
}

// addList adds a page of the list.
func (q *request) addList(out *calendarPage, found []calendar.Entry) {
	skip := min(int64(len(found)), (int64(out.Page)-1)*listedEntries)
	end := min(int64(len(found)), skip+listedEntries)
	if out.Page > 1 {
		out.Newer = q.with("/calendar", "page", pageNumber(out.Page-1))
	}
	if end < int64(len(found)) {
		out.Older = q.with("/calendar", "page", pageNumber(out.Page+1))
	}
	found = found[skip:end]
	for len(found) > 0 {
		day := found[0].Day
		n := len(entriesBetween(found, day, day))
		out.List = append(out.List, q.newEventDay(day, found[:n], n))
		found = found[n:]
	}
}

func (q *request) newEventDay(day disclosure.Day, entries []calendar.Entry, limit int) eventDay {
	out := eventDay{
		Day:    day,
		Number: day.Start().Day(),
		Today:  day == disclosure.DayOf(q.now),
	}
	if len(entries) > limit {
		out.More = len(entries) - limit
		out.MoreURL = q.with("/calendar", "day", day.String(), "month", "", "view", "")
		entries = entries[:limit]
	}
	for i := range entries {
		out.Entries = append(out.Entries, q.newCalendarEntry(&entries[i]))
	}
	return out
}

func (q *request) newCalendarEntry(e *calendar.Entry) calendarEntry {
	out := calendarEntry{
		Day:       e.Day,
		Date:      q.edition.Date(e.Day.Start()),
		Kind:      q.edition.Text("calendarkind." + string(e.Kind)),
		Issuer:    disclosure.DisplayName(e.Issuer),
		Title:     e.TitleES,
		Headline:  e.HeadlineES,
		URL:       q.edition.Link("/reports/" + e.ReportID),
		Cancelled: e.Cancelled,
		Tentative: e.Tentative && !e.Cancelled,
	}
	if q.edition.Language == render.English {
		out.Title = e.TitleEN
		out.Headline = e.HeadlineEN
	}
	out.Title = strings.Replace(out.Title, e.Issuer, out.Issuer, 1)
	if !e.Time.IsZero() {
		out.Time = q.edition.Clock(e.Time)
	}
	return out
}

// calendarForm returns the filter of the calendar.
func (q *request) calendarForm(wanted query.Calendar, span calendarSpan) calendarForm {
	e := q.edition
	f := calendarForm{
		Issuer:  q.values.Get("issuer"),
		Kinds:   []choice{{Text: e.Text("any"), Selected: wanted.Kind == ""}},
		Clear:   q.with("/calendar", "issuer", "", "kind", "", "market", "", "sector", "", "watchlist", ""),
		Sectors: q.positionNames(sectorNames, q.values.Get("sector")),
	}
	for _, kind := range calendar.Kinds {
		f.Kinds = append(f.Kinds, choice{
			Value:    string(kind),
			Text:     e.Text("calendarkind." + string(kind)),
			Selected: kind == wanted.Kind,
		})
	}
	for _, name := range []string{"month", "view", "day", "market", "watchlist", "lang"} {
		if v := q.values.Get(name); v != "" {
			f.Hidden = append(f.Hidden, hidden{name, v})
		}
	}
	if wanted.Issuers != nil {
		f.Active = append(f.Active, choice{
			Text: q.conditionText("issuer", disclosure.JoinIssuers(wanted.Issuers)),
			URL:  q.with("/calendar", "issuer", ""),
		})
	}
	if wanted.Kind != "" {
		f.Active = append(f.Active, choice{
			Text: e.Text("calendar.kind") + ": " + e.Text("calendarkind."+string(wanted.Kind)),
			URL:  q.with("/calendar", "kind", ""),
		})
	}
	for _, name := range []string{"watchlist", "market", "sector"} {
		if v := q.values.Get(name); v != "" {
			f.Active = append(f.Active, choice{Text: q.conditionText(name, v), URL: q.with("/calendar", name, "")})
		}
	}
	return f
}

// feedAddress returns the address of the calendar as a feed, with the filter and the
// language of the page.
func (q *request) feedAddress(wanted query.Calendar) string {
	values := url.Values{"language": {string(q.edition.Language)}}
	for _, name := range []string{"watchlist", "market", "sector"} {
		if v := q.values.Get(name); v != "" {
			values.Set(name, v)
		}
	}
	if wanted.Issuers != nil {
		values.Set("issuer", disclosure.JoinIssuers(wanted.Issuers))
	}
	if wanted.Kind != "" {
		values.Set("kind", string(wanted.Kind))
	}
	return "/api/v1/calendar.ics?" + values.Encode()
}

// nextDates returns the next entries of an issuer that are not cancelled.
func (s *Site) nextDates(q *request, id string) (out []calendarEntry, err error) {
	wanted := s.Query.NewParams(url.Values{}).WholeCalendar(q.snapshot)
	wanted.From = disclosure.DayOf(q.now)
	wanted.Issuers = []string{id}
	entries, err := s.Query.Entries(q.Context(), q.snapshot, wanted)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		if len(out) == issuerDates {
			break
		}
		if !entries[i].Cancelled {
			out = append(out, q.newCalendarEntry(&entries[i]))
		}
	}
	return out, nil
}

// calendarOf returns the address of the calendar of an issuer.
func (e edition) calendarOf(id string) string {
	return e.Link("/calendar?" + url.Values{"issuer": {id}}.Encode())
}
