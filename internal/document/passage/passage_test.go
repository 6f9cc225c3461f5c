package passage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pieces splits a page into its sentences, complete or not.
func pieces(page string) []string {
	page = LineBreaks.Replace(page)
	var found []string
	for _, b := range Blocks(page) {
		for _, s := range Sentences(page, b) {
			found = append(found, strings.Join(strings.Fields(WithoutLead(page, s).Of(page)), " "))
		}
	}
	return found
}

func TestSplit(t *testing.T) {
	for name, test := range map[string]struct {
		page string
		want []string
	}{
		"abbreviations": {
			"D. Julián Arce y Dª. Marta Vela, de Lumbre Textil, S.A., firmaron el art. 4.º del contrato nº 7. La Sra. Vela dimite.",
			[]string{"D. Julián Arce y Dª. Marta Vela, de Lumbre Textil, S.A., firmaron el art. 4.º del contrato nº 7.", "La Sra. Vela dimite."},
		},
		"company at the end": {
			"Compra el 60 % de Lumbre Textil, S.A. El precio es de 3 euros. Vende Marenda S.L. Con ello termina.",
			[]string{"Compra el 60 % de Lumbre Textil, S.A.", "El precio es de 3 euros.", "Vende Marenda S.L.", "Con ello termina."},
		},
		"company within": {
			"Lumbre Textil, S.A. Unipersonal compra Marenda S.L. Norte.",
			[]string{"Lumbre Textil, S.A. Unipersonal compra Marenda S.L. Norte."},
		},
		"rows whose label has only capitals": {
			"EBITDA\t78,2\t71,7\n% s/ ventas\t15,3\t15,2",
			[]string{"EBITDA 78,2 71,7", "% s/ ventas 15,3 15,2"},
		},
		"company with a short name": {
			"Lumbre Textil, S.A. (la «Sociedad») compra Marenda S.L. (Marenda).",
			[]string{"Lumbre Textil, S.A. (la «Sociedad») compra Marenda S.L. (Marenda)."},
		},
		"numbers and dates": {
			"Ganó 1.234,5 millones el 12.03.2026. Perdió 3.000 en EE.UU. y 2. 000 en p.ej. Francia.",
			[]string{"Ganó 1.234,5 millones el 12.03.2026.", "Perdió 3.000 en EE.UU. y 2. 000 en p.ej. Francia."},
		},
		"hours": {
			"La junta será a las 10.30 a. m. en Sotohondo. Empezará a las 9 p. m. La entrada es libre.",
			[]string{"La junta será a las 10.30 a. m. en Sotohondo.", "Empezará a las 9 p. m.", "La entrada es libre."},
		},
		"paragraphs": {
			"HECHO RELEVANTE\n\nLa sociedad vende\nsu filial.\n \nFin.",
			[]string{"HECHO RELEVANTE", "La sociedad vende su filial.", "Fin."},
		},
		"heading without a blank line": {
			"INFORMACIÓN PRIVILEGIADA\nLa sociedad vende su filial de cementos por tres euros.\r\nEl comprador paga.",
			[]string{"INFORMACIÓN PRIVILEGIADA", "La sociedad vende su filial de cementos por tres euros.", "El comprador paga."},
		},
		"heading in the same line": {
			"HECHO RELEVANTE La sociedad vende. LUMBRE TEXTIL ha comprado.",
			[]string{"La sociedad vende.", "LUMBRE TEXTIL ha comprado."},
		},
		"enumerations": {
			"1. Aprobar las cuentas. 2. Nombrar a D. Luis Arce.\n\na) Repartir el dividendo.\n\n• Cesar al auditor.\n\nPrimero.- Aprobar la fusión.",
			[]string{"1.", "Aprobar las cuentas.", "2.", "Nombrar a D. Luis Arce.", "Repartir el dividendo.", "Cesar al auditor.", "Aprobar la fusión."},
		},
		"quotes": {
			"«Ganamos.» El director lo dijo: «¿Y qué?». Nada más…  Fin",
			[]string{"«Ganamos.»", "El director lo dijo: «¿Y qué?».", "Nada más…", "Fin"},
		},
		"letters": {
			"Se amortizan los bonos de la Serie D. El saldo es nulo. Firma D. El-Hadi Arce.",
			[]string{"Se amortizan los bonos de la Serie D.", "El saldo es nulo.", "Firma D. El-Hadi Arce."},
		},
		"names": {
			"El consejo de J. M. Arce y de P. Vela aprueba. Sigue.",
			[]string{"El consejo de J. M. Arce y de P. Vela aprueba.", "Sigue."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := pieces(test.page)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
