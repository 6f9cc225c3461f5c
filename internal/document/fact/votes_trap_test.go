package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestVotesThatAreNotTheTotal has totals of other companies, of examples and of days to come.
func TestVotesThatAreNotTheTotal(t *testing.T) {
	const (
		company   = "Hilaturas del Norte, S.A."
		title     = "Derechos de voto"
		published = "2026-06-02"
	)
	testTraps(t, disclosure.VotingRights, []trapTest{
		{
			name:      "an example",
			company:   company,
			title:     title,
			published: published,
			text: "Supongamos que una sociedad tiene un número total de derechos de voto de 20.000.000.\n\nEsa misma sociedad tiene un " +
				"capital social de 10.000.000 de euros, dividido en 20.000.000 de acciones.",
		},
		{
			name:      "another company without its legal form",
			company:   company,
			title:     title,
			published: published,
			text:      "El número total de acciones y de derechos de voto de Cementos Oria asciende a 30.000.000.",
		},
		{
			name:      "the future",
			company:   company,
			title:     title,
			published: published,
			text:      "La agrupación reducirá el número de acciones y de derechos de voto de 400.000.000 a 20.000.000.",
		},
		{
			name:      "a holder",
			company:   company,
			title:     title,
			published: published,
			text:      "Tras la compra, la familia suma 2.310.000 derechos de voto, el 11,55 %.",
		},
		{
			name:      "a row for each issuer",
			company:   company,
			title:     title,
			published: published,
			text:      "Emisor\tAcciones\tDerechos de voto\nAlfa\t31.000.000\t31.000.000\nBeta\t12.000.000\t12.000.000\nTotal\t43.000.000\t43.000.000\n",
		},
		{
			name:      "bonds",
			company:   company,
			title:     title,
			published: published,
			text:      "Cada obligación da derecho a un voto y el número total de votos es de 50.000.",
		},
		{
			name:      "bylaws",
			company:   company,
			title:     title,
			published: published,
			text:      "El capital social es de 7.212.000 euros y está dividido en 12.020.000 acciones de 0,60 euros.",
		},
		{
			name:      "a mistake in its own words",
			company:   company,
			title:     title,
			published: published,
			text:      "Se indicó, por error, que el número total de derechos de voto es de 14.250.000.",
		},
	})
}

// TestVotesOfADay has days that are said in other words than a date behind "a".
func TestVotesOfADay(t *testing.T) {
	const (
		company   = "Hilaturas del Norte, S.A."
		title     = "Total de derechos de voto"
		published = "2026-06-02"
	)
	testTraps(t, disclosure.VotingRights, []trapTest{
		{
			name:      "the end of a month",
			company:   company,
			title:     title,
			published: published,
			text:      "A cierre de mayo de 2026 el número total de derechos de voto es de 9.000.000.",
			want:      []string{"as_of=2026-05-31; voting_rights=9000000"},
		},
		{
			name:      "without its year",
			company:   company,
			title:     title,
			published: published,
			text:      "A 31 de mayo el número total de derechos de voto es de 9.000.000.",
			want:      []string{"as_of=2026-05-31; voting_rights=9000000"},
		},
		{
			name:      "tables of two days",
			company:   company,
			title:     title,
			published: published,
			text: "Datos a 30 de abril de 2026\n\nDerechos de voto\t8.000.000\nAcciones\t8.000.000\n\nDatos a 31 de mayo de 2026\n\n" +
				"Derechos de voto\t9.000.000\nAcciones\t9.000.000\n",
			want: []string{"as_of=2026-05-31; shares=9000000; voting_rights=9000000"},
		},
		{
			name:      "classes beside their total",
			company:   company,
			title:     title,
			published: published,
			text: "A 31 de mayo de 2026:\n\nAcciones ordinarias: 60.000.000\nTotal de acciones: 64.000.000\n" +
				"Total de derechos de voto: 60.000.000\n",
			want: []string{"as_of=2026-05-31; shares=64000000; voting_rights=60000000"},
		},
	})
}
