// Package events tells changes as they happen, in the one form that streams,
// webhooks, the change list and agents share.
//
// An Event is a change made ready to be told: encoded once, whoever listens,
// and joined with its issuer so that a filter can judge it. A Selection is what
// somebody wants of them. The Hub follows the log and keeps the newest events
// in memory; a listener is nothing but a number, the seq of the last change it
// has dealt with, and asks the hub for what came after. So there is no queue to
// overflow and nothing to register: what is no longer in memory is read from
// the log.
package events

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/text"
)

// Event is an encoded change. It is immutable.
type Event struct {
	Seq  int64
	Name disclosure.Event
	// JSON is the Report or Issuer of the contract, flat, with seq, cursor, event,
	// occurred_at, changed and, of a report, the clocks of its stages.
	JSON []byte
	// Frame is the event as a stream sends it (Server-Sent Events).
	Frame []byte

	report *search.Report     // of a report
	issuer *disclosure.Issuer // of the directory
}

// newEvent makes a change ready.
func newEvent(c *disclosure.Change, dir *search.Directory, epoch string) *Event {
	cursor := disclosure.Cursor{Epoch: epoch, Seq: c.Seq}
	e := &Event{Seq: c.Seq, Name: c.Event, issuer: c.Issuer}
	b := make([]byte, 0, 1024)
	if c.Report != nil {
		e.report = dir.Analyze(c.Report)
		b = disclosure.AppendReport(b, c.Report, e.report.Ticker)
	} else {
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
	if r := c.Report; r != nil {
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
	}
	e.JSON = append(b, '}')
	e.Frame = AppendFrame(nil, cursor, string(e.Name), e.JSON)
	return e
}

// appendTime appends a member with a time, null when there is none.
func appendTime(b []byte, name string, t time.Time) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	if t.IsZero() {
		return append(b, "null"...)
	}
	b = t.In(disclosure.Madrid).AppendFormat(append(b, '"'), time.RFC3339Nano)
	return append(b, '"')
}

// AppendFrame appends one event of a stream, without an id when that is zero.
// The data must be on one line, as JSON is.
func AppendFrame(b []byte, id disclosure.Cursor, name string, data []byte) []byte {
	if id != (disclosure.Cursor{}) {
		b = append(id.Append(append(b, "id: "...)), '\n')
	}
	b = append(append(b, "event: "...), name...)
	b = append(append(b, "\ndata: "...), data...)
	return append(b, "\n\n"...)
}

// AllEvents are the events that there are; DefaultEvents are those that are
// sent to who does not say: the loading of history is no news.
var (
	AllEvents     = []disclosure.Event{disclosure.Published, disclosure.Updated, disclosure.Corrected, disclosure.Backfilled, disclosure.IssuerUpdated}
	DefaultEvents = []disclosure.Event{disclosure.Published, disclosure.Updated, disclosure.Corrected, disclosure.IssuerUpdated}
)

// Selection is what somebody wants to be told. The zero value is everything of
// DefaultEvents.
type Selection struct {
	Events []disclosure.Event
	Filter disclosure.Filter
}

// What a selection may hold. It is judged for every change, for as long as
// whoever made it listens.
const (
	LongestFilter = 500 // characters of its texts together
	MostTerms     = 32  // words to search for
)

// TooMuch returns what is wrong with a filter that is too long to be judged for
// every change, and nothing if it is not.
func FilterError(f disclosure.Filter) string {
	if n := FilterLength(f); n > LongestFilter {
		return fmt.Sprintf("has %d characters: a filter may have %d at most, in search, category and issuer together", n, LongestFilter)
	}
	if n := len(text.Words(f.Search)); n > MostTerms {
		return fmt.Sprintf("has %d words: a filter may search for %d at most", n, MostTerms)
	}
	return ""
}

// FilterLength returns the number of characters in the texts of a filter.
func FilterLength(f disclosure.Filter) int {
	return utf8.RuneCountInString(f.Search) + utf8.RuneCountInString(f.Category) + utf8.RuneCountInString(f.Issuer)
}

// Selector is a compiled selection.
type Selector struct {
	events  []disclosure.Event
	filter  disclosure.Filter
	matcher *search.Matcher // nil matches every report
}

// Compile makes a selection ready.
func (s Selection) Compile() *Selector {
	out := &Selector{events: s.Events, filter: s.Filter}
	if len(out.events) == 0 {
		out.events = DefaultEvents
	}
	if s.Filter != (disclosure.Filter{}) {
		out.matcher = search.Compile(s.Filter)
	}
	return out
}

// Match reports whether an event is wanted. A change of the directory is wanted
// by who filters by nothing, or by that issuer, or by its kind: what else can
// be asked for is of reports.
func (s *Selector) Match(e *Event) bool {
	switch {
	case !slices.Contains(s.events, e.Name):
		return false
	case s.matcher == nil:
		return true
	case e.report != nil:
		return s.matcher.Match(e.report)
	}
	f := s.filter
	if f.Kind != "" && f.Kind != e.issuer.Kind || f.Issuer != "" && !slices.Contains(e.issuer.Keys(), disclosure.IssuerKey(f.Issuer)) {
		return false
	}
	f.Kind, f.Issuer = "", ""
	return f == disclosure.Filter{}
}

// ParseEvent reads the name of an event.
func ParseEvent(s string) (disclosure.Event, bool) {
	e := disclosure.Event(s)
	return e, slices.Contains(AllEvents, e)
}

// EventNames lists events for people.
func EventNames(events []disclosure.Event) string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = string(e)
	}
	return strings.Join(names, ", ")
}
