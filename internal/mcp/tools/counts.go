package tools

import (
	"context"
	"fmt"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/mcp/quote"
	"pregon/internal/query"
)

// countReports returns a page of the counts of reports by a dimension.
func (s *Service) countReports(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	list := p.Counts(snapshot)
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	found, err := s.Query.Counts(ctx, snapshot, list)
	if err != nil {
		return Result{}, err
	}
	hint := ""
	if found.Total == 0 {
		if hint, err = s.explain(ctx, snapshot, list.List); err != nil {
			return Result{}, err
		}
	}
	page := newCountPage(found, hint)
	if list.Filter.Fact != "" {
		page.hint += " " + onlyDocuments
		page.notice = onlyDocuments + " " + page.notice
	}
	for _, row := range found.Data {
		if err := page.add(row, s.appendCountLine(nil, list, row)); err != nil {
			return Result{}, err
		}
	}
	members := fmt.Appendf(nil, `,"by":%q,"values":%d`, found.By, found.Values)
	members, err = appendWidened(members, list.Filter)
	return page.result(s, snapshot, members), err
}

// newCountPage returns a page of counts without its rows, which are the values.
func newCountPage(found *query.Counts, hint string) *listPage {
	order := "most reports first"
	if found.By.InTime() {
		order = "newest first"
	}
	page := newListPage("Counts by "+string(found.By), order, found.Total, found.Page, found.Limit)
	page.all = found.Values
	page.hint = hint
	most := ""
	if found.By.InTime() && found.Total > 0 { // it may be on another page
		most = fmt.Sprintf("; the most, %d, in %s", found.Most.Count, found.Most.Name)
	}
	page.notice = fmt.Sprintf("%s in all%s%s. %s", counted(found.Total, "report"), most, overlap[found.By], quote.Notice)
	return page
}

// overlap says why counts by a dimension may not add up to the total.
var overlap = map[catalog.Dimension]string{
	catalog.ByCategory: "; one with several categories counts in each",
	catalog.ByMarket:   "; one whose issuer has no known market is in none",
	catalog.BySector:   "; one whose issuer has no known sector is in none",
	catalog.ByKind:     "; one whose issuer is not known is in none",
}

// appendCountLine appends a count as one line, with the page of the reports that it counts.
func (s *Service) appendCountLine(b []byte, list query.CountList, row query.Count) []byte {
	b = append(b, "- "...)
	b = appendName(b, row.Name)
	if row.NameEN != nil {
		b = fmt.Appendf(b, ", %s", *row.NameEN)
	}
	if row.Value != nil && *row.Value != row.Name {
		b = fmt.Appendf(b, " (%s)", quote.Word(*row.Value))
	}
	b = append(append(b, ": "...), counted(row.Count, "report")...)
	if f, ok := list.Selects(row); ok {
		b = append(append(b, ": "...), query.ListPage(s.BaseURL, f)...)
	}
	return b
}

// maxValueName is the number of bytes of the name of a value in a text.
const maxValueName = 100

// shownValue is a value that a filter accepts.
type shownValue struct {
	Value   string   `json:"value"`
	Name    string   `json:"name"`
	NameEN  *string  `json:"name_en"`
	AboutEN *string  `json:"about_en,omitempty"`
	Fields  []string `json:"fields,omitempty"`
	Count   int      `json:"count"`
}

// values returns the values that a filter accepts. All sets of the program fit in a result;
// of the names of the source the most used are the first.
func (s *Service) values(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	of := p.ValueSet()
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	found, err := s.Query.Values(ctx, snapshot, of)
	if err != nil {
		return Result{}, err
	}
	thing, order := "report", "with their reports"
	if of == query.DateKinds {
		thing, order = "date", "with their dates in the next year"
	}
	page := newListPage("Values of "+string(of), order, len(found.Data), 1, len(found.Data))
	for _, v := range found.Data {
		row := shownValue{
			Value:   v.Value,
			Name:    v.Name,
			NameEN:  v.NameEN,
			AboutEN: v.AboutEN,
			Fields:  v.Fields,
			Count:   v.Count,
		}
		if err := page.add(row, appendValueLine(nil, v, thing)); err != nil {
			return Result{}, err
		}
	}
	left := page.cutWhole()
	b := fmt.Appendf(page.data(), `,"of":%q,"more":%d}`, of, left)
	text := s.Simulated() + page.text(s.nowInMadrid(), pageAfter{}, false)
	if left > 0 {
		text += fmt.Sprintf("… and %d more, which have the fewest reports: words of a name are accepted too.\n", left)
	}
	return Result{withSeq(b, snapshot), text}, nil
}

// appendValueLine appends a value as one line. What is counted is a thing.
func appendValueLine(b []byte, v query.Value, thing string) []byte {
	b = appendName(append(b, "- "...), v.Value)
	if v.NameEN != nil {
		b = append(append(b, ": "...), *v.NameEN...)
	}
	if v.AboutEN != nil {
		b = fmt.Appendf(b, " (%s)", *v.AboutEN)
	}
	if len(v.Fields) > 0 {
		b = append(append(b, "; fields "...), strings.Join(v.Fields, ", ")...)
	}
	return append(append(b, ": "...), counted(v.Count, thing)...)
}

// appendName appends the name of a value, quoted unless it is one of the program.
func appendName(b []byte, name string) []byte {
	if name == quote.Word(name) {
		return append(b, name...)
	}
	return quote.Append(b, name, maxValueName)
}
