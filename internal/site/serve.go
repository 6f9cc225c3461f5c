package site

import (
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/site/render"
)

// request is a request for a page.
type request struct {
	*http.Request
	edition   edition
	snapshot  *catalog.Snapshot
	loading   bool // the first data is not loaded yet
	principal access.Principal
	now       time.Time
	values    url.Values
	params    *query.Params
	unkept    bool // the page is for this reader only: see query.NamesWatchlist
	private   bool // a page of the account of this reader
	simulated bool // the reports are those of the simulated market
}

// edition is the edition of a page, with what only the public pages write.
type edition struct{ render.Edition }

// forRender returns the request as the layout sees it.
func (q *request) forRender() render.Request {
	return render.Request{
		Request: q.Request,
		Edition: q.edition.Edition,
		Values:  q.values,
		Private: q.private,
	}
}

// pageParameters are the parameters that select what a page shows.
var pageParameters = append([]string{
	"page", "letter", "in", "offset", "month", "view", "day", "holder", "person", "side", "current", "names", "order",
}, filterNames...)

// serve turns a route into a handler.
func (s *Site) serve(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := &request{
			Request: r,
			edition: edition{s.Edition(r)},
			now:     time.Now(),

			simulated: s.Query.Simulated(),
		}
		out, err := s.respond(w, rt, q)
		if err != nil {
			s.Fail(w, q.forRender(), err)
			return
		}
		if q.unkept {
			w.Header()["X-Robots-Tag"] = []string{"noindex"}
		}
		out.Write(w, r, q.principal.Mode != access.Anonymous || q.unkept)
	})
}

// respond returns the response to a request, from the cache if it is there.
func (s *Site) respond(w http.ResponseWriter, rt route, q *request) (*render.Response, error) {
	if err := access.RefuseInQuery(q.URL.RawQuery); err != nil {
		return nil, err
	}
	if n := len(q.URL.RawQuery); n > maxQuery {
		return nil, errLongQuery(n)
	}
	need := access.Requirement{
		Public:    true,
		Uncounted: rt.counted == nil || !rt.counted(q),
		Scope:     rt.scope,
	}
	var err error
	if q.principal, err = s.Guard.Admit(w, q.Request, need); err != nil {
		return nil, err
	}
	if q.snapshot, err = s.Query.Snapshot(); err != nil {
		if !rt.early {
			return nil, err
		}
		q.loading = true
		q.snapshot, _ = s.Query.Loaded() // nil until there is one
	}
	if q.principal.Mode != access.Anonymous || q.loading {
		q.Request = q.WithContext(access.NewContext(q.Context(), q.principal))
		return s.renderFor(rt, q)
	}
	if q.unkept = query.NamesWatchlist(q.URL.RawQuery); q.unkept {
		return s.once(rt, q)
	}
	return s.cached(rt, q)
}

// once returns a page for one reader without a credential, with the turns of pages that
// readers share. Nothing keeps it.
func (s *Site) once(rt route, q *request) (*render.Response, error) {
	slot, err := s.Guard.AcquireSlot(q.Request, q.principal, rt.expensive)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	mine := render.Queue{Turns: s.turns, Caller: s.Guard.Caller(q.Request, q.principal)}
	var alone render.Cache
	return alone.Get(q.Context(), s.stateOf(q), "", mine, func() (*render.Response, error) { return s.run(rt, q) })
}

// renderFor renders a page for one reader. With a credential it may wait for the store,
// and so takes no turn.
func (s *Site) renderFor(rt route, q *request) (*render.Response, error) {
	slot, err := s.Guard.AcquireSlot(q.Request, q.principal, rt.expensive)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	return s.run(rt, q)
}

// cached returns a page that readers share. The slot of the caller comes first: nothing
// that others need is held while a request waits for it. It is released before the
// response is written, which a slow reader could delay.
func (s *Site) cached(rt route, q *request) (*render.Response, error) {
	pages, now, key := s.placeOf(rt, q)
	if out := pages.Lookup(now, key); out != nil {
		return out, nil
	}
	slot, err := s.Guard.AcquireSlot(q.Request, q.principal, rt.expensive)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	q.now = time.Now() // the wait may have taken a second, and an older state would empty the cache
	if q.snapshot, err = s.Query.Snapshot(); err != nil {
		return nil, err
	}
	pages, now, key = s.placeOf(rt, q)
	mine := render.Queue{Turns: s.turns, Caller: s.Guard.Caller(q.Request, q.principal)}
	return pages.Get(q.Context(), now, key, mine, func() (*render.Response, error) { return s.run(rt, q) })
}

// placeOf returns where the page of a request is cached.
func (s *Site) placeOf(rt route, q *request) (pages *render.Cache, now render.State, key string) {
	if rt.sitemap {
		now = render.State{
			Epoch:  q.snapshot.Head().Epoch,
			Period: q.now.Unix() / int64(sitemapAge.Seconds()),
		}
		return &s.sitemaps, now, q.URL.Path
	}
	key = q.cacheKey()
	if rt.fresh {
		key += strconv.FormatInt(q.now.Unix()/freshSeconds, 10)
	}
	return &s.cache, s.stateOf(q), key
}

// errLongQuery is the error of a query string of n bytes.
func errLongQuery(n int) error {
	return fault.New(fault.Invalid, "The query string has %d bytes, and pages take %d at most: "+
		"shorten the search, or use the API, which takes longer ones.", n, maxQuery)
}

// renderedAtOnce returns the number of pages that are rendered at the same time for
// callers without a credential. Such a page needs a processor and nothing else.
func renderedAtOnce() int { return max(2, runtime.GOMAXPROCS(0)) }

// maxQuery is the size of a query string in bytes. A page repeats it in each of its
// links, and marks what it searches for in each of its texts.
const maxQuery = 2000

// freshSeconds is how long a fresh page is cached.
const freshSeconds = 2

// run calls the handler and renders its page.
func (s *Site) run(rt route, q *request) (*render.Response, error) {
	raw := q.URL.RawQuery
	if rt.sitemap {
		raw = "" // sitemaps are the same for every query
	}
	q.params = s.Query.ParseQuery(raw).For(q.principal)
	if err := q.params.Err(); err != nil {
		return nil, err
	}
	q.values = q.URL.Query()
	p, err := rt.handle(s, q)
	if err != nil {
		return nil, err
	}
	p.NoIndex = p.NoIndex || q.private
	return s.Render(q.forRender(), p)
}

// stateOf returns everything besides the request that a page depends on.
func (s *Site) stateOf(q *request) render.State {
	return render.State{
		Snapshot: q.snapshot,
		Period:   q.now.Unix() / 60,
		Source:   string(s.Query.SourceStatus().State),
		Demo:     s.Query.Simulated(),
	}
}

// cacheKey identifies what a request asks for, in its language.
func (q *request) cacheKey() string {
	path := q.URL.EscapedPath() // has no question mark, and some pages repeat it
	return q.edition.Key() + path + "?" + q.URL.RawQuery
}
