package extracttest

import (
	"bytes"
	"crypto/md5"
	"crypto/rc4"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The page: A4, in points, with text in a letter of fixed width.
const (
	PageWidth, PageHeight = 595.0, 842.0
	Margin                = 70.0
	Size                  = 10.0 // of the text
	letterWidth           = 0.6  // of Courier, in sizes
	lineHeight            = 1.2
)

// Line is a line of text on a page, from its left end, y growing upwards.
type Line struct {
	X, Y, Size float64
	Text       string
}

// PDF is a file with a page for each list of lines.
func PDF(pages ...[]Line) []byte {
	var contents []string
	for _, lines := range pages {
		contents = append(contents, draw(lines))
	}
	return fromContents(contents, "")
}

// Paragraphs is a file with a page for each list of paragraphs, broken into
// lines.
func Paragraphs(pages ...[]string) []byte {
	var all [][]Line
	for _, p := range pages {
		all = append(all, Column(Margin, PageWidth-2*Margin, PageHeight-Margin, p...))
	}
	return PDF(all...)
}

// Column breaks paragraphs into lines, a blank line between.
func Column(x, width, y float64, paragraphs ...string) []Line {
	var lines []Line
	for _, p := range paragraphs {
		for _, text := range wrapped(p, int(width/(letterWidth*Size))) {
			lines = append(lines, Line{X: x, Y: y, Size: Size, Text: text})
			y -= lineHeight * Size
		}
		y -= lineHeight * Size
	}
	return lines
}

func wrapped(text string, most int) []string {
	var lines []string
	at := ""
	for _, w := range strings.Fields(text) {
		if at != "" && utf8.RuneCountInString(at)+1+utf8.RuneCountInString(w) > most {
			lines = append(lines, at)
			at = ""
		}
		if at != "" {
			at += " "
		}
		at += w
	}
	return append(lines, at)
}

// Across orders lines as a printer would that goes over the page once, from the
// top, whatever the columns.
func Across(columns ...[]Line) []Line {
	var lines []Line
	for n := 0; ; n++ {
		more := false
		for _, c := range columns {
			if n < len(c) {
				lines = append(lines, c[n])
				more = true
			}
		}
		if !more {
			return lines
		}
	}
}

// Table sets rows of cells at the given places.
func Table(y float64, xs []float64, rows [][]string) []Line {
	var lines []Line
	for _, row := range rows {
		for i, cell := range row {
			lines = append(lines, Line{X: xs[i], Y: y, Size: Size, Text: cell})
		}
		y -= 1.5 * Size
	}
	return lines
}

// draw is the content of a page with lines of text.
func draw(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "BT /F1 %g Tf 1 0 0 1 %g %g Tm %s Tj ET\n", l.Size, l.X, l.Y, literal(l.Text))
	}
	return b.String()
}

const courier = "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>"

// fromContents is a file of pages with the given contents, and further entries
// of its catalogue.
func fromContents(contents []string, catalogue string) []byte {
	w := &writer{}
	return w.finish(w.book(contents, courier, catalogue))
}

// book writes pages, the font F1, and the catalogue, to which it refers.
func (w *writer) book(contents []string, font, catalogue string) string {
	f := w.add("%s", font)
	var pages []string
	parent := w.next(2 * len(contents))
	for _, c := range contents {
		stream := w.stream("/Filter /FlateDecode", string(deflate([]byte(c))))
		pages = append(pages, w.add("<< /Type /Page /Parent %s /MediaBox [0 0 %g %g] /Contents %s /Resources << /Font << /F1 %s >> >> >>",
			parent, PageWidth, PageHeight, stream, f))
	}
	w.add("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(pages, " "), len(pages))
	return w.add("<< /Type /Catalog /Pages %s %s >>", parent, catalogue)
}

// Turned is a file with a page in landscape as most make it: all is drawn
// upwards, and the page is turned to be read.
func Turned(lines []Line) []byte {
	upright := fromContents([]string{"q 0 1 -1 0 595 0 cm " + draw(lines) + " Q"}, "")
	return bytes.Replace(upright, []byte("/Type /Page "), []byte("/Type /Page /Rotate 90 "), 1)
}

// Bookmark is a line of a file's table of contents.
type Bookmark struct {
	Title string
	Page  int // from 1
}

// Bookmarked is a file with a table of contents.
func Bookmarked(marks []Bookmark, pages ...[]Line) []byte {
	var contents []string
	for _, lines := range pages {
		contents = append(contents, draw(lines))
	}
	w := &writer{}
	// The font is object 1, page n object 2n+1, the catalogue the second after.
	outlines := 2*len(pages) + 4
	root := w.book(contents, courier, fmt.Sprintf("/Outlines %d 0 R", outlines))
	w.add("<< /Type /Outlines /First %d 0 R /Last %d 0 R /Count %d >>", outlines+1, outlines+len(marks), len(marks))
	for i, m := range marks {
		next := ""
		if i+1 < len(marks) {
			next = fmt.Sprintf("/Next %d 0 R", outlines+2+i)
		}
		w.add("<< /Title %s /Parent %d 0 R /Dest [%d 0 R /Fit] %s >>", utf16Literal(m.Title), outlines, 2*m.Page+1, next)
	}
	return w.finish(root)
}

// utf16Literal is a text as a string in UTF-16, as titles are.
func utf16Literal(text string) string {
	var b strings.Builder
	b.WriteString("<FEFF")
	for _, r := range text {
		fmt.Fprintf(&b, "%04X", r)
	}
	return b.String() + ">"
}

// Unicode is a file whose font has numbers for glyphs, as those of Word have,
// with a map to what they mean. Glyph n means the nth text; the page shows them
// all in a row.
func Unicode(meanings ...string) []byte {
	var codes, lines strings.Builder
	for i, m := range meanings {
		fmt.Fprintf(&codes, "%04X", i+1)
		fmt.Fprintf(&lines, "<%04X> %s\n", i+1, strings.Replace(utf16Literal(m), "FEFF", "", 1))
	}
	w := &writer{}
	toUnicode := w.stream("", fmt.Sprintf(`/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /X def /CMapType 2 def 1 begincodespacerange <0000> <FFFF> endcodespacerange
%d beginbfchar
%sendbfchar
endcmap CMapName currentdict /CMap defineresource pop end end`, len(meanings), &lines))
	descriptor := w.add("<< /Type /FontDescriptor /FontName /Odd /Flags 4 /FontBBox [0 -200 1000 800] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>")
	cid := w.add("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Odd /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor %s /DW 600 >>", descriptor)
	font := fmt.Sprintf("<< /Type /Font /Subtype /Type0 /BaseFont /Odd /Encoding /Identity-H /DescendantFonts [%s] /ToUnicode %s >>", cid, toUnicode)
	content := fmt.Sprintf("BT /F1 10 Tf 1 0 0 1 70 700 Tm <%s> Tj ET", &codes)
	return w.finish(w.book([]string{content}, font, ""))
}

// Picture is a file whose page is a picture in grey and no text.
func Picture(width, height int, grey []byte) []byte {
	return pictureOn(PageWidth, PageHeight, width, height, grey)
}

// GiantPage is a picture on a page of kilometres.
func GiantPage() []byte {
	return pictureOn(14_000_000, 14_000_000, 2, 2, []byte{0, 255, 255, 0})
}

func pictureOn(pageWidth, pageHeight float64, width, height int, grey []byte) []byte {
	w := &writer{}
	picture := w.stream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode", width, height), string(deflate(grey)))
	content := w.stream("", fmt.Sprintf("q %g 0 0 %g 0 0 cm /P Do Q", pageWidth, pageHeight))
	w.add("<< /Type /Page /Parent %s /MediaBox [0 0 %g %g] /Contents %s /Resources << /XObject << /P %s >> >> >>", w.next(1), pageWidth, pageHeight, content, picture)
	pages := w.add("<< /Type /Pages /Kids [%s] /Count 1 >>", w.last())
	return w.finish(w.add("<< /Type /Catalog /Pages %s >>", pages))
}

var padding = []byte("\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A")

// Encrypted is a file that opens with a password, which may be empty. The cipher
// is the oldest that there is.
func Encrypted(password string, lines ...Line) []byte {
	const id, permissions = "0123456789abcdef", 0xfffffffc
	padded := append([]byte(password), padding...)[:32]
	owner := rc4of(firstFive(padded), padded)
	hash := append(append([]byte{}, padded...), owner...)
	hash = binary.LittleEndian.AppendUint32(hash, permissions)
	key := firstFive(append(hash, id...))
	w := &writer{encrypt: func(number int, stream []byte) []byte {
		k := md5.Sum(append(append([]byte{}, key...), byte(number), byte(number>>8), byte(number>>16), 0, 0))
		return rc4of(k[:10], stream)
	}}
	w.trailer = fmt.Sprintf("/ID [<%x> <%x>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <%x> /U <%x> /P %d >>",
		id, id, owner, rc4of(key, padding), int32(-4))
	return w.finish(w.book([]string{draw(lines)}, courier, ""))
}

func firstFive(data []byte) []byte {
	sum := md5.Sum(data)
	return sum[:5]
}

func rc4of(key, data []byte) []byte {
	c, err := rc4.NewCipher(key)
	if err != nil {
		panic(err)
	}
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return out
}
