package site

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pregon/internal/server/content"
)

// response is a complete response. It never changes, since readers share it.
type response struct {
	status      int
	contentType string
	body        []byte
	tag         string
	maxAge      time.Duration
	redirect    string
	noIndex     bool
}

const htmlType = "text/html; charset=utf-8"

// pageHeader are the headers of every page: it loads only files of this site, runs
// no inline script, and cannot be framed.
var pageHeader = map[string][]string{
	"Content-Security-Policy": {strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'", "manifest-src 'self'",
		"base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
	}, "; ")},
	"Referrer-Policy":              {"no-referrer"},
	"Cross-Origin-Opener-Policy":   {"same-origin"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Permissions-Policy":           {"camera=(), geolocation=(), microphone=(), payment=()"},
}

// write writes the response, or 304 if the client has it.
func (out *response) write(w http.ResponseWriter, r *http.Request, l language, private bool) {
	h := w.Header()
	h["Vary"] = append(h["Vary"], "Accept-Language, Authorization, X-Api-Key")
	if out.redirect != "" {
		h["Cache-Control"] = []string{"public, max-age=60"}
		if private {
			h["Cache-Control"] = []string{"private, no-store"}
		}
		http.Redirect(w, r, out.redirect, http.StatusFound)
		return
	}
	if strings.HasPrefix(out.contentType, "text/html") {
		for name, value := range pageHeader {
			h[name] = value
		}
		h["Content-Language"] = []string{string(l)}
	}
	if out.noIndex {
		h["X-Robots-Tag"] = []string{"noindex"}
	}
	switch {
	case private:
		h["Cache-Control"] = []string{"private, no-store"}
	case out.status != 0 && out.status != http.StatusOK:
		h["Cache-Control"] = []string{"no-store"}
	default:
		h["Cache-Control"] = []string{"public, max-age=" + strconv.Itoa(max(1, int(out.maxAge.Seconds())))}
		h["Etag"] = []string{out.tag}
	}
	if !private && out.status == 0 && content.Matches(r.Header["If-None-Match"], out.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"] = []string{out.contentType}
	if r.Method != http.MethodHead || r.Header["Accept-Encoding"] == nil {
		h["Content-Length"] = []string{strconv.Itoa(len(out.body))}
	}
	if out.status != 0 {
		w.WriteHeader(out.status)
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(out.body) // the client may be gone
	}
}

// execute renders a page.
func (s *Site) execute(q *request, p *page) (*response, error) {
	out := &response{
		status: p.status, contentType: p.contentType, body: p.body, maxAge: p.maxAge, redirect: p.redirect, noIndex: p.noIndex, tag: p.tag,
	}
	if p.template != "" {
		var b bytes.Buffer
		if err := s.editions[q.edition].execute(&b, p.template, s.layoutOf(q, p)); err != nil {
			return nil, err
		}
		out.body, out.contentType = b.Bytes(), htmlType
	}
	if out.tag == "" {
		out.tag = content.Tag(content.Hash(out.body))
	}
	return out, nil
}
