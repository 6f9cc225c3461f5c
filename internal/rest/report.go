package rest

import (
	"context"
	"net/http"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/query"
)

// noFormerTexts says why a past state cannot be searched in documents.
const noFormerTexts = "cannot be combined with as_of: former texts of documents are not kept"

func (a *API) listReports(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.tableParams(r)
	at, err := a.point(r, p, s)
	if err != nil {
		return response{}, err
	}
	if s, err = a.Query.Past(r.Context(), s, at); err != nil {
		return response{}, err
	}
	list := p.List(s)
	fields := p.ReportFields()
	if at != nil && list.InDocuments {
		p.Reject("in", query.InDocument, noFormerTexts)
	}
	if err := p.Err(); err != nil {
		return response{}, err
	}
	found, err := a.Query.Reports(r.Context(), s, list)
	if err != nil {
		return response{}, err
	}
	var out response
	switch {
	case wantsCSV(r) && fields != nil:
		out.columns = fields.Columns()
		out.rows, err = a.chosenRows(r.Context(), found, list, fields)
	case wantsCSV(r):
		out.rows = reportRows(found, list)
	case fields != nil:
		out = a.chosenList(found, list, fields)
	default:
		out = reportList(found, list)
	}
	if err != nil {
		return response{}, err
	}
	out = out.warn(p.Warnings()).widen(list.Filter)
	if at == nil {
		return out, nil
	}
	if out.rows == nil {
		out.body = appendAsOf(out.body, at)
	}
	if out.hash != 0 {
		out.hash += uint64(at.Seq) * 0xc2b2ae3d27d4eb4f
	}
	return out.asOf(at), nil
}

// reportList encodes a page of reports.
func reportList(found catalog.Page, list query.List) response {
	buffer := buffers.Get().(*[]byte)
	b := append((*buffer)[:0], `{"data":`...)
	b = found.AppendJSON(b)
	b = append(list.AppendPage(b, found.Total), '}')
	return response{
		body:   b,
		hash:   found.Hash() + uint64(list.Page)*0x9e3779b97f4a7c15 + uint64(list.Limit),
		buffer: buffer,
	}
}

// reportRows returns the rows of a page of reports.
func reportRows(found catalog.Page, list query.List) *rowList {
	return &rowList{
		count:  len(found.Reports),
		total:  found.Total,
		encode: func(b []byte, i int) []byte { return found.Reports[i].AppendJSON(b) },
		hash:   found.Hash(),
		paged:  true,
		page:   list.Page,
		limit:  list.Limit,
	}
}

// chosenList encodes a page of reports with the fields that the request chose.
func (a *API) chosenList(found catalog.Page, list query.List, fields query.ReportFields) response {
	b := []byte(`{"data":[`)
	for i, f := range found.Reports {
		if i > 0 {
			b = append(b, ',')
		}
		b = fields.Append(b, f, a.BaseURL)
	}
	return response{body: append(list.AppendPage(append(b, ']'), found.Total), '}')}
}

// chosenRows returns the rows of a page of reports with the fields that the request chose.
// Their hash is of the rows: that of a page is of the fields that all lists have.
func (a *API) chosenRows(
	ctx context.Context,
	found catalog.Page,
	list query.List,
	fields query.ReportFields,
) (*rowList, error) {
	rows := reportRows(found, list)
	rows.encode = func(b []byte, i int) []byte { return fields.Append(b, found.Reports[i], a.BaseURL) }
	rows.hash = 0
	return rows, rows.addHash(ctx)
}

func (a *API) getReport(r *http.Request, s *catalog.Snapshot) (response, error) {
	at, err := a.point(r, a.readParams(r), s)
	if err != nil {
		return response{}, err
	}
	if at == nil {
		found, err := a.Query.Report(r.Context(), s, r.PathValue("id"))
		if err != nil {
			return response{}, err
		}
		return encode(found)
	}
	found, err := a.Query.ReportAsOf(r.Context(), s, r.PathValue("id"), *at)
	if err != nil {
		return response{}, err
	}
	out, err := encode(found)
	return out.asOf(at), err
}

func encode(v any) (response, error) {
	body, err := query.Encode(v)
	return response{body: body}, err
}

func (a *API) getAnalytics(_ *http.Request, s *catalog.Snapshot) (response, error) {
	return encode(s.Analytics(time.Now()))
}

func (a *API) getStatus(_ *http.Request, s *catalog.Snapshot) (response, error) {
	return encode(a.Query.Status(s))
}
