// Package events delivers changes as they happen, in the one form that streams,
// webhooks, the change list and agents share.
//
// An Event is an encoded change, joined with its issuer so that filters can be
// applied to it. The hub encodes it once for all listeners. A Selection describes the
// events that a listener wants. The Hub receives changes from the
// catalogue and keeps the newest events in memory. The only state of a listener is the seq of the last change it
// has processed; it asks the hub for later events. So there is no queue that can
// overflow, and listeners need not register. Events that are no longer in memory
// are read from the log.
package events

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/store"
	"pregon/internal/text"
)

// Event is an encoded change. It is immutable.
type Event struct {
	Seq  int64
	Name disclosure.Event
	// JSON is the Report, Issuer or Position of the contract, flat, with seq, cursor, event,
	// occurred_at, changed and, of a report or position, the clocks of its stages.
	JSON []byte
	// Frame is the event as a stream sends it (Server-Sent Events).
	Frame []byte

	report   *search.Report     // of a report
	issuer   *disclosure.Issuer // of the directory
	position *search.Position   // of a register
}

// document returns the SHA-256 of the report's document as it then was, empty if
// its text was not ready.
func (e *Event) document() string {
	if e.report == nil {
		return ""
	}
	d := &e.report.Report.Document
	if d.Status != disclosure.DocumentReady || !store.IsHash(d.SHA256) {
		return ""
	}
	return d.SHA256
}

// HasErasableName reports whether the event has a name that may be that of a natural person.
// Such a name is erased from the log some day, so that the event must not be kept.
func (e *Event) HasErasableName() bool {
	return e.position != nil && e.position.Position.Natural && e.position.Position.Name != ""
}

// newEvent encodes a change.
func newEvent(c *disclosure.Change, dir *search.Directory, epoch string) *Event {
	cursor := disclosure.Cursor{Epoch: epoch, Seq: c.Seq}
	e := &Event{Seq: c.Seq, Name: c.Event, issuer: c.Issuer}
	b := make([]byte, 0, 1024)
	switch c.Of() {
	case disclosure.OfReport:
		e.report = dir.Analyze(c.Report)
		b = disclosure.AppendReport(b, c.Report, e.report.Ticker)
	case disclosure.OfPosition:
		e.position = dir.AnalyzePosition(c.Position)
		b = appendPosition(b, e.position)
	default:
		b = disclosure.AppendIssuer(b, c.Issuer)
	}
	b = append(b[:len(b)-1], `,"seq":`...)
	b = strconv.AppendInt(b, c.Seq, 10)
	b = cursor.Append(append(b, `,"cursor":"`...))
	b = append(b, `","event":"`...)
	b = append(b, c.Event...)
	b = appendTime(append(b, '"'), "occurred_at", c.OccurredAt)
	b = append(b, `,"changed":[`...)
	for i, name := range c.Changed {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, name) // names of fields: plain
	}
	b = append(b, ']')
	switch c.Of() {
	case disclosure.OfReport:
		b = appendClocks(b, c.Report)
	case disclosure.OfPosition:
		b = appendTime(b, "available_at", c.Position.AvailableAt)
	}
	e.JSON = append(b, '}')
	e.Frame = AppendFrame(nil, cursor, string(e.Name), e.JSON)
	return e
}

// appendPosition appends a position with the issuer that the directory has for it now.
func appendPosition(b []byte, joined *search.Position) []byte {
	p := *joined.Position
	if p.Issuer == "" && joined.Issuer != nil {
		p.Issuer = joined.Issuer.ID
	}
	return disclosure.AppendPosition(b, &p)
}

// appendClocks appends what only events of a report have.
func appendClocks(b []byte, r *disclosure.Report) []byte {
	b = appendTime(b, "registered_at", r.PublishedAt)
	b = appendTime(b, "first_seen_at", r.FirstSeenAt)
	b = appendTime(b, "available_at", r.AvailableAt)
	b = appendTime(b, "enriched_at", r.EnrichedAt)
	b = appendTime(b, "text_ready_at", r.TextReadyAt)
	b = appendTime(b, "summary_ready_at", r.SummaryReadyAt)
	b = append(b, `,"corrected_by":`...)
	if r.CorrectedBy == "" {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendQuote(b, r.CorrectedBy) // an id: plain
	}
	b = appendTime(b, "facts_ready_at", r.FactsReadyAt)
	return r.AppendFacts(append(b, `,"facts":`...))
}

// appendTime appends a JSON member with a time, or null if the time is zero.
func appendTime(b []byte, name string, t time.Time) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	if t.IsZero() {
		return append(b, "null"...)
	}
	b = t.In(disclosure.Madrid).AppendFormat(append(b, '"'), time.RFC3339Nano)
	return append(b, '"')
}

// AppendFrame appends one event of a stream. It omits the id if that is zero.
// The data must be on one line, as JSON is.
func AppendFrame(b []byte, id disclosure.Cursor, name string, data []byte) []byte {
	if id != (disclosure.Cursor{}) {
		b = append(id.Append(append(b, "id: "...)), '\n')
	}
	b = append(append(b, "event: "...), name...)
	b = append(append(b, "\ndata: "...), data...)
	return append(b, "\n\n"...)
}

// AllEvents lists all events. DefaultEvents lists those that a listener receives
// if its selection names none: all except the loading of history and positions.
var (
	AllEvents = []disclosure.Event{
		disclosure.Published, disclosure.Updated, disclosure.Corrected,
		disclosure.Backfilled, disclosure.IssuerUpdated,
		disclosure.PositionPublished, disclosure.PositionUpdated,
		disclosure.PositionWithdrawn, disclosure.PositionBackfilled,
	}
	DefaultEvents = []disclosure.Event{
		disclosure.Published, disclosure.Updated, disclosure.Corrected,
		disclosure.IssuerUpdated,
	}
)

// Selection describes the events that a listener receives. The zero value
// selects all of DefaultEvents.
type Selection struct {
	Events []disclosure.Event
	Filter disclosure.Filter
}

// Names returns the events of the selection.
func (s Selection) Names() []disclosure.Event {
	if len(s.Events) == 0 {
		return DefaultEvents
	}
	return s.Events
}

// Has reports whether some of the events are about a subject.
func (s Selection) Has(of disclosure.Subject) bool {
	return slices.ContainsFunc(s.Names(), func(e disclosure.Event) bool { return e.Of() == of })
}

// Limits of a filter. It is evaluated for every change while its listener is
// connected.
const (
	LongestFilter = 500 // characters of its texts together
	MostTerms     = 32  // words to search for
)

// FilterError describes why a filter is too long to be evaluated for every
// change. It returns "" if the filter is within the limits.
func FilterError(f disclosure.Filter) (reason fault.Text) {
	if n := FilterLength(f); n > LongestFilter {
		return fault.Text{
			Format: "has %d characters: a filter may have %d at most, in search, category, market, sector " +
				"and holder together",
			Args: []any{n, LongestFilter},
		}
	}
	if n := len(f.IssuerKeys()); n > disclosure.MaxIssuers+1 { // several, and all of them as one
		return fault.Text{
			Format: "has %d issuers: a filter may have %d at most",
			Args:   []any{n - 1, disclosure.MaxIssuers},
		}
	}
	for _, words := range []string{f.Search, f.HeldBy} {
		if n := len(text.Words(words)); n > MostTerms {
			return fault.Text{Format: "has %d words: a filter may search for %d at most", Args: []any{n, MostTerms}}
		}
	}
	return fault.Text{}
}

// FilterLength returns the number of characters in the texts of a filter. Issuers, which are
// looked up and not searched for, have a limit of their own.
func FilterLength(f disclosure.Filter) (n int) {
	for _, s := range []string{f.Search, f.Category, f.Market, f.Sector, f.HeldBy} {
		n += utf8.RuneCountInString(s)
	}
	return n
}

// ParseEvent reads the name of an event.
func ParseEvent(s string) (disclosure.Event, bool) {
	e := disclosure.Event(s)
	return e, slices.Contains(AllEvents, e)
}

// NeedsIssuers reports whether a caller needs the scope read:issuers to receive an event: it
// is about an issuer or a position. All others need read:reports.
func NeedsIssuers(e disclosure.Event) bool { return e.Of() != disclosure.OfReport }

// MayRead reports whether a caller with a scope may receive an event.
func MayRead(scope access.Scope, event disclosure.Event) bool {
	if NeedsIssuers(event) {
		return scope.Has(access.ReadIssuers)
	}
	return scope.Has(access.ReadReports)
}

// EventNames returns the names of events, separated by commas.
func EventNames(events []disclosure.Event) string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = string(e)
	}
	return strings.Join(names, ", ")
}
