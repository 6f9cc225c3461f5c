package fact

import (
	"slices"
	"testing"

	"pregon/internal/document/passage"
)

func TestSplitForm(t *testing.T) {
	for name, test := range map[string]struct {
		line string
		want []string
	}{
		"joined lines": {
			"Agencia .... Fiel Ratings Decisión .... Confirmación Calificación a corto plazo .... A-2",
			[]string{"Agencia .... Fiel Ratings", "Decisión .... Confirmación", "Calificación a corto plazo .... A-2"},
		},
		"a label with a bracket": {
			"Ventas .... 29,3 Resultado bruto (EBITDA) .... 2,9 Deuda neta .... 3,5",
			[]string{"Ventas .... 29,3", "Resultado bruto (EBITDA) .... 2,9", "Deuda neta .... 3,5"},
		},
		"a label of two capitals": {
			"Amount .... EUR 0.25 Payment Date .... 5 May 2026 Record Date .... 4 May 2026",
			[]string{"Amount .... EUR 0.25", "Payment Date .... 5 May 2026", "Record Date .... 4 May 2026"},
		},
		"a label without a capital": {
			"Votos .... 81.444.000 de los que, por lealtad .... 187.131 Fecha .... 31/05/2026",
			[]string{"Votos .... 81.444.000", "de los que, por lealtad .... 187.131", "Fecha .... 31/05/2026"},
		},
		"one row":        {"Ventas .... 29,3", []string{"Ventas .... 29,3"}},
		"cells of a row": {"Ventas\t29,3\t28,1 Total", []string{"Ventas\t29,3\t28,1 Total"}},
	} {
		var got []string
		for _, row := range splitForm(withTabs(test.line), passage.Span{End: len(test.line)}) {
			got = append(got, row.Of(test.line))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
