package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestResultsTraps has figures that look like those of the period.
func TestResultsTraps(t *testing.T) {
	testTraps(t, disclosure.Results, []trapTest{
		{
			name:      "footnote",
			company:   "Faro Textil, S.A.",
			title:     "Resultados 2025",
			published: "2026-02-26",
			text: `Miles de euros	31.12.2025	31.12.2024
Ingresos	410.200 (1)	400.100
EBITDA (2)	60.100	58.000
Resultado neto	22.100	20.000

(1) Incluye 12.000 miles de euros de ingresos extraordinarios.
(2) EBITDA ajustado por gastos de reestructuración.

Los ingresos de 2025 fueron de 410,2 millones de euros.`,
			want: []string{"currency=EUR; net_profit=22100000; period=2025; revenue=410200000"},
		},
		{
			name:      "another company in the title",
			company:   "Faro Textil, S.A.",
			title:     "Resultados 2025 de Beta Moda",
			published: "2026-02-26",
			text:      `Faro Textil, S.A., accionista de Beta Moda, S.A., informa de los resultados de esta última. En 2025 los ingresos fueron de 45 millones de euros y el beneficio neto de 3 millones.`,
		},
		{
			name:      "growth",
			company:   "Faro Textil, S.A.",
			title:     "Resultados 2025",
			published: "2026-02-26",
			text:      `En 2025 los ingresos crecieron 10,1 millones de euros y el EBITDA 2,1 millones, hasta 60,1 millones de euros.`,
			want:      []string{"currency=EUR; ebitda=60100000; period=2025"},
		},
		{
			name:      "share of the parent",
			company:   "Faro Textil, S.A.",
			title:     "Resultados 2025",
			published: "2026-02-26",
			text:      `En 2025 se alcanzó un beneficio neto de 22,1 millones de euros, de los cuales 21,0 millones corresponden a la sociedad dominante.`,
			want:      []string{"currency=EUR; net_profit=21000000; period=2025"},
		},
		{
			name:      "conditional",
			company:   "Faro Textil, S.A.",
			title:     "Avance de resultados 2025",
			published: "2026-01-26",
			text:      `Según datos preliminares, los ingresos de 2025 habrían alcanzado 410 millones de euros y el EBITDA se situaría en 60 millones.`,
		},
		{
			name:      "torn figure",
			company:   "Faro Textil, S.A.",
			title:     "Resultados 2025",
			published: "2026-02-26",
			text:      `En 2025 los ingresos fueron de 41O,2 millones de euros y el EBITDA de 6O,1 millones. El beneficio neto, 22, 1 millones de euros.`,
			want:      []string{"currency=EUR; ebitda=60100000; period=2025; revenue=410200000"},
		},
		{
			name:      "before expenses",
			company:   "Faro Textil, S.A.",
			title:     "Resultados 2025",
			published: "2026-02-26",
			text:      `En 2025 el EBITDA fue de 60,1 millones de euros antes de gastos no recurrentes de 4,8 millones.`,
		},
		{
			name:      "like for like",
			company:   "Faro Textil, S.A.",
			title:     "Resultados primer semestre 2026",
			published: "2026-07-28",
			text: `Millones de euros	1S 2026	1S 2025
Ingresos	210,4	200,4
Ingresos like for like	205,0	200,4
EBITDA	31,2	29,0
EBITDA sin NIIF 16	26,2	24,0
Beneficio neto	12,1	11,0
Beneficio neto ajustado	13,0	11,5
Primer semestre de 2026.`,
			want: []string{"currency=EUR; ebitda=31200000; net_profit=12100000; period=2026-H1; revenue=210400000"},
		},
	})
}

// TestResultsOfQuarters has periods by their months, and figures between a measure and its own.
func TestResultsOfQuarters(t *testing.T) {
	testTraps(t, disclosure.Results, []trapTest{
		{
			name:      "months of a quarter",
			company:   "Alfa Minera, S.A.",
			title:     "Resultados abril-junio 2026",
			published: "2026-07-28",
			text:      `En el segundo trimestre natural de 2026 las ventas ascendieron a 12,5 millones de euros (11,0 millones en el segundo trimestre de 2025).`,
			want:      []string{"currency=EUR; period=2026-Q2; revenue=12500000"},
		},
		{
			name:      "year that begins in July",
			company:   "Alfa Minera, S.A.",
			title:     "Resultados del primer trimestre del ejercicio",
			published: "2026-11-10",
			text:      `En el primer trimestre del ejercicio (julio-septiembre de 2026) las ventas ascendieron a 12,5 millones de euros.`,
		},
		{
			name:      "year that begins in July, in the title",
			company:   "Alfa Minera, S.A.",
			title:     "Resultados del primer trimestre de 2026",
			published: "2026-11-10",
			text:      `Las ventas de julio a septiembre de 2026 ascendieron a 12,5 millones de euros.`,
		},
		{
			name:      "compared with the year",
			company:   "Alfa Minera, S.A.",
			title:     "Resultados del tercer trimestre de 2026",
			published: "2026-11-10",
			text:      `Las ventas del tercer trimestre respecto de 2025 crecieron hasta 12,5 millones de euros.`,
			want:      []string{"currency=EUR; period=2026-Q3; revenue=12500000"},
		},
		{
			name:      "cost between the measure and its figure",
			company:   "Alfa Minera, S.A.",
			title:     "Resultados del primer semestre de 2026",
			published: "2026-07-28",
			text:      `En el primer semestre de 2026 el EBITDA, tras 3,1 millones de euros de costes de reestructuración, fue de 49,8 millones de euros.`,
			want:      []string{"currency=EUR; ebitda=49800000; period=2026-H1"},
		},
		{
			name:      "only a cost",
			company:   "Alfa Minera, S.A.",
			title:     "First half 2026 results",
			published: "2026-07-28",
			language:  "en",
			text:      `In the first half of 2026 EBITDA, including €3.1m of restructuring costs, grew 4%.`,
		},
		{
			name:      "source of the figures",
			company:   "Alfa Minera, S.A.",
			title:     "Resultados del primer semestre de 2026",
			published: "2026-07-28",
			text:      `Se han formulado los estados financieros del primer semestre de 2026, de los que resultan: ventas, 8,9 millones de euros, de los que 2,1 millones proceden de las ventas en Francia.`,
			want:      []string{"currency=EUR; period=2026-H1; revenue=8900000"},
		},
	})
}

// TestResultsOfPart has figures from the beginning of the year beside those of a quarter, periods
// that only the title names, and rents.
func TestResultsOfPart(t *testing.T) {
	testTraps(t, disclosure.Results, []trapTest{
		{
			name:      "accumulated",
			company:   "Alfa Minera, S.A.",
			title:     "Resultados tercer trimestre 2026",
			published: "2026-10-28",
			text:      `En el tercer trimestre de 2026 el EBITDA fue de 4,1 millones de euros. Los ingresos acumulados alcanzaron 210,3 millones de euros.`,
			want:      []string{"currency=EUR; ebitda=4100000; period=2026-Q3"},
		},
		{
			name:      "period of the title alone",
			company:   "Alfa Minera, S.A.",
			title:     "Resultados enero-junio 2026",
			published: "2026-07-28",
			text:      `Las ventas del semestre ascendieron a 13,0 millones de euros.`,
			want:      []string{"currency=EUR; period=2026-H1; revenue=13000000"},
		},
		{
			name:      "last semester",
			company:   "Alfa Minera, S.A.",
			title:     "Resultados enero-junio 2026",
			published: "2026-07-28",
			text:      `Las ventas del semestre anterior ascendieron a 13,0 millones de euros.`,
		},
		{
			name:      "compared by a verb",
			company:   "Alfa Minera, S.A.",
			title:     "Resultados 2025",
			published: "2026-02-26",
			text:      `El EBITDA de 2025 fue de 3,2 millones de euros, que se compara con los 1,1 millones de 2024. Los ingresos fueron de 55,1 millones de euros.`,
			want:      []string{"currency=EUR; ebitda=3200000; period=2025; revenue=55100000"},
		},
		{
			name:      "rents of a SOCIMI",
			company:   "Renta Soria SOCIMI, S.A.",
			title:     "Resultados 2025",
			published: "2026-02-26",
			text:      `Las rentas brutas del ejercicio 2025 ascendieron a 35,2 millones de euros y las rentas brutas anualizadas a 38 millones de euros.`,
			want:      []string{"currency=EUR; period=2025; revenue=35200000"},
		},
		{
			name:      "rents of another company",
			company:   "Alfa Minera, S.A.",
			title:     "Resultados 2025",
			published: "2026-02-26",
			text:      `Las rentas brutas del ejercicio 2025 ascendieron a 35,2 millones de euros.`,
		},
	})
}

// TestResultsFromTo has figures that a measure came from, and figures that are only near.
func TestResultsFromTo(t *testing.T) {
	spanish := func(name, text string, want ...string) trapTest {
		return trapTest{name: name, company: "Alfa Minera, S.A.", title: "Resultados 2025", published: "2026-02-26", text: text, want: want}
	}
	english := func(name, text string, want ...string) trapTest {
		test := spanish(name, text, want...)
		test.title = "FY2025 results"
		test.language = "en"
		return test
	}
	const revenue = "currency=EUR; period=2025; revenue=12300000"
	testTraps(t, disclosure.Results, []trapTest{
		english("from and to", `In 2025 revenue rose from €10.1m to €12.3m.`, revenue),
		english("to and from", `In 2025 revenue rose to €12.3m from €10.1m.`, revenue),
		spanish("passed", `En 2025 los ingresos pasaron de 10,1 millones de euros a 12,3 millones de euros.`, revenue),
		spanish("since", `En 2025 los ingresos crecieron desde 10,1 millones de euros hasta 12,3 millones de euros.`, revenue),
		spanish("behind a rate", `En 2025 los ingresos crecieron un 21 %, de 10,1 a 12,3 millones de euros.`, revenue),
		spanish("without a verb", `En 2025 se esperaban ingresos de 10,1 millones de euros a 12,3 millones de euros.`),
		spanish("near", `En 2025 los ingresos rozaron los 12,3 millones de euros.`),
		spanish("more than", `En 2025 los ingresos rebasaron los 12,3 millones de euros.`),
	})
}
