package site

import (
	"html/template"
	"slices"
	"strings"

	"pregon/internal/query"
)

// layout is what surrounds every page.
type layout struct {
	Page      *page
	Language  language
	Canonical string // address of the page in its language; empty for pages of parts
	Part      *partFiles
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
	address := q.addressOf()
	full := s.BaseURL + address
	l := &layout{
		Page:      p,
		Language:  q.edition.Language,
		Default:   full,
		Alternate: map[language]string{},
		Demo:      s.Query.Simulated(),
		Source:    s.Query.Attribution(),
		Version:   s.Query.Version,
		State:     string(s.Query.SourceStatus().State),
		Search:    q.values.Get("search"),
		NoIndex:   p.noIndex,
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
		l.addSection(q, section)
	}
	for _, p := range s.Parts {
		l.addSection(q, link{p.Section.Text, p.Section.Path})
	}
	for value, name := range map[language]string{spanish: "Español", english: "English"} {
		l.Languages = append(l.Languages, choice{
			Value:    string(value),
			Text:     name,
			URL:      withLanguage(address, value),
			Selected: value == q.edition.Language,
		})
	}
	slices.SortFunc(l.Languages, func(a, b choice) int { return strings.Compare(b.Value, a.Value) })
	if q.private != nil {
		l.Canonical, l.Part = "", s.partFiles(q.private.Part)
	}
	if f, ok := p.Data.(interface{ FeedQuery() string }); ok {
		l.Feeds = feedLinks(f.FeedQuery())
	}
	return l
}

func (l *layout) addSection(q *request, to link) {
	selected := q.URL.Path == to.URL || to.URL != "/" && strings.HasPrefix(q.URL.Path, to.URL+"/")
	l.Sections = append(l.Sections, choice{Text: q.edition.Text(to.Text), URL: q.edition.Link(to.URL), Selected: selected})
}

// partFiles are the addresses of the style and the script of a part.
type partFiles struct{ Style, Script string }

func (s *Site) partFiles(part string) *partFiles {
	style, script := s.assets[part+".css"], s.assets[part+".js"]
	if style == nil || script == nil {
		return nil
	}
	return &partFiles{style.url, script.url}
}
