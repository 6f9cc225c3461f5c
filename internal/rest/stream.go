package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/query"
	"pregon/internal/text"
	"pregon/internal/text/mask"
)

// StreamPath is the path of the event stream. Its responses must not be
// compressed, which would delay events.
const StreamPath = "/api/v1/stream"

const (
	batchSize         = 256 // events written at once
	heartbeatInterval = 12 * time.Second
	writeTimeout      = 10 * time.Second // of one write
	maxLag            = 30 * time.Second // for a client that fell behind the events in memory
	retryAfter        = 2 * time.Second  // of clients that reconnect by themselves
	drainSpread       = 3 * time.Second  // over which streams end when the service stops
	textWait          = 2 * time.Second  // for the texts of documents, before a stream does something else
	textRetry         = time.Second      // after which a text that could not be loaded is tried again
)

// selection reads the common filter and the parameter events. Without that parameter, it
// has the default events.
func (p *params) selection(now *catalog.Snapshot, defaults []disclosure.Event) events.Selection {
	s := events.Selection{Events: defaults, Filter: p.LiveFilter(now)}
	if reason := events.FilterError(s.Filter); reason != "" {
		p.Reject("search", s.Filter.Search, "%s", reason)
	}
	if text := p.Text("events"); text != "" {
		s.Events = p.Events(strings.Split(text, ","))
	}
	p.CheckSelection(s)
	return s
}

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
func (a *API) streamStart(r *http.Request, asked string) (hello, error) {
	start := hello{State: a.Events.State().Name}
	start.setCursor(a.Events.Head().Cursor)
	if asked == "" {
		return start, nil
	}
	cursor, ok := disclosure.ParseCursor(asked)
	if !ok {
		start.rejectCursor(asked, "this cursor is unknown: the stream starts with the next change",
			a.changesURL(r, disclosure.Cursor{}))
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
			a.changesURL(r, place.After))
	case place.Reset != nil:
		start.rejectCursor(asked, place.Reset.Reason, a.changesURL(r, place.After))
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

// changesURL returns the URL that returns the same events by polling.
func (a *API) changesURL(r *http.Request, after disclosure.Cursor) string {
	q := r.URL.Query()
	q.Del("last_event_id")
	q.Set("after", after.String())
	if q.Get("events") == "" {
		q.Set("events", strings.ReplaceAll(events.EventNames(events.DefaultEvents), " ", ""))
	}
	return a.BaseURL + "/api/v1/changes?" + q.Encode()
}

func (h *hello) rejectCursor(asked, reason, missed string) {
	asked = text.Clip(mask.Credentials(asked), 100)
	h.Requested = &asked
	h.Reason = &reason
	h.Missed = &missed
}

// cursor reads the cursor of a change.
func (p *params) cursor(name string) string {
	s := p.Text(name)
	if _, ok := disclosure.ParseCursor(s); s != "" && !ok {
		p.Reject(name, s, "must be the cursor of a change, such as k3v9x2m7-4711, or its seq: a whole number, "+
			"0 for the beginning")
		return ""
	}
	return s
}

// openStream prepares a stream.
func (a *API) openStream(w http.ResponseWriter, r *http.Request) (*stream, error) {
	p := a.readParams(r)
	now, err := a.Query.Snapshot()
	if err != nil {
		return nil, err
	}
	selection := p.selection(now, events.DefaultEvents)
	asked := streamCursor(r, p)
	if err := p.Err(); err != nil {
		return nil, err
	}
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Time{}) != nil { // otherwise the connection ends at the deadline of the request
		return nil, errors.New("this connection cannot be kept open")
	}
	principal := access.FromContext(r.Context())
	if selection, err = query.PermittedSelection(principal, selection); err != nil {
		return nil, err
	}
	release, err := a.Conns.Acquire(principal.ID, events.MaxOpen) // before the cursor may be waited for
	if err != nil {
		return nil, err
	}
	s := &stream{
		api:       a,
		principal: principal,
		selector:  selection.Compile(nil),
		w:         w,
		control:   control,
		ctx:       r.Context(),
		release:   release,
		head:      r.Method == http.MethodHead,
	}
	s.out = append(s.out, "retry: "+strconv.FormatInt(retryAfter.Milliseconds(), 10)+"\n"...)
	start, err := a.streamStart(r, asked)
	if fault.KindOf(err) == fault.Unavailable {
		s.refuse(err)
		return s, nil
	}
	if err != nil {
		release()
		return nil, err
	}
	if warnings := p.Warnings(); len(warnings) > 0 {
		w.Header()[warningHeader] = []string{strings.Join(warnings, " ")}
	}
	if widened := widenedValue(selection.Filter); widened != "" {
		w.Header()[widenedHeader] = []string{widened}
	}
	s.cursor, s.state = start.cursor(), start.State
	s.appendEvent(start.cursor(), "hello", start)
	return s, nil
}

// refuse makes a stream of a comment only. An error status would make clients such as
// EventSource give up for good, and an event with an id would replace the cursor with
// which they come back.
func (s *stream) refuse(err error) {
	reason := "The stream cannot be continued now."
	if e, ok := errors.AsType[*fault.Error](err); ok {
		reason = e.Message
	}
	s.out = append(s.out, ": "+reason+"\n\n"...)
	s.refused = true
}

// stream is one open event stream.
type stream struct {
	api       *API
	principal access.Principal
	selector  *events.Selector
	w         http.ResponseWriter
	control   *http.ResponseController
	ctx       context.Context // of the request
	release   func()
	head      bool // the method is HEAD
	refused   bool // it ends after what is in out

	cursor disclosure.Cursor // everything up to here was sent or filtered out
	state  string
	out    []byte

	textless time.Time // since when the text of the next event cannot be loaded
}

// run sends events until the client disconnects, falls behind, or its
// credential ends.
func (s *stream) run() {
	defer s.release()
	h := s.w.Header()
	h["Content-Type"] = []string{"text/event-stream"}
	h["Cache-Control"] = []string{"no-store"}
	h["Vary"] = varies
	h["X-Accel-Buffering"] = []string{"no"}
	if s.head || s.flush() != nil {
		return
	}
	if s.refused {
		_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // for the end of the body, which the server writes
		return
	}
	if reason, connected := s.listen(); connected {
		s.appendEvent(s.cursor, "goodbye",
			map[string]any{"reason": reason, "last_id": s.cursor.Seq, "cursor": s.cursor.String()})
		_ = s.flush()
		_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // for the end of the body, which the server writes
	}
}

// listen sends events as they occur. It returns the reason for the end of the
// stream, and whether the client is still there to receive it.
func (s *stream) listen() (reason string, connected bool) {
	// so that streams do not write at the same moment
	beat := time.NewTicker(heartbeatInterval - rand.N(heartbeatInterval/8))
	defer beat.Stop()
	var ends <-chan time.Time
	if !s.principal.Expires.IsZero() {
		timer := time.NewTimer(time.Until(s.principal.Expires))
		defer timer.Stop()
		ends = timer.C
	}
	replaying, behind := true, time.Time{}
	atOnce := make(chan struct{})
	close(atOnce)
	for {
		alive, changed := s.api.Guard.StillValid(s.principal)
		if !alive {
			return "the credential is no longer valid", true
		}
		events, wake, ok := s.api.Events.Since(s.cursor, batchSize)
		switch {
		case ok:
			replaying, behind = replaying && len(events) > 0, time.Time{}
		case s.cursor.Epoch != s.api.Events.Head().Epoch:
			return "a backup of the store was restored: reconnect with this cursor, and hello says where the " +
				"stream continues", true
		case !replaying && behind.IsZero():
			behind = time.Now() // perhaps a backfill: the client may still catch up from the log
		case !replaying && time.Since(behind) > maxLag:
			s.api.Conns.CountCut()
			return "too slow: events arrived faster than the client read them; continue from last_id", true
		}
		if !ok {
			var err error
			if events, err = s.api.Events.Read(s.ctx, s.cursor, batchSize); err != nil {
				return "the log cannot be read now; continue from last_id", true
			}
		}
		err := s.send(events)
		var again <-chan time.Time
		switch {
		case errors.Is(err, errNoText) && time.Since(s.textless) > maxLag:
			return "the texts of documents cannot be read now; continue from last_id", true
		case errors.Is(err, errNoText):
			wake, again = nil, time.After(textRetry)
		case err != nil:
			return "", false
		case len(events) > 0:
			wake = atOnce // there may be more already, but check the other channels between batches
		}
		select {
		case <-wake:
		case <-again:
		case <-changed:
		case <-beat.C:
			if err := s.heartbeat(); err != nil {
				return "", false
			}
		case <-ends:
			return "the credential has expired", true
		case <-s.ctx.Done():
			return "", false
		case <-s.api.Stopping:
			select {
			case <-time.After(rand.N(drainSpread)):
			case <-s.ctx.Done():
				return "", false
			}
			return "the service restarts; continue from last_id", true
		}
		if err := s.sendState(); err != nil {
			return "", false
		}
	}
}

// errNoText means that the text of a document could not be loaded in time.
var errNoText = errors.New("the text of a document cannot be loaded")

// sendByText writes the events that the selector matches by the texts of their
// documents. If loading them fails or takes long, it returns errNoText; the cursor is
// then at the last event that was compared.
func (s *stream) sendByText(events []*events.Event) error {
	ctx, cancel := context.WithTimeout(s.ctx, textWait) // so that heartbeats are not late
	defer cancel()
	for _, e := range events {
		matched, err := s.api.Events.Match(ctx, s.selector, e)
		if err != nil {
			if s.textless.IsZero() {
				s.textless = time.Now()
			}
			return cmp.Or(s.flush(), errNoText)
		}
		if matched {
			s.out = append(s.out, e.Frame...)
		}
		s.cursor.Seq, s.textless = e.Seq, time.Time{}
	}
	return s.flush()
}

// send writes the events that the selector matches.
func (s *stream) send(events []*events.Event) error {
	if s.selector.InDocument() {
		return s.sendByText(events)
	}
	if len(events) == 1 && len(s.out) == 0 { // the usual case: the shared frame need not be copied
		s.cursor.Seq = events[0].Seq
		if !s.selector.Match(events[0]) {
			return nil
		}
		return s.write(events[0].Frame)
	}
	for _, e := range events {
		if s.selector.Match(e) {
			s.out = append(s.out, e.Frame...)
		}
		s.cursor.Seq = e.Seq
	}
	return s.flush()
}

// heartbeat writes a heartbeat with the cursor, so that a client with a narrow
// filter need not resume far back.
func (s *stream) heartbeat() error {
	b := strconv.AppendInt([]byte(`{"seq":`), s.api.Events.Newest(), 10)
	b = append(append(append(b, `,"state":"`...), s.api.Events.State().Name...), `","at":"`...)
	b = append(time.Now().In(disclosure.Madrid).AppendFormat(b, time.RFC3339), `"}`...)
	s.out = events.AppendFrame(s.out, s.cursor, "heartbeat", b)
	return s.flush()
}

// sendState writes the state of the source if it has changed.
func (s *stream) sendState() error {
	now := s.api.Events.State()
	if now.Name == s.state {
		return nil
	}
	s.state = now.Name
	s.out = events.AppendFrame(s.out, disclosure.Cursor{}, "status", now.JSON)
	return s.flush()
}

func (s *stream) appendEvent(id disclosure.Cursor, event string, data any) {
	body, err := json.Marshal(data)
	if err != nil {
		panic(err) // strings, numbers and times always encode
	}
	s.out = events.AppendFrame(s.out, id, event, body)
}

// flush writes the buffer and frees it, since most streams are idle most of the
// time.
func (s *stream) flush() error {
	if len(s.out) == 0 {
		return nil
	}
	b := s.out
	s.out = nil
	return s.write(b)
}

func (s *stream) write(b []byte) error {
	err := s.writeInTime(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.api.Conns.CountCut()
	}
	return err
}

func (s *stream) writeInTime(b []byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	if err := s.control.Flush(); err != nil {
		return err
	}
	// over HTTP/2 an expired deadline ends the stream even without a write
	return s.control.SetWriteDeadline(time.Time{})
}
