package tools

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/mcp/quote"
	"pregon/internal/query"
	"pregon/internal/text"
)

// The tools search and fetch have the names, arguments and results that the research
// functions of chat assistants require. The text of a result is its JSON.

const (
	maxFound        = 10 // reports of a search
	maxFoundIssuers = 3
	maxQuestion     = 12    // words that are tried one by one
	maxIssuer       = 2_500 // bytes about an issuer before who owns it
)

// found is a result of search.
type found struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

func (s *Service) search(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	question := p.LimitedText("query", query.MaxSearch)
	if text.Wordless(question) {
		p.Reject("query", question, "does not have a word to search for: use letters or digits")
	}
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	by := access.FromContext(ctx)
	reports, err := s.searchAll(ctx, snapshot, question, by)
	if err != nil {
		return Result{}, err
	}
	results := []found{}
	if by.MayRead(access.ReadIssuers) {
		issuers, err := snapshot.Issuers(ctx, question, "", maxFoundIssuers)
		if err != nil {
			return Result{}, err
		}
		for _, e := range issuers {
			results = append(results, found{
				e.Issuer.ID, s.title(quote.Text(e.Issuer.Name, 120)),
				s.issuerLink(e.Issuer.ID),
			})
		}
	}
	for _, f := range reports {
		r := f.Decode()
		results = append(results, found{
			r.ID,
			s.reportTitle(r.CompanyName, r.Title, string(r.Type), r.PublishedAt), s.reportLink(r.ID),
		})
	}
	return asText(map[string]any{"results": results})
}

// searchAll finds reports for a question. For callers with a credential, those whose
// documents match follow those whose titles and summaries do.
func (s *Service) searchAll(
	ctx context.Context,
	snapshot *catalog.Snapshot,
	question string,
	by access.Principal,
) ([]catalog.Report, error) {
	page, err := snapshot.Reports(ctx, searchFor(snapshot, question), 1, maxFound)
	if err == nil && page.Total == 0 {
		page, err = relaxed(ctx, snapshot, question)
	}
	if err != nil || len(page.Reports) == maxFound || by.Mode == access.Anonymous {
		return page.Reports, err
	}
	inside, err := s.Query.Reports(ctx, snapshot, query.List{
		Filter:      searchFor(snapshot, question),
		Page:        1,
		Limit:       maxFound,
		InDocuments: true,
	})
	if fault.KindOf(err) == fault.Invalid { // words that a search in documents cannot have
		return page.Reports, nil
	}
	for _, f := range inside.Reports {
		same := func(other catalog.Report) bool { return other.ID() == f.ID() }
		if len(page.Reports) < maxFound && !slices.ContainsFunc(page.Reports, same) {
			page.Reports = append(page.Reports, f)
		}
	}
	return page.Reports, err
}

// searchFor returns the filter of words that a caller asks for.
func searchFor(snapshot *catalog.Snapshot, words string) disclosure.Filter {
	return disclosure.Filter{Search: words, Widen: snapshot.Directory().Widens(words)}
}

// questionWords are folded words of questions that say nothing about their subject.
var questionWords = func() map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(questionText) {
		out[word] = true
	}
	return out
}()

//go:embed question.txt
var questionText string

// relaxed finds reports with some words of a question, since assistants ask in
// sentences. It adds words from the rarest on, and leaves out those with which
// nothing is found.
func relaxed(ctx context.Context, snapshot *catalog.Snapshot, question string) (best catalog.Page, err error) {
	type counted struct {
		word  string
		total int
	}
	var words []counted
	asked := slices.DeleteFunc(text.Words(question), func(word string) bool { return questionWords[word] })
	for _, word := range asked[:min(len(asked), maxQuestion)] {
		page, err := snapshot.Reports(ctx, searchFor(snapshot, word), 1, 1)
		if err != nil {
			return catalog.Page{}, err
		}
		if page.Total > 0 {
			words = append(words, counted{word, page.Total})
		}
	}
	slices.SortStableFunc(words, func(a, b counted) int { return cmp.Compare(a.total, b.total) })
	kept := ""
	for _, w := range words {
		page, err := snapshot.Reports(ctx, searchFor(snapshot, kept+" "+w.word), 1, maxFound)
		if err != nil {
			return catalog.Page{}, err
		}
		if page.Total > 0 {
			kept, best = kept+" "+w.word, page
		}
	}
	return best, nil
}

// fetched is the result of fetch.
type fetched struct {
	found
	Text     string            `json:"text"`
	Metadata map[string]string `json:"metadata"`
}

func (s *Service) fetch(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	id := p.Text("id")
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	if _, _, isReport := disclosure.ParseReportID(strings.ToLower(id)); isReport {
		return s.fetchReport(ctx, snapshot, id)
	}
	return s.fetchIssuer(ctx, snapshot, id)
}

func (s *Service) fetchReport(ctx context.Context, snapshot *catalog.Snapshot, id string) (Result, error) {
	r, err := s.Query.Report(ctx, snapshot, id)
	if err != nil {
		return Result{}, err
	}
	content := s.reportText(r)
	switch {
	case r.Document.Status != "ready":
	case access.FromContext(ctx).Mode == access.Anonymous:
		content += "\nThe text of its document needs a key or token."
	default:
		piece, err := s.documentPiece(ctx, snapshot, id, 0, maxChars, maxBytes-len(content))
		if err != nil {
			return Result{}, err
		}
		content += "\n" + s.documentText(piece)
	}
	metadata := words(map[string]*string{
		"type": &r.Type, "number": &r.Number, "issuer_id": r.IssuerID,
		"corrected_by": r.CorrectedBy, "document": &r.Document.Status,
	})
	metadata["company_name"] = quote.Text(r.CompanyName, 120)
	metadata["published_at"] = r.PublishedAt.Format(time.RFC3339)
	title := s.reportTitle(r.CompanyName, r.Title, r.Type, r.PublishedAt)
	return asText(fetched{found{r.ID, title, s.reportLink(r.ID)}, content, metadata})
}

func (s *Service) fetchIssuer(ctx context.Context, snapshot *catalog.Snapshot, id string) (Result, error) {
	by := access.FromContext(ctx)
	if !by.MayRead(access.ReadIssuers) {
		return Result{}, by.MissingScope(access.ReadIssuers, "An issuer")
	}
	i, err := s.Query.Issuer(snapshot, id, by)
	if err != nil {
		return Result{}, err
	}
	shown, err := s.ShowIssuer(snapshot, i)
	if err != nil {
		return Result{}, err
	}
	content := shown.Text
	owned, err := s.readOwnership(ctx, snapshot, i.ID)
	if err != nil {
		return Result{}, err
	}
	if owned.entries() > 0 {
		content = text.ClipBytes(content, maxIssuer) + "\n" + text.ClipBytes(s.ownershipText(owned), maxText)
	}
	return asText(fetched{
		found{i.ID, s.title(quote.Text(i.Name, 120)), s.issuerLink(i.ID)},
		content,
		words(map[string]*string{
			"cif": i.CIF, "ticker": i.Ticker, "market": i.Market, "kind": i.Kind, "reports": new(strconv.Itoa(*i.ReportCount)),
		}),
	})
}

// asText returns a result whose text is its JSON.
func asText(v any) (Result, error) {
	b, err := query.Encode(v)
	return Result{b, string(b)}, err
}

// words returns the members that are not null. They are quoted if they need to be,
// since the result is a text that a model reads.
func words(all map[string]*string) map[string]string {
	out := map[string]string{}
	for name, v := range all {
		if v != nil {
			out[name] = quote.Word(*v)
		}
	}
	return out
}

// title returns a title, which says that the market is simulated.
func (s *Service) title(title string) string {
	if s.Simulated() != "" {
		return "SIMULATED: " + title
	}
	return title
}

func (s *Service) reportTitle(company, title, series string, published time.Time) string {
	return s.title(fmt.Sprintf("%s: %s (%s, %s)", quote.Text(company, 80), quote.Text(title, 160), series,
		Clock(published)))
}

// reportLink returns the page of a report, which links to the regulator's.
func (s *Service) reportLink(id string) string { return s.BaseURL + "/reports/" + id }

// issuerLink returns the page of an issuer.
func (s *Service) issuerLink(id string) string {
	return s.BaseURL + "/issuers/" + url.PathEscape(id)
}
