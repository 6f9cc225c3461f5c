package fact

import (
	"strings"
	"testing"
)

func TestWithRowsOfLines(t *testing.T) {
	rows := "Fecha\nAcciones\nPrecio (€)\n05/10/2026\n3.300\n17,42\n06/10/2026\n2.980\n17,55"
	labels := "Concepto\nTítulos\nEfectivo\nCompras\n142\n171,26\nVentas\n139\n169,27"
	tests := map[string]struct{ page, want string }{
		"a row for each day": {
			rows,
			"Fecha\tAcciones\tPrecio (€)\n05/10/2026\t3.300\t17,42\n06/10/2026\t2.980\t17,55",
		},
		"a total that lacks a cell": {
			rows + "\nTOTAL\n6.280",
			"Fecha\tAcciones\tPrecio (€)\n05/10/2026\t3.300\t17,42\n06/10/2026\t2.980\t17,55\nTOTAL\t6.280",
		},
		"a row for each label": {
			labels,
			"Concepto\tTítulos\tEfectivo\nCompras\t142\t171,26\nVentas\t139\t169,27",
		},
		"a column of two kinds": {
			"Fecha\nAcciones\nPrecio\n05/10/2026\n3.300\n17,42\n06/10/2026\nninguna\n17,55",
			"",
		},
		"one row": {"Fecha\nAcciones\nPrecio\n05/10/2026\n3.300\n17,42", ""},
		"a value below each label": {
			"Saldo de acciones a 30/09/2026\n31.215\nSaldo de efectivo\n88.412,36 euros",
			"Saldo de acciones a 30/09/2026\t31.215\nSaldo de efectivo\t88.412,36 euros",
		},
		"paragraphs of a label and a value": {
			"5. Importe máximo\n5.000 euros\n\n6. Acciones\n900",
			"5. Importe máximo\t5.000 euros\n\n6. Acciones\t900",
		},
		"numbered fields": {
			"1) Emisor\nCurtidos, S.A.\n2) Importe\n5.000 euros\n3) Fecha fin\n19/10/2027",
			"1) Emisor\tCurtidos, S.A.\n2) Importe\t5.000 euros\n3) Fecha fin\t19/10/2027",
		},
		"one label and one value": {"Importe máximo\n5.000 euros", ""},
		"an address":              {"Calle Mayor\n28013 Madrid\nEspaña", ""},
		"a sentence":              {rows + "\n" + strings.Repeat("Las compras se han realizado ", 4), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := test.want
			if want == "" {
				want = test.page
			}
			if got := withRowsOfLines(test.page); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
