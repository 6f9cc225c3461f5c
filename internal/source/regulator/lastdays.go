package regulator

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"time"

	"golang.org/x/net/html"

	"pregon/internal/disclosure"
	"pregon/internal/source/markup"
)

// LastDays are the issuers with new notices of holdings or own shares, from the page of
// what was registered on the last days. It says neither which notices nor how many.
type LastDays struct {
	Since    disclosure.Day // the first day of the page
	Issuers  []ChangedIssuer
	Received time.Time
}

// ChangedIssuer is an issuer with new notices. Each is listed once, with its newest day.
type ChangedIssuer struct {
	NIF  string // as spelled on the page
	Name string
	Day  disclosure.Day // 0 if the page does not name it
}

// LastDaysURL is the path of the page of the last days.
const LastDaysURL = "/portal/consultas/busquedaultimosdias?idPerfil=2&tipo=1&lang=es"

// mostChanged bounds the links of the page of the last days.
const mostChanged = 2000

// LastDays reads which issuers have new notices of holdings or own shares.
func (c *Client) LastDays(ctx context.Context) (LastDays, error) {
	a, err := c.get(ctx, LastDaysURL, c.limits.page)
	if err != nil {
		return LastDays{}, err
	}
	out, err := parseLastDays(a.body)
	out.Received = a.received
	return out, c.checkRedirects(&a, err)
}

var (
	sinceForm   = regexp.MustCompile(`(?i)incorporaci[óo]n desde el d[íi]a\s*:?\s*(\d{1,2}/\d{1,2}/\d{4})`)
	changedForm = regexp.MustCompile(`(?i)participaciones significativas y autocartera\s*\((\d{1,4})\)`)
	sectionForm = regexp.MustCompile(`\(\d{1,4}\)\s*$`)
	// onlyDayForm is the heading of a day: «Martes, 22/09/2026», «Día 22/09/2026».
	onlyDayForm = regexp.MustCompile(`^[^\d]{0,30}(\d{1,2}/\d{1,2}/\d{4})\s*(?:\(\d{1,5}\))?$`)
)

// dayReader reads the page in document order. The nesting of its lists does not matter:
// a heading holds until the next one.
type dayReader struct {
	defects  defects
	out      LastDays
	day      disclosure.Day
	reads    bool // the last heading is that of holdings
	expected int  // links, after all headings of holdings
	links    int
	seen     map[string]bool
	line     int
}

func parseLastDays(body []byte) (LastDays, error) {
	r := dayReader{defects: defects{surface: "page of the last days"}, seen: map[string]bool{}}
	if len(body) > maxSheet || !isWhole(body) {
		r.defects.fail(0, "the page ends too early, or holds more than %d MB", maxSheet>>20)
		return LastDays{}, r.defects.err()
	}
	r.readAll(body)
	r.endSection()
	if r.out.Since == 0 {
		r.defects.fail(0, "it does not say since which day it lists")
	}
	if r.links > mostChanged {
		r.defects.fail(0, "it has more than %d links", mostChanged)
		return LastDays{}, r.defects.err()
	}
	return r.out, r.defects.err()
}

// readAll passes the texts and the links of a page on.
func (r *dayReader) readAll(body []byte) {
	var words strings.Builder
	href, inLink := "", false
	z := html.NewTokenizer(bytes.NewReader(body))
	skip := "" // an element whose text is not shown
	for at := 0; ; at += len(z.Raw()) {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			r.heading(words.String())
			return
		case html.TextToken:
			if skip == "" {
				words.Write(z.Text())
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			token := z.Token()
			switch name := token.Data; {
			case name == "script" || name == "style":
				skip = name
				if kind == html.EndTagToken {
					skip = ""
				}
			case name == "a" && kind == html.StartTagToken:
				href = markup.Attr(&html.Node{Attr: token.Attr}, "href")
				if inLink = isChangedLink(href); inLink {
					r.heading(words.String())
					words.Reset()
					r.line = lineOf(body, min(at, len(body)))
				}
			case name == "a" && inLink:
				r.link(href, markup.Collapse(words.String()))
				words.Reset()
				inLink = false
			case isFlow(name):
				r.heading(words.String())
				words.Reset()
			}
		}
		if r.links > mostChanged {
			return
		}
	}
}

// isFlow reports whether an element ends a heading.
func isFlow(name string) bool {
	switch name {
	case "li", "ul", "ol", "div", "p", "br", "table", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "title",
		"dl", "dt", "dd", "section", "nav", "main", "body":
		return true
	}
	return false
}

func isChangedLink(href string) bool {
	return strings.Contains(strings.ToLower(href), "ps_ac_ini") && query(href, "nif") != ""
}

// heading reads a text outside of links to issuers.
func (r *dayReader) heading(s string) {
	s = markup.Collapse(s)
	if m := sinceForm.FindStringSubmatch(s); m != nil {
		r.out.Since, _ = parseDay(m[1])
		return
	}
	if m := changedForm.FindStringSubmatch(s); m != nil {
		r.endSection()
		r.reads = true
		r.expected += atoi(m[1])
		return
	}
	if m := onlyDayForm.FindStringSubmatch(s); m != nil {
		r.endSection()
		r.day, _ = parseDay(m[1])
		return
	}
	if sectionForm.MatchString(s) {
		r.endSection()
	}
}

// endSection compares what a section announced with its links.
func (r *dayReader) endSection() {
	if r.reads && r.links != r.expected {
		r.defects.fail(r.line, "a section of holdings announces %d issuers more or less than it links",
			max(r.expected-r.links, r.links-r.expected))
	}
	r.reads = false
	r.expected = r.links
}

// link reads a link to the page of an issuer.
func (r *dayReader) link(href, name string) {
	if !r.reads {
		return // of another section, such as one that was viewed last
	}
	if r.links++; r.links > mostChanged {
		return
	}
	nif := query(href, "nif")
	key := disclosure.IssuerKey(nif)
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	r.out.Issuers = append(r.out.Issuers, ChangedIssuer{
		NIF:  nif,
		Name: name,
		Day:  r.day,
	})
}
