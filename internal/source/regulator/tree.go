package regulator

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// deepest is how deep elements may be nested. Pages of the site have a dozen
// levels below the list.
const maxDepth = 128

var errTagsTooDeep = errors.New("its tags are nested too deep")

// tree builds the tree of a part of a page, in one pass. It knows the rules of
// HTML that such pages need: which elements have no end, which ends may be left
// out, and how far a stray one reaches. html.Parse knows them all, but a page
// that is made for it costs it quadratic time and memory.
type tree struct {
	open    []*html.Node // from the root to where the next node goes
	foreign int          // drawings among them
}

func parseTree(part []byte) (*html.Node, error) {
	root := &html.Node{Type: html.DocumentNode}
	t := tree{open: []*html.Node{root}}
	z := html.NewTokenizer(bytes.NewReader(part))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return root, nil // the end, for what is read is in memory
		case html.TextToken:
			t.add(&html.Node{Type: html.TextNode, Data: string(z.Text())})
		case html.StartTagToken, html.SelfClosingTagToken:
			t.start(z.Token())
		case html.EndTagToken:
			name, _ := z.TagName()
			t.end(string(name))
		}
		if len(t.open) > maxDepth {
			return nil, errTagsTooDeep
		}
	}
}

func (t *tree) add(n *html.Node) { t.open[len(t.open)-1].AppendChild(n) }

// start adds an element, and opens it unless it can have no children.
func (t *tree) start(token html.Token) {
	name := token.Data
	switch name {
	case "html", "head", "body":
		return // was before the part
	case "ul", "ol":
		t.close(isBlock, "a") // a link around a list lacks its end
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
	n := &html.Node{Type: html.ElementNode, Data: name, DataAtom: token.DataAtom, Attr: token.Attr}
	t.add(n)
	if isVoid(name) || token.Type == html.SelfClosingTagToken && t.foreign > 0 {
		return
	}
	t.open = append(t.open, n)
	if isForeign(name) {
		t.foreign++
	}
}

// end closes an element, if it is open where its end can reach it.
func (t *tree) end(name string) {
	switch {
	case name == "br":
		t.add(&html.Node{Type: html.ElementNode, Data: name}) // as browsers take it
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

// close closes the innermost open element of a name, and all within it, unless
// one that the tag cannot reach beyond comes first.
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

// isBlock tells the elements that do not stand within a line. Where one begins
// a paragraph ends, and the end of what does stand in a line stays within it.
func isBlock(name string) bool {
	switch name {
	case "address", "article", "aside", "blockquote", "center", "details", "dd", "dir", "div", "dl", "dt", "fieldset",
		"figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "menu", "nav",
		"ol", "p", "pre", "section", "summary", "tbody", "tfoot", "thead", "tr", "ul":
		return true
	}
	return endsScope(name)
}

// endsScope tells the elements that the end of an outer one does not reach
// beyond.
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

// part is the name that an element's id ends in.
func idSuffix(n *html.Node) string {
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

func isElement(n *html.Node, name string) bool { return n.Type == html.ElementNode && n.Data == name }

func isAnchor(n *html.Node) bool { return isElement(n, "a") }

func isItem(n *html.Node) bool { return isElement(n, "li") }

// visit walks a tree in the order of the page; f reports whether to go deeper.
func visit(n *html.Node, f func(*html.Node) bool) {
	if !f(n) {
		return
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		visit(child, f)
	}
}

// text is what a reader sees of an element, but for the parts to skip in it.
func text(of *html.Node, skip ...func(*html.Node) bool) string {
	var b strings.Builder
	visit(of, func(n *html.Node) bool {
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
	return collapse(b.String())
}
