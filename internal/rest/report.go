package rest

import (
	"net/http"

	"pregon/internal/catalog"
	"pregon/internal/query"
)

func (a *API) listReports(r *http.Request, s *catalog.Snapshot) (answer, error) {
	p, err := readParams(r)
	if err != nil {
		return answer{}, err
	}
	asked := p.List(s)
	if err := p.Err(); err != nil {
		return answer{}, err
	}
	found, err := a.Query.Reports(r.Context(), s, asked)
	if err != nil {
		return answer{}, err
	}
	return reportList(found, asked), nil
}

// reportList encodes a page of reports.
func reportList(found catalog.Page, asked query.List) answer {
	buffer := buffers.Get().(*[]byte)
	b := append((*buffer)[:0], `{"data":`...)
	b = found.AppendJSON(b)
	b = append(asked.AppendPage(b, found.Total), '}')
	return answer{body: b, hash: found.Hash() + uint64(asked.Page)*0x9e3779b97f4a7c15 + uint64(asked.Limit), buffer: buffer}
}

func (a *API) getReport(r *http.Request, s *catalog.Snapshot) (answer, error) {
	found, err := a.Query.Report(s, r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	return encode(found)
}

func encode(v any) (answer, error) {
	body, err := query.Encode(v)
	return answer{body: body}, err
}
