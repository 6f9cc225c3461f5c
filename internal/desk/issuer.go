package desk

import (
	"context"
	"encoding/json"

	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/search"
)

// Issuers searches the directory as the parameters say.
func (p *Params) Issuers(ctx context.Context, s *catalog.Snapshot) ([]*search.Entity, error) {
	query, kind := p.Search(), p.Kind()
	limit := p.Integer("limit", DefaultLimit, 1, MaxLimit)
	if err := p.Err(); err != nil {
		return nil, err
	}
	return s.Issuers(ctx, query, kind, limit)
}

// Issuer is the contract's Issuer and what more is known of it.
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
	ReportCount int               `json:"report_count"`
	Latest      []json.RawMessage `json:"latest_reports"`
	Attribution Attribution       `json:"attribution"`
}

// party is who manages a fund, or keeps its assets.
type party struct {
	Name string  `json:"name"`
	ID   *string `json:"id"` // null when no issuer, or more than one, has that name
}

func newParty(s *catalog.Snapshot, name string) *party {
	if name == "" {
		return nil
	}
	p := &party{Name: name}
	if e, ok := s.Named(name); ok {
		p.ID = &e.Issuer.ID
	}
	return p
}

const latestOfIssuer = 5

// Issuer returns one issuer by any of its identifiers.
func (d *Desk) Issuer(s *catalog.Snapshot, id string) (*Issuer, error) {
	e, ok := s.Issuer(id)
	if !ok {
		return nil, fault.New(fault.NotFound,
			"There is no issuer with that id. Ids are tax numbers such as A69000016; other identifiers, ISINs among them, work too.")
	}
	i := e.Issuer
	filings := s.ReportsOf(e, latestOfIssuer)
	out := &Issuer{
		ID: i.ID, Name: i.Name, CIF: OrNull(i.CIF()), Ticker: OrNull(i.Ticker), Market: OrNull(i.Market),
		Kind: OrNull(string(i.Kind)), ISINs: list(i.ISINs), FormerNames: list(i.FormerNames), Aliases: list(i.Aliases),
		Manager: newParty(s, i.Manager), Depositary: newParty(s, i.Depositary),
		ReportCount: filings.Total, Latest: []json.RawMessage{}, Attribution: d.Attribution(),
	}
	for _, f := range filings.Filings {
		out.Latest = append(out.Latest, f.AppendJSON(nil))
	}
	return out, nil
}
