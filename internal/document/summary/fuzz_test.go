package summary

import (
	"strings"
	"testing"
	"unicode/utf8"
)

var seeds = []string{
	"",
	"La sociedad ha vendido su filial por 3,5 millones de euros. El pago será el 12.03.2026.",
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
			if p.start < last || p.end <= p.start {
				t.Fatalf("paragraph %v after %d", p.span, last)
			}
			last = p.start
			for _, s := range p.sentences {
				if s.start < last || s.end > p.end || s.end <= s.start {
					t.Fatalf("sentence %v in %v after %d", s, p.span, last)
				}
				last = s.end
				withoutLead(page, s)
			}
		}
		plain := squeeze(page)
		source := Source{Pages: []string{page, page}, Title: "Venta", Category: "Sobre resultados"}
		found := Extract(source)
		if len(found) > mostSentences {
			t.Fatalf("%d sentences", len(found))
		}
		for _, s := range found {
			if s.Text != s.Quote || !strings.Contains(plain, s.Text) || !utf8.ValidString(s.Text) || utf8.RuneCountInString(s.Text) > longestSentence {
				t.Fatalf("not verbatim: %q", s.Text)
			}
		}
		if text := textFor(source, "SECRET"); utf8.RuneCountInString(text) > 2*mostText {
			t.Fatalf("%d characters for the model", len(text))
		}
	})
}

func FuzzJudge(f *testing.F) {
	for n, s := range seeds {
		f.Add(s, s, seeds[(n+1)%len(seeds)], n)
	}
	f.Fuzz(func(t *testing.T, page, text, quote string, named int) {
		s := Source{Company: "Lumbre", Title: "Venta", Pages: []string{page, quote}}
		kept, dropped := Judge(s, []Sentence{{text, named, quote}, {text, named, page}, {page, 1, page}})
		if len(kept)+len(dropped) != 3 {
			t.Fatalf("%d kept, %d dropped", len(kept), len(dropped))
		}
		for _, k := range kept {
			if k.Page < 1 || k.Page > 2 || !strings.Contains(squeeze(s.Pages[k.Page-1]), k.Quote) {
				t.Fatalf("not verbatim: %+v", k)
			}
			if !plainSentence(k.Text) {
				t.Fatalf("not plain: %q", k.Text)
			}
		}
	})
}

func FuzzAnswer(f *testing.F) {
	for _, s := range append(seeds, `{"sentences":[{"text":"a","page":1,"quote":"b"}]}`, "```json\n{}\n```", strings.Repeat(`{"a":`, 100), `{"sentences":null}`) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, err := readAnswer(text)
		if len(found) > mostProposed || err != nil && found != nil {
			t.Fatalf("%d sentences, %v", len(found), err)
		}
	})
}
