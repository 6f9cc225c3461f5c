package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/mcp/quote"
	"pregon/internal/query"
)

func (s *Service) searchIssuers(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	found, _, err := p.Issuers(ctx, snapshot)
	if err != nil {
		return Result{}, err
	}
	b := []byte(`{"data":[`)
	for i, e := range found {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, shrink(disclosure.AppendIssuer(nil, e.Issuer), maxJSON/query.MaxLimit)...) // so that all fit
	}
	b = withSeq(append(b, "]}"...), snapshot)
	var text strings.Builder
	text.WriteString(s.Simulated())
	if len(found) == 0 {
		text.WriteString("No issuer found. Try another spelling, the ticker, NIF, ISIN or LEI.")
	} else {
		text.WriteString(quote.Notice + "\n")
	}
	for _, e := range found {
		i := e.Issuer
		fmt.Fprintf(&text, "- %s: %s", quote.Word(i.ID), quote.Text(i.Name, 80))
		for _, part := range []string{i.Ticker, i.Market, string(i.Kind)} {
			if part != "" {
				text.WriteString(", " + quote.Word(part))
			}
		}
		text.WriteString("\n")
	}
	return newResult(b, text.String()), nil
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
	for _, f := range latest {
		text.Write(appendLine(nil, f))
	}
	b, err := encodeWithSeq(found, snapshot)
	return newResult(b, text.String()), err
}

func (s *Service) analytics(_ context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	a := snapshot.Analytics(time.Now())
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
		text += fmt.Sprintf("- %s (%s): %d\n", quote.Text(i.Name, 80), quote.Word(i.ID), i.Total)
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
		s.Simulated(), st.State, st.Catalog.Reports, st.Catalog.Issuers, st.Seq, nowInMadrid())
	for _, r := range st.Reasons {
		text += fmt.Sprintf("- %s: %s\n", r.Surface, r.Reason)
	}
	for _, l := range st.Latest {
		text += fmt.Sprintf("Newest %s: %s, %s.\n", l.Type, l.ID, Clock(l.PublishedAt))
	}
	return newResult(b, text), err
}
