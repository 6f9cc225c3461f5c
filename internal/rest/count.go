package rest

import (
	"context"
	"encoding/json"
	"net/http"

	"pregon/internal/catalog"
	"pregon/internal/query"
)

// Columns of counts and of values as CSV.
var (
	countColumns = []string{"value", "name", "name_en", "count"}
	valueColumns = []string{"value", "name", "name_en", "about", "about_en", "fields", "count"}
)

func (a *API) getCounts(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.tableParams(r)
	at, err := a.point(r, p, s)
	if err != nil {
		return response{}, err
	}
	if s, err = a.Query.Past(r.Context(), s, at); err != nil {
		return response{}, err
	}
	list := p.Counts(s)
	if at != nil && list.InDocuments {
		p.Reject("in", query.InDocument, noFormerTexts)
	}
	if err := p.Err(); err != nil {
		return response{}, err
	}
	found, err := a.Query.Counts(r.Context(), s, list)
	if err != nil {
		return response{}, err
	}
	if at != nil {
		found.AsOfSeq = &at.Seq
	}
	var out response
	if wantsCSV(r) {
		out.rows, err = countRows(r.Context(), found)
	} else {
		out, err = encode(found)
	}
	out = out.warn(p.Warnings()).widen(list.Filter)
	if at != nil {
		out = out.asOf(at)
	}
	return out, err
}

// countRows returns the rows of a page of counts. Its total is that of the values: the
// pages are theirs.
func countRows(ctx context.Context, found *query.Counts) (*rowList, error) {
	encoded := make([]json.RawMessage, len(found.Data))
	rows := &rowList{
		count:  len(found.Data),
		total:  found.Values,
		encode: func(b []byte, i int) []byte { return append(b, encoded[i]...) },
		paged:  true,
		page:   found.Page,
		limit:  found.Limit,
	}
	for i, row := range found.Data {
		var err error
		if encoded[i], err = query.Encode(row); err != nil {
			return nil, err
		}
	}
	return rows, rows.addHash(ctx)
}

func (a *API) getValues(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.listParams(r)
	of := p.ValueSet()
	if err := p.Err(); err != nil {
		return response{}, err
	}
	found, err := a.Query.Values(r.Context(), s, of)
	if err != nil {
		return response{}, err
	}
	return encode(found)
}
