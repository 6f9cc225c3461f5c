package document

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/document/extract"
	"pregon/internal/fault"
	"pregon/internal/search"
)

func pagesOf(texts ...string) (out []extract.Page) {
	for _, t := range texts {
		out = append(out, extract.Page{Text: t, Method: extract.ByText})
	}
	return out
}

func TestQuery(t *testing.T) {
	long := "palabra" + strings.Repeat(" otra", maxWords)
	for _, text := range []string{"", " - , ", "-nada", `"` + long + `"`, strings.Repeat("a", 101)} {
		if q, err := Query(search.Parse(text)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Query(%q) = %v, %v, want Invalid", text, q, err)
		}
	}
	q, err := Query(search.Parse(`"junta general" Dividendos -fondo accio`))
	const want = "[[{[junta general] false false}] [{[dividendos] false false} {[dividend] true false}] " +
		"[{[accio] false true} {[acci] true false}]] [{[fondo] false false} {[fond] true false}]"
	if got := fmt.Sprint(q.All, " ", q.None); err != nil || got != want {
		t.Errorf("got\n%s, %v\nwant\n%s", got, err, want)
	}
}

// TestSnippets checks that snippets mark the words that the search finds.
func TestSnippets(t *testing.T) {
	page := strings.Repeat("Texto que no viene al caso. ", 40) +
		"El Consejo propone repartir un dividendo a cuenta de 0,12 euros por acción, que se pagará el 3 de junio. " +
		strings.Repeat("Más texto que no viene al caso. ", 40)
	for text, want := range map[string]string{
		"dividendos":                    "dividendo",
		`"dividendo a cuenta"`:          "dividendo a cuenta",
		"DIVIDENDO acción":              "dividendo acción,",
		"repar":                         "repartir",
		"consejo -junta pagará":         "Consejo pagará",
		`"0,12 euros"`:                  "0,12 euros",
		`"cuenta de 0,12 euros por"`:    "cuenta de 0,12 euros por",
		"inexistente dividendo":         "dividendo",
		`dividendo "no está en ningún"`: "dividendo",
	} {
		t.Run(text, func(t *testing.T) {
			s := newFinder(search.Parse(text)).snippets([]string{"", "Otra página.", page})
			if len(s) != 1 || s[0].Page != 3 || len(s[0].Text) > snippetLength+80 {
				t.Fatalf("got %+v, want one snippet of page 3", s)
			}
			var marked []string
			runes := []rune(s[0].Text)
			for _, m := range s[0].Marks {
				marked = append(marked, string(runes[m[0]:m[1]]))
			}
			if got := strings.Join(marked, " "); got != want {
				t.Errorf("got marks %q, want %q, in %q", got, want, s[0].Text)
			}
		})
	}
	if s := newFinder(search.Parse("nada")).snippets([]string{page}); len(s) != 0 {
		t.Errorf("got %+v, want no snippets", s)
	}
	many := slices.Repeat([]string{page}, 20)
	if s := newFinder(search.Parse("dividendo")).snippets(many); len(s) != snippetsEach || s[0].Page != 1 || s[2].Page != 3 {
		t.Errorf("got %+v, want snippets of pages 1 to 3", s)
	}
	endless := strings.Repeat("x", 100_000) + " " + strings.Repeat("dividendo", 10_000)
	if s := newFinder(search.Parse("dividendodividendo")).snippets([]string{endless}); len(s) != 1 || len(s[0].Text) > 3*snippetLength {
		t.Errorf("got %d snippets, want one short one", len(s))
	}
}

// TestCutIsComplete checks that the pieces joined are the text, whatever their size.
func TestCutIsComplete(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []rune("aáñ€ \n😀")
	for range 500 {
		var pages []string
		whole := ""
		for range rng.IntN(5) {
			var b strings.Builder
			for range rng.IntN(12) {
				b.WriteRune(letters[rng.IntN(len(letters))])
			}
			pages = append(pages, b.String())
			whole += b.String()
		}
		text := &extract.Text{Pages: pagesOf(pages...)}
		total := len([]rune(whole))
		got, seen := "", map[int]bool{}
		for offset := 0; ; {
			limit := 1 + rng.IntN(9)
			p := Cut(text, offset, limit)
			chars := 0
			for _, page := range p.Pages {
				got += page.Text
				chars += len([]rune(page.Text))
				seen[page.Page] = true
			}
			if p.Total != total || p.Chars != chars || chars > limit {
				t.Fatalf("Cut(%q, %d, %d): got %+v, want a total of %d", pages, offset, limit, p, total)
			}
			if p.Next == 0 {
				break
			}
			offset = p.Next
		}
		if got != whole {
			t.Fatalf("got %q, want %q", got, whole)
		}
		if p := Cut(text, total+1, 10); len(p.Pages) != 0 || p.Next != 0 {
			t.Fatalf("past the end: got %+v, want an empty piece", p)
		}
		if total > 0 && len(seen) != len(pages) {
			t.Fatalf("%q: got pages %v, want all %d", pages, seen, len(pages))
		}
	}
}

func TestMarkdownIsEscaped(t *testing.T) {
	r := &disclosure.Report{Title: "Uno\n\n# dos", CompanyName: "ACME\n\n# tres", PDFURL: "https://h/<img src=x onerror=y>"}
	out := Markdown(r, Piece{Pages: []PagePiece{{Page: 1, Text: "# cuatro\n\n- cinco"}}}, true)
	for line := range strings.SplitSeq(out, "\n") {
		if line != "" && !strings.HasPrefix(line, "# Uno") && !strings.HasPrefix(line, "ACME") && line != "## Página 1" && !strings.HasPrefix(line, `\`) || strings.Contains(line, "<img") {
			t.Errorf("got the line %q in %q, want it escaped", line, out)
		}
	}
	for line, want := range map[string]string{
		"# no es un título":           `\# no es un título`,
		"1. no es una lista":          `1\. no es una lista`,
		"- ni esto":                   `\- ni esto`,
		"<script>alert(1)</script>":   `\<script\>alert(1)\</script\>`,
		"[pulse](javascript:alert())": `\[pulse\](javascript:alert())`,
		"    cuatro espacios":         "cuatro espacios",
		"un 3,5 % más (ver nota 1).":  "un 3,5 % más (ver nota 1).",
		"a|b":                         `a\|b`,
	} {
		if got := escape(line); got != want {
			t.Errorf("escape(%q) = %q, want %q", line, got, want)
		}
	}
}
