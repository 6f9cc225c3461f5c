package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestVotesBesideFormer has totals that stand beside what was before.
func TestVotesBesideFormer(t *testing.T) {
	const published = "2026-06-05"
	const want = "shares=5500000; voting_rights=5500000; capital=2750000; currency=EUR; as_of=2026-06-05"
	checkFacts(t, disclosure.VotingRights, []statedFacts{
		{
			name:      "a clause about what was, after a change of the capital",
			title:     "Aumento de capital. Nuevo total de derechos de voto",
			published: published,
			text: "Como consecuencia de lo anterior, el capital social, que ascendía a 2.500.000 euros, ha pasado a ser de 2.750.000 euros, " +
				"dividido en 5.500.000 acciones, y el número total de derechos de voto es de 5.500.000 a 5 de junio de 2026.",
			want: []string{want},
		},
		{
			name:      "a notice of a change that ends with the totals",
			title:     "Aumento de capital",
			published: published,
			text: "Se ha inscrito el aumento de capital por importe nominal de 250.000 euros, mediante la emisión de 500.000 acciones nuevas.\n\n" +
				"El capital social asciende ahora a 2.750.000 euros, representado por 5.500.000 acciones, que otorgan 5.500.000 derechos de voto, " +
				"según situación a 5 de junio de 2026.",
			want: []string{want},
		},
		{
			name:      "a proposal of a change",
			title:     "Aumento de capital",
			published: published,
			text: "El Consejo ha propuesto a la Junta aumentar el capital en 250.000 euros. El capital social quedaría fijado en 2.750.000 euros, " +
				"representado por 5.500.000 acciones, que otorgarían 5.500.000 derechos de voto.",
		},
		{
			name:      "a list with letters",
			title:     "Total voting rights",
			published: published,
			text: "As at 5 June 2026:\n\n(a)  Ordinary shares of 5 cents each    5,500,000\n(b)  of which in treasury    200,000\n" +
				"(c)  Total number of voting rights    5,300,000",
			want: []string{"shares=5500000; voting_rights=5300000; as_of=2026-06-05"},
		},
		{
			name:      "columns before, change and after",
			title:     "Monthly statement of voting rights",
			published: published,
			text: "Position as at 31 May 2026\n\n\tOpening balance\tChange\tClosing balance\nNumber of shares\t5,000,000\t500,000\t5,500,000\n" +
				"Number of voting rights\t5,000,000\t500,000\t5,500,000",
			want: []string{"shares=5500000; voting_rights=5500000; as_of=2026-05-31"},
		},
		{
			name:      "the same number of votes",
			title:     "Derechos de voto",
			published: published,
			text: "A 31 de mayo de 2026 el capital social asciende a 2.750.000 euros, representado por 5.500.000 acciones que confieren " +
				"idéntico número de derechos de voto.",
			want: []string{"shares=5500000; voting_rights=5500000; capital=2750000; currency=EUR; as_of=2026-05-31"},
		},
		{
			name:      "the form of a holder",
			title:     "Notificación de derechos de voto",
			published: published,
			text:      "1. Persona obligada\nD. Celestino Villar Prado\n\n2. Número total de derechos de voto del emisor\n5.500.000",
		},
	})
}

// TestCapitalPair has one label for the capital before a change and after it.
func TestCapitalPair(t *testing.T) {
	const form = "1. Operación\nReducción de capital inscrita ayer\n\n2. Importe de la reducción\n200.000 euros\n\n" +
		"3. Capital social antes / después\n"
	checkFacts(t, disclosure.Capital, []statedFacts{
		{
			name:      "the amount proves it",
			title:     "Reducción de capital",
			published: "2026-06-05",
			text:      form + "1.000.000 euros / 800.000 euros",
			want:      []string{"action=reduction; amount=200000; capital_after=800000; currency=EUR"},
		},
		{
			name:      "another difference",
			title:     "Reducción de capital",
			published: "2026-06-05",
			text:      form + "1.000.000 euros / 700.000 euros",
			want:      []string{"action=reduction; amount=200000; currency=EUR"},
		},
		{
			name:      "a clause about what was",
			title:     "Aumento de capital",
			published: "2026-06-05",
			text: "Se ha inscrito el aumento de capital por importe nominal de 250.000 euros. Como consecuencia de lo anterior, el capital social, " +
				"que ascendía a 2.500.000 euros, ha pasado a ser de 2.750.000 euros.",
			want: []string{"action=increase; amount=250000; capital_after=2750000; currency=EUR"},
		},
	})
}
