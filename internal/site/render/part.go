package render

import (
	"io/fs"
	"net/http"
)

// Part is a set of pages that another package adds to the site. Unlike the public pages,
// they are for one reader: nothing keeps them, and their addresses are not for search
// engines.
type Part struct {
	Name      string // of its files: name.css and name.js
	Templates fs.FS  // of which all *.html are read
	Texts     Texts
	Style     []byte // loaded by its pages only, as is the script
	Script    []byte
	Section   Section
}

// Section is a link in the header of every page.
type Section struct {
	Text string // a key
	Path string
	Also []string // paths of other pages of the section
}

// WritePage writes a page of a part.
func (r *Renderer) WritePage(w http.ResponseWriter, req *http.Request, p Page) {
	q := r.private(req)
	p.NoIndex = true
	out, err := r.Render(q, &p)
	if err != nil {
		r.Fail(w, q, err)
		return
	}
	out.Write(w, req, true)
}

// WriteError writes an error of a part, as a page for browsers and as a problem for
// programs.
func (r *Renderer) WriteError(w http.ResponseWriter, req *http.Request, err error) {
	r.Fail(w, r.private(req), err)
}

// private returns a request for a page of a part.
func (r *Renderer) private(req *http.Request) Request {
	return Request{Request: req, Edition: r.Edition(req), Private: true}
}

// setPrivate adds the headers of a page of a part. A browser sends the origin of a
// form only if the policy for referrers allows it, and the origin is checked.
func (p *Page) setPrivate(h http.Header) {
	h["Content-Security-Policy"] = []string{contentPolicy(p.FormAction)}
	h["Referrer-Policy"] = []string{"same-origin"}
	h["X-Frame-Options"] = []string{"DENY"}
	if p.Popup {
		delete(h, "Cross-Origin-Opener-Policy")
	}
}
