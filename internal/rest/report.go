package rest

import (
	"net/http"
	"strconv"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/query"
)

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
	if at != nil && list.InDocuments {
		p.Reject("in", query.InDocument, "cannot be combined with as_of: former texts of documents are not kept")
	}
	if err := p.Err(); err != nil {
		return response{}, err
	}
	found, err := a.Query.Reports(r.Context(), s, list)
	if err != nil {
		return response{}, err
	}
	if wantsCSV(r) {
		out := response{rows: reportRows(found, list)}.warn(p.Warnings()).widen(list.Filter)
		if at != nil {
			out = out.asOf(at)
		}
		return out, nil
	}
	if at == nil {
		return reportList(found, list).warn(p.Warnings()).widen(list.Filter), nil
	}
	out := reportList(found, list)
	out.body = append(strconv.AppendInt(append(out.body[:len(out.body)-1], `,"as_of_seq":`...), at.Seq, 10), '}')
	out.hash += uint64(at.Seq) * 0xc2b2ae3d27d4eb4f
	return out.warn(p.Warnings()).widen(list.Filter).asOf(at), nil
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
