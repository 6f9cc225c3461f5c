package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestCapitalThatIsNoNews has changes that someone plans, supposes, denies, repeats or recalls.
func TestCapitalThatIsNoNews(t *testing.T) {
	const (
		company   = "Hilaturas del Norte, S.A."
		published = "2026-05-12"
		change    = "un aumento de capital por importe nominal de 500.000 euros mediante la emisión de 1.000.000 de acciones nuevas"
	)
	testTraps(t, disclosure.Capital, []trapTest{
		{
			name:      "a newspaper says so",
			company:   company,
			title:     "Información de la Sociedad",
			published: published,
			text:      "Según la información publicada hoy por el diario Mercados, la Sociedad ha acordado " + change + ".",
		},
		{
			name:      "what would have been agreed",
			company:   company,
			title:     "Información de la Sociedad",
			published: published,
			text:      "La Sociedad habría acordado " + change + ".",
		},
		{
			name:      "nothing was decided",
			company:   company,
			title:     "Información de la Sociedad",
			published: published,
			text:      "Se ha hablado de " + change + ". El Consejo no ha adoptado acuerdo alguno.",
		},
		{
			name:      "an example",
			company:   company,
			title:     "Cómo funciona un aumento de capital",
			published: published,
			text:      "Supongamos que la Sociedad ha ejecutado " + change + ".\n\nEl capital queda fijado en 9.000.000 de euros.",
		},
		{
			name:      "a letter about the last years",
			company:   company,
			title:     "Informe de la presidencia",
			published: published,
			text:      "En 2021 ampliamos capital. Se emitieron 1.000.000 de acciones nuevas por un importe nominal de 500.000 euros.",
		},
		{
			name:      "a report on what the meeting will vote on",
			company:   company,
			title:     "Información de la Sociedad",
			published: published,
			text: "El Consejo somete a la Junta un aumento de capital de 1.000.000 de acciones nuevas.\n\nTexto: Se acuerda aumentar el " +
				"capital por importe nominal de 500.000 euros mediante la emisión de 1.000.000 de acciones nuevas.",
		},
		{
			name:      "an agenda without its name",
			company:   company,
			title:     "Información de la Sociedad",
			published: published,
			text:      "Quinto. Se acuerda " + change + ".\n\nSexto. Ruegos y preguntas.",
		},
		{
			name:      "nobody decided it",
			company:   company,
			title:     "Información de la Sociedad",
			published: published,
			text:      "El grupo invertirá 140 millones, que financiará con deuda y con " + change + ".",
		},
		{
			name:      "a court suspends it",
			company:   company,
			title:     "Información de la Sociedad",
			published: published,
			text:      "El Juzgado ha acordado la suspensión cautelar del acuerdo de " + change + ".",
		},
		{
			name:      "cases in columns",
			company:   company,
			title:     "Aumento de capital",
			published: published,
			text:      "\t25 %\t100 %\nAcciones nuevas\t500.000\t2.000.000\nImporte nominal (€)\t250.000\t1.000.000\n",
		},
		{
			name:      "what an earlier announcement said",
			company:   company,
			title:     "Complemento",
			published: published,
			text:      "Como complemento al anuncio de enero, en el que se comunicaba la ejecución de " + change + ", se publica el anexo.",
		},
		{
			name:      "an offer of which the outcome is open",
			company:   company,
			title:     "Prospección de la demanda",
			published: published,
			text:      "El Consejo ha acordado iniciar una colocación para " + change + ".",
		},
	})
}

// TestCapitalProvedBySums has tables whose sums say what their figures are.
func TestCapitalProvedBySums(t *testing.T) {
	testTraps(t, disclosure.Capital, []trapTest{
		{
			name:      "rows before, the change and after",
			title:     "Cuadro de la operación",
			published: "2026-12-09",
			text: "\tNúmero de acciones\tCapital social (€)\nAntes\t14.000.000\t7.000.000,00\nAmpliación de capital\t1.400.000\t700.000,00\n" +
				"Después\t15.400.000\t7.700.000,00\n",
			want: []string{"action=increase; amount=700000; capital_after=7700000; currency=EUR; new_shares=1400000"},
		},
		{
			name:      "rows that do not add up",
			title:     "Cuadro de la operación",
			published: "2026-12-09",
			text: "\tNúmero de acciones\tCapital social (€)\nAntes\t14.000.000\t7.000.000,00\nAmpliación de capital\t1.500.000\t800.000,00\n" +
				"Después\t15.400.000\t7.700.000,00\n",
		},
		{
			name:      "tranches with their total",
			title:     "Resultado del aumento de capital",
			published: "2026-12-09",
			text: "Resultado del aumento de capital\n\nTramo\tAcciones nuevas\tNominal (€)\nMinorista\t1.000.000\t100.000\n" +
				"Cualificado\t4.000.000\t400.000\nTotal\t5.000.000\t500.000\n",
			want: []string{"action=increase; amount=500000; currency=EUR; new_shares=5000000"},
		},
		{
			name:      "from, by and to",
			title:     "Capital increase",
			published: "2026-12-09",
			language:  "en",
			text: "The Company has resolved on a capital increase. The share capital will be increased from EUR 18,000,000 by EUR " +
				"1,800,000 to EUR 19,800,000.",
			want: []string{"action=increase; amount=1800000; capital_after=19800000; currency=EUR"},
		},
	})
}
