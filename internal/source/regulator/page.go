package regulator

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// The ids of a page end in names that have outlived its redesigns; what comes
// before the last underscore has not. They are compared in lower case.
const (
	listPart  = "listaelementosprimernivel"
	rowPart   = "elementoprimernivel"
	pagerPart = "lblinfopaginacion"
	lowerPart = "lblinfopaginacionposterior" // the pager below the list
	ownerPart = "titulodatos"                // the entity that the whole page is about
	tablePart = "grddescargas"
)

// page is the part of a page that matters.
type page struct {
	rows      []*html.Node
	tables    []*html.Node
	listed    bool   // there is a list, be it empty
	owner     string // name of the entity that the whole page is about
	published string // the time that the head tells
	number    int    // from 0
	pages     int
	numbered  bool // a pager told number and pages
	truncated bool // the page ends too early
	defects   defects
}

// mostContent is how much of a page is read once its menus are passed over.
// Real pages have 30 KB there.
const maxContent = 1 << 20

// readPage finds the rows of a page. Nine tenths of a page are menus and
// hidden fields, which are passed over before the tree is built. Of a page
// that ends too early the last row is left out: it may be half.
func readPage(surface string, body []byte) (*page, error) {
	p := &page{pages: 1, defects: defects{surface: surface}}
	if p.truncated = !isWhole(body); p.truncated {
		p.defects.fail("the page ends too early")
	}
	at, found := p.skip(body)
	if !found {
		return p, nil
	}
	if len(body)-at > maxContent {
		p.defects.fail("it holds more than %d MB", maxContent>>20)
		return p, p.defects.err()
	}
	root, err := parseTree(body[at:])
	if err != nil {
		p.defects.fail("%s", err.Error())
		return p, p.defects.err()
	}
	pager, numbered := "", false
	visit(root, func(n *html.Node) bool {
		switch idSuffix(n) {
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
				p.owner = text(n)
			}
		case pagerPart, lowerPart:
			if numbered = true; pager == "" {
				pager = text(n)
			}
		case tablePart:
			p.tables = append(p.tables, n)
			return false
		}
		if isAnchor(n) && query(attr(n, "href"), "page") != "" && isPager(n) {
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

// strangers finds entries of the list that are not rows as we know them. A list
// of them is no empty list: words that say so have no link.
func (p *page) unknownEntries(list *html.Node) {
	n, known := 0, false
	for entry := list.FirstChild; entry != nil; entry = entry.NextSibling {
		if entry.Type != html.ElementNode {
			continue
		}
		linked, rows := false, false
		visit(entry, func(n *html.Node) bool {
			linked, rows = linked || isAnchor(n), rows || idSuffix(n) == rowPart
			return !rows
		})
		if known = known || rows; linked && !rows {
			n++
		}
	}
	switch {
	case n > 0 && known:
		p.defects.add("%d entries of the list have a form that is not known", n)
	case n > 0:
		p.defects.fail("%d entries of the list have a form that is not known", n)
	}
}

// within reports whether an element is inside of another with an id.
func within(n *html.Node, id string) bool {
	for n = n.Parent; n != nil; n = n.Parent {
		if idSuffix(n) == id {
			return true
		}
	}
	return false
}

// skip returns where the first part that matters begins, if there is one, and
// takes what the head tells on the way.
func (p *page) skip(body []byte) (at int, found bool) {
	const largest = 512 << 10 // of a tag or a text; a page has half of that in all
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

// matters reports whether a start tag opens a part that matters.
func (p *page) matters(z *html.Tokenizer, tag string) bool {
	if tag == "a" || tag == "input" || tag == "option" {
		return false // a menu has a thousand of them
	}
	var id, name, content string
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "id":
			id = lastPart(string(value))
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

// isWhole reports whether the page was sent to its end.
func isWhole(body []byte) bool {
	tail := body[max(0, len(body)-64<<10):]
	return bytes.Contains(bytes.ToLower(tail), []byte("</html"))
}

var pagerForm = regexp.MustCompile(`(?i)p[áa]gina\s+(\d{1,6})\s+de\s+(\d{1,6})`)

// readPager reads the words "Página 2 de 20". A pager without them would hide
// pages.
func (p *page) readPager(words string, numbered bool) {
	if m := pagerForm.FindStringSubmatch(words); m != nil && atoi(m[1]) > 0 {
		p.number, p.pages, p.numbered = atoi(m[1])-1, max(1, atoi(m[2])), true
	} else if numbered && !p.truncated {
		p.defects.fail("the pager does not tell the number of pages")
	}
}

// anyPage is the number of a page that nobody asked for by its number.
const anyPage = -1

// expect finds fault with a page that is not the one that was asked for: what
// is on that one is not known. Past the last page there is no pager.
func (p *page) expect(number int) {
	if number != anyPage && p.numbered && p.number != number {
		p.defects.fail("it shows page %d instead of %d", p.number+1, number+1)
	}
}

func isPager(a *html.Node) bool {
	for n := a.Parent; n != nil; n = n.Parent {
		if n.Data == "ul" {
			return strings.Contains(attr(n, "class"), "pagination")
		}
	}
	return false
}

// collapse trims a text and makes every run of spaces one. Control characters
// are nothing a reader sees and count as spaces. The result shares no memory
// with the page.
func collapse(s string) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c)
	})
	return strings.Clone(strings.Join(words, " "))
}
