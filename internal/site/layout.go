package site

import (
	"html/template"
	"net/url"
	"slices"
	"strings"

	"pregon/internal/query"
)

// layout is what surrounds every page.
type layout struct {
	Page      *page
	Language  language
	Canonical string // address of the page in its language
	Alternate map[language]string
	Default   string // address of the page in the language that the browser prefers
	Demo      bool
	State     string // health of the source
	Source    query.Attribution
	Search    string // text in the search box
	Version   string
	NoIndex   bool
	Chosen    bool // the language is in the address
	Sections  []choice
	Languages []choice
	Feeds     []link
	Content   func() (template.HTML, error)
}

// headLink is a link in the head of a page.
type headLink struct{ Rel, Type, URL string }

// link is a link with its text.
type link struct{ Text, URL string }

// pageParameters are the parameters that select what a page shows. Its address for
// search engines has no others.
var pageParameters = append([]string{"page", "letter", "in", "offset"}, filterNames...)

func (s *Site) layoutOf(q *request, p *page) *layout {
	values := url.Values{}
	for _, name := range pageParameters {
		if v := q.values.Get(name); v != "" {
			values.Set(name, v)
		}
	}
	address := (&url.URL{Path: q.URL.Path}).EscapedPath() // the same however the request escaped it
	if len(values) > 0 {
		address += "?" + values.Encode()
	}
	full := s.BaseURL + address
	l := &layout{
		Page: p, Language: q.edition.Language, Default: full, Alternate: map[language]string{},
		Demo: s.Query.Simulated(), Source: s.Query.Attribution(), Version: s.Query.Version,
		State: string(s.Query.SourceStatus().State), Search: values.Get("search"), NoIndex: p.noIndex,
	}
	if strings.HasPrefix(q.URL.Path, "/issuers") {
		l.Search = "" // these pages have a search of their own
	}
	for _, other := range languages {
		l.Alternate[other] = withLanguage(full, other)
	}
	l.Alternate[languages[0]] = full // the default needs no parameter
	l.Canonical = l.Alternate[q.edition.Language]
	l.Chosen = q.edition.chosen
	for _, section := range []link{{"nav.feed", "/"}, {"nav.issuers", "/issuers"}, {"nav.analytics", "/analytics"}, {"nav.dev", "/developers"}} {
		selected := q.URL.Path == section.URL || section.URL != "/" && strings.HasPrefix(q.URL.Path, section.URL+"/")
		l.Sections = append(l.Sections, choice{Text: q.edition.text(section.Text), URL: q.edition.Link(section.URL), Selected: selected})
	}
	for value, name := range map[language]string{spanish: "Español", english: "English"} {
		l.Languages = append(l.Languages, choice{Value: string(value), Text: name, URL: withLanguage(address, value), Selected: value == q.edition.Language})
	}
	slices.SortFunc(l.Languages, func(a, b choice) int { return strings.Compare(b.Value, a.Value) })
	if f, ok := p.Data.(interface{ FeedQuery() string }); ok {
		l.Feeds = feedLinks(f.FeedQuery())
	}
	return l
}
