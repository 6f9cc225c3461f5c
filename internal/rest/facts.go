package rest

import (
	"net/http"
	"slices"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/disclosure/calendar"
	"pregon/internal/query"
)

// Columns of facts and of the calendar as CSV. The fields of all kinds have a column each.
var (
	factColumns = slices.Concat([]string{
		"report_id", "type", "company_name", "ticker", "issuer_id", "title", "published_at", "kind", "headline",
		"headline_en",
	}, prefixed("fields.", factFields()))
	calendarColumns = []string{
		"date", "time", "kind", "status", "company_name", "issuer_id", "title", "title_en", "headline", "headline_en",
		"report_id", "updated_at", "uid",
	}
)

// factFields returns the names of the fields of all kinds of facts.
func factFields() (names []string) {
	for _, kind := range disclosure.FactKinds() {
		for _, name := range kind.Fields() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (a *API) listFacts(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.tableParams(r)
	list := p.FactList(s)
	if err := p.Err(); err != nil {
		return response{}, err
	}
	found, err := a.Query.FactList(r.Context(), s, list)
	if err != nil {
		return response{}, err
	}
	out, err := encode(found)
	return out.widen(list.Filter), err
}

func (a *API) getCalendar(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.listParams(r)
	wanted := p.Calendar(s, time.Now(), query.MaxEntries)
	if err := p.Err(); err != nil {
		return response{}, err
	}
	found, err := a.Query.Calendar(r.Context(), s, wanted)
	if err != nil {
		return response{}, err
	}
	return encode(found)
}

// feedAge is how long a copy of the calendar's feed may be used. Programs ask every hour or
// less often.
const feedAge = 15 * time.Minute

func (a *API) getCalendarFeed(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.readParams(r)
	wanted := p.CalendarFeed(s, time.Now())
	language := p.Text("language")
	if language != "" && language != "es" && language != "en" {
		p.Reject("language", language, "must be es or en")
	}
	if err := p.Err(); err != nil {
		return response{}, err
	}
	entries, err := a.Query.Entries(r.Context(), s, wanted)
	if err != nil {
		return response{}, err
	}
	feed := calendar.Feed{Name: feedName(s, wanted, p.ListName()), Language: language, BaseURL: a.BaseURL}
	if language == "" {
		feed.Language = "es"
	}
	return response{
		body:        feed.Append(nil, entries),
		contentType: feed.ContentType(),
		maxAge:      feedAge,
		header:      http.Header{"Content-Disposition": {`inline; filename="pregon.ics"`}},
	}, nil
}

// feedName returns the name of a calendar: with that of its watchlist or its issuer.
func feedName(s *catalog.Snapshot, c query.Calendar, list string) string {
	if list != "" {
		return "Pregón · " + list
	}
	if len(c.Issuers) != 1 {
		return "Pregón"
	}
	if e, ok := s.Issuer(c.Issuers[0]); ok {
		return "Pregón · " + e.Issuer.Name
	}
	return "Pregón"
}
