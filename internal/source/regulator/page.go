package regulator

import (
	"bytes"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"pregon/internal/source/markup"
)

// Suffixes of the ids of elements, in lower case. They have survived redesigns of
// the site; the part before the last underscore has not.
const (
	listPart  = "listaelementosprimernivel"
	rowPart   = "elementoprimernivel"
	pagerPart = "lblinfopaginacion"
	lowerPart = "lblinfopaginacionposterior" // pager below the list
	ownerPart = "titulodatos"                // entity of the whole page
	tablePart = "grddescargas"
)

// page holds the parsed elements of a page.
type page struct {
	rows      []*html.Node
	tables    []*html.Node
	listed    bool   // there is a list, maybe empty
	owner     string // name of the entity of the whole page
	published string // article:published_time of the head
	number    int    // from 0
	pages     int
	pager     *html.Node // nil if it has no text
	numbered  bool       // a pager gave number and pages
	truncated bool
	defects   defects
	unknown   []Defect
	line      func(*html.Node) int // of an item, or of an element with an id
}

// maxContent bounds the part of a page after its menus. Real pages have 30 KB.
const maxContent = 1 << 20

// readPage finds the rows of a page. It skips menus and hidden fields, nine tenths
// of a page, before it builds the tree. The last row of a truncated page is
// dropped: it may be incomplete.
func readPage(surface string, body []byte) (*page, error) {
	p := &page{pages: 1, defects: defects{surface: surface}}
	if p.truncated = !isWhole(body); p.truncated {
		p.defects.fail(1+bytes.Count(body, newline), "the page ends too early")
	}
	at, found := p.skip(body)
	if !found {
		return p, nil
	}
	if len(body)-at > maxContent {
		p.defects.fail(lineOf(body, at), "it holds more than %d MB", maxContent>>20)
		return p, p.defects.err()
	}
	root, offsets, err := markup.ParseHTML(body[at:])
	if err != nil {
		p.defects.fail(lineOf(body, at), "%s", err.Error())
		return p, p.defects.err()
	}
	p.line = func(n *html.Node) int { return lineOf(body, at+offsets[n]) }
	pager, numbered := "", false
	markup.Visit(root, func(n *html.Node) bool {
		switch markup.IDSuffix(n) {
		case rowPart:
			p.rows = append(p.rows, n)
			return false
		case listPart:
			p.listed = true
			if !within(n, listPart) {
				p.unknownEntries(n)
			}
		case ownerPart:
			if p.owner == "" {
				p.owner = markup.Text(n)
			}
		case pagerPart, lowerPart:
			if numbered = true; pager == "" {
				pager, p.pager = markup.Text(n), n
			}
		case tablePart:
			p.tables = append(p.tables, n)
			return false
		}
		if markup.IsLink(n) && query(markup.Attr(n, "href"), "page") != "" && isPager(n) {
			numbered = true
		}
		return true
	})
	p.listed = p.listed || len(p.rows) > 0
	if p.truncated {
		p.rows = p.rows[:max(0, len(p.rows)-1)]
	}
	p.readPager(pager, numbered)
	return p, nil
}

var newline = []byte{'\n'}

// lineOf returns the line of an offset, from 1.
func lineOf(body []byte, at int) int { return 1 + bytes.Count(body[:at], newline) }

// unknownEntries records list entries that are not known rows. They have links;
// the text of an empty list has none.
func (p *page) unknownEntries(list *html.Node) {
	n := 0
	known := false
	line := 0
	for entry := list.FirstChild; entry != nil; entry = entry.NextSibling {
		if entry.Type != html.ElementNode {
			continue
		}
		linked, rows := false, false
		markup.Visit(entry, func(n *html.Node) bool {
			linked, rows = linked || markup.IsLink(n), rows || markup.IDSuffix(n) == rowPart
			return !rows
		})
		if known = known || rows; linked && !rows {
			if n++; n == 1 {
				line = p.line(entry)
			}
		}
	}
	switch {
	case n > 0 && known:
		p.defects.add(line, "%d entries of the list have an unknown format", n)
	case n > 0:
		p.defects.fail(line, "%d entries of the list have an unknown format", n)
	}
}

// within reports whether an element is inside one with the id suffix.
func within(n *html.Node, id string) bool {
	for n = n.Parent; n != nil; n = n.Parent {
		if markup.IDSuffix(n) == id {
			return true
		}
	}
	return false
}

// skip returns the offset of the first relevant element, and reads the publication
// time in the head.
func (p *page) skip(body []byte) (at int, found bool) {
	const largest = 512 << 10 // of a tag or text; a real page has half of it in total
	z := html.NewTokenizer(bytes.NewReader(body))
	z.SetMaxBuf(largest)
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return 0, false
		}
		if kind == html.StartTagToken || kind == html.SelfClosingTagToken {
			tag, more := z.TagName()
			if more && p.matters(z, string(tag)) {
				return at, true
			}
		}
		at += len(z.Raw())
	}
}

// matters reports whether a start tag opens a relevant element.
func (p *page) matters(z *html.Tokenizer, tag string) bool {
	if tag == "a" || tag == "input" || tag == "option" {
		return false // menus have thousands
	}
	var id, name, content string
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "id":
			id = markup.Suffix(string(value))
		case "name", "property":
			name = string(value)
		case "content":
			content = string(value)
		}
	}
	if tag == "meta" && strings.EqualFold(name, "article:published_time") {
		p.published = content
	}
	switch id {
	case listPart, rowPart, pagerPart, lowerPart, ownerPart, tablePart:
		return true
	}
	return false
}

// isWhole reports whether the page is complete.
func isWhole(body []byte) bool {
	tail := body[max(0, len(body)-64<<10):]
	return bytes.Contains(bytes.ToLower(tail), []byte("</html"))
}

var pagerForm = regexp.MustCompile(`(?i)p[áa]gina\s+(\d{1,6})\s+de\s+(\d{1,6})`)

// readPager parses "Página 2 de 20". A pager without these words would hide pages.
func (p *page) readPager(words string, numbered bool) {
	if m := pagerForm.FindStringSubmatch(words); m != nil && atoi(m[1]) > 0 {
		p.number = atoi(m[1]) - 1
		p.pages = max(1, atoi(m[2]))
		p.numbered = true
	} else if numbered && !p.truncated {
		p.defects.fail(p.pagerLine(), "the pager does not give the number of pages")
	}
}

// pagerLine returns the line of the pager, or 0.
func (p *page) pagerLine() int {
	if p.pager == nil {
		return 0
	}
	return p.line(p.pager)
}

// anyPage means that no particular page was requested.
const anyPage = -1

// expect records a defect when the page is not the requested one. Past the last
// page there is no pager.
func (p *page) expect(number int) {
	if number != anyPage && p.numbered && p.number != number {
		p.defects.fail(p.pagerLine(), "it shows page %d instead of %d", p.number+1, number+1)
	}
}

func isPager(a *html.Node) bool {
	for n := a.Parent; n != nil; n = n.Parent {
		if n.Data == "ul" {
			return strings.Contains(markup.Attr(n, "class"), "pagination")
		}
	}
	return false
}
