// Package markup reads HTML and XML that may be malformed or malicious. It accepts
// what browsers accept as far as the pages of the sources need it, in time and memory
// proportional to the input, and with a limited depth.
package markup

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// maxDepth is the nesting limit of elements. Real pages have a dozen levels.
const maxDepth = 128

var errTagsTooDeep = errors.New("its tags are nested too deep")

// tree builds the tree of a part of a page in one pass. It implements only the rules
// of HTML that these pages need: void elements, optional end tags, and the scope of
// stray end tags. html.Parse implements all, but a malicious page costs it quadratic
// time and memory.
type tree struct {
	open    []*html.Node // path from the root to the parent of the next node
	foreign int          // number of svg and math elements in it
	at      int          // offset of the current token
	offsets map[*html.Node]int
}

// ParseHTML returns the tree of a part of a page, and the offsets in the part of
// items, of rows of tables and of elements with an id. It fails when elements are nested too deep.
func ParseHTML(part []byte) (root *html.Node, offsets map[*html.Node]int, err error) {
	root = &html.Node{Type: html.DocumentNode}
	t := tree{open: []*html.Node{root}, offsets: map[*html.Node]int{}}
	z := html.NewTokenizer(bytes.NewReader(part))
	for {
		kind := z.Next()
		size := len(z.Raw())
		switch kind {
		case html.ErrorToken:
			return root, t.offsets, nil // end of input: reads from memory do not fail
		case html.TextToken:
			t.add(&html.Node{Type: html.TextNode, Data: string(z.Text())})
		case html.StartTagToken, html.SelfClosingTagToken:
			t.start(z.Token())
		case html.EndTagToken:
			name, _ := z.TagName()
			t.end(string(name))
		}
		t.at += size
		if len(t.open) > maxDepth {
			return nil, nil, errTagsTooDeep
		}
	}
}

func (t *tree) add(n *html.Node) { t.open[len(t.open)-1].AppendChild(n) }

// start adds an element, and opens it if it can have children.
func (t *tree) start(token html.Token) {
	name := token.Data
	switch name {
	case "html", "head", "body":
		return // belongs before this part
	case "ul", "ol":
		t.close(isBlock, "a") // the end tag of a link around a list is missing
	case "li":
		t.close(isBlock, "a")
		t.close(endsItem, "li")
	case "tr":
		t.close(endsTable, "tr")
	case "td", "th":
		t.close(endsRow, "td", "th")
	case "dt", "dd":
		t.close(endsTerms, "dt", "dd")
	case "option":
		t.close(isBlock, "option")
	case "a":
		t.close(isBlock, "a")
	}
	if isBlock(name) {
		t.close(endsScope, "p")
	}
	n := &html.Node{
		Type:     html.ElementNode,
		Data:     name,
		DataAtom: token.DataAtom,
		Attr:     token.Attr,
	}
	t.add(n)
	if name == "li" || name == "tr" || Attr(n, "id") != "" {
		t.offsets[n] = t.at
	}
	if isVoid(name) || token.Type == html.SelfClosingTagToken && t.foreign > 0 {
		return
	}
	t.open = append(t.open, n)
	if isForeign(name) {
		t.foreign++
	}
}

// end closes the element of an end tag, if it is in scope.
func (t *tree) end(name string) {
	switch {
	case name == "br":
		t.add(&html.Node{Type: html.ElementNode, Data: name}) // as browsers do
	case name == "li":
		t.close(endsItem, name)
	case name == "tr" || name == "td" || name == "th":
		t.close(endsTable, name)
	case isBlock(name):
		t.close(endsScope, name)
	default:
		t.close(isBlock, name)
	}
}

// close closes the innermost open element with one of the names and all within it,
// unless an element for which ends is true comes first.
func (t *tree) close(ends func(string) bool, names ...string) {
	for n := len(t.open) - 1; n > 0; n-- {
		if slices.Contains(names, t.open[n].Data) {
			for _, inner := range t.open[n:] {
				if isForeign(inner.Data) {
					t.foreign--
				}
			}
			t.open = t.open[:n]
			return
		}
		if ends(t.open[n].Data) {
			return
		}
	}
}

func isForeign(name string) bool { return name == "svg" || name == "math" }

func isVoid(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}

// isBlock reports whether an element is not inline. It ends an open paragraph, and
// limits the scope of end tags of inline elements.
func isBlock(name string) bool {
	switch name {
	case "address", "article", "aside", "blockquote", "center", "details", "dd", "dir", "div", "dl", "dt", "fieldset",
		"figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "menu", "nav",
		"ol", "p", "pre", "section", "summary", "tbody", "tfoot", "thead", "tr", "ul":
		return true
	}
	return endsScope(name)
}

// endsScope reports whether an element limits the scope of end tags of blocks.
func endsScope(name string) bool {
	switch name {
	case "caption", "marquee", "object", "table", "td", "template", "th":
		return true
	}
	return false
}

func endsItem(name string) bool  { return name == "ul" || name == "ol" || endsScope(name) }
func endsTerms(name string) bool { return name == "dl" || endsScope(name) }
func endsTable(name string) bool { return name == "table" || name == "template" }
func endsRow(name string) bool   { return name == "tr" || endsTable(name) }

// IDSuffix returns the part of an element's id after the last underscore.
func IDSuffix(n *html.Node) string {
	if n.Type != html.ElementNode {
		return ""
	}
	return Suffix(Attr(n, "id"))
}

// Suffix returns the part of an id after the last underscore, in lower case.
func Suffix(id string) string {
	return strings.ToLower(id[strings.LastIndexByte(id, '_')+1:])
}

// Attr returns the value of an attribute, or "".
func Attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func isElement(n *html.Node, name string) bool { return n.Type == html.ElementNode && n.Data == name }

// IsLink reports whether n is an element a.
func IsLink(n *html.Node) bool { return isElement(n, "a") }

// IsItem reports whether n is an element li.
func IsItem(n *html.Node) bool { return isElement(n, "li") }

// Visit walks a tree in document order; f reports whether to descend.
func Visit(n *html.Node, f func(*html.Node) bool) {
	if !f(n) {
		return
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		Visit(child, f)
	}
}

// Text returns the visible text of an element without the skipped descendants.
func Text(of *html.Node, skip ...func(*html.Node) bool) string {
	var b strings.Builder
	Visit(of, func(n *html.Node) bool {
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
		return n == of || !slices.ContainsFunc(skip, func(skips func(*html.Node) bool) bool { return skips(n) })
	})
	return Collapse(b.String())
}

// Collapse trims s and replaces each run of spaces and control characters by one
// space. The result shares no memory with the page.
func Collapse(s string) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c)
	})
	return strings.Clone(strings.Join(words, " "))
}
