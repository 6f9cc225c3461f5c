package summary

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pregon/internal/document/passage"
)

var seeds = []string{
	"",
	"La sociedad ha vendido su filial por 3,5 millones de euros. El pago será el 12.03.2026.",
	"The company has sold its subsidiary for €3.5 million. Payment is due on 12 March 2026.",
	"D. J. Arce, S.A. ... 1. 2. a) • ¿Qué? «Sí.» \n\n\f\r\nHECHO\nel 5 % (no)",
	"entre 5 y 7 millones, frente a 1.234,5 €; del 2 al 6 de marzo de 2026, -3,2 %",
	"\xff\xfe\u202e\u200b\u0301 a\u0301 1T26 BBB+ 12/13/2026 treinta y",
	strings.Repeat("a.", 300), strings.Repeat("1 000 ", 300), strings.Repeat("(", 200),
}

func FuzzSplit(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, page string) {
		last := 0
		for _, p := range paragraphs(page) {
			if p.Start < last || p.End <= p.Start {
				t.Fatalf("paragraph %v after %d", p.Span, last)
			}
			last = p.Start
			for _, s := range p.sentences {
				if s.Start < last || s.End > p.End || s.End <= s.Start {
					t.Fatalf("sentence %v in %v after %d", s, p.Span, last)
				}
				last = s.End
				passage.WithoutLead(page, s)
			}
		}
		plain := squeeze(passage.LineBreaks.Replace(page))
		for _, language := range []string{"", "es", "en", "ca"} {
			source := Source{Pages: []string{page, page}, Title: "Venta", Category: "Sobre resultados", Language: language}
			found := Extract(source)
			if len(found.Sentences) > mostSentences || (len(found.Sentences) == 0) != (found.Method == None) {
				t.Fatalf("got %d sentences by %s", len(found.Sentences), found.Method)
			}
			for _, s := range found.Sentences {
				if !strings.Contains(plain, s.Quote) || !utf8.ValidString(s.Text) || utf8.RuneCountInString(s.Text) > longestSentence {
					t.Fatalf("not verbatim: %q", s.Text)
				}
			}
			size := 0
			for _, c := range numbered(source) {
				size += utf8.RuneCountInString(c.Quote)
			}
			if size > mostText {
				t.Fatalf("got %d characters for the model, want at most %d", size, mostText)
			}
		}
	})
}

func FuzzCheck(f *testing.F) {
	for n, s := range seeds {
		f.Add(s, seeds[(n+1)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, claim, cited string) {
		for _, language := range []string{"es", "en"} {
			s := Source{Company: "Lumbre", Title: "Venta", Language: language}
			if check(s, claim, language, []string{cited}) == "" && !plainSentence(claim) {
				t.Fatalf("not plain: %q", claim)
			}
			// A digit that its source does not have is never kept.
			if strings.ContainsAny(claim, "0123456789") && check(s, claim, language, []string{"Nada."}) == "" {
				t.Fatalf("kept without a source: %q", claim)
			}
		}
	})
}

func FuzzAnswer(f *testing.F) {
	for _, s := range slices.Concat(seeds, []string{
		`{"items":[{"text":"a","sources":[1,"2"],"language":"es"}]}`, "```json\n{}\n```", strings.Repeat(`{"a":`, 100), `{"items":null}`,
	}) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, err := readAnswer(text)
		if len(found) > mostItems || err != nil && found != nil {
			t.Fatalf("got %d items, error %v", len(found), err)
		}
	})
}
