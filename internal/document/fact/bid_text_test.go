package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestBidTraps has prices, shares and stages that are not those of the bid of the report.
func TestBidTraps(t *testing.T) {
	const published = "2026-05-12"
	const bid = "Hilaturas del Norte, S.A. ha decidido formular una oferta pública de adquisición sobre Aceros Duero, S.A."
	const announced = "action=announced; bidder=Hilaturas del Norte, S.A.; target=Aceros Duero, S.A."
	checkFacts(t, disclosure.Takeover, []statedFacts{
		{
			name:      "the value of shares that are offered",
			title:     "OPA",
			published: published,
			text: bid + " La contraprestación consiste en 2 acciones nuevas por cada 5 acciones, lo que equivale a 6,40 euros por " +
				"acción.",
			want: []string{announced},
		},
		{
			name:      "money and shares",
			title:     "OPA",
			published: published,
			text:      bid + " La contraprestación mixta es de 2,10 euros por acción y 0,3 acciones de la oferente.",
			want:      []string{announced},
		},
		{
			name:      "the price of the bid with which this one competes",
			title:     "OPA",
			published: published,
			text:      bid + " La oferta de Grupo Lince, S.A. es de 7,25 euros por acción.",
			want:      []string{announced},
		},
		{
			name:      "a range of valuations",
			title:     "OPA",
			published: published,
			text: bid + " El precio es de 7,80 euros por acción. Un experto fija un precio en un rango de 6,90 a 8,10 euros por " +
				"acción.",
			want: []string{announced + "; price=7.8; currency=EUR"},
		},
		{
			name:      "a decision of today with the price in words",
			title:     "OPA",
			published: published,
			text: "Hilaturas del Norte, S.A. ha acordado en el día de hoy formular una oferta pública voluntaria sobre Aceros " +
				"Duero, S.A., con una contraprestación de setenta y cuatro céntimos de euro (0,74 €) por acción.",
			want: []string{announced + "; price=0.74; currency=EUR"},
		},
		{
			name:      "what the bidder has after the bid",
			title:     "Resultado de la OPA",
			published: published,
			text: "Hilaturas del Norte, S.A. comunica que la oferta sobre Aceros Duero, S.A. ha sido aceptada por 1.240.600 " +
				"acciones, con lo que alcanzará el 71,3% del capital.",
			want: []string{"action=result; bidder=Hilaturas del Norte, S.A.; target=Aceros Duero, S.A."},
		},
		{
			name:      "the sale that follows a bid",
			title:     "Venta forzosa",
			published: published,
			text: "Tras la liquidación de la oferta pública de adquisición sobre Aceros Duero, S.A., aceptada por el 95,2%, se " +
				"ejercitará la venta forzosa a 7,25 euros por acción.",
		},
		{
			name:      "a bid of the quarter",
			title:     "Informe trimestral",
			published: published,
			text: "Durante el trimestre Hilaturas del Norte, S.A. obtuvo la autorización de la oferta pública sobre Aceros Duero, " +
				"S.A.",
		},
		{
			name:      "the other shares of a company of which the bidder has some",
			title:     "OPA",
			published: published,
			text: "Hilaturas del Norte, S.A. comunica que, tras alcanzar el 33,4% de los derechos de voto de " +
				"Aceros Duero, S.A., formulará una oferta pública de adquisición obligatoria sobre la totalidad " +
				"de sus acciones a un precio de 0,98 euros por acción.",
			want: []string{"action=announced; bidder=Hilaturas del Norte, S.A.; target=Aceros Duero, S.A.; price=0.98; currency=EUR"},
		},
		{
			name:      "shares that are no longer traded after a bid",
			title:     "Exclusión de negociación",
			published: published,
			text: "Como consecuencia de la liquidación de la oferta pública de adquisición formulada por Hilaturas " +
				"del Norte, S.A., quedan excluidas de negociación las acciones de Aceros Duero, S.A.",
		},
		{
			name:      "an adviser",
			title:     "Operación",
			published: published,
			text: "Hilaturas del Norte, S.A. actúa como asesor de Lumbre, S.A. en la OPA que ésta ha anunciado sobre Aceros " +
				"Duero, S.A.",
		},
	})
}
