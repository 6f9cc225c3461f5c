package tools

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/mcp/quote"
	"pregon/internal/query"
	"pregon/internal/text"
)

// Limits of the facts in a result. Documents quote whole paragraphs, and have tables of
// thousands of rows.
const (
	maxQuote     = 240 // bytes of the words that prove a field
	maxFactRows  = 10
	maxFields    = 20    // of a fact; the kinds have fewer
	maxFactsText = 1_800 // bytes of the facts in the text about a report
	maxEntries   = 50    // of a page of the calendar
)

// place is where a document states a field, without the words around it.
type place struct {
	Page  int    `json:"page"`
	Quote string `json:"quote"`
}

func places(evidence map[string]query.Quote) map[string]place {
	if len(evidence) == 0 {
		return nil
	}
	out := make(map[string]place, len(evidence))
	for name, q := range fewFields(evidence) {
		out[name] = place{q.Page, text.ClipBytes(q.Quote, maxQuote)}
	}
	return out
}

// fewFields returns the fields of a fact, or as many as a result may have: imported facts
// may have any number of them.
func fewFields[V any](fields map[string]V) map[string]V {
	if len(fields) <= maxFields {
		return fields
	}
	out := make(map[string]V, maxFields)
	for _, name := range slices.Sorted(maps.Keys(fields))[:maxFields] {
		out[name] = fields[name]
	}
	return out
}

// reportOf is a report whose facts are shortened.
type reportOf struct {
	*query.Report
	Facts []shortFact `json:"facts"`
}

// shortFact is a fact of a report, with the first of its rows.
type shortFact struct {
	query.Fact
	Rows     []map[string]string `json:"rows,omitempty"`
	MoreRows int                 `json:"more_rows,omitempty"`
	Evidence map[string]place    `json:"evidence,omitempty"`
}

// shortFacts returns nil if there are no facts because the document was not examined.
func shortFacts(facts []query.Fact) []shortFact {
	if facts == nil {
		return nil
	}
	out := make([]shortFact, len(facts))
	for i, f := range facts {
		shown := min(len(f.Rows), maxFactRows)
		f.Fields = fewFields(f.Fields)
		out[i] = shortFact{
			Fact:     f,
			MoreRows: len(f.Rows) - shown,
			Evidence: places(f.Evidence),
		}
		for _, row := range f.Rows[:shown] {
			out[i].Rows = append(out[i].Rows, fewFields(row))
		}
	}
	return out
}

// factsText returns the facts of a report as a few lines.
func factsText(r *query.Report) string {
	var b []byte
	if r.HeadlineEN != nil {
		b = quote.Append(append(b, "Headline: "...), *r.HeadlineEN, 300)
		b = append(b, '\n')
	}
	for i, f := range r.Facts {
		line := appendFields(append([]byte("Fact: "), quote.Word(f.Kind)...), f.Fields, places(f.Evidence))
		if len(b)+len(line) > maxFactsText {
			b = fmt.Appendf(b, "… and %s more in the structured result.\n", counted(len(r.Facts)-i, "fact"))
			break
		}
		b = append(append(b, line...), '\n')
	}
	return string(b)
}

// appendFields appends the fields of a fact in the order of their names, each with the
// words that prove it. All of these are words of the document.
func appendFields(b []byte, fields map[string]string, evidence map[string]place) []byte {
	fields = fewFields(fields)
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			b = append(b, ';')
		}
		b = append(append(append(b, ' '), quote.Word(name)...), ' ')
		b = append(b, quote.Word(fields[name])...)
		if p, ok := evidence[name]; ok {
			b = quote.Append(fmt.Appendf(b, " (page %d: ", p.Page), p.Quote, 80)
			b = append(b, ')')
		}
	}
	return b
}

// boundedList is a list of which as many rows are shown as fit.
type boundedList struct {
	rows        [][]byte // encoded
	total       int
	page, limit int
	most        int // rows to show; 0 for as many as fit
}

func (l *boundedList) add(row any) error {
	b, err := query.Encode(row)
	if err == nil {
		l.rows = append(l.rows, shrink(b, maxRow))
	}
	return err
}

// shown returns how many rows are shown, and the page after them.
func (l *boundedList) shown() (shown int, next pageAfter, more bool) {
	size := 0
	rows := l.rows
	if l.most > 0 {
		rows = rows[:min(l.most, len(rows))]
	}
	for shown < len(rows) && (shown == 0 || size+len(rows[shown]) < maxJSON) {
		size += len(rows[shown]) + len(",")
		shown++
	}
	next = pageAfter{l.page + 1, l.limit}
	if shown < len(l.rows) {
		shown, next = nextPage(l.offset(), shown, l.limit)
	}
	return shown, next, l.offset()+shown < l.total
}

// offset is the number of rows on the pages before.
func (l *boundedList) offset() int { return (l.page - 1) * l.limit }

// append appends the first rows, without the end of the object.
func (l *boundedList) append(b []byte, shown int) []byte {
	b = append(b, `{"data":[`...)
	for i, row := range l.rows[:shown] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, row...)
	}
	return fmt.Appendf(b, `],"total":%d,"page":%d,"limit":%d`, l.total, l.page, l.limit)
}

// factRow is a fact in a list.
type factRow struct {
	query.FactRow
	Evidence map[string]place `json:"evidence,omitempty"`
}

func (s *Service) listFacts(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	list := p.FactList(snapshot)
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	found, err := s.Query.FactList(ctx, snapshot, list)
	if err != nil {
		return Result{}, err
	}
	out := boundedList{total: found.Total, page: found.Page, limit: found.Limit}
	for _, row := range found.Data {
		row.Fields = fewFields(row.Fields)
		if err := out.add(factRow{row, places(row.Evidence)}); err != nil {
			return Result{}, err
		}
	}
	shown, next, more := out.shown()
	b, err := appendWidened(out.append(nil, shown), list.Filter)
	if err != nil {
		return Result{}, err
	}
	order := "newest first"
	if list.Largest {
		order = "largest first, in " + list.Filter.Currency
	}
	lines := listLines{
		things: "Facts",
		order:  order,
		hint:   " The facts of a document are known some seconds after its report.",
		total:  found.Total,
		first:  out.offset() + 1,
	}
	for _, row := range found.Data[:shown] {
		lines.add(appendFactLine(nil, row))
	}
	return Result{appendEnd(b, snapshot, next, more), s.Simulated() + lines.text(next, more)}, nil
}

// appendFactLine appends a fact as one line.
func appendFactLine(b []byte, row query.FactRow) []byte {
	b = fmt.Appendf(b, "- %s, %s, %s, ", row.ReportID, Clock(row.PublishedAt), quote.Word(row.Kind))
	b = quote.Append(b, row.CompanyName, 80)
	if row.HeadlineEN != nil {
		b = quote.Append(append(b, ": "...), *row.HeadlineEN, 200)
	}
	return appendFields(append(b, '.'), row.Fields, places(row.Evidence))
}

// calendarEntry is an entry of the calendar.
type calendarEntry struct {
	Date        string     `json:"date"`
	Time        *time.Time `json:"time"`
	Kind        string     `json:"kind"`
	Status      string     `json:"status"`
	IssuerID    string     `json:"issuer_id"`
	CompanyName string     `json:"company_name"`
	ReportID    string     `json:"report_id"`
	HeadlineEN  *string    `json:"headline_en"`
}

func (s *Service) calendar(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	wanted := p.Calendar(snapshot, time.Now(), maxEntries)
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	found, err := s.Query.Calendar(ctx, snapshot, wanted)
	if err != nil {
		return Result{}, err
	}
	out := boundedList{total: found.Total, page: found.Page, limit: found.Limit}
	for _, e := range found.Data {
		row := calendarEntry{
			Date:        e.Date,
			Time:        e.Time,
			Kind:        e.Kind,
			Status:      e.Status,
			IssuerID:    e.IssuerID,
			CompanyName: e.CompanyName,
			ReportID:    e.ReportID,
			HeadlineEN:  e.HeadlineEN,
		}
		if err := out.add(row); err != nil {
			return Result{}, err
		}
	}
	shown, next, more := out.shown()
	lines := listLines{
		things: "Dates",
		order:  fmt.Sprintf("from %s to %s", found.From, found.To),
		hint:   fmt.Sprintf(" The calendar was asked from %s to %s.", found.From, found.To),
		total:  found.Total,
		first:  out.offset() + 1,
	}
	for _, e := range found.Data[:shown] {
		lines.add(appendEntryLine(nil, e))
	}
	b := fmt.Appendf(out.append(nil, shown), `,"from":%q,"to":%q`, found.From, found.To)
	return Result{appendEnd(b, snapshot, next, more), s.Simulated() + lines.text(next, more)}, nil
}

// appendEntryLine appends an entry of the calendar as one line.
func appendEntryLine(b []byte, e query.CalendarEntry) []byte {
	day := e.Date
	if e.Time != nil {
		day = Clock(*e.Time)
	}
	b = fmt.Appendf(b, "- %s, %s", day, quote.Word(e.Kind))
	if e.Status != "confirmed" {
		b = append(append(b, ", "...), strings.ToUpper(e.Status)...)
	}
	b = quote.Append(append(b, ", "...), e.CompanyName, 80)
	if e.HeadlineEN != nil {
		b = quote.Append(append(b, ": "...), *e.HeadlineEN, 200)
	}
	return append(append(b, ", "...), e.ReportID...)
}

// listLines is a list as text for a model.
type listLines struct {
	things string // of which it is a list
	order  string
	hint   string // if it is empty
	notice string // if it is not; quote.Notice if there is none
	total  int
	first  int // the number of the first line
	lines  [][]byte
}

func (l *listLines) add(line []byte) { l.lines = append(l.lines, line) }

// text returns the lines that fit, with what is before and after them.
func (l *listLines) text(next pageAfter, more bool) string {
	if len(l.lines) == 0 {
		return fmt.Sprintf("No %s here (%d found in all). %s%s", strings.ToLower(l.things), l.total, nowInMadrid(), l.hint)
	}
	b := fmt.Appendf(nil, "%s %d to %d of %d, %s. %s %s\n", l.things, l.first,
		l.first+len(l.lines)-1, l.total, l.order, nowInMadrid(), cmp.Or(l.notice, quote.Notice))
	for i, line := range l.lines {
		if len(b)+len(line) > maxText && i > 0 {
			b = fmt.Appendf(b, "… and %d more in the structured result.\n", len(l.lines)-i)
			break
		}
		b = append(append(b, line...), '\n')
	}
	return string(appendMore(b, next, more))
}
