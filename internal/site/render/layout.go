package render

import (
	"html/template"
	"net/url"
	"slices"
	"strings"

	"pregon/internal/query"
)

// layout is what surrounds every page.
type layout struct {
	Page      *Page
	Language  Language
	Canonical string // address of the page in its language; empty for pages of parts
	Part      *partFiles
	Script    string // address of the script of the page, or ""
	Style     string // address of the style sheet of the page, or ""
	Alternate map[Language]string
	Default   string // address of the page in the language that the browser prefers
	Demo      bool
	State     string // health of the source
	Source    query.Attribution
	Search    string // text in the search box
	Version   string
	NoIndex   bool
	Chosen    bool          // the language is in the address
	Sections  template.HTML // see Renderer.navigation
	Languages []choice
	Feeds     []Link
	Content   func() (template.HTML, error)
}

// HeadLink is a link in the head of a page.
type HeadLink struct{ Rel, Type, URL string }

// Link is a link with its text.
type Link struct{ Text, URL string }

// choice is one of several links.
type choice struct {
	Value, Text, URL string
	Selected         bool
}

// sections are the links in the header of every page, before those of parts.
var sections = []Section{
	{Text: "nav.feed", Path: "/"},
	{Text: "nav.following", Path: "/following"},
	{Text: "nav.issuers", Path: "/issuers"},
	{Text: "nav.positions", Path: "/shorts", Also: []string{"/dealings", "/holdings", "/own-shares"}},
	{Text: "nav.calendar", Path: "/calendar"},
	{Text: "nav.analytics", Path: "/analytics"},
	{Text: "nav.dev", Path: "/developers"},
}

// layoutOf returns what surrounds a page.
func (r *Renderer) layoutOf(q Request, p *Page) *layout {
	address := r.addressOf(q)
	full := r.BaseURL + address
	l := &layout{
		Page:      p,
		Language:  q.Edition.Language,
		Default:   full,
		Alternate: map[Language]string{},
		Demo:      r.Query.Simulated(),
		Source:    r.Query.Attribution(),
		Version:   r.Query.Version,
		State:     string(r.Query.SourceStatus().State),
		Search:    q.Values.Get("search"),
		NoIndex:   p.NoIndex,
		Sections:  q.Edition.navigation[r.sectionOf(q.URL.Path)],
	}
	if strings.HasPrefix(q.URL.Path, "/issuers") {
		l.Search = "" // these pages have a search of their own
	}
	for _, other := range languages {
		l.Alternate[other] = withLanguage(full, other)
	}
	l.Alternate[languages[0]] = full // the default needs no parameter
	l.Canonical = l.Alternate[q.Edition.Language]
	l.Chosen = q.Edition.chosen
	for value, name := range map[Language]string{Spanish: "Español", English: "English"} {
		l.Languages = append(l.Languages, choice{
			Value:    string(value),
			Text:     name,
			URL:      withLanguage(address, value),
			Selected: value == q.Edition.Language,
		})
	}
	slices.SortFunc(l.Languages, func(a, b choice) int { return strings.Compare(b.Value, a.Value) })
	if p.Script != "" {
		l.Script = r.assets[p.Script].url
	}
	if p.Style != "" {
		l.Style = r.assets[p.Style].url
	}
	if q.Private {
		l.Canonical = ""
		l.Part = r.partFiles(p.Part)
	}
	if f, ok := p.Data.(interface{ FeedLinks() []Link }); ok {
		l.Feeds = f.FeedLinks()
	}
	return l
}

// allSections returns the links in the header.
func (r *Renderer) allSections() []Section {
	all := slices.Clone(sections)
	for _, part := range r.Parts {
		all = append(all, part.Section)
	}
	return all
}

// SimulatedPrefix begins the titles of the simulated market. The page of a report shows it;
// lists do not, because the banner of the page says the same.
const SimulatedPrefix = "[Simulación] "

// noSection is the section of a page that belongs to none.
const noSection = -1

// sectionOf returns the index of the section that a page belongs to.
func (r *Renderer) sectionOf(path string) int {
	return slices.IndexFunc(r.allSections(), func(s Section) bool { return s.has(path) })
}

// has reports whether a page belongs to a section.
func (s Section) has(path string) bool {
	return s.Path == path || s.Path != "/" && strings.HasPrefix(path, s.Path+"/") ||
		slices.ContainsFunc(s.Also, func(also string) bool { return Section{Path: also}.has(path) })
}

// navigation returns the links in the header of the pages of each section. They are a
// third of the actions of the layout, and the same on all of these pages.
func (r *Renderer) navigation(e Edition) (map[int]template.HTML, error) {
	all := r.allSections()
	out := map[int]template.HTML{}
	for selected := noSection; selected < len(all); selected++ {
		var links []choice
		for i, section := range all {
			text, err := e.T(section.Text)
			if err != nil {
				return nil, err
			}
			links = append(links, choice{
				Text:     text,
				URL:      e.Link(section.Path),
				Selected: i == selected,
			})
		}
		var b strings.Builder
		if err := e.set.ExecuteTemplate(&b, "sections", links); err != nil {
			return nil, err
		}
		out[selected] = template.HTML(b.String()) // it was escaped by its template
	}
	return out, nil
}

// partFiles are the addresses of the style and the script of a part.
type partFiles struct{ Style, Script string }

func (r *Renderer) partFiles(part string) *partFiles {
	style, script := r.assets[part+".css"], r.assets[part+".js"]
	if style == nil || script == nil {
		return nil
	}
	return &partFiles{style.url, script.url}
}

// addressOf returns the address of a page without the parameters that no link to it
// needs. Pages of parts need all but the language.
func (r *Renderer) addressOf(q Request) string {
	values := url.Values{}
	if q.Private {
		values = q.URL.Query()
		values.Del("lang")
	} else {
		for _, name := range r.Parameters {
			if v := q.Values.Get(name); v != "" {
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
