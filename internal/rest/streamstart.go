package rest

import (
	"net/http"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/push/ticket"
	"pregon/internal/text"
	"pregon/internal/text/mask"
)

// hello is the first event of a stream.
type hello struct {
	After     int64   `json:"after"` // the stream contains every change after this one
	Newest    int64   `json:"newest"`
	State     string  `json:"state"`
	Requested *string `json:"requested"` // the requested cursor, if it is unusable
	Reason    *string `json:"reason"`    // why not
	Missed    *string `json:"missed_url"`

	Epoch  string        `json:"epoch"`
	Cursor string        `json:"cursor"` // After, with the epoch
	Reset  *events.Reset `json:"reset"`  // when the cursor is of another epoch
}

// streamCursor returns the cursor of a request for a stream, empty if there is none.
func streamCursor(r *http.Request, p *params) string {
	asked := r.Header.Get("Last-Event-ID") // set by the client's library, so an invalid one is not rejected
	if asked == "" {
		asked = p.cursor("last_event_id")
	}
	if asked == "" {
		asked = p.cursor("after")
	}
	return asked
}

// streamStart returns the position where a stream starts.
func (a *API) streamStart(r *http.Request, opened *ticket.Ticket, asked string) (hello, error) {
	start := hello{State: a.Events.State().Name}
	start.setCursor(a.Events.Head().Cursor)
	if asked == "" {
		return start, nil
	}
	cursor, ok := disclosure.ParseCursor(asked)
	if !ok {
		start.rejectCursor(asked, "this cursor is unknown: the stream starts with the next change",
			a.changesURL(r, opened, disclosure.Cursor{}))
		return start, nil
	}
	place, err := a.Events.Locate(r.Context(), cursor, 0)
	if err != nil {
		return start, err
	}
	start.setCursor(place.After)
	start.Newest, start.Reset = max(place.After.Seq, a.Events.Newest()), place.Reset
	switch {
	case place.Ahead:
		start.rejectCursor(asked, "this cursor is ahead of all changes: the stream starts with the next one",
			a.changesURL(r, opened, place.After))
	case place.Reset != nil:
		start.rejectCursor(asked, place.Reset.Reason, a.changesURL(r, opened, place.After))
	}
	return start, nil
}

// setCursor makes the stream start after a change.
func (h *hello) setCursor(c disclosure.Cursor) {
	h.After = c.Seq
	h.Newest = c.Seq
	h.Epoch = c.Epoch
	h.Cursor = c.String()
}

func (h *hello) cursor() disclosure.Cursor { return disclosure.Cursor{Epoch: h.Epoch, Seq: h.After} }

// changesURL returns the URL that returns the same events by polling. It has no ticket.
func (a *API) changesURL(r *http.Request, opened *ticket.Ticket, after disclosure.Cursor) string {
	q := r.URL.Query()
	if opened != nil {
		q = selectionValues(opened.Selection)
	}
	q.Del("last_event_id")
	q.Set("after", after.String())
	if q.Get("events") == "" {
		q.Set("events", eventList(events.DefaultEvents))
	}
	return a.BaseURL + "/api/v1/changes?" + q.Encode()
}

// eventList returns the names of events for a parameter.
func eventList(all []disclosure.Event) string {
	return strings.ReplaceAll(events.EventNames(all), " ", "")
}

func (h *hello) rejectCursor(asked, reason, missed string) {
	asked = text.Clip(mask.Credentials(asked), 100)
	h.Requested = &asked
	h.Reason = &reason
	h.Missed = &missed
}
