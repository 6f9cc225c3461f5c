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
	ownerPart = "titulodatos" // the entity that the whole page is about
	tablePart = "grddescargas"
)

// page is the part of a page that matters.
type page struct {
	surface   string
	rows      []*html.Node
	tables    []*html.Node
	listed    bool   // there is a list, be it empty
	owner     string // name of the entity that the whole page is about
	published string // the time that the head tells
	number    int    // from 0
	pages     int
	cut       bool // the page ends too early
	faults    faults
}

// readPage finds the rows of a page. Nine tenths of a page are menus and
// hidden fields, which are passed over before the tree is built. Of a page
// that ends too early the last row is left out: it may be half.
func readPage(surface string, body []byte) (*page, error) {
	p := &page{surface: surface, pages: 1, faults: faults{surface: surface}}
	p.cut = !isWhole(body)
	root, err := html.Parse(bytes.NewReader(body[p.skip(body):]))
	if err != nil {
		return p, &MarkupError{Surface: surface, Detail: "its tags are nested too deep"}
	}
	pager, numbered := "", false
	visit(root, func(n *html.Node) bool {
		switch part(n) {
		case rowPart:
			p.rows = append(p.rows, n)
			return false
		case listPart:
			p.listed = true
			p.strangers(n)
		case ownerPart:
			p.owner = text(n, nil)
		case pagerPart:
			pager, numbered = text(n, nil), true
		case tablePart:
			p.tables = append(p.tables, n)
		}
		if isAnchor(n) && query(attr(n, "href"), "page") != "" && isPager(n) {
			numbered = true
		}
		return true
	})
	p.listed = p.listed || len(p.rows) > 0
	if p.cut {
		p.rows = p.rows[:max(0, len(p.rows)-1)]
		p.faults.add("the page ends too early")
	}
	p.readPager(pager, numbered)
	return p, nil
}

// strangers finds entries of the list that are not rows as we know them. A list
// of them is no empty list: words that say so have no link.
func (p *page) strangers(list *html.Node) {
	n := 0
	for entry := list.FirstChild; entry != nil; entry = entry.NextSibling {
		if entry.Type != html.ElementNode || part(entry) == rowPart {
			continue
		}
		linked, rows := false, false
		visit(entry, func(n *html.Node) bool {
			linked, rows = linked || isAnchor(n), rows || part(n) == rowPart
			return !rows
		})
		if linked && !rows {
			n++
		}
	}
	if n > 0 {
		p.faults.add("%d entries of the list have a form that is not known", n)
	}
}

// skip returns where the first part that matters begins, and takes what the
// head tells on the way. It is 0 when there is none.
func (p *page) skip(body []byte) int {
	z := html.NewTokenizer(bytes.NewReader(body))
	at := 0
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return 0
		}
		if kind == html.StartTagToken || kind == html.SelfClosingTagToken {
			tag, more := z.TagName()
			if more && p.matters(z, string(tag)) {
				return at
			}
		}
		at += len(z.Raw())
	}
}

// matters tells whether a start tag opens a part that matters.
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
	case listPart, rowPart, pagerPart, ownerPart, tablePart:
		return true
	}
	return false
}

// isWhole tells whether the page was sent to its end.
func isWhole(body []byte) bool {
	tail := body[max(0, len(body)-64<<10):]
	return bytes.Contains(bytes.ToLower(tail), []byte("</html"))
}

var pagerForm = regexp.MustCompile(`(?i)p[áa]gina\s+(\d{1,6})\s+de\s+(\d{1,6})`)

// readPager reads the words "Página 2 de 20". A pager without them would hide
// pages.
func (p *page) readPager(words string, numbered bool) {
	if m := pagerForm.FindStringSubmatch(words); m != nil && number(m[1]) > 0 {
		p.number, p.pages = number(m[1])-1, max(1, number(m[2]))
	} else if numbered && !p.cut {
		p.faults.add("the pager does not tell the number of pages")
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

// part is the name that an element's id ends in.
func part(n *html.Node) string {
	if n.Type != html.ElementNode {
		return ""
	}
	return lastPart(attr(n, "id"))
}

func lastPart(id string) string {
	return strings.ToLower(id[strings.LastIndexByte(id, '_')+1:])
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// visit walks a tree in the order of the page; f tells whether to go deeper.
func visit(n *html.Node, f func(*html.Node) bool) {
	if !f(n) {
		return
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		visit(child, f)
	}
}

// text is what a reader sees of an element, but for the parts to skip.
func text(n *html.Node, skip func(*html.Node) bool) string {
	var b strings.Builder
	visit(n, func(n *html.Node) bool {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		if n.Type != html.ElementNode {
			return true
		}
		switch n.Data {
		case "script", "style", "template":
			return false
		case "br", "p", "li", "div":
			b.WriteByte(' ')
		}
		return skip == nil || !skip(n)
	})
	return collapse(b.String())
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
