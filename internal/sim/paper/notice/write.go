package notice

import (
	"bytes"
	"fmt"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/paper/pdf"
)

// Positions on a page, in points.
const (
	left   = 40
	right  = pdf.PageWidth - left
	top    = pdf.PageHeight - 70
	bottom = 70
)

// Codes of the font for two characters that WinAnsiEncoding does not have.
const (
	codeFI   = 0x81
	codeTick = 0x8d
)

// regular and bold have the widths of all characters used.
var regular, bold = withForm(pdf.Helvetica), withForm(pdf.HelveticaBold)

func withForm(f *pdf.Font) *pdf.Font {
	with := *f
	with.Widths[codeFI] = 500
	with.Widths[codeTick] = 549
	return &with
}

// fontDict returns the dictionary of a font with the ligature and the tick.
func fontDict(f *pdf.Font) string {
	return "<< /Type /Font /Subtype /Type1 /BaseFont /" + f.Name + " /Encoding << /Type /Encoding " +
		fmt.Sprintf("/BaseEncoding /WinAnsiEncoding /Differences [ %d /fi %d /radical ] >> >>", codeFI, codeTick)
}

// encode returns text in the encoding of the fonts.
func encode(text string) []byte {
	out := make([]byte, 0, len(text))
	for _, c := range text {
		switch c {
		case 'ﬁ':
			out = append(out, codeFI)
		case '√':
			out = append(out, codeTick)
		default:
			out = append(out, pdf.Encode(string(c))...)
		}
	}
	return out
}

// sheet writes the pages of a notice.
type sheet struct {
	Style
	pages []*bytes.Buffer
	y     float64
}

// Write returns the file of a notice in a style.
func Write(n Notice, style Style) []byte {
	s := &sheet{Style: style}
	s.newPage()
	s.sections(n)
	s.grid(n.Trades)
	s.label("Otra información / Additional information")
	s.value(n.Other)
	return s.file(n)
}

func (s *sheet) newPage() {
	s.pages = append(s.pages, &bytes.Buffer{})
	s.y = top
}

// keep starts a page if there is less room than given, and reports whether it did.
func (s *sheet) keep(room float64) bool {
	if s.y-room >= bottom {
		return false
	}
	s.newPage()
	return true
}

// sections writes the sections above the grid.
func (s *sheet) sections(n Notice) {
	s.text(bold, 11, 15, "MODELO DE NOTIFICACIÓN Y PUBLICACIÓN DE LAS OPERACIONES DE LAS PERSONAS CON "+
		"RESPONSABILIDADES DE DIRECCIÓN Y DE LAS PERSONAS ESTRECHAMENTE VINCULADAS CON ELLAS")
	s.text(regular, 9, 13, "STANDARD FORM FOR NOTIFICATION AND PUBLIC DISCLOSURE OF TRANSACTIONS BY PERSONS "+
		"DISCHARGING MANAGERIAL RESPONSIBILITIES AND PERSONS CLOSELY ASSOCIATED WITH THEM")
	s.section("1  DATOS DE LA PERSONA / DETAILS OF THE PERSON")
	s.label("a) Nombre y apellidos - Razón social / Name")
	s.value(n.Person)
	s.section("2  MOTIVO DE LA NOTIFICACIÓN / REASON FOR THE NOTIFICATION")
	boxes := [2]string{"[ √ ]", "[ ]"}
	if n.Associated {
		boxes = [2]string{"[ ]", "[ √ ]"}
	}
	s.value(boxes[0] + " Persona con responsabilidad de dirección / Person discharging managerial responsibilities")
	s.value(boxes[1] + " Persona estrechamente vinculada / Person closely associated")
	s.label("a) Cargo - posición / Position - status")
	s.value(n.Role)
	s.label("b) Notiﬁcación inicial - Modiﬁcación / Initial notiﬁcation - Amendment")
	if n.Amendment == "" {
		s.value("Inicial")
	} else {
		s.value("Modiﬁcación")
		s.value(n.Amendment)
	}
	s.section("3  DATOS DEL EMISOR / DETAILS OF THE ISSUER")
	s.label("a) Identiﬁcación / Name")
	s.value(n.Issuer)
	s.label("b) LEI:")
	s.value(n.LEI)
	s.section("4  DATOS DE LA OPERACIÓN U OPERACIONES / DETAILS OF THE TRANSACTION(S)")
}

func (s *sheet) section(text string) {
	s.keep(60)
	s.y -= 8
	s.text(bold, 9.5, 16, text)
}

func (s *sheet) label(text string) {
	s.keep(30)
	s.text(bold, 8.5, 15, text)
}

func (s *sheet) value(text string) { s.text(regular, 9, 13, text) }

// text writes wrapped lines.
func (s *sheet) text(f *pdf.Font, size, lead float64, text string) {
	for _, line := range f.Wrap(encode(text), size, right-left, false) {
		s.keep(lead)
		s.y -= lead
		s.put(f, size, left, s.y, line)
	}
}

// put writes one line at a position of the last page.
func (s *sheet) put(f *pdf.Font, size, x, y float64, text []byte) {
	s.putOn(len(s.pages)-1, f, size, x, y, text)
}

func (s *sheet) putOn(page int, f *pdf.Font, size, x, y float64, text []byte) {
	if len(text) == 0 {
		return
	}
	name := "F1"
	if f == bold {
		name = "F2"
	}
	fmt.Fprintf(s.pages[page], "BT /%s %v Tf 1 0 0 1 %.2f %.2f Tm %s Tj ET\n", name, size, x, y,
		pdf.AppendLiteral(nil, text))
}

// file returns the file of the pages.
func (s *sheet) file(n Notice) []byte {
	f := &pdf.File{Compress: true}
	root, tree := f.Add(""), f.Add("") // set below: they refer to later objects
	info := f.Add("<< /Title " + pdf.TextString("Notificación "+n.Number+" (simulada)") +
		" /Producer (Mercado simulado) >>")
	fonts := fmt.Sprintf("<< /F1 %v /F2 %v >>", f.Add(fontDict(regular)), f.Add(fontDict(bold)))
	var kids []string
	for page, content := range s.pages {
		s.putOn(page, bold, 8, left, pdf.PageHeight-40, encode("DOCUMENTO SIMULADO · Número de registro: "+n.Number))
		number := encode(fmt.Sprintf("Página %d de %d", page+1, len(s.pages)))
		s.putOn(page, regular, 8, right-regular.Width(number, 8), 40, number)
		ref := f.Addf("<< /Type /Page /Parent %v /MediaBox [0 0 %d %d] /Resources << /Font %s >> /Contents %v >>",
			tree, pdf.PageWidth, pdf.PageHeight, fonts, f.Next(1))
		f.AddStream("", content.Bytes())
		kids = append(kids, ref.String())
	}
	f.Set(tree, fmt.Sprintf("<< /Type /Pages /Kids [ %s ] /Count %d >>", strings.Join(kids, " "), len(kids)))
	f.Set(root, fmt.Sprintf("<< /Type /Catalog /Pages %v /Lang (es-ES) >>", tree))
	return f.Bytes(fmt.Sprintf("/Root %v /Info %v", root, info))
}

// dayText returns a day as DD/MM/YYYY.
func dayText(d disclosure.Day) string { return d.Start().Format("02/01/2006") }
