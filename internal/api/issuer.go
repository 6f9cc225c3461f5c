package api

import (
	"encoding/json"
	"net/http"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

func (a *API) listIssuers(r *http.Request, s *catalog.Snapshot) (answer, error) {
	p, err := readParams(r)
	if err != nil {
		return answer{}, err
	}
	query, kind := p.text("search"), p.kind()
	limit := p.integer("limit", defaultLimit, 1, maxLimit)
	if err := p.err(); err != nil {
		return answer{}, err
	}
	b := []byte(`{"data":[`)
	for i, e := range s.Issuers(query, kind, limit) {
		if i > 0 {
			b = append(b, ',')
		}
		b = disclosure.AppendIssuer(b, e.Issuer)
	}
	return answer{body: append(b, "]}"...)}, nil
}

// issuerDetail is the contract's Issuer and what more is known of it.
type issuerDetail struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	CIF         *string           `json:"cif"`
	Ticker      *string           `json:"ticker"`
	Market      *string           `json:"market"`
	Kind        *string           `json:"kind"`
	ISINs       []string          `json:"isins"`
	FormerNames []string          `json:"former_names"`
	Aliases     []string          `json:"aliases"`
	ReportCount int               `json:"report_count"`
	Latest      []json.RawMessage `json:"latest_reports"`
	Attribution attribution       `json:"attribution"`
}

const latestOfIssuer = 5

func (a *API) getIssuer(r *http.Request, s *catalog.Snapshot) (answer, error) {
	id := r.PathValue("id")
	e, ok := s.Issuer(id)
	if !ok {
		return answer{}, fault.New(fault.NotFound,
			"There is no issuer with that id. Ids are tax numbers such as A69000016; other identifiers, ISINs among them, work too. Search with /api/v1/issuers?search=.")
	}
	i := e.Issuer
	filings := s.ReportsOf(e, latestOfIssuer)
	detail := issuerDetail{
		ID: i.ID, Name: i.Name, CIF: nullable(i.CIF()), Ticker: nullable(i.Ticker), Market: nullable(i.Market),
		Kind: nullable(string(i.Kind)), ISINs: list(i.ISINs), FormerNames: list(i.FormerNames), Aliases: list(i.Aliases),
		ReportCount: filings.Total, Latest: []json.RawMessage{}, Attribution: a.attribution(),
	}
	for _, f := range filings.Filings {
		detail.Latest = append(detail.Latest, f.AppendJSON(nil))
	}
	return encode(detail)
}
