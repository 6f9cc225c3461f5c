package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestRatingsOfSeries has an agency that is named once, before what it did with each series.
func TestRatingsOfSeries(t *testing.T) {
	checkFacts(t, disclosure.Rating, []statedFacts{
		{
			name:      "series in lines",
			title:     "Calificación de los bonos",
			published: "2026-07-08",
			text: "Moody's Investors Service, con fecha 7 de julio de 2026, ha llevado a cabo las siguientes actuaciones sobre los bonos:\n\n" +
				"• Serie A: confirmada en Aaa (sf)\n\n• Serie B: elevada a Aa2 (sf) desde A1 (sf)",
			want: []string{
				"agency=Moody's; action=affirmed; rating=Aaa (sf)",
				"agency=Moody's; action=upgrade; rating=Aa2 (sf)",
			},
		},
		{
			name:      "series that the agency may change",
			title:     "Calificación de los bonos",
			published: "2026-07-08",
			text: "Moody's podría llevar a cabo las siguientes actuaciones sobre los bonos:\n\n" +
				"• Serie A: confirmada en Aaa (sf)\n\n• Serie B: elevada a Aa2 (sf)",
		},
		{
			name:      "an action of an earlier year",
			title:     "Calificación crediticia",
			published: "2026-06-11",
			text:      "La calificación de Moody's, que la asignó en 2024, no ha sido modificada.",
		},
	})
}

// TestBoardFarFromVerb has clauses between a person and the verb.
func TestBoardFarFromVerb(t *testing.T) {
	checkFacts(t, disclosure.Board, []statedFacts{
		{
			name:      "two commas",
			title:     "Cambios en el Consejo",
			published: "2026-02-25",
			text: "La Sociedad comunica que D. Evaristo Pedraza Llopis, por medio de carta de fecha 23 de febrero de 2026 dirigida a todos los miembros " +
				"del Consejo y en la que explica que su decisión obedece a motivos estrictamente personales, ha presentado su dimisión como consejero " +
				"dominical, con efectos desde el 28 de febrero de 2026.",
			want: []string{"action=resigned; person=Evaristo Pedraza Llopis; role=consejero dominical; effective=2026-02-28"},
		},
		{
			name:      "the day explained",
			title:     "Result of the Annual General Meeting",
			published: "2026-05-28",
			text: "The meeting has resolved as follows. Mr Tobias Fenwick has been elected as a non-executive director with effect from the close of the " +
				"meeting, that is, 28 May 2026.",
			want: []string{"action=appointed; person=Tobias Fenwick; role=non-executive director; effective=2026-05-28"},
		},
		{
			name:      "labels above their values",
			title:     "Cambio en el Consejo",
			published: "2026-04-15",
			text: "Nombre y apellidos\n\nPatricia Lozano Berrio\n\nCargo\n\nConsejera delegada\n\nTipo de movimiento\n\nNombramiento\n\n" +
				"Fecha de efectos\n\n1 de mayo de 2026",
			want: []string{"action=appointed; person=Patricia Lozano Berrio; role=Consejera delegada; effective=2026-05-01"},
		},
	})
}

// TestResultsOfForms has units and periods of their own lines.
func TestResultsOfForms(t *testing.T) {
	checkFacts(t, disclosure.Results, []statedFacts{
		{
			name:      "the unit in a field",
			title:     "Información financiera del primer trimestre de 2026",
			published: "2026-05-06",
			text: "Periodo: Primer trimestre de 2026\n\nMoneda y unidad: Miles de euros\n\nImporte neto de la cifra de negocios:\n38.412\n\n" +
				"EBITDA:\n\n5.903",
			want: []string{"period=2026-Q1; revenue=38412000; ebitda=5903000; currency=EUR"},
		},
		{
			name:      "a unit between the heading and the rows",
			title:     "Avance de resultados del primer semestre de 2026",
			published: "2026-07-23",
			text: "\t1S 2026\t1S 2025\n(miles de euros)\nImporte neto de la cifra de negocios\t64.118\t61.007\nEBITDA\t11.245\t10.660\n\n" +
				"Las cifras no han sido auditadas.",
			want: []string{"period=2026-H1; revenue=64118000; ebitda=11245000; currency=EUR"},
		},
		{
			name:      "a period in two languages",
			title:     "Resultados del primer semestre 2026 / First-half 2026 results",
			published: "2026-09-24",
			text:      "Miles de euros / Thousand euros\t1S/H1 2026\t1S/H1 2025\nCifra de negocios / Revenue\t184.720\t171.066",
			want:      []string{"period=2026-H1; revenue=184720000; currency=EUR"},
		},
	})
}
