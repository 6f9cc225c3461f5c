package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestVotesOfDays has documents with the totals of several days, and days that a line
// before the totals gives.
func TestVotesOfDays(t *testing.T) {
	const published = "2026-05-12"
	const title = "Capital y derechos de voto"
	const want = "shares=10000000; voting_rights=10000000; capital=5000000; currency=EUR; as_of=2026-04-30"
	checkFacts(t, disclosure.VotingRights, []statedFacts{
		{
			name:      "a row for each day",
			title:     title,
			published: published,
			text: "Fecha\tCapital\tAcciones\tVotos\n31/03/2026\t4.500.000 €\t9.000.000\t9.000.000\n" +
				"30/04/2026\t5.000.000 €\t10.000.000\t10.000.000",
			want: []string{want},
		},
		{
			name:      "a row for a day to come",
			title:     title,
			published: published,
			text: "Fecha\tCapital\tAcciones\tVotos\n30/04/2026\t5.000.000 €\t10.000.000\t10.000.000\n" +
				"31/03/2026\t4.500.000 €\t9.000.000\t9.000.000\n30/06/2026\t5.500.000 €\t11.000.000\t11.000.000",
			want: []string{want},
		},
		{
			name:      "a column for the change between two days",
			title:     title,
			published: published,
			text: "\t31/03/2026\tVariación\t30/04/2026\nCapital social (euros)\t4.500.000\t500.000\t5.000.000\n" +
				"Número de acciones\t9.000.000\t1.000.000\t10.000.000\nDerechos de voto\t9.000.000\t1.000.000\t10.000.000",
			want: []string{want},
		},
		{
			name:      "a line before the totals",
			title:     title,
			published: published,
			text: "Tras la reducción de la que se informó en la comunicación de 7 de abril, las cifras a 30 de abril de 2026 son " +
				"las siguientes:\n\n• Capital social: 5.000.000 euros\n\n• Acciones en circulación: 10.000.000\n\n" +
				"• Derechos de voto: 10.000.000",
			want: []string{want},
		},
		{
			name:      "the day of the change",
			title:     title,
			published: published,
			text: "Fecha en que se produjo la variación: 30 de abril de 2026\n\n\tAnterior\tResultante\n" +
				"Acciones\t9.000.000\t10.000.000\nDerechos de voto\t9.000.000\t10.000.000\nCapital (€)\t4.500.000\t5.000.000",
			want: []string{want},
		},
		{
			name:      "the day of the last notice",
			title:     title,
			published: published,
			text: "Fecha de referencia\t30 de abril de 2026\nFecha de la última comunicación\t31 de marzo de 2026\n" +
				"Capital social (euros)\t5.000.000,00\nNúmero de acciones\t10.000.000\nDerechos de voto\t10.000.000",
			want: []string{want},
		},
		{
			name:      "a move without its verb",
			title:     title,
			published: published,
			text: "El capital social ha pasado de 4.500.000 a 5.000.000 euros y el número de acciones de 9.000.000 a 10.000.000, " +
				"con idéntico número de derechos de voto: 10.000.000.",
			want: []string{"shares=10000000; voting_rights=10000000; capital=5000000; currency=EUR"},
		},
		{
			name:      "the capital in words with its figure",
			title:     title,
			published: published,
			text: "El capital social a 30 de abril de 2026 es de CINCO MILLONES DE EUROS (5.000.000 €), representado por " +
				"10.000.000 acciones, que otorgan 10.000.000 derechos de voto.",
			want: []string{want},
		},
		{
			name:      "a day in words",
			title:     title,
			published: published,
			text: "El capital social a treinta y uno de marzo de dos mil veintiséis es de 5.000.000 euros, representado por " +
				"10.000.000 acciones, que otorgan 10.000.000 derechos de voto.",
			want: []string{"shares=10000000; voting_rights=10000000; capital=5000000; currency=EUR; as_of=2026-03-31"},
		},
		{
			name:      "what would be",
			title:     title,
			published: published,
			text: "Si se ejecutase el aumento, el capital pasaría a 6.000.000 euros, con 12.000.000 acciones y 12.000.000 " +
				"derechos de voto.",
		},
		{
			name:      "shares with two votes",
			title:     title,
			published: published,
			text: "Como 300.000 acciones tienen dos votos, el número total de derechos de voto es de 10.300.000. El capital " +
				"social es de 5.000.000 euros.",
			want: []string{"voting_rights=10300000; capital=5000000; currency=EUR"},
		},
	})
}
