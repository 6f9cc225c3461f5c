package pdf

import (
	"strings"
	"testing"
)

// glyphsAt returns the letters of a text in a font of 10 points, each 5 wide. A
// space is only a gap.
func glyphsAt(x, y float64, text string) (list []glyph) {
	for _, r := range text {
		if r != ' ' {
			list = append(list, glyph{r: r, x0: x, x1: x + 5, y: y, em: 10})
		}
		x += 5
	}
	return list
}

// textOf returns the lines that glyphs form.
func textOf(list []glyph) string {
	var lines []string
	for _, l := range lay(join(list, 0).words) {
		lines = append(lines, l.text)
	}
	return strings.Join(lines, "\n")
}

func concat(parts ...[]glyph) (list []glyph) {
	for _, p := range parts {
		list = append(list, p...)
	}
	return list
}

// ligature returns letters that share the box of one glyph.
func ligature(x float64, letters string) (list []glyph) {
	for _, r := range letters {
		list = append(list, glyph{r: r, x0: x, x1: x + 9, em: 10})
	}
	return list
}

func TestGlyphs(t *testing.T) {
	small := func(x, y float64, text string) []glyph {
		list := glyphsAt(x, y, text)
		for i := range list {
			list[i].em = 6
		}
		return list
	}
	doubled := func(text string, dx float64) (list []glyph) {
		for _, g := range glyphsAt(0, 0, text) {
			again := g
			again.x0, again.x1, again.y = g.x0+dx, g.x1+dx, g.y-dx
			list = append(list, g, again)
		}
		return list
	}
	for _, test := range []struct {
		name string
		list []glyph
		want string
	}{
		{"a gap without a space", glyphsAt(0, 0, "de la"), "de la"},
		{"a narrow gap", concat(glyphsAt(0, 0, "si"), glyphsAt(12, 0, "no")), "si no"},
		{"spaced letters", []glyph{
			{r: 'a', x0: 0, x1: 5, em: 10},
			{r: 'b', x0: 6.4, x1: 11.4, em: 10},
			{r: 'c', x0: 13.3, x1: 18.3, em: 10},
			{r: 'd', x0: 24.7, x1: 29.7, em: 10},
		}, "abc d"},
		{"a ligature of three letters", concat(glyphsAt(0, 0, "o"), ligature(5, "ffi"), glyphsAt(14, 0, "cial")), "official"},
		{"ligatures without a map", concat(
			glyphsAt(0, 0, "de"), ligature(10, "\x1c"), glyphsAt(19, 0, "ne"), glyphsAt(35, 0, "e\x1eciency"),
		), "define efficiency"},
		{"dashes without a map", glyphsAt(0, 0, "a \x15 b\x16c"), "a – b—c"},
		{"shadowed letters", doubled("Municipalité", 0.6), "Municipalité"},
		{"letters printed twice", doubled("Municipalité", 0), "Municipalité"},
		{"double letters", glyphsAt(0, 0, "Illinois attaccare"), "Illinois attaccare"},
		{"shadowed words", concat(glyphsAt(0, 0, "Cuentas anuales"), glyphsAt(0.7, -0.7, "Cuentas anuales")), "Cuentas anuales"},
		{"repeated words", concat(glyphsAt(0, 0, "si si"), glyphsAt(0, -12, "si si")), "si si\nsi si"},
		{"an accent before its letter", concat(glyphsAt(0, 0, "as"), glyphsAt(10, 0, "´"), glyphsAt(10, 0, "ı")), "así"},
		{"accents after the line", concat(glyphsAt(0, 0, "ACCION AL DIA"), glyphsAt(20, 2, "´"), glyphsAt(55, 2, "´")), "ACCIÓN AL DÍA"},
		{"an accent over nothing", glyphsAt(0, 0, "a ´ b"), "a ´ b"},
		{"an exponent", concat(glyphsAt(0, 0, "2"), small(5, 4, "63"), glyphsAt(15, 0, ",")), "2⁶³,"},
		{"the mark of a footnote", concat(glyphsAt(0, 0, "1.234,5"), small(35, 4, "1"), glyphsAt(45, 0, "euros")), "1.234,5¹ euros"},
		{"a mark before its footnote", concat(small(0, 4, "12"), glyphsAt(10, 0, "Sin auditar")), "¹² Sin auditar"},
		{"small digits on the line", concat(glyphsAt(0, 0, "nota"), small(20, 0, "1")), "nota1"},
		{"lowered digits", concat(glyphsAt(0, 0, "CO"), small(10, -3, "2")), "CO2"},
		{"small letters", concat(glyphsAt(0, 0, "n"), small(5, 4, "o")), "no"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := textOf(test.list); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
