package html

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"pregon/internal/document/extract"
)

var errNoText = &extract.Unreadable{Reason: "it has no text"}

// readHTML reads HTML and XHTML, of which no tree is built: annual reports have
// tens of megabytes.
func Read(body []byte, l extract.Limits) (*extract.Text, error) {
	z := html.NewTokenizer(encodingOf(body).NewDecoder().Reader(withoutPictures(body)))
	mostToken := max(1<<20, 2*l.TextBytes) // of a tag, or a text between two; scripts have megabytes
	z.SetMaxBuf(mostToken)
	z.AllowCDATA(true)
	w := web{limits: l, xml: bytes.HasPrefix(bytes.TrimLeft(body, "\xef\xbb\xbf \t\r\n"), []byte("<?xml"))}
	for !w.full() {
		switch z.Next() {
		case html.ErrorToken:
			if errors.Is(z.Err(), html.ErrBufferExceeded) {
				return nil, &extract.Unreadable{Reason: fmt.Sprintf("it has a tag, or a text without tags, of more than %d MB", mostToken>>20)}
			}
			return w.text() // what cannot be decoded is not there: there is no other error
		case html.StartTagToken:
			w.start(z, false)
		case html.SelfClosingTagToken:
			w.start(z, true)
			z.NextIsNotRawText() // XHTML has scripts and titles without an end
		case html.EndTagToken:
			name, _ := z.TagName()
			w.end(string(name))
		case html.TextToken:
			w.read(z.Text())
		}
		if w.portal {
			return nil, extract.ErrSitePage
		}
	}
	return w.text()
}

// withoutPictures leaves out the pictures that a page has within itself, which
// are most of its bytes.
func withoutPictures(body []byte) io.Reader {
	mark := []byte(";base64,")
	var parts []io.Reader
	for {
		at := bytes.Index(body, mark)
		if at < 0 {
			return io.MultiReader(append(parts, bytes.NewReader(body))...)
		}
		at += len(mark)
		parts = append(parts, bytes.NewReader(body[:at]))
		body = body[at:]
		n := 0
		for n < len(body) && isBase64(body[n]) {
			n++
		}
		body = body[n:]
	}
}

func isBase64(b byte) bool {
	return b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '+' || b == '/' || b == '=' || b == '%'
}

var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']`)

// encodingOf returns how the characters of a page are written. What is valid
// UTF-8 is that, whatever it says: nothing else looks like it by chance.
func encodingOf(body []byte) encoding.Encoding {
	head := body[:min(len(body), 1024)]
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case utf8.Valid(body):
		return unicode.UTF8BOM
	}
	if m := xmlEncoding.FindSubmatch(head); m != nil {
		if e, _ := charset.Lookup(string(m[1])); e != nil {
			return e
		}
	}
	if e, _, certain := charset.DetermineEncoding(head, ""); certain {
		return e
	}
	return charmap.Windows1252
}

// web is a page of the web that becomes text.
type web struct {
	limits extract.Limits
	portal bool // it is a page of the regulator's site

	xml  bool      // all elements have their ends
	open []element // from the outermost to the innermost

	pages   []extract.Page
	page    strings.Builder
	size    int
	block   strings.Builder // of the paragraph, or row of a table, at hand
	space   bool            // before the next word
	row     bool            // the block is a row
	lastRow bool            // the last block was a row

	heading int // level of the heading at hand, 0 when there is none
	outline []extract.Heading
	cut     bool
}

// unseen are elements whose text nobody sees.
var unseen = map[string]bool{
	"script": true, "style": true, "head": true, "title": true, "noscript": true, "template": true, "svg": true, "math": true,
	"iframe": true, "object": true, "select": true, "textarea": true, "ix:header": true, "ix:hidden": true,
}

// blocks are elements that begin on a line of their own.
var blocks = map[string]bool{
	"p": true, "div": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "li": true, "ul": true, "ol": true,
	"dl": true, "dt": true, "dd": true, "table": true, "thead": true, "tbody": true, "tfoot": true, "caption": true, "section": true,
	"article": true, "header": true, "footer": true, "nav": true, "aside": true, "main": true, "figure": true, "figcaption": true,
	"blockquote": true, "pre": true, "form": true, "fieldset": true, "address": true, "hr": true, "br": true, "body": true, "html": true,
}

// void are elements without an end.
var void = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true, "link": true,
	"meta": true, "param": true, "source": true, "track": true, "wbr": true,
}

func (w *web) start(z *html.Tokenizer, closed bool) {
	raw, more := z.TagName()
	name := string(raw)
	w.imply(name)
	s := w.sight()
	s.gone = s.gone || unseen[name]
	style := ""
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "style":
			style = string(value)
		case "class":
			s.tiny = false // a stylesheet may give it other letters, as where 0 only takes the gaps away
		case "hidden":
			s.gone = true
		case "id", "name":
			w.portal = w.portal || name == "form" && string(value) == "aspnetForm" ||
				name == "input" && bytes.HasPrefix(value, []byte("__VIEWSTATE"))
		}
	}
	if style != "" {
		s = s.styled(style)
	}
	if !s.gone {
		w.begin(name)
	}
	switch {
	case void[name]:
	case !closed:
		w.push(name, s)
	case !s.gone:
		w.finish(name)
	}
}

// read takes a text between tags.
func (w *web) read(text []byte) {
	if !w.xml && w.inHead() && len(bytes.TrimSpace(text)) > 0 {
		w.pop("head") // which has no text of its own
	}
	if w.sight().seen() {
		w.write(text)
	}
}

// begin is the start of an element that takes its place on the page.
func (w *web) begin(name string) {
	switch {
	case name == "tr":
		w.flush()
		w.row = true
	case name == "td" || name == "th":
		if w.row && w.block.Len() > 0 {
			w.block.WriteString("  ")
			w.space = false
		}
	case blocks[name]:
		w.breakBlock()
	}
	if len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' {
		w.heading = int(name[1] - '0')
	}
}

func (w *web) end(name string) {
	if !w.pop(name).gone {
		w.finish(name)
	}
}

// finish is its end.
func (w *web) finish(name string) {
	switch {
	case name == "tr" || name == "table":
		w.flush()
		w.row = false
	case blocks[name]:
		w.breakBlock()
	}
}

// breakBlock ends a paragraph; within a row of a table it is a space.
func (w *web) breakBlock() {
	if w.row {
		w.space = true
		return
	}
	w.flush()
}

// write adds text to the block at hand, spaces in one.
func (w *web) write(text []byte) {
	for _, r := range string(text) {
		switch {
		case r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f' || r == '\u00a0' || r == '\u2007' || r == '\u202f':
			w.space = true
			continue
		case r == extract.SoftHyphen:
			continue
		}
		r, ok := extract.Letter(r)
		if !ok {
			continue
		}
		if w.space && w.block.Len() > mostBlock || w.block.Len() > longBlock {
			if w.flush(); w.full() {
				return
			}
		}
		if w.space && w.block.Len() > 0 && !strings.HasSuffix(w.block.String(), " ") {
			w.block.WriteByte(' ')
		}
		w.space = false
		w.block.WriteRune(r)
	}
}

const (
	pageLength = 3000  // characters, about
	mostBlock  = 3000  // bytes of a paragraph, after which it may end at any space
	longBlock  = 20000 // and within a word
)

// flush ends the block at hand. A page ends with it when it is long enough.
func (w *web) flush() {
	block := strings.TrimRight(extract.Normalize(w.block.String()), " ")
	heading := w.heading
	w.block.Reset()
	w.space, w.heading = false, 0
	if block == "" {
		if heading > 0 && !w.row {
			w.heading = heading // the element within it begins
		}
		return
	}
	if w.page.Len() > 0 {
		w.page.WriteByte('\n')
		if !w.row || !w.lastRow {
			w.page.WriteByte('\n')
		}
	}
	w.lastRow = w.row
	w.page.WriteString(block)
	w.size += len(block) + 2
	if heading > 0 && len(w.outline) < extract.MaxHeadings {
		w.outline = append(w.outline, extract.Heading{Title: extract.Title(block), Page: len(w.pages) + 1, Level: heading})
	}
	if w.page.Len() >= pageLength {
		w.turn()
	}
}

// turn ends the page at hand.
func (w *web) turn() {
	if w.page.Len() > 0 {
		w.pages = append(w.pages, extract.Page{Text: w.page.String(), Method: extract.ByText})
		w.page.Reset()
	}
}

// full reports whether no more text is taken.
func (w *web) full() bool {
	w.cut = w.size > w.limits.TextBytes-2*longBlock || len(w.pages) >= w.limits.Pages
	return w.cut
}

func (w *web) text() (*extract.Text, error) {
	if !w.cut {
		w.row = false
		w.flush()
		w.turn()
	}
	t := &extract.Text{Type: extract.HTML, Pages: w.pages, Outline: w.outline}
	if w.cut {
		t.Notes = []string{fmt.Sprintf("The text is cut off after %d pages of about %d characters.", len(w.pages), pageLength)}
	}
	if len(w.pages) == 0 {
		return nil, errNoText
	}
	return t, nil
}
