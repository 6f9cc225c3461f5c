package document

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/document/extract"
	"pregon/internal/store"
	"pregon/internal/text"
)

func pagesOf(texts ...string) (out []extract.Page) {
	for _, t := range texts {
		out = append(out, extract.Page{Text: t, Method: extract.ByText})
	}
	return out
}

// TestPartsAreWithinBounds checks that the store accepts every part, and that no
// word of the text is lost.
func TestPartsAreWithinBounds(t *testing.T) {
	long := strings.Repeat("el dividendo de la sociedad ", 3000)
	tests := map[string][]string{
		"no pages":          nil,
		"empty pages":       {"", "", ""},
		"punctuation":       {" .,;:— ", "€ %"},
		"a word many times": {strings.Repeat("cero ", 10_000)},
		"a very long page":  {long},
		"many pages":        slices.Repeat([]string{"una página como tantas, de pocas palabras"}, 5000),
		"a very long word":  {"antes " + strings.Repeat("x", 5000) + " después"},
		"other alphabets":   {"Ελλάδα Ærøskøbing ŁÓDŹ Ñandú ﬁnal 東京 ١٢٣"},
	}
	for name, pages := range tests {
		t.Run(name, func(t *testing.T) {
			have := map[string]bool{}
			for _, p := range Index(pages) {
				if len(p.Words) == 0 || len(p.Words) > store.MostPartWords || len(p.Stems) > store.MostPartWords {
					t.Fatalf("got a part of %d words and %d stems, want 1 to %d", len(p.Words), len(p.Stems), store.MostPartWords)
				}
				times := map[string]int{}
				for _, w := range p.Words {
					have[w] = true
					if times[w]++; times[w] > store.MostWordRepeat || len(w) > store.MostWordBytes {
						t.Fatalf("got %q %d times in a part, want at most %d", w, times[w], store.MostWordRepeat)
					}
				}
			}
			for _, p := range pages {
				for _, w := range text.Words(p) {
					if len(w) <= store.MostWordBytes && !have[w] {
						t.Fatalf("got no part with %q, want one", w)
					}
				}
			}
		})
	}
}

// TestPhrasesAreNotCut checks that every phrase of a page is within one part.
func TestPhrasesAreNotCut(t *testing.T) {
	var words []string
	for i := range 3 * store.MostPartWords {
		words = append(words, fmt.Sprintf("p%d", i))
	}
	all := Index([]string{strings.Join(words, " ")})
	for i := range len(words) - overlap {
		phrase := words[i : i+overlap]
		if !slices.ContainsFunc(all, func(p store.Part) bool { return containsPhrase(p.Words, phrase) }) {
			t.Fatalf("got no part with the phrase from %s to %s, want one", phrase[0], phrase[len(phrase)-1])
		}
	}
}

func containsPhrase(words, phrase []string) bool {
	for i := range len(words) - len(phrase) + 1 {
		if slices.Equal(words[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}

func TestQuery(t *testing.T) {
	if query("") != nil || query(" - , ") != nil || query("-nada") != nil {
		t.Error("got a query for a text without words to find, want nil")
	}
	q := query(`"junta general" Dividendos -fondo accio`)
	want := "[[{[junta general] false false}] [{[dividendos] false false} {[dividend] true false}] [{[accio] false true} {[acci] true false}]] [{[fondo] false false} {[fond] true false}]"
	if got := fmt.Sprint(q.All, " ", q.None); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
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
			s := newFinder(text).snippets([]string{"", "Otra página.", page})
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
	if s := newFinder("nada").snippets([]string{page}); len(s) != 0 {
		t.Errorf("got %+v, want no snippets", s)
	}
	many := slices.Repeat([]string{page}, 20)
	if s := newFinder("dividendo").snippets(many); len(s) != snippetsEach || s[0].Page != 1 || s[2].Page != 3 {
		t.Errorf("got %+v, want snippets of pages 1 to 3", s)
	}
	endless := strings.Repeat("x", 100_000) + " " + strings.Repeat("dividendo", 10_000)
	if s := newFinder("dividendodividendo").snippets([]string{endless}); len(s) != 1 || len(s[0].Text) > 3*snippetLength {
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
