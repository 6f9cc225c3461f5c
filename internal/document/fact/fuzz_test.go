package fact_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/document/fact"
	"pregon/internal/sim/paper/statement"
)

// FuzzFind: whatever the text, the facts are valid, the same each time, and every quote is
// in the document.
func FuzzFind(f *testing.F) {
	for i, kind := range statement.Kinds() {
		for k, layout := range statement.Layouts() {
			d := statement.Make(kind, layout, uint64(10*i+k))
			f.Add(strings.Join(d.Pages(), "\f"), d.Company, d.Language)
		}
	}
	f.Add("\xff\x00 ....\t\n\n1.000.000\t(€)\f«donde dice» 5 debe decir", "", "")
	f.Fuzz(func(t *testing.T, text, company, language string) {
		document := fact.Document{
			Company:   company,
			Title:     text[:min(len(text), 60)],
			Language:  language,
			Published: time.Date(2026, 4, 20, 0, 0, 0, 0, time.UTC),
			Pages:     strings.Split(text, "\f"),
		}
		found := fact.Find(document)
		if diff := cmp.Diff(found, fact.Find(document)); diff != "" {
			t.Fatalf("a second time (-first +second):\n%s", diff)
		}
		for _, one := range found {
			if err := one.Fact.Validate(); err != nil {
				t.Errorf("%v: %v", one.Fact, err)
			}
			for name, quote := range one.Evidence {
				page := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(document.Pages[quote.Page-1])
				whole := strings.Join(strings.Fields(page), " ")
				if _, ok := one.Fields[name]; !ok && name != "rows" || !strings.Contains(whole, quote.Text) || quote.Text == "" {
					t.Errorf("%s.%s: %q is not on page %d", one.Kind, name, quote.Text, quote.Page)
				}
			}
			for name := range one.Fields {
				if _, ok := one.Evidence[name]; !ok {
					t.Errorf("%s.%s has no evidence", one.Kind, name)
				}
			}
		}
	})
}

// hostile returns texts that are long in one respect.
func hostile(n int) map[string]string {
	return map[string]string{
		"words":     strings.Repeat("dividendo bruto ", n),
		"figures":   strings.Repeat("0,25 euros por acción ", n),
		"dates":     strings.Repeat("el 15 de diciembre de 2026 en primera convocatoria ", n),
		"rows":      strings.Repeat("Fecha de pago\t15/12/2026\t0,25\n", n),
		"cells":     strings.Repeat("Fecha de pago\t", n),
		"sentences": strings.Repeat("Se pagará el 15 de diciembre de 2026. ", n),
		"brackets":  strings.Repeat("((((", n),
		"dots":      strings.Repeat(". . . . ", n),
		"names":     strings.Repeat("D. Julián Arce Vela, consejero, ", n),
		"companies": strings.Repeat("Lumbre Textil, S.A. ha dimitido de Marenda, S.L. ", n),
		"scales":    strings.Repeat("1 millones ", n),
		"fixes":     strings.Repeat("donde dice 5 debe decir 6 ", n),
	}
}

// BenchmarkHostile shows that the time grows with the text: compare the sizes.
func BenchmarkHostile(b *testing.B) {
	for _, n := range []int{1000, 4000, 16000} {
		for name, text := range hostile(n) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					fact.Find(fact.Document{Company: "Lumbre Textil, S.A.", Pages: []string{text}})
				}
			})
		}
	}
}
