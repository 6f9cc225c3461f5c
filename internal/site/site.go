// Package site serves the pages for people.
//
// Pages are rendered on the server from one snapshot of the catalogue, in Spanish
// or English, and work without JavaScript. A rendered page is kept until the next
// change of the catalogue or the next minute, so that readers who ask for the same
// page share the work.
//
// A handler reads its parameters, queries the snapshot, and returns a page or an
// error: routes.go lists all of them, serve.go calls them, and each has a file, a
// template and a table of texts. What surrounds a page is in render.
package site

import (
	"embed"
	"html/template"
	"log/slog"
	"net/http"

	"pregon/internal/auth/access"
	"pregon/internal/query"
	"pregon/internal/rest/openapi"
	"pregon/internal/site/render"
)

//go:embed assets style templates texts
var files embed.FS

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
	Links    string        // the header Link of the front page: the documents for programs
	Parts    []render.Part // pages of other packages
}

// Site serves the pages.
type Site struct {
	Options
	*render.Renderer
	api      *openapi.Document
	turns    *access.Turns // for pages that are rendered
	cache    render.Cache
	sitemaps render.Cache // its state does not change with every report
}

// New reads the templates and texts.
func New(o Options) (*Site, error) {
	s := &Site{Options: o, turns: access.NewTurns(renderedAtOnce(), render.MaxWait)}
	var err error
	s.Renderer, err = render.New(render.Options{
		Query:      o.Query,
		Guard:      o.Guard,
		Logger:     o.Logger,
		BaseURL:    o.BaseURL,
		Pages:      files,
		Funcs:      template.FuncMap{"prose": prose, "inlines": inlines},
		Parameters: pageParameters,
		Parts:      o.Parts,
	})
	if err != nil {
		return nil, err
	}
	if s.api, err = openapi.Parse(o.OpenAPI); err != nil {
		return nil, err
	}
	return s, nil
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
	mux.HandleFunc("GET "+render.AssetPath+"{name}", s.ServeAsset)
}

// negotiate passes a request to Programs unless it prefers HTML.
func (s *Site) negotiate(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if render.PrefersHTML(r) {
			w.Header().Set("Link", s.Links)
			page.ServeHTTP(w, r)
		} else {
			s.Programs.ServeHTTP(w, r)
		}
	})
}
