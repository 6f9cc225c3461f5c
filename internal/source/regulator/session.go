package regulator

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"pregon/internal/source/markup"
)

// sessionForm is the token of a session in an address. It is new on every visit and
// leads to what the visitor looked at. It is used to walk from page to page, and never
// returned, logged or stored.
var sessionForm = regexp.MustCompile(`(?i)\bqS=[^&#"'<>\s]*`)

// WithoutSession replaces the tokens of sessions in an address or in a text.
func WithoutSession(s string) string { return sessionForm.ReplaceAllString(s, "qS=") }

// shown returns the path and the query of an address as errors name them.
func shown(u *url.URL) string { return WithoutSession(pathOf(u)) }

// step is a link from a page of an entity to another of its pages.
type step struct {
	page  string // the last part of the path, in lower case and without .aspx
	token string // of the session
}

// path returns the address of the page. The braces of a token must be escaped.
func (s step) path() string {
	return "/portal/consultas/derechosvoto/" + s.page + "?qS=" + url.QueryEscape(s.token)
}

// stepOf returns the step of a link, and false if it has no token or a strange one.
func stepOf(n *html.Node) (step, bool) {
	href := markup.Attr(n, "href")
	token := query(href, "qS")
	if token == "" || len(token) > 256 {
		return step{}, false
	}
	where, _, _ := strings.Cut(href, "?")
	return step{
		page:  strings.TrimSuffix(strings.ToLower(path.Base(where)), ".aspx"),
		token: token,
	}, true
}

// steps returns the first step to each page that the links within n lead to.
func steps(n *html.Node) map[string]step {
	out := map[string]step{}
	markup.Visit(n, func(n *html.Node) bool {
		if !markup.IsLink(n) {
			return true
		}
		if s, ok := stepOf(n); ok && out[s.page].page == "" {
			out[s.page] = s
		}
		return true
	})
	return out
}
