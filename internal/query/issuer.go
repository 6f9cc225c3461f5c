package query

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
)

// Issuers searches the directory with the parameters search, kind and limit.
func (p *Params) Issuers(ctx context.Context, s *catalog.Snapshot) ([]*search.Issuer, error) {
	query, kind := p.Search(), p.Kind()
	limit := p.Integer("limit", DefaultLimit, 1, MaxLimit)
	if err := p.Err(); err != nil {
		return nil, err
	}
	return s.Issuers(ctx, query, kind, limit)
}

// Issuer is an issuer as the API returns it.
type Issuer struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	CIF         *string           `json:"cif"`
	Ticker      *string           `json:"ticker"`
	Market      *string           `json:"market"`
	Kind        *string           `json:"kind"`
	ISINs       []string          `json:"isins"`
	FormerNames []string          `json:"former_names"`
	Aliases     []string          `json:"aliases"`
	Manager     *party            `json:"manager"`
	Depositary  *party            `json:"depositary"`
	ReportCount *int              `json:"report_count"` // null if not known as of a point
	Latest      []json.RawMessage `json:"latest_reports"`
	Attribution Attribution       `json:"attribution"`
	AsOfSeq     *int64            `json:"as_of_seq,omitempty"` // only of a past state
}

// party is the manager or the depositary of a fund.
type party struct {
	Name string  `json:"name"`
	ID   *string `json:"id"` // null unless exactly one issuer has the name
}

func newParty(dir *search.Directory, name string) *party {
	if name == "" {
		return nil
	}
	p := &party{Name: name}
	if dir == nil {
		return p
	}
	if e, ok := dir.Named(name); ok {
		p.ID = &e.Issuer.ID
	}
	return p
}

const latestReports = 5

// IssuerKey returns the identifier of the issuer that name means: any of its
// identifiers or its ticker. If no issuer or more than one has that name, it
// returns the reason.
func IssuerKey(s *catalog.Snapshot, name string) (key, reason string) {
	if s.KnowsIssuer(name) {
		return name, ""
	}
	found := s.Lookup(name)
	if len(found) == 1 {
		return found[0].Issuer.ID, ""
	}
	if len(found) > 1 {
		return "", "is the ticker of several issuers: use an id, " + issuerNames(found, false)
	}
	_, nif := disclosure.ParseNIF(name)
	if len(s.Directory().Issuers()) == 0 && (nif || disclosure.IsISIN(disclosure.IssuerKey(name))) {
		return name, "" // the directory is not loaded yet
	}
	reason = "is not known: no issuer has that ticker, NIF, ISIN or id"
	if near := similarIssuers(s, name); len(near) > 0 {
		reason += "; did you mean " + issuerNames(near, true) + "?"
	}
	return "", reason
}

const (
	maxIssuerName  = 200 // bytes
	maxSuggestions = 3
)

// similarIssuers returns issuers with a similar name.
func similarIssuers(s *catalog.Snapshot, name string) []*search.Issuer {
	found, _ := s.Issuers(context.Background(), name, "", maxSuggestions) // the name is short, so the search is
	return found
}

// issuerNames lists a few issuers with their ids, or with their tickers if
// byTicker is set.
func issuerNames(issuers []*search.Issuer, byTicker bool) string {
	parts := make([]string, 0, maxSuggestions)
	for _, e := range issuers[:min(len(issuers), maxSuggestions)] {
		id := e.Issuer.ID
		if byTicker {
			id = cmp.Or(e.Issuer.Ticker, id)
		}
		parts = append(parts, id+" ("+e.Issuer.Name+")")
	}
	return strings.Join(parts, ", ")
}

// Issuer returns the issuer with an identifier or ticker. It includes the
// latest reports if the caller may read reports.
func (q *Service) Issuer(s *catalog.Snapshot, id string, by access.Principal) (*Issuer, error) {
	return q.issuer(s.Directory(), s, id, by)
}

// issuer returns an issuer of a directory with its reports in s, or without them if s
// is nil.
func (q *Service) issuer(dir *search.Directory, s *catalog.Snapshot, id string, by access.Principal) (*Issuer, error) {
	e, err := findIssuer(dir, id)
	if err != nil {
		return nil, err
	}
	out := q.newIssuer(dir, e.Issuer)
	if s == nil {
		return out, nil
	}
	reports := s.ReportsOf(e, latestReports)
	out.ReportCount = &reports.Total
	if !by.MayRead(access.ReadReports) {
		return out, nil
	}
	for _, f := range reports.Reports {
		out.Latest = append(out.Latest, f.AppendJSON(nil))
	}
	return out, nil
}

// newIssuer returns an issuer without its reports, and without the ids of others if
// dir is nil.
func (q *Service) newIssuer(dir *search.Directory, i *disclosure.Issuer) *Issuer {
	return &Issuer{
		ID: i.ID, Name: i.Name, CIF: OrNull(i.CIF()), Ticker: OrNull(i.Ticker), Market: OrNull(i.Market),
		Kind: OrNull(string(i.Kind)), ISINs: list(i.ISINs), FormerNames: list(i.FormerNames), Aliases: list(i.Aliases),
		Manager: newParty(dir, i.Manager), Depositary: newParty(dir, i.Depositary),
		Latest: []json.RawMessage{}, Attribution: q.Attribution(),
	}
}

// findIssuer returns the issuer with an identifier or ticker.
func findIssuer(dir *search.Directory, id string) (*search.Issuer, error) {
	found := dir.Lookup(id)
	switch {
	case len(found) == 0:
		return nil, fault.New(fault.NotFound,
			"There is no issuer with that id. Ids are tax numbers such as A69000016; other identifiers, ISINs and tickers among them, work too.")
	case len(found) > 1:
		return nil, fault.New(fault.NotFound, "That is the ticker of several issuers: use an id, %s.", issuerNames(found, false))
	}
	return found[0], nil
}
