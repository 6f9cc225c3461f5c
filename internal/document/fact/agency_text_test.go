package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestAgencies has the ways in which reports name agencies, and ratings that are not those
// of the report.
func TestAgencies(t *testing.T) {
	const published = "2026-05-12"
	checkFacts(t, disclosure.Rating, []statedFacts{
		{
			name:      "the short name of an agency with a country and a legal form",
			title:     "Calificación",
			published: published,
			text: "La agencia de calificación crediticia Tasadora Ratings España, S.L.U. ha elevado el rating de la Sociedad a " +
				"BBB- con perspectiva estable. Tasadora prevé que la deuda baje.",
			want: []string{"agency=Tasadora; action=upgrade; rating=BBB-; outlook=stable"},
		},
		{
			name:      "a form with the legal form of the agency",
			title:     "Calificación",
			published: published,
			text: "Agencia\tFitch Ratings España, S.A.U.\nAcción\tMejora de la calificación\nCalificación previa\tBBB\n" +
				"Nueva calificación\tBBB+",
			want: []string{"agency=Fitch; action=upgrade; rating=BBB+"},
		},
		{
			name:      "the old name of an agency",
			title:     "Calificación",
			published: published,
			text:      "EthiFinance Ratings (antes Axesor Rating) ha confirmado en BB+ el rating de la Sociedad.",
			want:      []string{"agency=EthiFinance; action=affirmed; rating=BB+"},
		},
		{
			name:      "the rating of another agency that stays",
			title:     "Calificación",
			published: published,
			text: "Fitch Ratings ha confirmado la calificación de la Sociedad en BBB. S&P Global Ratings mantiene su " +
				"calificación de BBB+.",
			want: []string{"agency=Fitch; action=affirmed; rating=BBB"},
		},
		{
			name:      "the rating of another company",
			title:     "Calificación",
			published: published,
			text: "Hilaturas del Norte, S.A. comunica que Fitch ha rebajado la calificación de Beta Renovables, S.L. a BB desde " +
				"BB+.",
		},
		{
			name:      "denied",
			title:     "Calificación",
			published: published,
			text:      "La Sociedad desmiente que Moody's haya rebajado su calificación a Ba2.",
		},
		{
			name:      "withdrawn in the infinitive",
			title:     "Calificación",
			published: published,
			text:      "La agencia Scope Ratings ha procedido a retirar la calificación de la Sociedad.",
			want:      []string{"agency=Scope; action=withdrawn"},
		},
		{
			name:      "the rating and outlook that were withdrawn",
			title:     "Calificación",
			published: published,
			text:      "La agencia Scope Ratings ha retirado el rating, que se situaba en CCC con perspectiva negativa.",
			want:      []string{"agency=Scope; action=withdrawn"},
		},
		{
			name:      "a passive sentence in the past",
			title:     "Rating",
			published: published,
			text:      "The long-term rating of the Company was raised to BBB by Fitch.",
			want:      []string{"agency=Fitch; action=upgrade; rating=BBB"},
		},
		{
			name:      "a rating of one letter in quotes",
			title:     "Calificación",
			published: published,
			text:      "AM Best ha confirmado la calificación de fortaleza financiera «A (Excelente)», con perspectiva estable.",
			want:      []string{"agency=AM Best; action=affirmed; rating=A; outlook=stable"},
		},
		{
			name:      "an upgrade of the year before",
			title:     "Calificación",
			published: published,
			text:      "Fitch Ratings ha confirmado la calificación en BBB. El pasado año Fitch mejoró la calificación desde BBB-.",
			want:      []string{"agency=Fitch; action=affirmed; rating=BBB"},
		},
		{
			name:      "the words for what an agency does",
			title:     "Calificación",
			published: published,
			text: "Mesura Credit Research ha confirmado la calificación BBB de la Sociedad, con perspectiva " +
				"estable.",
			want: []string{"agency=Mesura; action=affirmed; rating=BBB; outlook=stable"},
		},
		{
			name:      "an agency that is only called so",
			title:     "Calificación",
			published: published,
			text: "La agencia de calificación crediticia Mesura ha mejorado la calificación de la Sociedad de BB a " +
				"BB+.",
			want: []string{"agency=Mesura; action=upgrade; rating=BB+"},
		},
		{
			name:      "a participle that describes",
			title:     "Calificación",
			published: published,
			text: "Mesura Calificaciones ha confirmado la calificación BBB de la Sociedad. La agencia destaca su " +
				"elevada solvencia.",
			want: []string{"agency=Mesura; action=affirmed; rating=BBB"},
		},
		{
			name:      "another company without its legal form",
			title:     "Calificación",
			published: published,
			text:      "Mesura Ratings ha mejorado la calificación de Aceros Duero, competidor de Hilaturas del Norte, a BBB.",
		},
		{
			name:      "a rating since another year",
			title:     "Calificación",
			published: published,
			text: "Mesura Ratings ha subido la nota de la Sociedad de BB+ a BBB-. Contraste Ratings le otorga BB+ desde " +
				"2023.",
			want: []string{"agency=Mesura; action=upgrade; rating=BBB-"},
		},
		{
			name:      "the end of a review",
			title:     "Rating",
			published: published,
			text: "Mesura Ratings has downgraded the Company to BB+ from BBB- and removed the rating from review for " +
				"downgrade.",
			want: []string{"agency=Mesura; action=downgrade; rating=BB+"},
		},
	})
}
