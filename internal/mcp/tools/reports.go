package tools

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/mcp/quote"
	"pregon/internal/query"
	"pregon/internal/search"
	"pregon/internal/text"
)

// SearchReports returns a page of reports.
func (s *Service) SearchReports(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	list := p.List(snapshot)
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	named := ofIssuer(snapshot, &list)
	found, err := s.Query.Reports(ctx, snapshot, list)
	if err != nil {
		return Result{}, err
	}
	passages := make([][]document.Snippet, len(found.Reports))
	if list.InDocuments {
		if passages, err = s.Query.Snippets(ctx, list.Filter, found.Reports); err != nil {
			return Result{}, err
		}
	}
	page := newListPage("Reports", "newest first", found.Total, list.Page, list.Limit)
	for i, f := range found.Reports {
		row := shrink(appendPassages(query.AppendLinked(nil, f, s.BaseURL), passages[i]), maxRow)
		page.addEncoded(row, appendQuotes(s.appendLine(nil, f), passages[i]))
	}
	if found.Total == 0 {
		why, err := s.explain(ctx, snapshot, list)
		if err != nil {
			return Result{}, err
		}
		page.hint = " service_status reports whether the source can be read." + why
	}
	if list.Filter.Fact != "" {
		page.hint += " " + onlyDocuments
		page.notice = onlyDocuments + " " + page.notice
	}
	if named != nil {
		only := fmt.Sprintf("Only reports of %s (%s): put its name in quotation marks to find those of others that "+
			"mention it.", quote.Text(named.Issuer.Name, 120), quote.Word(named.Issuer.ID))
		page.hint = " " + only + page.hint
		page.notice = only + " " + page.notice
	}
	members, err := appendWidened(nil, list.Filter)
	return page.result(s, snapshot, members), err
}

// appendPassages appends the passages of its document to a report of a list.
func appendPassages(b []byte, found []document.Snippet) []byte {
	if len(found) == 0 {
		return b
	}
	b = append(b[:len(b)-1], `,"passages":[`...)
	for i, p := range found {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"page":%d,"text":`, p.Page)
		b = append(text.AppendJSON(b, p.Text), '}')
	}
	return append(b, "]}"...)
}

// Limits of the passages of a document in a text.
const (
	maxPassages = 2
	maxPassage  = 200 // bytes
)

// appendQuotes appends passages to the line of a report.
func appendQuotes(b []byte, found []document.Snippet) []byte {
	for _, p := range found[:min(len(found), maxPassages)] {
		b = quote.Append(fmt.Appendf(b, "\n  page %d: ", p.Page), p.Text, maxPassage)
	}
	return b
}

// ofIssuer makes a search for the name of an issuer one for its reports, and returns the
// issuer. Its words are in reports of others too. A single word is not taken for a name.
func ofIssuer(snapshot *catalog.Snapshot, list *query.List) *search.Issuer {
	f := &list.Filter
	if f.Issuer != "" || list.InDocuments || search.HasOperators(f.Search) || len(text.Words(f.Search)) < 2 {
		return nil
	}
	found := snapshot.Directory().Lookup(f.Search)
	if len(found) != 1 {
		return nil
	}
	f.Issuer = found[0].Issuer.ID
	f.Search = ""
	f.Widen = false
	return found[0]
}

// appendEnd appends the end of a list: the state that it is of, and the page after it.
func appendEnd(b []byte, snapshot *catalog.Snapshot, next pageAfter, more bool) []byte {
	b = fmt.Appendf(b, `,"seq":%d,"cursor":"%v","next":`, snapshot.Seq(), snapshot.Head())
	if !more {
		return append(b, "null}"...)
	}
	return fmt.Appendf(b, `{"page":%d,"limit":%d}}`, next.Page, next.Limit)
}

// appendWidened appends what was added to the search of a list, if anything was.
func appendWidened(b []byte, f disclosure.Filter) ([]byte, error) {
	if !f.Widen {
		return b, nil
	}
	widened := search.ParseFilter(f).Widened()
	encoded, err := query.Encode(widened[:min(len(widened), maxWidened)])
	return append(append(b, `,"widened":`...), encoded...), err
}

// maxWidened is the number of terms that a result says were widened. A search text may
// have thousands.
const maxWidened = 16

// pageAfter is the page with which a list continues.
type pageAfter struct{ Page, Limit int }

// nextPage returns the page after a list that was cut. Its start must be a
// multiple of its limit, so up to half of the rows are left out lest the
// pages become tiny.
func nextPage(offset, shown, limit int) (_ int, next pageAfter) {
	good := min(shown, 10)
	most := shown
	for n := shown; n > shown/2 && next.Limit < good; n-- {
		fitting := min(limit, offset+n)
		for (offset+n)%fitting != 0 {
			fitting--
		}
		if fitting > next.Limit {
			most, next.Limit = n, fitting
		}
	}
	next.Page = (offset+most)/next.Limit + 1
	return most, next
}

// appendMore appends how a list continues.
func appendMore(b []byte, next pageAfter, more bool) []byte {
	if !more {
		return b
	}
	return fmt.Appendf(b, "More: page %d with limit %d.", next.Page, next.Limit)
}

// appendLine appends a report as one line, with the link to its page.
func (s *Service) appendLine(b []byte, f catalog.Report) []byte {
	b = append(append(append(b, "- "...), f.ID()...), ", "...)
	b = query.Madrid(f.Published()).AppendFormat(b, minutes)
	b = append(append(append(b, ", "...), f.Type()...), ", "...)
	b = quote.Append(b, f.CompanyName(), 80)
	b = appendNames(b, f.Ticker(), f.IssuerID())
	b = quote.Append(append(b, ": "...), f.Title(), 160)
	return append(append(b, ": "...), query.ReportPage(s.BaseURL, f.ID())...)
}

// appendNames appends what other tools know an issuer by, in parentheses.
func appendNames(b []byte, names ...string) []byte {
	sep := " ("
	for _, name := range names {
		if name != "" {
			b = append(append(b, sep...), quote.Word(name)...)
			sep = ", "
		}
	}
	if sep == ", " {
		b = append(b, ')')
	}
	return b
}

// Report returns a report.
func (s *Service) Report(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	id := p.Text("id")
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	found, err := s.Query.Report(ctx, snapshot, id)
	if err != nil {
		return Result{}, err
	}
	b, err := encodeWithSeq(reportOf{found, shortFacts(found.Facts), query.ReportPage(s.BaseURL, found.ID)}, snapshot)
	return newResult(b, s.reportText(found)), err
}

func (s *Service) reportText(r *query.Report) string {
	var b strings.Builder
	b.WriteString(s.Simulated())
	fmt.Fprintf(&b, "%s (%s, number %s) of %s%s, published %s in Madrid. %s\nTitle: %s\n",
		r.ID,
		r.Type,
		r.Number,
		quote.Text(r.CompanyName, 120),
		appendNames(nil, valueOf(r.Ticker), valueOf(r.IssuerID)),
		Clock(r.PublishedAt),
		quote.Notice,
		quote.Text(r.Title, 300))
	b.WriteString(s.linksText(r))
	if len(r.English) > 0 {
		fmt.Fprintf(&b, "Categories: %s\n", quote.Text(strings.Join(r.English, "; "), 300))
	}
	if r.SuspectTime {
		fmt.Fprintf(&b, "That time cannot be true: the report was seen on %s. Lists order it by when it was seen.\n", Clock(r.FirstSeenAt))
	}
	if r.CorrectedBy != nil {
		fmt.Fprintf(&b, "Corrected by %s: read that one.\n", quote.Word(*r.CorrectedBy))
	}
	switch r.Document.Status {
	case "ready":
		fmt.Fprintf(&b, "Its document has %s: read_document.\n", counted(*r.Document.Pages, "page"))
	case "pending":
		b.WriteString("Its document is still being read.\n")
	}
	if r.Summary != nil {
		fmt.Fprintf(&b, "Summary: %s\n", quote.Text(*r.Summary, 800))
	}
	if r.SummaryEN != nil {
		fmt.Fprintf(&b, "Summary in English: %s\n", quote.Text(*r.SummaryEN, 500))
	}
	b.WriteString(evidenceText(r.Evidence))
	b.WriteString(factsText(r))
	b.WriteString(r.Attribution.Notice)
	return b.String()
}

// linksText returns the addresses of a report, each with the label that it has in all texts.
func (s *Service) linksText(r *query.Report) string {
	lines := fmt.Sprintf("Page: %s\n", query.ReportPage(s.BaseURL, r.ID))
	for _, link := range []struct {
		label   string
		address *string
	}{
		{"PDF", r.PDFURL},
		{"Source", r.SourceURL},
	} {
		if link.address != nil && quote.Link(*link.address) != "" {
			lines += fmt.Sprintf("%s: %s\n", link.label, quote.Link(*link.address))
		}
	}
	return lines
}

// maxSentences is the number of sentences of a summary whose evidence a text has.
const maxSentences = 3

// evidenceText returns the words of the document that the summary rests on.
func evidenceText(evidence []query.Evidence) string {
	var b []byte
	for _, e := range evidence[:min(len(evidence), maxSentences)] {
		b = quote.Append(fmt.Appendf(b, "Evidence of the summary, page %d: ", e.Page), e.Quote, maxQuote)
		b = append(b, '\n')
	}
	return string(b)
}

// counted returns a number of things in words: "1 page", "2 pages".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
