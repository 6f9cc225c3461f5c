// Package render turns pages into responses: it knows the layout that surrounds every
// page, the two languages, the files that pages load, and the pages of errors.
//
// It does not know which pages there are. The package site has the public ones, which
// are kept in a Cache, and parts such as the console have pages for one reader.
//
// Templates receive what they show; their functions are bound to the language (see
// Edition). Text from reports is never HTML: html/template escapes it, and no function
// here returns a type that it trusts.
package render

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/query"
	"pregon/internal/site/chart"
)

//go:embed assets style templates texts
var files embed.FS

// Options are the collaborators of a Renderer.
type Options struct {
	Query   *query.Service
	Guard   *access.Guard
	Logger  *slog.Logger
	BaseURL string // of the service, without a slash at the end
	// Pages has the files of the public pages, in the folders templates, texts and
	// style. Funcs are the functions of their templates, besides those of an Edition.
	Pages fs.FS
	Funcs template.FuncMap
	// Parameters are those that select what a public page shows. Its address for search
	// engines has no others.
	Parameters []string
	Parts      []Part
}

// Renderer renders pages.
type Renderer struct {
	Options
	editions map[editionKey]Edition
	assets   map[string]*asset
}

// New reads the texts and parses the templates.
func New(o Options) (*Renderer, error) {
	r := &Renderer{Options: o, editions: map[editionKey]Edition{}}
	texts, err := r.allTexts()
	if err != nil {
		return nil, err
	}
	if err := r.loadAssets(); err != nil {
		return nil, err
	}
	for _, l := range languages {
		words, err := newVocabulary(texts, l)
		if err != nil {
			return nil, err
		}
		for _, chosen := range []bool{false, true} {
			e := Edition{Language: l, chosen: chosen, vocabulary: words}
			if e.set, err = r.parse(e); err != nil {
				return nil, err
			}
			if e.navigation, err = r.navigation(e); err != nil {
				return nil, err
			}
			r.editions[editionKey{l, chosen}] = e
		}
	}
	return r, nil
}

// folders are those with the files of the layout, of charts and of the public pages.
func (r *Renderer) folders() []fs.FS {
	all := []fs.FS{files, chart.Files}
	if r.Pages != nil {
		all = append(all, r.Pages)
	}
	return all
}

// allTexts returns the texts of the folders and of the parts.
func (r *Renderer) allTexts() (Texts, error) {
	all := Texts{}
	for _, folder := range r.folders() {
		table, err := ReadTexts(folder)
		if err == nil {
			err = all.add(table)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, p := range r.Parts {
		if err := all.add(p.Texts); err != nil {
			return nil, fmt.Errorf("the part %s: %w", p.Name, err)
		}
	}
	return all, nil
}

// CommonTexts returns the texts that all pages may use: those of the layout and of
// charts.
func CommonTexts() (Texts, error) { return (&Renderer{}).allTexts() }

// Request is a request for a page, as far as what surrounds the page depends on it.
type Request struct {
	*http.Request
	Edition Edition
	Values  url.Values // the parameters; nil for pages of errors that no page asked for
	Private bool       // the page is one of a part
}

// Page is a page, or what is sent in its place.
type Page struct {
	Template    string // the name; one that begins with "fragment-" is not put into the layout
	Title       string
	Description string
	Data        any    // what the template shows
	Kind        string // of object, for Open Graph; empty means a website
	Head        []HeadLink
	Linked      any    // JSON-LD
	Script      string // the name of a further script that the page loads, or ""
	Style       string // the name of a further style sheet that the page loads, or ""

	// A page without a template is a redirect or a body that is complete.
	Redirect    string
	Body        []byte
	ContentType string // of Body

	Status  int           // 0 means 200
	MaxAge  time.Duration // for caches; 0 means a second
	NoIndex bool          // not for search engines
	Tag     string        // entity tag of what open pages poll; empty: hash of the body
	Frames  bool          // it shows a file of this site in a frame

	Private // of pages of parts
}

// Private is what only pages of parts have.
type Private struct {
	Part string // its name
	// FormAction is where the answer to a form of the page may lead, besides this
	// site: an origin, or a scheme with its colon.
	FormAction string
	// Popup is whether the page is shown in windows that other sites open. They are
	// then informed that the window was closed or went on to one of their pages.
	Popup bool
}
