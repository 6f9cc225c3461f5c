package fact_test

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestRecalled checks that what was published long before is no fact of this report.
func TestRecalled(t *testing.T) {
	checkSpoken(t, disclosure.Board, map[string]spoken{
		"recalled": {text: "El 9 de febrero de 2024 la Sociedad informó de la dimisión de su consejero delegado, don Pablo Ruiz Soto."},
		"English":  {text: "On 9 February 2024 the Company announced the resignation of its chief executive officer, Mr. Pablo Ruiz Soto."},
	})
	list := "Relación de comunicaciones:\n\na) El 14 de mayo de 2025 la Sociedad comunicó la dimisión de su consejera doña Ana Gil Mora.\n\n" +
		"b) El 3 de junio de 2025 la Sociedad anunció que la CNMV había acordado suspender la negociación de sus acciones.\n\n" +
		"c) El 27 de julio de 2025 la Sociedad publicó los resultados del primer semestre de 2025, con unos ingresos de 88,4 millones de euros."
	checkSpoken(t, disclosure.Results, map[string]spoken{
		"list of old reports": {text: list},
		"forecast with the last results": {
			title: "Actualización de previsiones para 2026",
			text: "La Sociedad prevé unos ingresos de 700 millones de euros. En el ejercicio 2025 obtuvo unos ingresos de 742,3 millones de euros y un " +
				"beneficio neto de 38,9 millones de euros. Los resultados del primer trimestre se publicarán el 5 de mayo de 2026.",
		},
	})
	checkSpoken(t, disclosure.Suspension, map[string]spoken{
		"list of old reports": {text: list},
		"cancelled shares":    {text: "Las acciones amortizadas serán excluidas de negociación en las Bolsas de Madrid y Bilbao."},
	})
}

// TestPeriodsOfColumns checks the ways in which a table or a sentence names its period.
func TestPeriodsOfColumns(t *testing.T) {
	quarter := []map[string]string{{
		"period": "2026-Q1", "revenue": "245300000", "net_profit": "-1200000", "currency": "EUR",
	}}
	checkSpoken(t, disclosure.Results, map[string]spoken{
		"short year behind a space": {title: "Results", text: "Q1 2026 Results\n\nKey figures (in millions of euros)\tQ1 26\tQ1 25\nTotal revenues\t245.3\t232.0\n" +
			"Net income\t(1.2)\t3.1", want: quarter},
		"short year behind a dash": {title: "Resultados", text: "Resultados del primer trimestre de 2026\n\nMillones de euros\t1T-26\t1T-25\nIngresos\t245,3\t232,0\n" +
			"Resultado neto\t(1,2)\t3,1", want: quarter},
		"until a month": {
			title: "Resultados", text: "La Sociedad obtuvo un beneficio neto de 12 millones de euros hasta marzo de 2026.",
			want: []map[string]string{{"period": "2026-Q1", "net_profit": "12000000", "currency": "EUR"}},
		},
		"figures of a year in a report on a quarter": {title: "Resultados del cuarto trimestre de 2025", text: "Cuarto trimestre 2025\n\n" +
			"Miles de euros\t31.12.2025\t31.12.2024\nIngresos\t245.300\t232.000"},
	})
}
