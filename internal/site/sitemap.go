package site

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/site/render"
)

// sitemapXML is a list of pages, or of such lists.
type sitemapXML struct {
	XMLName xml.Name
	Maps    []sitemapURL `xml:"sitemap"`
	Pages   []sitemapURL `xml:"url"`
}

type sitemapURL struct {
	Location string `xml:"loc"`
	Modified string `xml:"lastmod,omitempty"`
}

const (
	sitemapSpace = "http://www.sitemaps.org/schemas/sitemap/0.9"

	// sitemapAge is how long a part is cached, by search engines and by the site.
	sitemapAge = 10 * time.Minute

	// sitemapEntries is the number of addresses in a part. So many take about 1 MB.
	sitemapEntries = 10_000
)

// section is a part of the map of the site, or several if it has too many addresses.
type section struct {
	name string // of its first part
	size int    // addresses
}

// parts returns the names of the parts: 2026, 2026-2, 2026-3.
func (c section) parts() []string {
	names := []string{c.name}
	for n := 2; (n-1)*sitemapEntries < c.size; n++ {
		names = append(names, fmt.Sprintf("%s-%d", c.name, n))
	}
	return names
}

// sitemap lists the parts of the map of the site: the pages, the issuers, and the
// reports of each year.
func (s *Site) sitemap(q *request) (*render.Page, error) {
	sections := []section{
		{"pages", len(sitePages)},
		{"issuers", len(q.snapshot.Directory().Issuers())},
	}
	facets, err := q.snapshot.Facets(q.Context(), disclosure.Filter{})
	if err != nil {
		return nil, err
	}
	for _, y := range facets.Years {
		sections = append(sections, section{y.Value, y.Total})
	}
	out := sitemapXML{XMLName: xml.Name{Space: sitemapSpace, Local: "sitemapindex"}}
	for _, c := range sections {
		for _, part := range c.parts() {
			out.Maps = append(out.Maps, sitemapURL{Location: s.BaseURL + "/sitemaps/" + part + ".xml"})
		}
	}
	return xmlPage(out)
}

func xmlPage(v any) (*render.Page, error) {
	body, err := xml.Marshal(v)
	return &render.Page{
		ContentType: "application/xml; charset=utf-8",
		Body:        append([]byte(xml.Header), body...),
		MaxAge:      sitemapAge,
	}, err
}

// sitePages are the pages that are not about one report or issuer.
var sitePages = []string{"/", "/issuers", "/calendar", "/shorts", "/own-shares", "/analytics", "/developers", "/status"}

// sitemapPart is one part of the map.
func (s *Site) sitemapPart(q *request) (*render.Page, error) {
	name, number, ok := parsePart(q.PathValue("part"))
	if !ok {
		return nil, render.ErrNoPage
	}
	var urls []sitemapURL
	add := func(path, modified string) { urls = append(urls, sitemapURL{s.BaseURL + path, modified}) }
	switch name {
	case "pages":
		for _, path := range pick(sitePages, number) {
			add(path, "")
		}
	case "issuers":
		for _, e := range pick(q.snapshot.Directory().Issuers(), number) {
			add(issuerPath(e.Issuer.ID), "")
		}
	default:
		from, to, ok := yearOf(name)
		if !ok {
			return nil, render.ErrNoPage
		}
		reports := slices.Collect(q.snapshot.Between(from, to))
		slices.Reverse(reports) // the oldest first: a new report leaves all other parts as they are
		for _, f := range pick(reports, number) {
			add("/reports/"+f.ID(), q.edition.Exact(f.Listed()))
		}
	}
	if number > 1 && len(urls) == 0 {
		return nil, render.ErrNoPage
	}
	return xmlPage(sitemapXML{
		XMLName: xml.Name{Space: sitemapSpace, Local: "urlset"},
		Pages:   urls,
	})
}

// pick returns the addresses of a part, counted from 1.
func pick[T any](all []T, number int) []T {
	start := min(len(all), (number-1)*sitemapEntries)
	return all[start:min(len(all), start+sitemapEntries)]
}

// parsePart returns the section of a part, and its number: "2026-2.xml" is the second
// part of 2026.
func parsePart(file string) (name string, number int, ok bool) {
	base, ok := strings.CutSuffix(file, ".xml")
	if !ok {
		return "", 0, false
	}
	name, digits, several := strings.Cut(base, "-")
	if !several {
		return name, 1, true
	}
	number, err := strconv.Atoi(digits)
	ok = err == nil && number > 1 && number < 1000 && strconv.Itoa(number) == digits
	return name, number, ok
}

// yearOf returns the days of a year.
func yearOf(year string) (from, to disclosure.Day, ok bool) {
	if len(year) != len("2006") {
		return 0, 0, false
	}
	from, ok = disclosure.ParseDay(year + "-01-01")
	to, _ = disclosure.ParseDay(year + "-12-31")
	return from, to, ok
}
