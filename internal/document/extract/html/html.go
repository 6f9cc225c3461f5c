// Package html reads the text of HTML and XHTML documents, such as annual reports
// in the ESEF format with their inline XBRL.
//
// It uses a tokenizer and builds no tree, because annual reports have tens of
// megabytes. Text that a browser would not show is left out (visibility.go).
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

var errNoText = &extract.Unreadable{Reason: "it does not have text"}

// Read returns the text of an HTML or XHTML document.
func Read(body []byte, l extract.Limits) (*extract.Text, error) {
	z := html.NewTokenizer(encodingOf(body).NewDecoder().Reader(withoutImages(body)))
	maxToken := max(1<<20, 2*l.TextBytes) // of a tag, or the text between two; scripts have megabytes
	z.SetMaxBuf(maxToken)
	z.AllowCDATA(true)
	w := page{limits: l, xml: bytes.HasPrefix(bytes.TrimLeft(body, "\xef\xbb\xbf \t\r\n"), []byte("<?xml"))}
	for !w.full() {
		switch z.Next() {
		case html.ErrorToken:
			if errors.Is(z.Err(), html.ErrBufferExceeded) {
				return nil, &extract.Unreadable{Reason: fmt.Sprintf("it has a tag, or a text without tags, of "+
					"more than %d MB", maxToken>>20)}
			}
			return w.result() // the end: decoding replaces invalid bytes and does not fail
		case html.StartTagToken:
			w.start(z, false)
		case html.SelfClosingTagToken:
			w.start(z, true)
			z.NextIsNotRawText() // XHTML allows <script/> and <title/>
		case html.EndTagToken:
			name, _ := z.TagName()
			w.end(string(name))
		case html.TextToken:
			w.text(z.Text())
		}
		if w.portal {
			return nil, extract.ErrSitePage
		}
	}
	return w.result()
}

// withoutImages removes embedded images, which are most of the bytes of a page.
func withoutImages(body []byte) io.Reader {
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
	return b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '+' || b == '/' ||
		b == '=' || b == '%'
}

var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']`)

// encodingOf returns the character encoding of a page. Valid UTF-8 is UTF-8
// whatever the page declares: text in other encodings is rarely valid UTF-8.
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

// page collects the text of a web page.
type page struct {
	limits extract.Limits
	portal bool // it is a page of the regulator's site, not a document

	xml  bool      // every element has an end tag
	open []element // from the outermost to the innermost

	pages   []extract.Page
	current strings.Builder
	size    int
	block   strings.Builder // the current paragraph or row of a table
	space   bool            // to be written before the next word
	row     bool            // the block is a row
	lastRow bool            // the last block was a row

	heading int // level of the current heading, or 0
	outline []extract.Heading
	cut     bool
}

// set returns the set of some words.
func set(words string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}

var (
	// unseen are the elements whose text is not shown.
	unseen = set("script style head title noscript template svg math iframe object select textarea ix:header ix:hidden")
	// blocks are the elements that begin on a new line.
	blocks = set(`p div h1 h2 h3 h4 h5 h6 li ul ol dl dt dd table thead tbody tfoot caption section article header footer nav
		aside main figure figcaption blockquote pre form fieldset address hr br body html`)
	// void are the elements without an end tag.
	void = set("area base br col embed hr img input link meta param source track wbr")
)

func (w *page) start(z *html.Tokenizer, closed bool) {
	raw, more := z.TagName()
	name := string(raw)
	w.imply(name)
	v := w.visibility()
	v.none = v.none || unseen[name]
	style := ""
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "style":
			style = string(value)
		case "class":
			v.zeroSize = false // a stylesheet may set another size; size 0 on the parent often only removes gaps
		case "hidden":
			v.none = true
		case "id", "name":
			w.portal = w.portal || name == "form" && string(value) == "aspnetForm" ||
				name == "input" && bytes.HasPrefix(value, []byte("__VIEWSTATE"))
		}
	}
	if style != "" {
		v = v.styled(style)
	}
	if !v.none {
		w.begin(name)
	}
	switch {
	case void[name]:
	case !closed:
		w.push(name, v)
	case !v.none:
		w.finish(name)
	}
}

// text adds the text between two tags.
func (w *page) text(text []byte) {
	if !w.xml && w.inHead() && len(bytes.TrimSpace(text)) > 0 {
		w.pop("head") // text ends the head
	}
	if w.visibility().visible() {
		w.write(text)
	}
}

// begin handles the start of a visible element.
func (w *page) begin(name string) {
	switch {
	case name == "tr":
		w.flush()
		w.row = true
	case name == "td" || name == "th":
		if w.row && w.block.Len() > 0 {
			w.block.WriteByte('\t')
			w.space = false
		}
	case blocks[name]:
		w.breakBlock()
	}
	if len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' {
		w.heading = int(name[1] - '0')
	}
}

func (w *page) end(name string) {
	if !w.pop(name).none {
		w.finish(name)
	}
}

// finish handles the end of a visible element.
func (w *page) finish(name string) {
	switch {
	case name == "tr" || name == "table":
		w.flush()
		w.row = false
	case blocks[name]:
		w.breakBlock()
	}
}

// breakBlock ends a paragraph. Within a row of a table it adds a space.
func (w *page) breakBlock() {
	if w.row {
		w.space = true
		return
	}
	w.flush()
}

// spaces are the white space of HTML and the spaces that do not break a line.
const spaces = " \n\t\r\f\u00a0\u2007\u202f"

// write adds text to the current block. Runs of spaces become one.
func (w *page) write(text []byte) {
	for _, r := range string(text) {
		switch {
		case strings.ContainsRune(spaces, r):
			w.space = true
			continue
		case r == extract.SoftHyphen:
			continue
		}
		r, ok := extract.Letter(r)
		if !ok {
			continue
		}
		if w.space && w.block.Len() > softBlock || w.block.Len() > maxBlock {
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
	pageLength = 3000  // bytes after which a page ends with its block
	softBlock  = 3000  // bytes after which a block ends at the next space
	maxBlock   = 20000 // bytes after which a block ends within a word
)

// flush ends the current block, and the page if it is long enough.
func (w *page) flush() {
	block := strings.TrimRight(extract.Normalize(w.block.String()), " ")
	heading := w.heading
	w.block.Reset()
	w.space, w.heading = false, 0
	if block == "" {
		if heading > 0 && !w.row {
			w.heading = heading // an element within the heading begins
		}
		return
	}
	if w.current.Len() > 0 {
		w.current.WriteByte('\n')
		if !w.row || !w.lastRow {
			w.current.WriteByte('\n')
		}
	}
	w.lastRow = w.row
	w.current.WriteString(block)
	w.size += len(block) + 2
	if heading > 0 && len(w.outline) < extract.MaxHeadings {
		w.outline = append(w.outline, extract.Heading{
			Title: extract.Title(block),
			Page:  len(w.pages) + 1,
			Level: heading,
		})
	}
	if w.current.Len() >= pageLength {
		w.endPage()
	}
}

// endPage ends the current page.
func (w *page) endPage() {
	if w.current.Len() > 0 {
		w.pages = append(w.pages, extract.Page{Text: w.current.String(), Method: extract.ByText})
		w.current.Reset()
	}
}

// full reports whether a limit is reached.
func (w *page) full() bool {
	w.cut = w.size > w.limits.TextBytes-2*maxBlock || len(w.pages) >= w.limits.Pages
	return w.cut
}

func (w *page) result() (*extract.Text, error) {
	if !w.cut {
		w.row = false
		w.flush()
		w.endPage()
	}
	t := &extract.Text{Type: extract.HTML, Pages: w.pages, Outline: w.outline}
	if w.cut {
		t.Notes = []string{fmt.Sprintf("The text is cut off after %d pages of about %d characters.",
			len(w.pages), pageLength)}
	}
	if len(w.pages) == 0 {
		return nil, errNoText
	}
	return t, nil
}
