package tools

import (
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

// onlyDocuments says what a list of facts cannot have.
const onlyDocuments = "Reports without a document that states it clearly are not here: search_reports finds them by words."

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

// reportOf is a report whose facts are shortened, with the address of its page.
type reportOf struct {
	*query.Report
	Facts []shortFact `json:"facts"`
	URL   string      `json:"url"`
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

// factRow is a fact in a list.
type factRow struct {
	query.FactRow
	Categories []string         `json:"categories"`
	URL        string           `json:"url"`
	Evidence   map[string]place `json:"evidence,omitempty"`
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
	order := "newest first"
	if list.Largest {
		order = "largest first, in " + list.Filter.Currency
	}
	page, err := s.newFactPage(found, order, true)
	if err == nil && page.fitting() < len(found.Data) {
		page, err = s.newFactPage(found, order, false)
	}
	if err != nil {
		return Result{}, err
	}
	if found.Total == 0 {
		why, err := s.explainFacts(ctx, snapshot, list)
		if err != nil {
			return Result{}, err
		}
		page.hint += why
	}
	members, err := appendWidened(nil, list.Filter)
	return page.result(s, snapshot, members), err
}

// newFactPage returns a page of facts. More of them fit if the text does not have the words
// that prove them.
func (s *Service) newFactPage(found query.FactRows, order string, proved bool) (*listPage, error) {
	page := newListPage("Facts", order, found.Total, found.Page, found.Limit)
	page.hint = " The facts of a document are known some seconds after its report. " + onlyDocuments
	page.notice = onlyDocuments + " " + page.notice
	if !proved {
		page.notice = "Quotes that prove the facts are left out to show more: get_report has them. " + page.notice
	}
	for _, row := range found.Data {
		row.Fields = fewFields(row.Fields)
		shown := factRow{
			FactRow:    row,
			Categories: row.Categories,
			URL:        query.ReportPage(s.BaseURL, row.ReportID),
			Evidence:   places(row.Evidence),
		}
		said := shown
		if !proved {
			said.Evidence = nil
		}
		if err := page.add(shown, said.appendLine(nil)); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// appendLine appends a fact as one line, with the link to the page of its report.
func (row *factRow) appendLine(b []byte) []byte {
	b = fmt.Appendf(b, "- %s, %s, %s, ", row.ReportID, Clock(row.PublishedAt), quote.Word(row.Kind))
	b = quote.Append(b, row.CompanyName, 80)
	b = appendNames(b, valueOf(row.Ticker), valueOf(row.IssuerID))
	if row.HeadlineEN != nil {
		b = quote.Append(append(b, ": "...), *row.HeadlineEN, 200)
	}
	b = appendFields(append(b, '.'), row.Fields, row.Evidence)
	return append(append(b, ": "...), row.URL...)
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
	URL         string     `json:"url"` // of the page of the report
	HeadlineEN  *string    `json:"headline_en"`
}

func (s *Service) calendar(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	wanted := p.Calendar(snapshot, s.now(), maxEntries)
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	found, err := s.Query.Calendar(ctx, snapshot, wanted)
	if err != nil {
		return Result{}, err
	}
	days := fmt.Sprintf("from %s to %s", found.From, found.To)
	page := newListPage("Dates", days, found.Total, found.Page, found.Limit)
	page.hint = fmt.Sprintf(" The calendar was asked %s.", days)
	for _, e := range found.Data {
		row := calendarEntry{
			Date:        e.Date,
			Time:        e.Time,
			Kind:        e.Kind,
			Status:      e.Status,
			IssuerID:    e.IssuerID,
			CompanyName: e.CompanyName,
			ReportID:    e.ReportID,
			URL:         query.ReportPage(s.BaseURL, e.ReportID),
			HeadlineEN:  e.HeadlineEN,
		}
		if err := page.add(row, row.appendLine(nil)); err != nil {
			return Result{}, err
		}
	}
	return page.result(s, snapshot, fmt.Appendf(nil, `,"from":%q,"to":%q`, found.From, found.To)), nil
}

// appendLine appends an entry as one line, with the link to the page of its report.
func (e *calendarEntry) appendLine(b []byte) []byte {
	day := e.Date
	if e.Time != nil {
		day = Clock(*e.Time)
	}
	b = fmt.Appendf(b, "- %s, %s", day, quote.Word(e.Kind))
	if e.Status != "confirmed" {
		b = append(append(b, ", "...), strings.ToUpper(e.Status)...)
	}
	b = quote.Append(append(b, ", "...), e.CompanyName, 80)
	b = appendNames(b, e.IssuerID)
	if e.HeadlineEN != nil {
		b = quote.Append(append(b, ": "...), *e.HeadlineEN, 200)
	}
	return fmt.Appendf(b, ", %s: %s", e.ReportID, e.URL)
}
