package query

import (
	"context"
	"strconv"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/disclosure/headline"
	"pregon/internal/document"
	"pregon/internal/search"
)

// FactList is a request for a page of facts.
type FactList struct {
	Filter      disclosure.Filter // its Fact is a kind, or disclosure.AnyFact
	Page, Limit int
	Largest     bool // the largest amount first, instead of the newest report
	Evidence    bool // with the quotes
}

// ByAmount is the value of the parameter order for the largest amount first.
const ByAmount = "amount"

// FactList reads the parameters of a list of facts.
func (p *Params) FactList(s *catalog.Snapshot) FactList {
	l := FactList{
		Filter: disclosure.Filter{
			Search: p.Search(),
			Issuer: joinedIssuers(p.issuers(s, issuerKey)),
			From:   p.Day("from"),
			To:     p.Day("to"),
			Fact:   disclosure.AnyFact,
		},
		Limit:    p.limit(),
		Page:     p.Integer("page", 1, 1, MaxPage),
		Evidence: !p.table,
	}
	f := &l.Filter
	f.Watchlist, f.Entries = p.watchlist()
	f.Widen = f.Search != "" && s.Directory().Widens(f.Search)
	f.Market, f.MarketWords = p.Market(s)
	f.Sector, f.SectorWords = p.Sector(s)
	if kind := p.factKind("kind"); kind != "" {
		f.Fact = kind
	}
	p.checkDays(f)
	switch order := p.Text("order"); {
	case order == "" || order == "published":
	case order != ByAmount:
		p.Reject("order", order, "must be published or %s", ByAmount)
	case !f.Fact.HasAmount():
		p.Reject("order", order, "needs %s=%s: other facts have no amount to compare", "kind", kindList(disclosure.AmountKinds))
	default:
		l.Largest = true
	}
	f.MinAmount, f.Currency = p.amount(f.Fact, "kind", l.Largest)
	return l
}

// FactRow is a fact in a list, with its report.
type FactRow struct {
	ReportID    string            `json:"report_id"`
	Type        string            `json:"type"`
	CompanyName string            `json:"company_name"`
	Ticker      *string           `json:"ticker"`
	IssuerID    *string           `json:"issuer_id"`
	Title       string            `json:"title"`
	PublishedAt time.Time         `json:"published_at"`
	Kind        string            `json:"kind"`
	Fields      map[string]string `json:"fields"`
	Headline    *string           `json:"headline"`
	HeadlineEN  *string           `json:"headline_en"`
	Evidence    map[string]Quote  `json:"evidence,omitempty"`

	Categories []string `json:"-"` // of the report
}

// FactRows is a page of a list of facts.
type FactRows struct {
	Data  []FactRow `json:"data"`
	Total int       `json:"total"`
	Page  int       `json:"page"`
	Limit int       `json:"limit"`
}

// FactList returns a page of facts.
func (q *Service) FactList(ctx context.Context, s *catalog.Snapshot, l FactList) (FactRows, error) {
	accept := acceptIssuerAndTitle(l.Filter)
	var page catalog.FactPage
	var err error
	if l.Filter, err = q.withDocuments(ctx, s, l.Filter); err != nil {
		return FactRows{}, err
	}
	if l.Largest {
		page, err = s.LargestFacts(ctx, l.Filter, l.Filter.Currency, accept, l.Page, l.Limit)
	} else {
		page, err = s.Facts(ctx, l.Filter, accept, l.Page, l.Limit)
	}
	if err != nil {
		return FactRows{}, err
	}
	out := FactRows{Data: make([]FactRow, len(page.Facts)), Total: page.Total, Page: l.Page, Limit: l.Limit}
	for i, found := range page.Facts {
		out.Data[i] = newFactRow(found)
	}
	if l.Evidence && q.Documents != nil {
		q.addEvidence(ctx, page.Facts, out.Data)
	}
	return out, nil
}

func newFactRow(found catalog.FactOf) FactRow {
	one := []disclosure.Fact{found.Fact}
	row := FactRow{
		ReportID:    found.Report.ID(),
		Type:        string(found.Report.Type()),
		CompanyName: found.Report.CompanyName(),
		Ticker:      OrNull(found.Report.Ticker()),
		IssuerID:    OrNull(found.Report.IssuerID()),
		Title:       found.Report.Title(),
		PublishedAt: Madrid(found.Report.Published()),
		Kind:        string(found.Fact.Kind),
		Categories:  list(found.Report.Categories()),
		Fields:      found.Fact.Fields,
		Headline:    OrNull(headline.Spanish(one)),
		HeadlineEN:  OrNull(headline.English(one)),
	}
	if row.Fields == nil {
		row.Fields = map[string]string{}
	}
	return row
}

// addEvidence adds the quotes to a page of facts. All of them together have the time of
// one answer: without the store, facts come alone.
func (q *Service) addEvidence(ctx context.Context, page []catalog.FactOf, rows []FactRow) {
	ctx, cancel := context.WithTimeout(ctx, detailWait)
	defer cancel()
	var last string
	var details []disclosure.FactDetail
	for i, found := range page {
		if id := rows[i].ReportID; id != last { // the facts of a report follow one another
			last = id
			var err error
			if details, err = document.LoadDetails(ctx, q.Documents, found.Report.Decode()); err != nil {
				return
			}
		}
		if found.Index < len(details) {
			rows[i].Evidence = quotesOf(details[found.Index])
		}
	}
}

// acceptIssuerAndTitle returns a condition on the reports of facts: their company, their
// ticker and their title match the search. The words of the index are those of summaries
// too, which have names of people. It returns nil if nothing is searched.
func acceptIssuerAndTitle(f disclosure.Filter) func(catalog.Report) bool {
	if f.Search == "" {
		return nil
	}
	query := search.ParseFilter(f)
	return func(r catalog.Report) bool {
		_, number, _ := disclosure.ParseReportID(r.ID())
		idents := []string{r.ID(), strconv.FormatInt(number, 10)}
		names := []string{r.CompanyName(), r.Ticker(), r.Title()}
		if i := r.Issuer(); i != nil {
			idents = append(idents, i.Keys()...)
			names = append(names, i.Name)
		}
		d := search.NewDocument(idents, names...)
		return query.Match(&d)
	}
}
