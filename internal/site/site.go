// Package site serves the pages for people.
//
// Pages are rendered on the server from one snapshot of the catalogue, in Spanish
// or English, and work without JavaScript. A rendered page is kept until the next
// change of the catalogue or the next minute, so that readers who ask for the same
// page share the work.
//
// A handler reads its parameters, queries the snapshot, and returns a page or an
// error. Templates receive what they show; their functions are bound to the
// language (see Edition). Text from reports is never HTML: html/template escapes
// it, and no function here returns a type that it trusts.
package site

import (
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/rest/openapi"
	"pregon/internal/server/content"
)

// Options are the collaborators of the site.
type Options struct {
	Query   *query.Service
	Guard   *access.Guard
	Logger  *slog.Logger
	BaseURL string // of the service, without a slash at the end
	OpenAPI []byte // as JSON
	// Programs answers requests for the front page by programs, which do not prefer
	// HTML.
	Programs http.Handler
	Links    string // the header Link of the front page: the documents for programs
	Parts    []Part // pages of other packages
}

// Site serves the pages.
type Site struct {
	Options
	api      *openapi.Document
	editions map[editionKey]Edition
	assets   map[string]*asset
	turns    *access.Turns // for pages that are rendered
	cache    cache
	sitemaps cache // its state does not change with every report
}

// New parses the templates.
func New(o Options) (*Site, error) {
	s := &Site{
		Options:  o,
		editions: map[editionKey]Edition{},
		turns:    access.NewTurns(renderedAtOnce(), maxRenderWait),
	}
	texts, err := s.allTexts()
	if err != nil {
		return nil, err
	}
	s.loadAssets()
	if s.api, err = openapi.Parse(o.OpenAPI); err != nil {
		return nil, err
	}
	for _, l := range languages {
		words, err := newVocabulary(texts, l)
		if err != nil {
			return nil, err
		}
		for _, chosen := range []bool{false, true} {
			e := Edition{Language: l, chosen: chosen, vocabulary: words}
			if e.set, err = s.parse(e); err != nil {
				return nil, err
			}
			s.editions[editionKey{l, chosen}] = e
		}
	}
	return s, nil
}

// route is one page.
type route struct {
	pattern string
	handle  func(*Site, *request) (*page, error)
	// Expensive pages have fewer slots for each caller.
	expensive bool
	// counted reports whether a request counts against the limit of anonymous callers:
	// those for data do, as in the API. Nil means that none does.
	counted func(*request) bool
	// scope is what callers with a credential need.
	scope access.Scope
	// Early pages are also served before the first data is loaded. Their snapshot may
	// be nil then.
	early bool
	// Fresh pages show more than the reports, and are cached for seconds only.
	fresh bool
	// Sitemaps have neither parameters nor a language, and are cached for sitemapAge.
	sitemap bool
}

// always is counted for routes of which every request counts.
func always(*request) bool { return true }

// LiveRoute is the pattern of the fragment that open pages poll.
const LiveRoute = "GET /live"

// routes are all pages.
var routes = []route{
	{
		pattern: "GET /{$}",
		handle:  (*Site).feed,
		scope:   access.ReadReports,
	},
	{
		pattern: "GET /reports/{id}",
		handle:  (*Site).report,
		scope:   access.ReadReports,
		counted: (*request).wantsMarkdown,
	},
	{
		pattern:   "GET /search",
		handle:    (*Site).search,
		scope:     access.ReadReports,
		expensive: true,
	},
	{
		pattern: LiveRoute,
		handle:  (*Site).live,
		scope:   access.ReadReports,
	},
	{
		pattern: "GET /suggest",
		handle:  (*Site).suggest,
	},
	{
		pattern: "GET /issuers",
		handle:  (*Site).issuers,
		scope:   access.ReadIssuers,
	},
	{
		pattern: "GET /issuers/{id}",
		handle:  (*Site).issuer,
		scope:   access.ReadIssuers | access.ReadReports,
	},
	{
		pattern: "GET /issuers/{id}/months.csv",
		handle:  (*Site).issuerMonths,
		scope:   access.ReadIssuers | access.ReadReports,
		counted: always,
	},
	{
		pattern: "GET /analytics",
		handle:  (*Site).analytics,
		scope:   access.ReadAnalytics,
	},
	{
		pattern: "GET /analytics/{table}",
		handle:  (*Site).analyticsTable,
		scope:   access.ReadAnalytics,
		counted: always,
	},
	{
		pattern: "GET /feed.atom",
		handle:  (*Site).atom,
		scope:   access.ReadReports,
		counted: always,
	},
	{
		pattern: "GET /feed.json",
		handle:  (*Site).jsonFeed,
		scope:   access.ReadReports,
		counted: always,
	},
	{
		pattern: "GET /sitemap.xml",
		handle:  (*Site).sitemap,
		sitemap: true,
	},
	{
		pattern:   "GET /sitemaps/{part}",
		handle:    (*Site).sitemapPart,
		expensive: true,
		sitemap:   true,
	},
	{
		pattern: "GET /manifest.webmanifest",
		handle:  (*Site).manifest,
	},
	{
		pattern: "GET /favicon.ico",
		handle:  (*Site).favicon,
	},
	{
		pattern: "GET /developers",
		handle:  (*Site).developers,
		early:   true,
	},
	{
		pattern: "GET /developers/{tag}",
		handle:  (*Site).reference,
		early:   true,
	},
	{
		pattern: "GET /status",
		handle:  (*Site).status,
		early:   true,
		fresh:   true,
	},
}

// Register adds every page to the mux.
func (s *Site) Register(mux *http.ServeMux) {
	for _, r := range routes {
		var h http.Handler = s.serve(r)
		if r.pattern == "GET /{$}" {
			h = s.negotiate(h)
		}
		mux.Handle(r.pattern, h)
	}
	mux.HandleFunc("GET "+assetPath+"{name}", s.serveAsset)
}

// negotiate passes a request to Programs unless it prefers HTML.
func (s *Site) negotiate(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if prefersHTML(r) {
			w.Header().Set("Link", s.Links)
			page.ServeHTTP(w, r)
		} else {
			s.Programs.ServeHTTP(w, r)
		}
	})
}

// prefersHTML reports whether a request prefers HTML to what programs get. Browsers
// name it, programs do not.
func prefersHTML(r *http.Request) bool {
	return content.Preferred(r.Header.Values("Accept"), "application/json", "text/html", "text/markdown") == 1
}

// request is a request for a page.
type request struct {
	*http.Request
	edition   Edition
	snapshot  *catalog.Snapshot
	loading   bool // the first data is not loaded yet
	principal access.Principal
	now       time.Time
	values    url.Values
	params    *query.Params
	private   *Page // of a part, else nil
}

// page is what a handler returns.
type page struct {
	template    string // the name of its template; empty for a body that is complete
	Title       string
	Description string
	Data        any    // what the template shows
	Kind        string // of object, for Open Graph; empty means a website
	Head        []headLink
	Linked      any // JSON-LD

	status      int           // 0 means 200
	redirect    string        // instead of everything else
	contentType string        // of a body
	body        []byte        // instead of a template
	maxAge      time.Duration // for caches; 0 means a second
	noIndex     bool          // not for search engines
	tag         string        // entity tag; empty: hash of the body
}

// serve turns a route into a handler.
func (s *Site) serve(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := &request{
			Request: r,
			edition: s.Edition(r),
			now:     time.Now(),
		}
		out, err := s.respond(w, rt, q)
		if err != nil {
			s.writeError(w, q, err)
			return
		}
		out.write(w, r, q.principal.Mode != access.Anonymous)
	})
}

// respond returns the response to a request, from the cache if it is there.
func (s *Site) respond(w http.ResponseWriter, rt route, q *request) (*response, error) {
	if err := access.RefuseInQuery(q.URL.RawQuery); err != nil {
		return nil, err
	}
	if n := len(q.URL.RawQuery); n > maxQuery {
		return nil, fault.New(fault.Invalid, "The query string has %d bytes, and pages take %d at most: shorten the search, or use the API, which takes longer ones.", n, maxQuery)
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
	return s.cached(rt, q)
}

// renderFor renders a page for one reader. With a credential it may wait for the store,
// and so takes no turn.
func (s *Site) renderFor(rt route, q *request) (*response, error) {
	slot, err := s.Guard.AcquireSlot(q.Request, q.principal, rt.expensive)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	return s.render(rt, q)
}

// cached returns a page that readers share. The slot of the caller comes first: nothing
// that others need is held while a request waits for it. It is released before the
// response is written, which a slow reader could delay.
func (s *Site) cached(rt route, q *request) (*response, error) {
	pages, now, key := s.placeOf(rt, q)
	if out := pages.lookup(now, key); out != nil {
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
	mine := turns{s.turns, s.Guard.Caller(q.Request, q.principal)}
	return pages.get(q.Context(), now, key, mine, func() (*response, error) { return s.render(rt, q) })
}

// placeOf returns where the page of a request is cached.
func (s *Site) placeOf(rt route, q *request) (pages *cache, now state, key string) {
	if rt.sitemap {
		now = state{
			epoch:  q.snapshot.Head().Epoch,
			period: q.now.Unix() / int64(sitemapAge.Seconds()),
		}
		return &s.sitemaps, now, q.URL.Path
	}
	key = q.cacheKey()
	if rt.fresh {
		key += strconv.FormatInt(q.now.Unix()/freshSeconds, 10)
	}
	return &s.cache, s.stateOf(q), key
}

// renderedAtOnce returns the number of pages that are rendered at the same time for
// callers without a credential. Such a page needs a processor and nothing else.
func renderedAtOnce() int { return max(2, runtime.GOMAXPROCS(0)) }

// maxQuery is the size of a query string in bytes. A page repeats it in each of its
// links, and marks what it searches for in each of its texts.
const maxQuery = 2000

// freshSeconds is how long a fresh page is cached.
const freshSeconds = 2

// render calls the handler and executes the template.
func (s *Site) render(rt route, q *request) (*response, error) {
	raw := q.URL.RawQuery
	if rt.sitemap {
		raw = "" // sitemaps are the same for every query
	}
	q.params = s.Query.ParseQuery(raw)
	if err := q.params.Err(); err != nil {
		return nil, err
	}
	q.values = q.URL.Query()
	p, err := rt.handle(s, q)
	if err != nil {
		return nil, err
	}
	return s.execute(q, p)
}

// stateOf returns everything besides the request that a page depends on.
func (s *Site) stateOf(q *request) state {
	return state{
		of:     q.snapshot,
		period: q.now.Unix() / 60,
		source: string(s.Query.SourceStatus().State),
		demo:   s.Query.Simulated(),
	}
}

// cacheKey identifies what a request asks for, in its language.
func (q *request) cacheKey() string {
	var b strings.Builder
	b.WriteString(string(q.edition.Language))
	if q.edition.chosen {
		b.WriteByte('!')
	}
	b.WriteString(q.URL.EscapedPath()) // has no question mark, and some pages repeat it
	b.WriteByte('?')
	b.WriteString(q.URL.RawQuery)
	return b.String()
}
