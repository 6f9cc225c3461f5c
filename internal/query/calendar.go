package query

import (
	"context"
	"slices"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/disclosure/calendar"
	"pregon/internal/fault"
)

// Limits of the calendar.
const (
	DefaultEntries = 500
	MaxEntries     = 2000

	// calendarDays is how many days a calendar has that gives no end.
	calendarDays = 365
	// feedBefore and feedAfter are the days around today that a feed has: programs drop
	// entries that are no longer in it.
	feedBefore = 90
	feedAfter  = 550
)

// lastDay is the last one that a date of four digits for the year can state.
var lastDay = func() disclosure.Day {
	d, _ := disclosure.ParseDay("9999-12-31")
	return d
}()

// Calendar is a request for a part of the calendar.
type Calendar struct {
	From, To    disclosure.Day
	Issuers     []string // ids; nil: all
	Kind        calendar.Kind
	Page, Limit int

	// Among, if not nil, reports whether the entries of an issuer are selected.
	Among func(*disclosure.Issuer) bool

	// List are the entries of a watchlist: issuers whose dates are selected, and searches that
	// select the dates of a report by the facts that state them. Nil: there is no watchlist.
	List *disclosure.Entries
}

// Calendar reads the parameters of the calendar, of which a page has a number of entries
// at most. It begins today and has a year, unless the request gives days.
func (p *Params) Calendar(s *catalog.Snapshot, now time.Time, most int) Calendar {
	c := p.calendar(s)
	c.From = p.Day("from")
	c.To = p.Day("to")
	today := disclosure.DayOf(now)
	switch {
	case c.From == 0 && (c.To == 0 || c.To >= today):
		c.From = today
	case c.From == 0:
		c.From = max(c.To-calendarDays, 1)
	}
	if c.To == 0 {
		c.To = min(c.From+calendarDays, max(c.From, lastDay))
	}
	if c.From > c.To {
		p.Reject("from", c.From.String(), "must not be later than to, %s", c.To)
	}
	c.Limit = p.Integer("limit", min(DefaultEntries, most), 1, most)
	c.Page = p.Integer("page", 1, 1, MaxPage)
	return c
}

// WholeCalendar reads the parameters that select entries, for all days.
func (p *Params) WholeCalendar(s *catalog.Snapshot) Calendar {
	c := p.calendar(s)
	c.From = 1
	c.To, _ = disclosure.ParseDay("9999-12-31")
	return c
}

// CalendarFeed reads the parameters of the calendar as a feed.
func (p *Params) CalendarFeed(s *catalog.Snapshot, now time.Time) Calendar {
	c := p.calendar(s)
	today := disclosure.DayOf(now)
	c.From = today - feedBefore
	c.To = today + feedAfter
	c.Page = 1
	c.Limit = MaxPage
	return c
}

func (p *Params) calendar(s *catalog.Snapshot) Calendar {
	var c Calendar
	for _, key := range p.issuers(s, issuerKey) {
		if e, ok := s.Issuer(key); ok {
			key = e.Issuer.ID
		}
		c.Issuers = append(c.Issuers, key)
	}
	if kind := p.Text("kind"); kind != "" {
		c.Kind = calendar.Kind(kind)
		if !slices.Contains(calendar.Kinds, c.Kind) {
			p.rejectValue("kind", kind, DateKinds, calendarKinds())
		}
	}
	c.Among = p.IssuersOf(s)
	_, c.List = p.watchlist()
	return c
}

func calendarKinds() fault.Alternatives {
	names := make(fault.Alternatives, len(calendar.Kinds))
	for i, k := range calendar.Kinds {
		names[i] = string(k)
	}
	return names
}

// CalendarEntry is an entry of the calendar as the API returns it.
type CalendarEntry struct {
	UID         string     `json:"uid"`
	Date        string     `json:"date"`
	Time        *time.Time `json:"time"` // null if only the day is known
	Kind        string     `json:"kind"`
	Status      string     `json:"status"` // confirmed, tentative or cancelled
	IssuerID    string     `json:"issuer_id"`
	CompanyName string     `json:"company_name"`
	ReportID    string     `json:"report_id"`
	Title       string     `json:"title"`
	TitleEN     string     `json:"title_en"`
	Headline    *string    `json:"headline"`
	HeadlineEN  *string    `json:"headline_en"`
	UpdatedAt   time.Time  `json:"updated_at"`
}

// CalendarPage is a page of the calendar.
type CalendarPage struct {
	Data  []CalendarEntry `json:"data"`
	Total int             `json:"total"`
	Page  int             `json:"page"`
	Limit int             `json:"limit"`
	From  string          `json:"from"`
	To    string          `json:"to"`
}

// Calendar returns a part of the calendar, by day.
func (q *Service) Calendar(ctx context.Context, s *catalog.Snapshot, c Calendar) (CalendarPage, error) {
	entries, err := q.Entries(ctx, s, c)
	if err != nil {
		return CalendarPage{}, err
	}
	out := CalendarPage{
		Data:  []CalendarEntry{},
		Total: len(entries),
		Page:  c.Page,
		Limit: c.Limit,
		From:  c.From.String(),
		To:    c.To.String(),
	}
	skip := (int64(c.Page) - 1) * int64(c.Limit)
	for i := skip; i < min(int64(len(entries)), skip+int64(c.Limit)); i++ {
		out.Data = append(out.Data, newCalendarEntry(&entries[i]))
	}
	return out, nil
}

func newCalendarEntry(e *calendar.Entry) CalendarEntry {
	status := "confirmed"
	switch {
	case e.Cancelled:
		status = "cancelled"
	case e.Tentative:
		status = "tentative"
	}
	return CalendarEntry{
		UID:         e.UID,
		Date:        e.Day.String(),
		Time:        TimeOrNull(e.Time),
		Kind:        string(e.Kind),
		Status:      status,
		IssuerID:    e.IssuerID,
		CompanyName: e.Issuer,
		ReportID:    e.ReportID,
		Title:       e.TitleES,
		TitleEN:     e.TitleEN,
		Headline:    OrNull(e.HeadlineES),
		HeadlineEN:  OrNull(e.HeadlineEN),
		UpdatedAt:   Madrid(e.Updated),
	}
}

// Entries returns all entries of a part of the calendar. The slice must not be modified.
func (q *Service) Entries(ctx context.Context, s *catalog.Snapshot, c Calendar) ([]calendar.Entry, error) {
	all, err := q.calendars.entries(ctx, s)
	if err != nil {
		return nil, err
	}
	from, _ := slices.BinarySearchFunc(all, c.From, func(e calendar.Entry, day disclosure.Day) int {
		return int(e.Day) - int(day)
	})
	to, _ := slices.BinarySearchFunc(all, c.To+1, func(e calendar.Entry, day disclosure.Day) int {
		return int(e.Day) - int(day)
	})
	all = all[from:max(from, to)]
	if c.Issuers == nil && c.Kind == "" && c.Among == nil && c.List == nil {
		return all, nil
	}
	selected := c.selects(s)
	listed, err := q.listsDates(ctx, s, c.List)
	if err != nil {
		return nil, err
	}
	var found []calendar.Entry
	for i := range all {
		e := &all[i]
		if (c.Kind == "" || e.Kind == c.Kind) && selected(e.IssuerID) && listed(e) {
			found = append(found, *e)
		}
	}
	return found, nil
}

// selects returns the function that reports whether the entries of the issuer with an id are
// selected. It asks for each issuer once.
func (c Calendar) selects(s *catalog.Snapshot) func(id string) bool {
	known := map[string]bool{}
	return func(id string) bool {
		selected, asked := known[id]
		if !asked {
			e, found := s.Issuer(id)
			selected = (c.Issuers == nil || slices.Contains(c.Issuers, id)) &&
				(c.Among == nil || found && c.Among(e.Issuer))
			known[id] = selected
		}
		return selected
	}
}

// listsDates returns the function that reports whether a watchlist selects an entry.
func (q *Service) listsDates(
	ctx context.Context,
	s *catalog.Snapshot,
	list *disclosure.Entries,
) (func(*calendar.Entry) bool, error) {
	if list == nil {
		return func(*calendar.Entry) bool { return true }, nil
	}
	issuers := map[string]bool{}
	for _, ident := range list.Issuers {
		issuers[ident] = true
		if e, ok := s.Issuer(ident); ok {
			issuers[e.Issuer.ID] = true
		}
	}
	found, err := q.withDocuments(ctx, s, disclosure.Filter{Entries: list})
	if err != nil {
		return nil, err
	}
	reports := map[disclosure.FactKind]map[string]bool{} // by the kind of facts with dates
	for _, kind := range calendar.FactKinds {
		stating := map[string]bool{}
		reports[kind] = stating
		searches := found.Entries.Searches(func(f disclosure.Filter) bool {
			return f.Fact == "" || f.Fact == disclosure.AnyFact || f.Fact == kind
		})
		if len(searches.Filters) == 0 {
			continue
		}
		of := disclosure.Filter{Fact: kind, Entries: searches}
		if err := s.EachReport(ctx, of, func(r catalog.Report) { stating[r.ID()] = true }); err != nil {
			return nil, err
		}
	}
	return func(e *calendar.Entry) bool {
		stating := reports[e.Kind.Fact()]
		return issuers[e.IssuerID] || stating[e.FirstID] || stating[e.ReportID]
	}, nil
}
