package fact

import (
	"maps"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
)

// stated is a text with the facts of one kind that it states, as "field=value" with
// spaces between them.
type statedFacts struct {
	name      string
	title     string
	text      string
	published string
	want      []string
}

// checkFacts finds the facts of one kind in texts.
func checkFacts(t *testing.T, kind disclosure.FactKind, tests []statedFacts) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			published, err := time.Parse(time.DateOnly, test.published)
			if err != nil {
				t.Fatal(err)
			}
			found := Find(Document{
				Company:   "Hilaturas del Norte, S.A.",
				Title:     test.title,
				Published: published,
				Pages:     strings.Split(test.text, "\f"),
			})
			var got []map[string]string
			for _, f := range found {
				if f.Kind == kind {
					got = append(got, f.Fields)
				}
			}
			if len(got) != len(test.want) {
				t.Fatalf("got %v, want %v", got, test.want)
			}
			for n, want := range test.want {
				fields := map[string]string{}
				for pair := range strings.SplitSeq(want, "; ") {
					name, text, _ := strings.Cut(pair, "=")
					fields[name] = text
				}
				if !maps.Equal(got[n], fields) {
					t.Errorf("got %v, want %v", got[n], fields)
				}
			}
		})
	}
}

func TestResults(t *testing.T) {
	checkFacts(t, disclosure.Results, []statedFacts{
		{
			name:      "letter with last year's figures",
			title:     "Resultados primer semestre 2026",
			published: "2026-07-28",
			text: "Resultados del primer semestre de 2026\n\nLa Sociedad informa de los resultados correspondientes al primer semestre de 2026.\n\n" +
				"El importe neto de la cifra de negocios se ha elevado a 412,7 millones de euros, lo que supone un incremento del 6,2 % " +
				"respecto de los 388,6 millones registrados en igual periodo de 2025. El EBITDA se sitúa en 61,3 millones de euros (57,9 " +
				"millones en el primer semestre de 2025), y el resultado neto atribuido a la sociedad dominante ha alcanzado los 22,4 " +
				"millones de euros.\n\nEn el primer semestre de 2025 el beneficio neto fue de 20,1 millones de euros.",
			want: []string{"period=2026-H1; revenue=412700000; ebitda=61300000; net_profit=22400000; currency=EUR"},
		},
		{
			name:      "press release with verbs and a loss",
			title:     "Hilaturas del Norte pierde 3,4 millones hasta marzo",
			published: "2026-05-12",
			text: "Hilaturas del Norte pierde 3,4 millones de euros en el primer trimestre\n\nHilaturas del Norte ha registrado en el primer trimestre de 2026 " +
				"unas pérdidas netas de 3,4 millones de euros, frente al beneficio de 1,2 millones del mismo trimestre del año anterior.\n\n" +
				"Las ventas cayeron un 8,1 %, hasta los 84,9 millones de euros, y el EBITDA fue negativo en 0,6 millones de euros.\n\n" +
				"La compañía prevé cerrar 2026 con unas ventas de 350 millones de euros.",
			want: []string{"period=2026-Q1; revenue=84900000; ebitda=-600000; net_profit=-3400000; currency=EUR"},
		},
		{
			name:      "respectively",
			title:     "Resultados anuales 2025",
			published: "2026-02-27",
			text:      "Resultados del ejercicio 2025\n\nEn el ejercicio 2025 los ingresos y el EBITDA ascendieron a 120 y 18,5 millones de euros, respectivamente.",
			want:      []string{"period=2025; revenue=120000000; ebitda=18500000; currency=EUR"},
		},
		{
			name:      "income statement in thousands, brackets, two pages",
			title:     "Informe financiero semestral",
			published: "2026-09-15",
			text: "Cuenta de pérdidas y ganancias consolidada (miles de euros)\n\nMiles de euros\t30.06.2026\t30.06.2025\n" +
				"Importe neto de la cifra de negocios\t45.210\t44.018\nOtros ingresos de explotación\t1.020\t998\n\n" +
				"Página 1 de 2\fMiles de euros\t30.06.2026\t30.06.2025\nEBITDA\t5.300\t6.110\nResultado antes de impuestos\t(1.410)\t820\n" +
				"Resultado del ejercicio\t(1.118)\t640\nResultado atribuido a intereses minoritarios\t12\t20\n" +
				"Resultado atribuido a la sociedad dominante\t(1.130)\t620\n",
			want: []string{"period=2026-H1; revenue=45210000; ebitda=5300000; net_profit=-1130000; currency=EUR"},
		},
		{
			name:      "quarter and half year in one table",
			title:     "Resultados 1S 2026",
			published: "2026-07-30",
			text: "Resultados 1S 2026\n\nMillones de euros\t2T26\t2T25\t1S26\t1S25\tVar. %\nVentas\t52,1\t50,0\t101,3\t96,4\t5,1 %\n" +
				"Margen EBITDA\t12,0 %\t11,0 %\t11,5 %\t11,1 %\t\nEBITDA\t6,2\t5,5\t11,6\t10,7\t8,4 %\nBeneficio neto\t2,1\t1,9\t4,0\t3,7\t8,1 %\n",
			want: []string{"period=2026-H1; revenue=101300000; ebitda=11600000; net_profit=4000000; currency=EUR"},
		},
		{
			name:      "segments are not the group",
			title:     "Resultados 9M 2026",
			published: "2026-11-05",
			text: "Resultados de los nueve primeros meses de 2026\n\nLa división de hogar aportó unas ventas de 45,2 millones de euros.\n\n" +
				"Los ingresos del grupo en los nueve primeros meses de 2026 fueron de 210,4 millones de euros.\n\nResultados por segmento\n\n" +
				"Los ingresos fueron de 33 millones de euros y el EBITDA de 4 millones de euros.",
			want: []string{"period=2026-9M; revenue=210400000; currency=EUR"},
		},
		{
			name:      "English release with guidance",
			title:     "FY 2025 results",
			published: "2026-02-24",
			text: "Results for the full year 2025\n\nNet sales rose 4.2% to €1,250.3 million in 2025. EBITDA stood at €187.4 million, compared with " +
				"€171.0 million in 2024. Net profit attributable to the parent company was €64.2 million.\n\n" +
				"For 2026 the Company expects EBITDA of between €195 million and €205 million and may consider raising its guidance.",
			want: []string{"period=2025; revenue=1250300000; ebitda=187400000; net_profit=64200000; currency=EUR"},
		},
		{
			name:      "Catalan",
			title:     "Resultats del primer semestre del 2026",
			published: "2026-07-24",
			text: "Resultats del primer semestre del 2026\n\nLa xifra de negocis del primer semestre del 2026 ha estat de 33,2 milions d'euros, davant dels " +
				"30,9 milions de l'any anterior. El resultat net atribuït ha estat de 2,8 milions d'euros.",
			want: []string{"period=2026-H1; revenue=33200000; net_profit=2800000; currency=EUR"},
		},
		{
			name:      "correction",
			title:     "Rectificación de los resultados del ejercicio 2025",
			published: "2026-03-03",
			text: "Resultados del ejercicio 2025: corrección de errores\n\nEn la información del ejercicio 2025, donde dice «beneficio neto de 12,5 millones de euros», " +
				"debe decir «beneficio neto de 11,5 millones de euros».",
			want: []string{"period=2025; net_profit=11500000; currency=EUR"},
		},
		{
			name:      "adjusted figures are not the reported ones",
			title:     "Resultados 2025",
			published: "2026-02-27",
			text: "Resultados 2025\n\nEn 2025 el EBITDA ajustado alcanzó los 40 millones de euros y el beneficio neto recurrente los 12 millones de euros. " +
				"La cifra de negocios fue de 300 millones de euros.",
			want: []string{"period=2025; revenue=300000000; currency=EUR"},
		},
		{
			name:      "figures of a company that is bought",
			title:     "Adquisición de Tintes del Sur",
			published: "2026-04-10",
			text: "La Sociedad ha acordado la compra de Tintes del Sur, S.L. En 2025 Tintes del Sur obtuvo unos ingresos de 40 millones de euros, un EBITDA de " +
				"6 millones de euros y un beneficio neto de 2 millones de euros.",
		},
		{
			name:      "only a forecast",
			title:     "Previsión de resultados",
			published: "2026-04-10",
			text: "Actualización de previsiones\n\nLa Sociedad estima que los ingresos de 2026 se situarán en 400 millones de euros. El EBITDA podría alcanzar " +
				"los 50 millones de euros, sujeto a la evolución de la demanda.",
		},
		{
			name:      "two values that disagree",
			title:     "Resultados del ejercicio 2025",
			published: "2026-02-27",
			text: "Resultados del ejercicio 2025\n\nLos ingresos del ejercicio 2025 fueron de 100 millones de euros. El EBITDA fue de 10 millones de euros.\n\n" +
				"Los ingresos del ejercicio 2025 ascendieron a 103 millones de euros.",
			want: []string{"period=2025; ebitda=10000000; currency=EUR"},
		},
		{
			name:      "columns without periods",
			title:     "Información pública periódica: primer semestre de 2026",
			published: "2026-08-03",
			text: "Información del primer semestre de 2026\n\nUds.: miles de euros\tPeriodo actual\tPeriodo anterior\n" +
				"Importe neto de la cifra de negocios\t8.120\t7.904\nResultado del periodo\t312\t(45)\n",
			want: []string{"period=2026-H1; revenue=8120000; net_profit=312000; currency=EUR"},
		},
		{
			name:      "figures that are not those of the company and period",
			title:     "Resultados primer semestre 2026",
			published: "2026-07-30",
			text: "Resultados del primer semestre de 2026\n\nLa compañía cerró en el primer semestre de 2026 ventas de activos por 30 millones de euros. Entre abril y " +
				"junio ingresó 118 millones de euros. En junio las ventas fueron de 40 millones de euros. El EBITDA de los últimos doce meses fue de 60 millones de " +
				"euros. Los ingresos en Francia fueron de 30 millones de euros. La compañía ganó 5 millones de euros por la venta de su sede.",
		},
		{
			name:      "changes beside the figures",
			title:     "Results",
			published: "2026-07-30",
			text: "Results for the six months ended 30 June 2026\n\nRevenue for the six months ended 30 June 2026 increased by €9.1 million to €230.1 million. EBITDA of " +
				"€31.0 million was up 6%. The Group recorded a net loss of €2.1 million, compared to a net profit of €1.0 million in the same period of 2025.",
			want: []string{"period=2026-H1; revenue=230100000; ebitda=31000000; net_profit=-2100000; currency=EUR"},
		},
		{
			name:      "quarters and years in one table",
			title:     "Resultados 2025",
			published: "2026-02-27",
			text:      "Resultados 2025\n\nMillones de euros\t4T25\t4T24\t2025\t2024\nVentas\t300\t280\t1.234\t1.150\nEBITDA\t50\t41\t180\t165\n",
			want:      []string{"period=2025; revenue=1234000000; ebitda=180000000; currency=EUR"},
		},
		{
			name:      "a loss in brackets, in thousands",
			title:     "Resultados del primer semestre de 2026",
			published: "2026-07-30",
			text: "Resultados primer semestre 2026\n\nLa cifra de negocios al 30 de junio de 2026 ha sido de 230.100 miles de euros, frente a 221.000 miles de euros a 30 de " +
				"junio de 2025. El resultado neto atribuible ha sido de (2.100) miles de euros.",
			want: []string{"period=2026-H1; revenue=230100000; net_profit=-2100000; currency=EUR"},
		},
		{
			name:      "the share of the profit that belongs to the company",
			title:     "Informe de resultados enero-junio 2026",
			published: "2026-07-30",
			text: "Informe de resultados\n\nMiles de euros\tEnero-junio 2026\tEnero-junio 2025\nResultado del periodo\t35.010\t31.220\n" +
				"Atribuible a la sociedad dominante\t34.502\t30.801\nAtribuible a intereses minoritarios\t508\t419\n",
			want: []string{"period=2026-H1; net_profit=34502000; currency=EUR"},
		},
		{
			name:      "a result that is a loss",
			title:     "Cuentas anuales 2025",
			published: "2026-02-27",
			text: "Cuentas anuales 2025\n\nLa Sociedad ha cerrado el ejercicio 2025 con una facturación récord de 98,4 millones de euros. El resultado del ejercicio arroja unas " +
				"pérdidas de 1,4 millones de euros, frente al beneficio de 0,6 millones de euros de 2024.",
			want: []string{"period=2025; revenue=98400000; net_profit=-1400000; currency=EUR"},
		},
		{
			name:      "a unit in two languages",
			title:     "Resultados / Results",
			published: "2026-07-30",
			text: "Primer semestre 2026 / First half 2026\n\nConcepto / Item\tMillones de euros / EUR million\nIngresos / Revenue\t230,1\n" +
				"Beneficio neto / Net profit\t12,1\n",
			want: []string{"period=2026-H1; revenue=230100000; net_profit=12100000; currency=EUR"},
		},
		{
			name:      "losses that are over",
			title:     "Resultados 1S26",
			published: "2026-07-30",
			text:      "Resultados 1S26\n\nEl resultado neto vuelve a positivo tras las pérdidas registradas y alcanza los 5 millones de euros en el primer semestre de 2026.",
		},
		{
			name:      "amounts below their names, and headings without a label",
			title:     "Resultados 1S26",
			published: "2026-07-30",
			text:      "Primer semestre 2026\n\nINGRESOS\tEBITDA\tBENEFICIO NETO\n230,1 M€\t31,0 M€\t12,1 M€\n+4,1%\t+6,2%\t+8,0%\n",
			want:      []string{"period=2026-H1; revenue=230100000; ebitda=31000000; net_profit=12100000; currency=EUR"},
		},
	})
}

func TestIsRounded(t *testing.T) {
	tests := []struct {
		short, long string
		want        bool
	}{
		{"248000000", "248100000", true},
		{"4500000000", "4512300000", true},
		{"4600000000", "4512300000", false},
		{"352000000", "351960000", true},
		{"248100000", "248000000", false},
		{"-248000000", "248100000", false},
		{"12000000", "1200000", false},
		{"5", "5", false},
	}
	for _, test := range tests {
		if got := isRounded(test.short, test.long); got != test.want {
			t.Errorf("isRounded(%s, %s) = %v", test.short, test.long, got)
		}
	}
}
