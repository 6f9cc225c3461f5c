package site

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"time"
)

// Part are pages of another package in the look of the site. Unlike those of this
// package they are for one reader: nothing keeps them, and their addresses are not
// for search engines.
type Part struct {
	Name      string // of its files: name.css and name.js
	Templates fs.FS  // of which all *.html are read
	Texts     Texts
	Style     []byte // loaded by its pages only, as is the script
	Script    []byte
	Section   Section
}

// Section is a link in the header of every page.
type Section struct{ Text, Path string } // the text is a key

// Page is a page of a part.
type Page struct {
	Part     string // its name
	Template string // one that begins with "fragment-" is not put into the layout
	Title    string
	Data     any // what the template shows
	Status   int // 0 means 200
	// FormAction is where the answer to a form of the page may lead, besides this
	// site: an origin, or a scheme with its colon.
	FormAction string
	// Popup is whether the page is shown in windows that other sites open. They are
	// then informed that the window was closed or went on to one of their pages.
	Popup bool
}

// WritePage writes a page of a part.
func (s *Site) WritePage(w http.ResponseWriter, r *http.Request, p Page) {
	q := s.private(r, &p)
	out, err := s.execute(q, &page{
		template: p.Template,
		Title:    p.Title,
		Data:     p.Data,
		status:   p.Status,
		noIndex:  true,
	})
	if err != nil {
		s.writeError(w, q, err)
		return
	}
	out.write(w, r, true)
}

// WriteError writes an error of a part, as a page for browsers and as a problem for
// programs.
func (s *Site) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	s.writeError(w, s.private(r, &Page{}), err)
}

func (s *Site) private(r *http.Request, p *Page) *request {
	return &request{
		Request: r,
		edition: s.Edition(r),
		now:     time.Now(),
		private: p,
	}
}

// setHeader adds the headers of a page of a part. A browser sends the origin of a
// form only if the policy for referrers allows it, and the origin is checked.
func (p *Page) setHeader(h http.Header) {
	h["Content-Security-Policy"] = []string{contentPolicy(p.FormAction)}
	h["Referrer-Policy"] = []string{"same-origin"}
	h["X-Frame-Options"] = []string{"DENY"}
	if p.Popup {
		delete(h, "Cross-Origin-Opener-Policy")
	}
}

// allTexts returns the texts of the site and its parts.
func (s *Site) allTexts() (Texts, error) {
	all, err := ReadTexts(textFiles)
	if err != nil {
		return nil, err
	}
	for _, p := range s.Parts {
		if err := all.add(p.Texts); err != nil {
			return nil, fmt.Errorf("the part %s: %w", p.Name, err)
		}
	}
	return all, nil
}

// addressOf returns the address of a page without the parameters that no link to it
// needs. Pages of parts need all but the language.
func (q *request) addressOf() string {
	values := url.Values{}
	if q.private != nil {
		values = q.URL.Query()
		values.Del("lang")
	} else {
		for _, name := range pageParameters {
			if v := q.values.Get(name); v != "" {
				values.Set(name, v)
			}
		}
	}
	address := (&url.URL{Path: q.URL.Path}).EscapedPath() // the same however the request escaped it
	if len(values) > 0 {
		address += "?" + values.Encode()
	}
	return address
}
