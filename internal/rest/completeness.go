package rest

import (
	"net/http"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

const (
	maxDays     = 366
	defaultDays = 7
)

func (a *API) getCompleteness(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.listParams(r)
	from, to := p.dayRange()
	if err := p.Err(); err != nil {
		return response{}, err
	}
	return encode(a.Query.Completeness(s, from, to))
}

// dayRange reads the range of days, by default the last ones.
func (p *params) dayRange() (from, to disclosure.Day) {
	from, to = p.Day("from"), p.Day("to")
	if !p.Valid() {
		return from, to
	}
	if to == 0 {
		to = disclosure.DayOf(time.Now())
	}
	if from == 0 {
		from = max(to-defaultDays+1, 1)
	}
	switch {
	case from > to:
		p.Reject("from", from.String(), "must not be later than to, %s", to)
	case to-from >= maxDays:
		p.Reject("from", from.String(), "must be less than %d days before to, %s", maxDays, to)
	}
	return from, to
}
