package simserver

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strconv"
	"strings"
)

// A4, in points.
const (
	paperWidth, paperHeight = 595, 842
	margin                  = 64
	lineWidth               = paperWidth - 2*margin
	lowest                  = 84 // where the text of a page ends
)

// pdf lays text out on pages, in Helvetica.
type pdf struct {
	head, foot string
	pages      []*bytes.Buffer
	y          float64
}

func (p *pdf) turn() {
	p.pages = append(p.pages, &bytes.Buffer{})
	p.y = paperHeight - 110
}

// at writes one line at a place; font is F1 or F2, the bold one.
func (p *pdf) at(page int, font string, size, x, y float64, text string) {
	fmt.Fprintf(p.pages[page], "BT /%s %g Tf 1 0 0 1 %.2f %.2f Tm (%s) Tj ET\n", font, size, x, y, literal(text))
}

// line writes a line below the last, on the next page when there is no room.
func (p *pdf) line(font string, size, x, lead float64, text string) {
	if len(p.pages) == 0 || p.y-lead < lowest {
		p.turn()
	}
	p.y -= lead
	p.at(len(p.pages)-1, font, size, x, p.y, text)
}

func (p *pdf) heading(text string) {
	if len(p.pages) > 0 && p.y-60 < lowest {
		p.turn() // no heading stands alone at the foot of a page
	}
	for n, l := range wrap(text, 13, lineWidth) {
		p.line("F2", 13, margin, []float64{28, 17}[min(n, 1)], l)
	}
}

func (p *pdf) paragraph(text string) {
	for n, l := range wrap(text, 10.5, lineWidth) {
		p.line("F1", 10.5, margin, []float64{22, 14.5}[min(n, 1)], l)
	}
}

// table writes rows of three cells; the last two stand to the right.
func (p *pdf) table(rows [][3]string) {
	for n, row := range rows {
		font := "F1"
		if n == 0 {
			font = "F2"
		}
		p.line(font, 9.5, margin, []float64{26, 16}[min(n, 1)], row[0])
		page := len(p.pages) - 1
		for k, right := range []float64{0, 400, paperWidth - margin} {
			if k > 0 {
				p.at(page, font, 9.5, right-width(row[k], 9.5), p.y, row[k])
			}
		}
		fmt.Fprintf(p.pages[page], "0.5 w %d %.2f m %d %.2f l S\n", margin, p.y-4, paperWidth-margin, p.y-4)
	}
}

// bytes returns the finished file. Pages are compressed or not, as they are in
// the wild.
func (p *pdf) bytes(title string, packed bool) []byte {
	for n := range p.pages {
		p.at(n, "F2", 8.5, margin, paperHeight-50, clip(p.head, 8.5))
		p.at(n, "F1", 8, margin, 50, p.foot)
		number := "Página " + strconv.Itoa(n+1) + " de " + strconv.Itoa(len(p.pages))
		p.at(n, "F1", 8, paperWidth-margin-width(number, 8), 50, number)
	}
	var out bytes.Buffer
	var offsets []int
	object := func(body string) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
	}
	out.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	var kids strings.Builder
	for n := range p.pages {
		fmt.Fprintf(&kids, "%d 0 R ", 6+2*n)
	}
	object("<< /Type /Catalog /Pages 2 0 R /Lang (es-ES) >>")
	object(fmt.Sprintf("<< /Type /Pages /Kids [ %s] /Count %d >>", kids.String(), len(p.pages)))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>")
	object(fmt.Sprintf("<< /Title (%s) /Producer (Mercado simulado) >>", literal(title)))
	for n, content := range p.pages {
		object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> /Contents %d 0 R >>",
			paperWidth, paperHeight, 7+2*n))
		object(stream(content.Bytes(), packed))
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return out.Bytes()
}

func stream(content []byte, packed bool) string {
	filter := ""
	if packed {
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		_, _ = w.Write(content) // a buffer takes everything
		_ = w.Close()
		content, filter = z.Bytes(), " /Filter /FlateDecode"
	}
	return fmt.Sprintf("<< /Length %d%s >>\nstream\n%s\nendstream", len(content), filter, content)
}

// literal writes text as a string of the file, in the font's encoding.
func literal(text string) string {
	var b strings.Builder
	for _, c := range text {
		x := ansi(c)
		if x == '(' || x == ')' || x == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(x)
	}
	return b.String()
}

// ansi returns a character's place in WinAnsiEncoding.
func ansi(c rune) byte {
	switch {
	case c < 0x80 && c >= ' ', c >= 0xa0 && c <= 0xff:
		return byte(c)
	}
	if n := strings.IndexRune("€–—“”‘’•…", c); n >= 0 {
		return []byte{0x80, 0x96, 0x97, 0x93, 0x94, 0x91, 0x92, 0x95, 0x85}[len([]rune("€–—“”‘’•…"[:n]))]
	}
	return '?'
}

// widths of Helvetica from the space to the tilde, in thousandths.
var widths = [...]int{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// width is how long a text is; what is not ASCII counts as a usual letter.
func width(text string, size float64) float64 {
	sum := 0
	for _, c := range text {
		switch {
		case c >= ' ' && c <= '~':
			sum += widths[c-' ']
		case c >= 'À' && c <= 'Þ':
			sum += 722
		default:
			sum += 556
		}
	}
	return float64(sum) * size / 1000
}

// wrap breaks a text into lines. A word that is longer than a line is broken.
func wrap(text string, size, most float64) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		for width(word, size) > most {
			cut := clipTo(word, size, most)
			lines, line, word = append(lines, strings.TrimSpace(line+" "+cut)), "", word[len(cut):]
		}
		if line != "" && width(line+" "+word, size) > most {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

func clipTo(text string, size, most float64) string {
	for n := range text {
		if n > 0 && width(text[:n], size) > most*0.95 {
			return text[:n]
		}
	}
	return text
}

func clip(text string, size float64) string { return clipTo(text, size, lineWidth) }
