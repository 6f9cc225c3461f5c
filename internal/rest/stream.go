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
	"pregon/internal/push/ticket"
	"pregon/internal/query"
	"pregon/internal/retry"
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

// retryField is the field of a stream that says when to reconnect.
var retryField = "retry: " + strconv.FormatInt(retryAfter.Milliseconds(), 10) + "\n"

// selection reads the common filter and the parameter events. Without that parameter, it
// has the default events.
func (p *params) selection(now *catalog.Snapshot, defaults []disclosure.Event) events.Selection {
	s := events.Selection{Events: defaults, Filter: p.LiveFilter(now)}
	if reason := events.FilterError(s.Filter); reason.Format != "" {
		p.Reject("search", s.Filter.Search, "%s", reason)
	}
	if text := p.Text("events"); text != "" {
		s.Events = p.Events(strings.Split(text, ","))
	}
	p.CheckSelection(s)
	return s
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

// streamSelection returns the selection of a stream: that of its ticket, or of the parameters.
func (a *API) streamSelection(r *http.Request, p *params, opened *ticket.Ticket) (events.Selection, error) {
	if opened != nil {
		a.rejectBesideTicket(p, r.URL.Query())
		return opened.Selection, nil
	}
	now, err := a.Query.Snapshot()
	if err != nil {
		return events.Selection{}, err
	}
	return p.selection(now, events.DefaultEvents), nil
}

// openStream prepares a stream. The ticket is nil if the caller has a credential.
func (a *API) openStream(w http.ResponseWriter, r *http.Request, opened *ticket.Ticket) (*stream, error) {
	p := a.readParams(r)
	selection, err := a.streamSelection(r, p, opened)
	if err != nil {
		return nil, err
	}
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
	s := &stream{
		api:       a,
		principal: principal,
		selector:  selection.Compile(a.Query.Lists()),
		w:         w,
		control:   control,
		ctx:       r.Context(),
		head:      r.Method == http.MethodHead,
	}
	// before the cursor may be waited for
	if s.release, s.superseded, err = a.enter(r, principal, opened); err != nil {
		return nil, err
	}
	s.out = append(s.out, retryField...)
	start, err := a.streamStart(r, opened, asked)
	if fault.KindOf(err) == fault.Unavailable {
		s.refuse(err)
		return s, nil
	}
	if err != nil {
		s.release()
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

// refusedStream returns the stream of a request with a ticket that cannot be answered now.
func (a *API) refusedStream(w http.ResponseWriter, r *http.Request, err error) *stream {
	s := &stream{
		api:     a,
		w:       w,
		control: http.NewResponseController(w),
		ctx:     r.Context(),
		release: func() {},
		head:    r.Method == http.MethodHead,
	}
	s.out = append(s.out, retryField...)
	s.refuse(err)
	return s
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
	// closed when a newer connection was opened with the ticket of the stream; nil without one
	superseded <-chan struct{}

	cursor disclosure.Cursor // everything up to here was sent or filtered out
	state  string
	out    []byte

	replaying bool      // it sends events from before it was opened
	behind    time.Time // since when the hub does not have the next event; zero if it has
	textless  time.Time // since when the text of the next event cannot be loaded
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
// stream, and whether the client is still there to receive it. A waiting stream keeps its
// stack: what is not needed while it waits is in other functions.
func (s *stream) listen() (reason string, connected bool) {
	beat, ends := s.timers()
	s.replaying = true
	for {
		more, reason, err := s.sendNew()
		if err != nil || reason != "" {
			return reason, err == nil
		}
		select {
		case <-more.wake:
		case <-more.again:
		case <-more.changed:
		case <-beat:
			if err := s.heartbeat(); err != nil {
				return "", false
			}
		case <-s.superseded:
			return "a newer connection was opened with the ticket", true
		case <-ends:
			return "the credential has expired", true
		case <-s.ctx.Done():
			return "", false
		case <-s.api.Stopping:
			if retry.Sleep(s.ctx, rand.N(drainSpread)) != nil {
				return "", false
			}
			return "the service restarts; continue from last_id", true
		}
		if err := s.sendState(); err != nil {
			return "", false
		}
	}
}

// timers returns when heartbeats are due, and when the credential ends, if it does. It is
// not inlined, as startStream is not.
//
//go:noinline
func (s *stream) timers() (beat, ends <-chan time.Time) {
	if !s.principal.Expires.IsZero() {
		ends = time.After(time.Until(s.principal.Expires))
	}
	// so that streams do not write at the same moment
	return time.Tick(heartbeatInterval - rand.N(heartbeatInterval/8)), ends
}

// atOnce is the channel of streams that may have more to send already, but check their
// other channels between batches.
var atOnce = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// signals say when a stream may have more to send, or must end.
type signals struct {
	wake    <-chan struct{}
	again   <-chan time.Time
	changed <-chan struct{} // its credential may have ended
}

// sendNew sends the next events. A reason ends the stream, and so does an error, of a
// client that is gone.
func (s *stream) sendNew() (more signals, reason string, err error) {
	alive, changed := s.api.Guard.StillValid(s.principal)
	if !alive {
		return more, "the credential is no longer valid", nil
	}
	more.changed = changed
	events, wake, ok := s.api.Events.Since(s.cursor, batchSize)
	switch {
	case ok:
		s.replaying = s.replaying && len(events) > 0
		s.behind = time.Time{}
	case s.cursor.Epoch != s.api.Events.Head().Epoch:
		return more, "a backup of the store was restored: reconnect with this cursor, and hello says where the " +
			"stream continues", nil
	case !s.replaying && s.behind.IsZero():
		s.behind = time.Now() // perhaps a backfill: the client may still catch up from the log
	case !s.replaying && time.Since(s.behind) > maxLag:
		s.api.Conns.CountCut()
		return more, "too slow: events arrived faster than the client read them; continue from last_id", nil
	}
	if !ok {
		if events, err = s.api.Events.Read(s.ctx, s.cursor, batchSize); err != nil {
			return more, "the log cannot be read now; continue from last_id", nil
		}
	}
	err = s.send(events)
	switch {
	case errors.Is(err, errNoText) && time.Since(s.textless) > maxLag:
		return more, "the texts of documents cannot be read now; continue from last_id", nil
	case errors.Is(err, errNoText):
		more.again = time.After(textRetry)
		return more, "", nil
	case len(events) > 0:
		more.wake = atOnce
	default:
		more.wake = wake
	}
	return more, "", err
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
