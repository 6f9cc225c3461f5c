// Package extracttest makes documents for tests: PDF files of many producers'
// habits, web pages, packages, and malicious files.
package extracttest

import (
	"crypto/md5"
	"crypto/rc4"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"pregon/internal/sim/paper/pdf"
)

// Measures of a page, in points. Its text is in Courier.
const (
	PageWidth, PageHeight = pdf.PageWidth, pdf.PageHeight
	Margin                = 70.0
	Size                  = 10.0 // of the font
	letterWidth           = 0.6  // of Courier, in font sizes
	lineHeight            = 1.2
)

// Line is a line of text on a page, from its left end, y growing upwards.
type Line struct {
	X, Y, Size float64
	Text       string
}

// PDF returns a file with a page for each list of lines.
func PDF(pages ...[]Line) []byte {
	return fromContents(contentsOf(pages), "")
}

// Paragraphs returns a file with a page for each list of paragraphs, which it
// breaks into lines.
func Paragraphs(pages ...[]string) []byte {
	var all [][]Line
	for _, p := range pages {
		all = append(all, Column(Margin, PageWidth-2*Margin, PageHeight-Margin, p...))
	}
	return PDF(all...)
}

// Column breaks paragraphs into lines, with a blank line between paragraphs.
func Column(x, width, y float64, paragraphs ...string) []Line {
	var lines []Line
	for _, p := range paragraphs {
		for _, text := range wrapped(p, int(width/(letterWidth*Size))) {
			lines = append(lines, Line{
				X:    x,
				Y:    y,
				Size: Size,
				Text: text,
			})
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

// Across returns the lines of columns in the order of a printer that writes the
// page once from top to bottom.
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

// Table returns the lines of rows of cells at the given positions.
func Table(y float64, xs []float64, rows [][]string) []Line {
	var lines []Line
	for _, row := range rows {
		for i, cell := range row {
			lines = append(lines, Line{
				X:    xs[i],
				Y:    y,
				Size: Size,
				Text: cell,
			})
		}
		y -= 1.5 * Size
	}
	return lines
}

// content returns the content stream of a page.
func content(lines []Line) []byte {
	var b []byte
	for _, l := range lines {
		b = fmt.Appendf(b, "BT /F1 %g Tf 1 0 0 1 %g %g Tm ", l.Size, l.X, l.Y)
		b = append(pdf.AppendLiteral(b, pdf.Encode(l.Text)), " Tj ET\n"...)
	}
	return b
}

func contentsOf(pages [][]Line) (contents [][]byte) {
	for _, lines := range pages {
		contents = append(contents, content(lines))
	}
	return contents
}

// fromContents returns a file of pages with the given contents. catalogue has
// further entries of its catalogue.
func fromContents(contents [][]byte, catalogue string) []byte {
	f := &pdf.File{}
	root, _ := addPages(f, contents, pdf.Courier.Dict(), catalogue)
	return finish(f, root)
}

func finish(f *pdf.File, root pdf.Ref) []byte { return f.Bytes("/Root " + root.String()) }

// addPages adds the font F1, pages and the catalogue.
func addPages(f *pdf.File, contents [][]byte, font, catalogue string) (root pdf.Ref, pages []pdf.Ref) {
	f.Compress = true
	fontRef := f.Add(font)
	tree := f.Next(2 * len(contents))
	kids := ""
	for _, c := range contents {
		page := f.Addf("<< /Type /Page /Parent %v /MediaBox [0 0 %d %d] /Contents %v /Resources << /Font << "+
			"/F1 %v >> >> >>",
			tree, PageWidth, PageHeight, f.Next(1), fontRef)
		f.AddStream("", c)
		pages, kids = append(pages, page), kids+page.String()+" "
	}
	f.Addf("<< /Type /Pages /Kids [%s] /Count %d >>", kids, len(pages))
	return f.Addf("<< /Type /Catalog /Pages %v %s >>", tree, catalogue), pages
}

// onePage returns a file with one page of the given content and resources.
func onePage(f *pdf.File, content pdf.Ref, resources string) []byte {
	return onePageOf(f, PageWidth, PageHeight, content, resources)
}

func onePageOf(f *pdf.File, width, height float64, content pdf.Ref, resources string) []byte {
	page := f.Addf("<< /Type /Page /Parent %v /MediaBox [0 0 %g %g] /Contents %v /Resources << %s >> >>",
		f.Next(1), width, height, content, resources)
	tree := f.Addf("<< /Type /Pages /Kids [%v] /Count 1 >>", page)
	return finish(f, f.Addf("<< /Type /Catalog /Pages %v >>", tree))
}

// Rotated returns a file with a landscape page as most programs write it: the text
// runs upwards, and the page is rotated for reading.
func Rotated(lines []Line) []byte {
	f := &pdf.File{}
	drawn := fmt.Appendf([]byte("q 0 1 -1 0 595 0 cm "), "%s Q", content(lines))
	root, pages := addPages(f, [][]byte{drawn}, pdf.Courier.Dict(), "")
	f.Set(pages[0], strings.Replace(f.Value(pages[0]), "/Type /Page ", "/Type /Page /Rotate 90 ", 1))
	return finish(f, root)
}

// Bookmark is a line of the outline of a file.
type Bookmark struct {
	Title string
	Page  int // from 1
}

// Bookmarked returns a file with an outline.
func Bookmarked(marks []Bookmark, pages ...[]Line) []byte {
	f := &pdf.File{}
	root, refs := addPages(f, contentsOf(pages), pdf.Courier.Dict(), "")
	var outline []pdf.Bookmark
	for _, m := range marks {
		outline = append(outline, pdf.Bookmark{Title: m.Title, Page: refs[m.Page-1], Level: 1})
	}
	addOutline(f, root, outline)
	return finish(f, root)
}

// addOutline adds an outline and its entry in the catalogue.
func addOutline(f *pdf.File, root pdf.Ref, marks []pdf.Bookmark) pdf.Ref {
	outline := f.AddOutline(marks)
	f.Set(root, strings.Replace(f.Value(root), " >>", " /Outlines "+outline.String()+" >>", 1))
	return outline
}

// Unicode returns a file whose font numbers its glyphs, as the fonts of Word do,
// with a map to the text that they mean. Glyph n means the nth text. The page
// shows all of them in a row.
func Unicode(meanings ...string) []byte {
	var codes, lines strings.Builder
	for i, m := range meanings {
		fmt.Fprintf(&codes, "%04X", i+1)
		fmt.Fprintf(&lines, "<%04X> <%s>\n", i+1, pdf.Hex(m))
	}
	f := &pdf.File{}
	toUnicode := f.AddStream("", fmt.Appendf(nil, `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /X def /CMapType 2 def 1 begincodespacerange <0000> <FFFF> endcodespacerange
%d beginbfchar
%sendbfchar
endcmap CMapName currentdict /CMap defineresource pop end end`, len(meanings), &lines))
	return oddFont(f, fmt.Sprintf("/Encoding /Identity-H /ToUnicode %v", toUnicode), codes.String())
}

// Codes returns a file whose font has codes of four bytes without a map to text,
// which are all on its page in a row. PDFium takes such a code for a code point.
func Codes(codes ...uint32) []byte {
	f := &pdf.File{}
	cmap := f.AddStream("/Type /CMap /CMapName /X", []byte(`begincmap /CMapName /X def /CMapType 1 def
2 begincodespacerange <00000000> <00FFFFFF> <01000000> <FFFFFFFF> endcodespacerange
1 begincidrange <00000000> <FFFFFFFF> 1 endcidrange endcmap`))
	var row strings.Builder
	for _, c := range codes {
		fmt.Fprintf(&row, "%08X", c)
	}
	return oddFont(f, fmt.Sprintf("/Encoding %v", cmap), row.String())
}

// oddFont returns a file whose font is not embedded, with a row of its codes.
func oddFont(f *pdf.File, entries, codes string) []byte {
	descriptor := f.Add("<< /Type /FontDescriptor /FontName /Odd /Flags 4 /FontBBox [0 -200 1000 800] /ItalicAngle 0 " +
		"/Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>")
	cid := f.Addf("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Odd "+
		"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor %v /DW 600 >>", descriptor)
	font := fmt.Sprintf("<< /Type /Font /Subtype /Type0 /BaseFont /Odd /DescendantFonts [%v] %s >>", cid, entries)
	root, _ := addPages(f, [][]byte{fmt.Appendf(nil, "BT /F1 10 Tf 1 0 0 1 70 700 Tm <%s> Tj ET", codes)}, font, "")
	return finish(f, root)
}

// Picture returns a file whose page is a grey image without text.
func Picture(width, height int, grey []byte) []byte {
	return pictureOn(PageWidth, PageHeight, width, height, grey)
}

// GiantPage returns an image on a page of kilometres.
func GiantPage() []byte {
	return pictureOn(14_000_000, 14_000_000, 2, 2, []byte{0, 255, 255, 0})
}

func pictureOn(pageWidth, pageHeight float64, width, height int, grey []byte) []byte {
	f := &pdf.File{Compress: true}
	picture := f.AddStream(imageDict(width, height), grey)
	content := f.AddStream("", fmt.Appendf(nil, "q %g 0 0 %g 0 0 cm /P Do Q", pageWidth, pageHeight))
	return onePageOf(f, pageWidth, pageHeight, content, "/XObject << /P "+picture.String()+" >>")
}

func imageDict(width, height int) string {
	return fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8", width, height)
}

var padding = []byte("\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A")

// Encrypted returns a file that opens with a password, which may be empty. It uses
// the oldest cipher of PDF.
func Encrypted(password string, lines ...Line) []byte {
	const id, permissions = "0123456789abcdef", 0xfffffffc
	padded := append([]byte(password), padding...)[:32]
	owner := encrypt(firstFive(padded), padded)
	hash := append(append([]byte{}, padded...), owner...)
	hash = binary.LittleEndian.AppendUint32(hash, permissions)
	key := firstFive(append(hash, id...))
	f := &pdf.File{Encrypt: func(number int, stream []byte) []byte {
		k := md5.Sum(append(append([]byte{}, key...), byte(number), byte(number>>8), byte(number>>16), 0, 0))
		return encrypt(k[:10], stream)
	}}
	root, _ := addPages(f, [][]byte{content(lines)}, pdf.Courier.Dict(), "")
	return f.Bytes(fmt.Sprintf("/Root %v /ID [<%x> <%x>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <%x> /U "+
		"<%x> /P %d >>",
		root, id, id, owner, encrypt(key, padding), int32(-4)))
}

func firstFive(data []byte) []byte {
	sum := md5.Sum(data)
	return sum[:5]
}

// encrypt applies RC4.
func encrypt(key, data []byte) []byte {
	c, err := rc4.NewCipher(key)
	if err != nil {
		panic(err)
	}
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return out
}
