package rest

import (
	"net/http"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/query"
)

func (a *API) listReports(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := readParams(r)
	list := p.List(s)
	if err := p.Err(); err != nil {
		return response{}, err
	}
	found, err := a.Query.Reports(r.Context(), s, list)
	if err != nil {
		return response{}, err
	}
	return reportList(found, list), nil
}

// reportList encodes a page of reports.
func reportList(found catalog.Page, list query.List) response {
	buffer := buffers.Get().(*[]byte)
	b := append((*buffer)[:0], `{"data":`...)
	b = found.AppendJSON(b)
	b = append(list.AppendPage(b, found.Total), '}')
	return response{body: b, hash: found.Hash() + uint64(list.Page)*0x9e3779b97f4a7c15 + uint64(list.Limit), buffer: buffer}
}

func (a *API) getReport(r *http.Request, s *catalog.Snapshot) (response, error) {
	found, err := a.Query.Report(s, r.PathValue("id"))
	if err != nil {
		return response{}, err
	}
	return encode(found)
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
