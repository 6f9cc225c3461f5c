package extract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
)

const (
	first  = "La sociedad comunica que su consejo de administración ha acordado hoy convocar la junta general ordinaria de accionistas en su domicilio social."
	second = "El orden del día comprende la aprobación de las cuentas anuales y del informe de gestión, así como la aplicación del resultado del ejercicio."
	third  = "Los accionistas podrán ejercer su derecho de información desde la publicación del anuncio, señala la Compañía Eléctrica del Ebro en su página."
)

func TestParagraphs(t *testing.T) {
	text := read(t, extracttest.Paragraphs([]string{first, second}, []string{third}))
	if text.Type != extract.PDF || text.Method != extract.ByText || text.Language != "es" || len(text.Pages) != 2 {
		t.Errorf("got %s by %s in %q with %d pages, want pdf by text in es with 2", text.Type, text.Method, text.Language, len(text.Pages))
	}
	equal(t, text.Pages[0].Text, first+"\n\n"+second)
	equal(t, text.Pages[1].Text, third)
}

func TestColumns(t *testing.T) {
	left := extracttest.Column(70, 200, 700, first, second)
	right := extracttest.Column(320, 200, 700, third, first)
	title := []extracttest.Line{{X: 70, Y: 760, Size: 16, Text: "Información relevante para todos los accionistas"}}
	want := title[0].Text + "\n\n" + first + "\n\n" + second + "\n\n" + third + "\n\n" + first
	t.Run("one after the other", func(t *testing.T) {
		equal(t, readPage(t, extracttest.PDF(slices.Concat(title, left, right))), want)
	})
	t.Run("across", func(t *testing.T) {
		equal(t, readPage(t, extracttest.PDF(slices.Concat(title, extracttest.Across(left, right)))), want)
	})
	t.Run("backwards", func(t *testing.T) {
		equal(t, readPage(t, extracttest.PDF(slices.Concat(right, left, title))), want)
	})
	t.Run("three", func(t *testing.T) {
		a, b, c := extracttest.Column(50, 150, 700, first), extracttest.Column(220, 150, 700, second), extracttest.Column(390, 150, 700, third)
		equal(t, readPage(t, extracttest.PDF(extracttest.Across(a, b, c))), first+"\n\n"+second+"\n\n"+third)
	})
}

// TestNarrowGutters has three columns that are less than a font size apart, written
// across.
func TestNarrowGutters(t *testing.T) {
	const width = 150                      // 25 letters
	full := func(words ...string) string { // a text whose lines fill their column
		var lines []string
		for _, w := range words {
			lines = append(lines, w+" y la "+strings.Repeat("x", 19-len(w)))
		}
		return strings.Join(lines, " ")
	}
	a := full("Uno", "dos", "tres", "cuatro", "cinco", "seis", "siete")
	b := full("One", "two", "three", "four", "five", "six", "seven")
	c := full("Un", "deux", "trois", "quatre", "cinq", "six", "sept")
	page := extracttest.Across(extracttest.Column(50, width, 700, a), extracttest.Column(50+width+8, width, 700, b), extracttest.Column(50+2*width+16, width, 700, c))
	equal(t, readPage(t, extracttest.PDF(page)), a+"\n\n"+b+"\n\n"+c)
}

// TestStaggeredCells has a table whose cells have several lines and are centred.
func TestStaggeredCells(t *testing.T) {
	var page []extracttest.Line
	var want []string
	for n := range 5 {
		y := 700 - 40*float64(n)
		texts := []string{fmt.Sprintf("orden %d", n), fmt.Sprintf("Muestra el paquete %d", n), "y sus dependencias."}
		page = append(page, extracttest.Line{X: 70, Y: y - 6, Size: 10, Text: texts[0]},
			extracttest.Line{X: 200, Y: y, Size: 10, Text: texts[1]}, extracttest.Line{X: 200, Y: y - 12, Size: 10, Text: texts[2]})
		want = append(want, texts...)
	}
	got := strings.Join(strings.Fields(readPage(t, extracttest.PDF(page))), " ")
	equal(t, got, strings.Join(want, " "))
}

func TestTable(t *testing.T) {
	rows := [][]string{
		{"Concepto", "2025", "2024"},
		{"Ingresos ordinarios del grupo", "1.234,5", "1.111,0"},
		{"Gastos de personal", "(456,7)", "(400,1)"},
		{"Resultado del ejercicio", "777,8", "710,9"},
	}
	xs := []float64{70, 330, 430}
	page := slices.Concat(extracttest.Column(70, 450, 780, first), extracttest.Table(650, xs, rows), extracttest.Column(70, 450, 500, second))
	want := first + "\n\nConcepto\t2025\t2024\nIngresos ordinarios del grupo\t1.234,5\t1.111,0\n" +
		"Gastos de personal\t(456,7)\t(400,1)\nResultado del ejercicio\t777,8\t710,9\n\n" + second
	equal(t, readPage(t, extracttest.PDF(page)), want)

	narrow := extracttest.Table(700, []float64{70, 137, 168}, [][]string{
		{"Enero y más", "1,1", "2,1"}, {"Febrero", "1,2", "2,2"}, {"Marzo", "1,3", "2,3"}, {"Abril", "1,4", "2,4"}, {"Mayo", "1,5", "2,5"},
	})
	slices.SortStableFunc(narrow, func(a, b extracttest.Line) int { return int(b.Y - a.Y) })
	narrow[0].X = 64 // its gap to the next cell is too narrow for a cell
	equal(t, readPage(t, extracttest.PDF(narrow)), "Enero y más\t1,1\t2,1\nFebrero\t1,2\t2,2\nMarzo\t1,3\t2,3\nAbril\t1,4\t2,4\nMayo\t1,5\t2,5")

	list := []extracttest.Line{{X: 70, Y: 700, Size: 10, Text: "a)"}, {X: 130, Y: 700, Size: 10, Text: "Aprobar las cuentas"}}
	equal(t, readPage(t, extracttest.PDF(list)), "a) Aprobar las cuentas")

	// A file may have a table column by column.
	slices.SortStableFunc(page, func(a, b extracttest.Line) int { return int(a.X - b.X) })
	equal(t, readPage(t, extracttest.PDF(page)), want)
}

func TestFonts(t *testing.T) {
	for _, test := range []struct {
		name     string
		meanings []string
		want     string
	}{
		{"letters", strings.Split("Ñandú", ""), "Ñandú"},
		{"ligatures", []string{"ﬁ", "n", "a", "n", "c", "i", "a", "c", "i", "ó", "n"}, "financiación"},
		{"a ligature that means two letters", []string{"c", "o", "n", "fl", "i", "c", "t", "o"}, "conflicto"},
		{"combining accents", []string{"e", "n", "e", "r", "g", "i", "\u0301", "a"}, "energía"},
		{"characters without a meaning", []string{"a", "\u0001", "b", "\u200b", "c", "\ue123"}, "abc"},
		{"characters that are missing", []string{"a", "\ufffd", "b"}, "a\ufffdb"},
		{"characters outside the basic plane", []string{"x", "𝑓", "𝑔", "€", "𝑓"}, "x𝑓𝑔€𝑓"},
		{"a bullet of Word", []string{"\uf0b7", "x"}, "•x"},
		{"non-breaking spaces", []string{"5", "\u00a0", "%"}, "5 %"},
	} {
		t.Run(test.name, func(t *testing.T) {
			equal(t, readPage(t, extracttest.Unicode(test.meanings...)), test.want)
		})
	}
}

// TestInvalidCharacters has glyphs that are mapped to code points that do not
// exist: above the highest, and one surrogate without the other.
func TestInvalidCharacters(t *testing.T) {
	equal(t, readPage(t, extracttest.Codes('a', 0x110000, 'b', 0xd835, 'c', 0xdc53, 'd', 0xffffffff, 0x1d453)), "a\ufffdb\ufffdc\ufffdd\ufffd𝑓")
}

// TestScripts has texts that are not put into reading order.
func TestScripts(t *testing.T) {
	for _, test := range []struct{ letters, note string }{
		{"العربية", "from right to left"},
		{"עברית", "from right to left"},
		{"日本語", "East Asian"},
		{"Ñandúα", ""},
	} {
		text := read(t, extracttest.Unicode(strings.Split(test.letters, "")...))
		notes := strings.Join(text.Notes, " ")
		if !strings.Contains(notes, test.note) || test.note == "" && notes != "" {
			t.Errorf("got notes %q of %q, want %q", notes, test.letters, test.note)
		}
	}
}

func TestHyphens(t *testing.T) {
	lines := func(texts ...string) []byte {
		var list []extracttest.Line
		for i, text := range texts {
			list = append(list, extracttest.Line{X: 70, Y: 700 - 12*float64(i), Size: 10, Text: text})
		}
		return extracttest.PDF(list)
	}
	for _, test := range []struct {
		name, want string
		lines      []string
	}{
		{"broken", "una comunicación relevante", []string{"una comunica-", "ción relevante"}},
		{"with a hyphen elsewhere", "el eje franco-alemán y otro eje franco-alemán", []string{"el eje franco-alemán y otro eje franco-", "alemán"}},
		{"a capital", "la línea Madrid-Barcelona crece", []string{"la línea Madrid-", "Barcelona crece"}},
		{"a number", "el modelo A-320 vuela", []string{"el modelo A-", "320 vuela"}},
		{"soft", "una comunicación relevante", []string{"una comunica\u00ad", "ción relevante"}},
		{"far from the edge", strings.Repeat("x", 80) + "\n\nuna comunicación relevante", []string{strings.Repeat("x", 80), "", "una comunica-", "ción relevante"}},
		{"a rating", "raised the rating to BBB- from BB+ today", []string{"raised the rating to BBB-", "from BB+ today"}},
		{"a rating of one letter", "la calificación A- desde mayo", []string{"la calificación A-", "desde mayo"}},
		{"a rating in quotes", "la calificación «BB- con perspectiva»", []string{"la calificación «BB-", "con perspectiva»"}},
		{"a rating and a name", "la calificación BBB- Ponderal Ratings", []string{"la calificación BBB-", "Ponderal Ratings"}},
		{"a rating and a number", "la calificación BBB- 2 escalones más", []string{"la calificación BBB-", "2 escalones más"}},
		{"a rating in small letters", "un perfil bbb- con apoyo", []string{"un perfil bbb-", "con apoyo"}},
		{"a rating with a digit", "la nota BA3- tras la revisión", []string{"la nota BA3-", "tras la revisión"}},
		{"a short-term rating", "la calificación A-2 a corto plazo", []string{"la calificación A-", "2 a corto plazo"}},
		{"a long name", "un plan TELEFONIA-sectorial nuevo", []string{"un plan TELEFONIA-", "sectorial nuevo"}},
		{
			"an abbreviation with a hyphen elsewhere", "un índice IBEX-sectorial y otro IBEX-sectorial",
			[]string{"un índice IBEX-sectorial y otro IBEX-", "sectorial"},
		},
		{"a dash", "el precio - que subió - bajó", []string{"el precio -", "que subió - bajó"}},
	} {
		t.Run(test.name, func(t *testing.T) { equal(t, readPage(t, lines(test.lines...)), test.want) })
	}
}

// TestDoubleSpacing has lines with an empty line between them, as in a draft.
func TestDoubleSpacing(t *testing.T) {
	lines := extracttest.Column(70, 400, 780, first, third)
	for i := range lines {
		lines[i].Y = 780 - 28*float64(i)
	}
	equal(t, readPage(t, extracttest.PDF(lines)), first+"\n\n"+third)
}

// TestOutsidePage has text that is not on the page.
func TestOutsidePage(t *testing.T) {
	lines := extracttest.Column(70, 450, 780, first)
	for i, at := range [][2]float64{{70, -20}, {-300, 400}, {70, 900}, {700, 400}} {
		lines = append(lines, extracttest.Line{X: at[0], Y: at[1], Size: 10, Text: fmt.Sprintf("Invisible %d", i)})
	}
	equal(t, readPage(t, extracttest.PDF(lines)), first)
}

// TestLongLine has a line that is longer than its column, as an address may be.
func TestLongLine(t *testing.T) {
	lines := extracttest.Column(70, 300, 780, strings.TrimSpace(strings.Repeat(first+" ", 8)))
	lines = append(lines, extracttest.Line{X: 70, Y: 300, Size: 10, Text: strings.Repeat("https://www.example.com/", 3)})
	equal(t, readPage(t, extracttest.PDF(lines)), strings.TrimSpace(strings.Repeat(first+" ", 8))+"\n\n"+lines[len(lines)-1].Text)
}

// TestItems has paragraphs whose second line begins with a number, which may begin
// a list item or continue the sentence.
func TestItems(t *testing.T) {
	for _, begin := range []string{
		"30.066 acciones", "1.200 euros", "12.500.000 de euros", "1.200,50 euros", "(1.200) euros", "3,5 millones", "12.03.2026 se publica", "12.03.26 se publica",
		"31.12.2025 El", "12.30 horas", "1.5 million", "2.5 % del", "100.000. El", "1.200) y",
	} {
		equal(t, readPage(t, twoLines(begin)), "La sociedad comunica que en el día de hoy "+begin+" y que así consta en el acta")
	}
	for _, begin := range []string{
		"12. Otros", "12) otros", "(3) otros", "1.2 Otros", "1.2 «Otros»", "1.2. otros", "1.2.3. otros", "1.2.3 Otros", "10.11.12) otros", "a) otros", "iv. otros", "- otros",
	} {
		equal(t, readPage(t, twoLines(begin)), "La sociedad comunica que en el día de hoy\n\n"+begin+" y que así consta en el acta")
	}
}

// twoLines returns a paragraph whose second line begins with a text.
func twoLines(begin string) []byte {
	return extracttest.PDF([]extracttest.Line{
		{X: 70, Y: 700, Size: 10, Text: "La sociedad comunica que en el día de hoy"},
		{X: 70, Y: 688, Size: 10, Text: begin + " y que así consta en el acta"},
	})
}

func TestFurniture(t *testing.T) {
	bodies := []string{first, second, third}
	for _, test := range []struct {
		head, foot string // %d is the number of the page
		keeps      bool   // the foot on the first page
	}{
		{"Compañía Eléctrica del Ebro, S.A.", "Página %d de 9", false},
		{"Compañía Eléctrica del Ebro, S.A.", "- %d -", false},
		{"Factura 2026/117 de 3 de mayo", "Factura 2026/117, hoja %d", true},
		{"Cuentas anuales 2025", "Hoja %[1]d, anexo, hoja %[1]d", true},
		{"Cuentas anuales 2025", "1 enero 2025 a 31 diciembre 2025 (en miles): %d/9, versión 3.2 de 4.5.2026", true},
	} {
		for _, count := range []int{2, 3, 9} {
			furniture(t, test.head, test.foot, test.keeps, count, bodies)
		}
	}
	for _, p := range read(t, extracttest.Paragraphs([]string{first}, []string{first}, []string{first})).Pages {
		equal(t, p.Text, first) // identical pages are not headers
	}
}

// furniture reads pages with a header and a footer, which the first page keeps.
func furniture(t *testing.T, head, foot string, keepsFoot bool, count int, bodies []string) {
	t.Helper()
	var pages [][]extracttest.Line
	for n := range count {
		pages = append(pages, slices.Concat(
			[]extracttest.Line{{X: 70, Y: 800, Size: 8, Text: head}},
			extracttest.Column(70, 450, 760, bodies[n%3], bodies[(n+n/3)%3]),
			[]extracttest.Line{{X: 70, Y: 40, Size: 8, Text: fmt.Sprintf(foot, n+1)}},
		))
	}
	for n, p := range read(t, extracttest.PDF(pages...)).Pages {
		want := bodies[n%3] + "\n\n" + bodies[(n+n/3)%3]
		if n == 0 {
			want = head + "\n\n" + want
		}
		if n == 0 && keepsFoot {
			want += "\n\n" + fmt.Sprintf(foot, 1)
		}
		equal(t, p.Text, want)
	}
}

// TestRomanFurniture has the page number in a header, in Roman digits.
func TestRomanFurniture(t *testing.T) {
	var pages [][]extracttest.Line
	for n, roman := range []string{"iii", "iv", "v", "vi", "vii"} {
		pages = append(pages, slices.Concat(
			[]extracttest.Line{{X: 70, Y: 800, Size: 8, Text: roman + " Índice general"}},
			extracttest.Column(70, 450, 760, []string{first, second, third}[n%3]),
		))
	}
	for n, p := range read(t, extracttest.PDF(pages...)).Pages {
		want := []string{first, second, third}[n%3]
		if n == 0 {
			want = "iii Índice general\n\n" + want
		}
		equal(t, p.Text, want)
	}
}

func TestOutline(t *testing.T) {
	page := extracttest.Column(70, 450, 700, first)
	titled := func(size float64, title, body string) []extracttest.Line {
		return append([]extracttest.Line{{X: 70, Y: 760, Size: size, Text: title}}, extracttest.Column(70, 450, 700, body)...)
	}
	t.Run("bookmarks", func(t *testing.T) {
		long := strings.Repeat("muy ", 100)
		marks := []extracttest.Bookmark{{Title: "Introducción", Page: 1}, {Title: "Análisis\n del año", Page: 2}, {Title: long, Page: 2}}
		got := read(t, extracttest.Bookmarked(marks, page, page)).Outline
		if len(got) != 3 || got[0] != (extract.Heading{Title: "Introducción", Page: 1, Level: 1}) || got[1].Title != "Análisis del año" || got[1].Page != 2 {
			t.Errorf("got %v, want the three bookmarks", got)
		}
		if n := len([]rune(got[2].Title)); n > 200 {
			t.Errorf("got a title of %d characters, want at most 200", n)
		}
	})
	t.Run("large letters", func(t *testing.T) {
		got := read(t, extracttest.PDF(titled(20, "Informe anual", first), titled(14, "Resultados", second))).Outline
		want := []extract.Heading{{Title: "Informe anual", Page: 1, Level: 1}, {Title: "Resultados", Page: 2, Level: 2}}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestEncrypted(t *testing.T) {
	line := extracttest.Line{X: 70, Y: 700, Size: 10, Text: "Texto cifrado"}
	equal(t, readPage(t, extracttest.Encrypted("", line)), "Texto cifrado")
	unreadable(t, shared(t), extracttest.Encrypted("secreto", line), "it is encrypted and needs a password")
}

func TestRotatedPage(t *testing.T) {
	lines := slices.Concat(extracttest.Column(70, 500, 500, first, second), []extracttest.Line{{X: 70, Y: 60, Size: 8, Text: "Fin"}})
	equal(t, readPage(t, extracttest.Rotated(lines)), first+"\n\n"+second+"\n\nFin")
}

// TestLimits reads documents that exceed a limit.
func TestLimits(t *testing.T) {
	pages := make([][]string, 10)
	for n := range pages {
		pages[n] = []string{fmt.Sprintf("Hoja %d.", n+1), first}
	}
	body := extracttest.Paragraphs(pages...)
	for _, test := range []struct {
		name   string
		limits extract.Limits
		pages  int
		note   string
	}{
		{"pages", extract.Limits{Pages: 4}, 4, "Only the first 4 of 10 pages were read."},
		{"bytes", extract.Limits{TextBytes: 400}, 3, "The text is cut off in page 3 of 10"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newReader(t, func(o *sandbox.Options) {
				test.limits.Memory, test.limits.StartTime = o.Limits.Memory, o.Limits.StartTime
				o.Limits = test.limits
			})
			text, err := r.Read(t.Context(), body)
			if err != nil {
				t.Fatal(err)
			}
			if len(text.Pages) != test.pages || len(text.Notes) != 1 || !strings.HasPrefix(text.Notes[0], test.note) {
				t.Errorf("got %d pages and notes %q, want %d pages and %q", len(text.Pages), text.Notes, test.pages, test.note)
			}
		})
	}
}
