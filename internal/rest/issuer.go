package rest

import (
	"net/http"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/server/content"
)

func (a *API) listIssuers(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.tableParams(r)
	if at := p.Text("as_of"); at != "" {
		p.Reject("as_of", at, "is not supported for the list of issuers: only /api/v1/issuers/{id}, "+
			"reports and positions have former states")
	}
	found, total, err := p.Issuers(r.Context(), s)
	if err != nil {
		return response{}, err
	}
	if wantsCSV(r) {
		return response{rows: issuerRows(found, total)}, nil
	}
	b := []byte(`{"data":[`)
	for i, e := range found {
		if i > 0 {
			b = append(b, ',')
		}
		b = disclosure.AppendIssuer(b, e.Issuer)
	}
	return response{body: append(b, "]}"...)}, nil
}

// issuerRows returns the rows of a list of issuers, of which total match.
func issuerRows(found []*search.Issuer, total int) *rowList {
	rows := &rowList{
		count:  len(found),
		total:  total,
		encode: func(b []byte, i int) []byte { return disclosure.AppendIssuer(b, found[i].Issuer) },
	}
	var row []byte
	for i := range found {
		row = rows.encode(row[:0], i)
		rows.hash = rows.hash*hashPrime + content.Hash(row)
	}
	return rows
}

func (a *API) getIssuer(r *http.Request, s *catalog.Snapshot) (response, error) {
	id, by := r.PathValue("id"), access.FromContext(r.Context())
	at, err := a.point(r, a.readParams(r), s)
	if err != nil {
		return response{}, err
	}
	if at == nil {
		found, err := a.Query.Issuer(s, id, by)
		if err != nil {
			return response{}, issuerNotFound(err)
		}
		return encode(found)
	}
	found, err := a.Query.IssuerAsOf(r.Context(), s, id, by, *at)
	if err != nil {
		return response{}, issuerNotFound(err)
	}
	out, err := encode(found)
	return out.asOf(at), err
}

// issuerNotFound adds to the error that an issuer is not known how to find it.
func issuerNotFound(err error) error {
	if fault.KindOf(err) != fault.NotFound {
		return err
	}
	return fault.New(fault.NotFound, "%s Search with /api/v1/issuers?search=.", err)
}
