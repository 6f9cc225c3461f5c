package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestRatings(t *testing.T) {
	checkFacts(t, disclosure.Rating, []statedFacts{
		{
			name:      "upgrade with the rating until now",
			title:     "Calificación crediticia",
			published: "2026-05-12",
			text: "La Sociedad informa de que la agencia de calificación crediticia Moody's Investors Service ha elevado en el día de hoy su rating corporativo a largo plazo " +
				"desde Ba1 hasta Baa3, con perspectiva estable.\n\nLa agencia podría rebajar la calificación si el apalancamiento superase 3,5 veces el EBITDA.",
			want: []string{"agency=Moody's; action=upgrade; rating=Baa3; outlook=stable"},
		},
		{
			name:      "affirmed with a better outlook",
			title:     "S&P mejora la perspectiva",
			published: "2026-05-12",
			text: "S&P Global Ratings ha revisado la perspectiva de Hilaturas del Norte de estable a positiva y ha confirmado el rating a largo plazo en BBB-.\n\n" +
				"El rating a corto plazo se confirma en A-3.",
			want: []string{"agency=S&P; action=affirmed; rating=BBB-; outlook=positive"},
		},
		{
			name:      "two agencies",
			title:     "Ratings",
			published: "2026-05-12",
			text: "Fitch Ratings ha confirmado la calificación de la Sociedad en BBB, con perspectiva estable.\n\n" +
				"Standard & Poor's ha rebajado la calificación de la Sociedad de BBB a BBB-, con perspectiva negativa.",
			want: []string{
				"agency=Fitch; action=affirmed; rating=BBB; outlook=stable",
				"agency=S&P; action=downgrade; rating=BBB-; outlook=negative",
			},
		},
		{
			name:      "a passive sentence in English",
			title:     "Rating",
			published: "2026-05-12",
			text: "Fitch Ratings has downgraded the Company's Long-Term Issuer Default Rating to 'BB+' from 'BBB-'. The Outlook is Stable.\n\n" +
				"Ratings may be revised or withdrawn at any time.",
			want: []string{"agency=Fitch; action=downgrade; rating=BB+; outlook=stable"},
		},
		{
			name:      "DBRS",
			title:     "Calificación crediticia",
			published: "2026-05-12",
			text:      "Morningstar DBRS ha asignado a Hilaturas del Norte, S.A. una calificación de emisor a largo plazo de BBB (high), con tendencia estable.",
			want:      []string{"agency=DBRS; action=assigned; rating=BBB (high); outlook=stable"},
		},
		{
			name:      "review",
			title:     "Rating",
			published: "2026-05-12",
			text:      "Moody's ha puesto en revisión para una posible rebaja el rating Baa2 de Hilaturas del Norte, S.A.",
			want:      []string{"agency=Moody's; action=review; rating=Baa2"},
		},
		{
			name:      "form",
			title:     "Comunicación de rating",
			published: "2026-05-12",
			text: "Comunicación de rating\n\nAgencia de rating\tFitch Ratings\nTipo de acción\tConfirmación\nRating a largo plazo\tA-\nRating anterior\tBBB+\n" +
				"Rating a corto plazo\tF2\nPerspectiva\tEstable\n",
			want: []string{"agency=Fitch; action=affirmed; rating=A-; outlook=stable"},
		},
		{
			name:      "another issuer",
			title:     "Rating de España",
			published: "2026-05-12",
			text:      "Fitch ha elevado la calificación del Reino de España a A, con perspectiva estable.",
		},
		{
			name:      "only possible",
			title:     "Rating",
			published: "2026-05-12",
			text: "S&P podría elevar el rating de la Sociedad a BBB si reduce su deuda.\n\nLa Sociedad cuenta con un rating BBB- de Fitch.\n\n" +
				"El objetivo es mantener la calificación de grado de inversión.",
		},
		{
			name:      "Catalan",
			title:     "Qualificació creditícia",
			published: "2026-05-12",
			text:      "Fitch Ratings ha rebaixat la qualificació creditícia de la Societat de BBB a BBB-, amb perspectiva negativa.",
			want:      []string{"agency=Fitch; action=downgrade; rating=BBB-; outlook=negative"},
		},
		{
			name:      "withdrawn",
			title:     "Retirada de rating",
			published: "2026-05-12",
			text:      "A solicitud de la Sociedad, Scope Ratings ha retirado la calificación BB+ que le tenía asignada.",
			want:      []string{"agency=Scope; action=withdrawn; rating=BB+"},
		},
		{
			name:      "lines with colons",
			title:     "Calificación crediticia",
			published: "2026-05-12",
			text: "Agencia: Fitch Ratings\nRating a largo plazo: BBB\nRating a corto plazo: F2\nPerspectiva: " +
				"Estable\nAcción: Confirmación",
			want: []string{"agency=Fitch; action=affirmed; rating=BBB; outlook=stable"},
		},
		{
			name:      "both terms in brackets",
			title:     "Calificación",
			published: "2026-05-12",
			text: "Standard & Poor's ratificó ayer la calificación de la Sociedad a largo plazo (BBB) y a corto plazo " +
				"(A-2), y mejoró la perspectiva a positiva desde estable.",
			want: []string{"agency=S&P; action=affirmed; rating=BBB; outlook=positive"},
		},
		{
			name:      "an upgrade of another year",
			title:     "Moody's",
			published: "2026-05-12",
			text:      "En 2024, Moody's elevó el rating de la Sociedad a Baa3.",
		},
		{
			name:      "recognised text with wide spaces",
			title:     "Rating",
			published: "2026-05-12",
			text: "Se  informa de que la agencia Fitch ha rebajado la calificación a  largo plazo de la Sociedad hasta " +
				"BB , con  perspectiva negativa .",
			want: []string{"agency=Fitch; action=downgrade; rating=BB; outlook=negative"},
		},
	})
}
