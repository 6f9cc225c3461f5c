package tools

import (
	"context"
	"fmt"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/mcp/quote"
	"pregon/internal/query"
)

func (s *Service) searchIssuers(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	found, total, err := p.Issuers(ctx, snapshot)
	if err != nil {
		return Result{}, err
	}
	page := newListPage("Issuers", "best match first", total, 1, len(found))
	page.hint = " Try another spelling, the ticker, NIF, ISIN or LEI."
	for _, e := range found {
		row := shrink(disclosure.AppendIssuer(nil, e.Issuer), maxJSON/query.MaxLimit) // so that all fit
		page.addEncoded(row, s.appendIssuerLine(nil, e.Issuer))
	}
	page.cutWhole()
	text := s.Simulated() + page.text(s.nowInMadrid(), pageAfter{}, false)
	if left := total - len(page.rows); left > 0 && len(page.rows) > 0 {
		text += fmt.Sprintf("… and %d more: narrow the search.\n", left)
	}
	return Result{withSeq(append(page.data(), '}'), snapshot), text}, nil
}

// appendIssuerLine appends an issuer as one line, with the link to its page.
func (s *Service) appendIssuerLine(b []byte, i *disclosure.Issuer) []byte {
	b = fmt.Appendf(b, "- %s: ", quote.Word(i.ID))
	b = quote.Append(b, i.Name, 80)
	for _, part := range []string{i.Ticker, i.Market, string(i.Kind), i.Sector} {
		if part != "" {
			b = append(append(b, ", "...), quote.Word(part)...)
		}
	}
	if i.NIF != "" {
		b = append(append(b, ", NIF "...), quote.Word(i.NIF)...)
	}
	return append(append(b, ": "...), s.issuerLink(i.ID)...)
}

// Issuer returns an issuer.
func (s *Service) Issuer(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	id := p.Text("id")
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	found, err := s.Query.Issuer(snapshot, id, access.FromContext(ctx))
	if err != nil {
		return Result{}, err
	}
	return s.ShowIssuer(snapshot, found)
}

// ShowIssuer returns an issuer as a result.
func (s *Service) ShowIssuer(snapshot *catalog.Snapshot, found *query.Issuer) (Result, error) {
	e, _ := snapshot.Issuer(found.ID)
	latest := snapshot.ReportsOf(e, len(found.Latest)).Reports
	var text strings.Builder
	fmt.Fprintf(&text, "%s%s (%s)", s.Simulated(), quote.Text(found.Name, 120), quote.Word(found.ID))
	for _, part := range []*string{found.Ticker, found.Market, found.Kind, found.Sector} {
		if part != nil {
			text.WriteString(", " + quote.Word(*part))
		}
	}
	fmt.Fprintf(&text, ": %s. %s\n", counted(*found.ReportCount, "report"), quote.Notice)
	fmt.Fprintf(&text, "Page: %s\n", s.issuerLink(found.ID))
	text.WriteString(identifiersText(found))
	for _, f := range latest {
		text.Write(append(s.appendLine(nil, f), '\n'))
	}
	b, err := encodeWithSeq(found, snapshot)
	return newResult(b, text.String()), err
}

// identifiersText returns the numbers and the former names of an issuer as a line.
func identifiersText(i *query.Issuer) string {
	var parts []string
	for _, number := range []struct {
		name  string
		value *string
	}{{"NIF", i.CIF}, {"LEI", i.LEI}} {
		if number.value != nil {
			parts = append(parts, number.name+" "+quote.Word(*number.value))
		}
	}
	for _, isin := range i.ISINs[:min(len(i.ISINs), maxNumbers)] {
		parts = append(parts, "ISIN "+quote.Word(isin))
	}
	for _, name := range i.FormerNames[:min(len(i.FormerNames), maxNumbers)] {
		parts = append(parts, "formerly "+quote.Text(name, 120))
	}
	if len(i.FormerNames) == 0 {
		parts = append(parts, "no former names are known")
	}
	return strings.Join(parts, ", ") + ".\n"
}

// maxNumbers is how many ISINs and former names of an issuer a text has.
const maxNumbers = 5

func (s *Service) analytics(_ context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	a := snapshot.Analytics(s.now())
	b, err := query.Encode(a)
	today := a.Daily[len(a.Daily)-1]
	text := fmt.Sprintf("%s%d reports in all (IP %d, HR %d, OIR %d). Today, %s: %d so far, against a usual "+
		"%.1f by this hour.\n",
		s.Simulated(), a.Totals.All, a.Totals.ByType.IP, a.Totals.ByType.HR, a.Totals.ByType.OIR, today.Date,
		a.Pace.Today, a.Pace.Usual)
	if len(a.Issuers) > 0 {
		text += "Most active in 30 days. " + quote.Notice + "\n"
	}
	for _, i := range a.Issuers[:min(len(a.Issuers), 5)] {
		text += fmt.Sprintf("- %s (%s): %s: %s\n", quote.Text(i.Name, 80), quote.Word(i.ID), counted(i.Total, "report"),
			s.issuerLink(i.ID))
	}
	return newResult(b, text), err
}

func (s *Service) status(_ context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	st := s.Query.Status(snapshot)
	b, err := query.Encode(st)
	text := fmt.Sprintf("%sThe source is %s; %d reports and %d issuers, up to change %d. %s\n",
		s.Simulated(), st.State, st.Catalog.Reports, st.Catalog.Issuers, st.Seq, s.nowInMadrid())
	for _, r := range st.Reasons {
		text += fmt.Sprintf("- %s: %s\n", r.Surface, r.Reason)
	}
	for _, l := range st.Latest {
		text += fmt.Sprintf("Newest %s: %s, %s.\n", l.Type, l.ID, Clock(l.PublishedAt))
	}
	return newResult(b, text), err
}
