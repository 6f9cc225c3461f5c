package rest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/query"
)

// seqHeader has the seq that an answer as of a point reflects.
const seqHeader = "Pregon-Seq"

// settledAge is how long an answer that never changes may be cached. Another version
// of the program may encode it differently.
const settledAge = time.Hour

// asksPast reports whether a request has the parameter as_of.
func asksPast(r *http.Request) bool {
	raw := r.URL.RawQuery
	if !strings.Contains(raw, "as_of") && !strings.Contains(raw, "%") { // the name may be escaped
		return false
	}
	return slices.ContainsFunc(r.URL.Query()["as_of"], func(s string) bool { return s != "" })
}

// point reads the parameter as_of, and returns nil if there is none.
func (a *API) point(r *http.Request, p *params, s *catalog.Snapshot) (*query.Point, error) {
	at, err := a.Query.Point(r.Context(), s, p.Params)
	if err == nil {
		err = p.Err()
	}
	return at, err
}

// asOf adds the header of a past state to a response.
func (out response) asOf(at *query.Point) response {
	out.header = http.Header{seqHeader: {strconv.FormatInt(at.Seq, 10)}}
	if at.Settled {
		out.maxAge = settledAge
	}
	return out
}

// history reads the parameters of a history.
func (p *params) history() query.HistoryQuery {
	return query.HistoryQuery{Before: p.Seq("before"), Limit: p.Integer("limit", query.DefaultLimit, 1, query.MaxLimit)}
}

func (a *API) reportHistory(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.readParams(r)
	page := p.history()
	if err := p.Err(); err != nil {
		return response{}, err
	}
	found, err := a.Query.ReportHistory(r.Context(), s, r.PathValue("id"), page)
	if err != nil {
		return response{}, err
	}
	return encode(found)
}

func (a *API) issuerHistory(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.readParams(r)
	page := p.history()
	if err := p.Err(); err != nil {
		return response{}, err
	}
	found, err := a.Query.IssuerHistory(r.Context(), s, r.PathValue("id"), page)
	if err != nil {
		return response{}, issuerNotFound(err)
	}
	return encode(found)
}
