package site

import (
	"net/http"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/site/render"
)

// Addresses at which the console has the site answer for a caller that it knows by a
// session. The public pages of the same content know no session, since they are kept for
// all readers.
const (
	sessionReports = "/account/reports/"
	sessionSearch  = "/account/search"
	sessionLive    = "/account/following/live"
)

// sessionRoute returns the page at an address of the console, and whether it is a whole
// page and not a fragment.
func sessionRoute(path string) (rt route, whole bool) {
	switch {
	case strings.HasPrefix(path, sessionReports):
		return route{handle: (*Site).report, expensive: true}, true
	case path == sessionSearch:
		return route{handle: (*Site).search, expensive: true}, true
	case path == sessionLive:
		return route{handle: (*Site).live}, false
	}
	return route{handle: (*Site).followingList}, false
}

// ServeReports answers a request for reports for a caller that the console knows by a
// session and has admitted: a report with the text of its document, a search in
// documents, the reports of a list, or what a page of them that stays open polls. Nothing
// keeps the response.
func (s *Site) ServeReports(w http.ResponseWriter, r *http.Request, by access.Principal) {
	q := &request{
		Request:   r.WithContext(access.NewContext(r.Context(), by)),
		edition:   edition{s.Edition(r)},
		now:       time.Now(),
		principal: by,
	}
	rt, whole := sessionRoute(r.URL.Path)
	q.private = whole
	out, err := s.respondToSession(rt, q)
	if err != nil {
		s.Fail(w, q.forRender(), err)
		return
	}
	out.Write(w, r, true)
}

func (s *Site) respondToSession(rt route, q *request) (out *render.Response, err error) {
	if len(q.URL.RawQuery) > maxQuery {
		return nil, errLongQuery(len(q.URL.RawQuery))
	}
	if q.snapshot, err = s.Query.Snapshot(); err != nil {
		return nil, err
	}
	return s.renderFor(rt, q)
}

// bySession reports whether the page is for a caller that the console knows.
func (q *request) bySession() bool { return q.principal.Mode == access.BySession }

// reportPath returns the address of a report with the same kind of credential.
func (q *request) reportPath(id string) string {
	if q.bySession() {
		return sessionReports + id
	}
	return "/reports/" + id
}

// searchPath returns the address of searches with the same kind of credential.
func (q *request) searchPath() string {
	if q.bySession() {
		return sessionSearch
	}
	return "/search"
}
