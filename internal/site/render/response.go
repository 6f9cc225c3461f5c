package render

import (
	"bytes"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pregon/internal/server/content"
)

// Response is a complete response. It never changes, since readers share it.
type Response struct {
	status   int // 0 means 200
	redirect string
	header   http.Header // without those that depend on the reader
	body     []byte
	tag      string
	maxAge   time.Duration // for the client's copy; 0 means a second
	polled   bool          // a page that stays open asks for it again, with its tag
}

// redirectAge is how long a client may keep a redirect.
const redirectAge = time.Minute

const htmlType = "text/html; charset=utf-8"

// pageHeader are the headers of every page: it loads only files of this site, runs
// no inline script, and cannot be framed.
var pageHeader = http.Header{
	"Content-Security-Policy":    {contentPolicy()},
	"Referrer-Policy":            {"no-referrer"},
	"Cross-Origin-Opener-Policy": {"same-origin"},
}

// contentPolicy returns the policy with further places for the answers of forms.
func contentPolicy(formAction ...string) string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self'",
		"img-src 'self'",
		"connect-src 'self'",
		"manifest-src 'self'",
		"base-uri 'none'",
		strings.TrimSpace("form-action 'self' " + strings.Join(formAction, " ")),
		"frame-ancestors 'none'",
	}, "; ")
}

// allowFrames lets a page show files of this site in frames.
func allowFrames(h http.Header) {
	h["Content-Security-Policy"] = []string{h["Content-Security-Policy"][0] + "; frame-src 'self'"}
}

// Constant header values, shared by all responses.
var (
	varies  = []string{"Accept, Accept-Encoding, Accept-Language, Authorization, X-Api-Key"}
	noStore = []string{"private, no-store"}
	notKept = []string{"no-store"}
)

// Write writes the response, or 304 if the client has it. A private one is for this
// reader only: nothing keeps it, but a page that polls it compares its tag.
func (out *Response) Write(w http.ResponseWriter, r *http.Request, private bool) {
	h := w.Header()
	maps.Copy(h, out.header)
	h["Vary"] = varies
	switch {
	case private:
		h["Cache-Control"] = noStore
		if !out.polled {
			delete(h, "Etag")
		}
	case out.status != 0:
		h["Cache-Control"] = notKept
	default:
		content.SetPublic(h, r, out.maxAge)
	}
	switch {
	case out.redirect != "":
		http.Redirect(w, r, out.redirect, http.StatusFound)
		return
	case (!private || out.polled) && out.status == 0 && content.Matches(r.Header["If-None-Match"], out.tag):
		delete(h, "Content-Length")
		w.WriteHeader(http.StatusNotModified)
		return
	case r.Method == http.MethodHead && r.Header["Accept-Encoding"] != nil: // a compressed GET has another length
		delete(h, "Content-Length")
	}
	if out.status != 0 {
		w.WriteHeader(out.status)
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(out.body) // the client may be gone
	}
}

// Render returns the response that shows a page.
func (r *Renderer) Render(q Request, p *Page) (*Response, error) {
	out := &Response{
		status:   p.Status,
		redirect: p.Redirect,
		body:     p.Body,
		tag:      p.Tag,
		polled:   p.Tag != "",
		header:   http.Header{},
	}
	if p.Redirect != "" {
		out.maxAge = redirectAge
		return out, nil
	}
	contentType := p.ContentType
	if p.Template != "" {
		var b bytes.Buffer
		if err := q.Edition.execute(&b, p.Template, r.layoutOf(q, p)); err != nil {
			return nil, err
		}
		out.body, contentType = b.Bytes(), htmlType
		maps.Copy(out.header, pageHeader)
		out.header["Content-Language"] = []string{string(q.Edition.Language)}
		if q.Private {
			p.setPrivate(out.header)
		}
		if p.Frames {
			allowFrames(out.header)
		}
	}
	if out.tag == "" {
		out.tag = content.Tag(content.Hash(out.body))
	}
	if p.NoIndex {
		out.header["X-Robots-Tag"] = []string{"noindex"}
	}
	out.header["Content-Type"], out.header["Content-Length"] = []string{contentType}, []string{strconv.Itoa(len(out.body))}
	out.maxAge = p.MaxAge
	if p.Status == 0 {
		out.header["Etag"] = []string{out.tag}
	}
	return out, nil
}
