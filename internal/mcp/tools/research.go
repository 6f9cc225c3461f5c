package tools

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/mcp/quote"
	"pregon/internal/query"
	"pregon/internal/text"
)

// The tools search and fetch have the names, arguments and results that the research
// functions of chat assistants require. The text of a result is its JSON.

const maxIssuer = 2_500 // bytes about an issuer before who owns it

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
	return asText(fetched{found{ID: r.ID, Title: title, URL: s.reportLink(r.ID)}, content, metadata})
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
		found{ID: i.ID, Title: s.title(quote.Text(i.Name, 120)), URL: s.issuerLink(i.ID)},
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
func (s *Service) reportLink(id string) string { return query.ReportPage(s.BaseURL, id) }

// issuerLink returns the page of an issuer.
func (s *Service) issuerLink(id string) string {
	return s.BaseURL + "/issuers/" + url.PathEscape(id)
}
