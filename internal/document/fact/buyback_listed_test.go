package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestTradesListed: purchases that sentences list day by day.
func TestTradesListed(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackTrades, []marketText{
		{
			name:  "days in a sentence, and the total in the next",
			title: "Programa de recompra: operaciones",
			day:   "2024-06-10",
			pages: []string{`Entre el 3 y el 7 de junio de 2024 la Sociedad ha comprado las acciones propias siguientes: el 3 de junio de ` +
				`2024, 1.000 acciones a un precio medio de 12,00 euros; y el 4 de junio de 2024, 500 acciones a un precio medio de ` +
				`12,10 euros. En conjunto, 1.500 acciones por un importe de 18.050,00 euros.`},
			want: []string{
				"amount=18050 currency=EUR from=2024-06-03 shares=1500 to=2024-06-07",
				"date=2024-06-03 price=12 shares=1000",
				"date=2024-06-04 price=12.1 shares=500",
			},
		},
		{
			name:  "days that do not add up to the total",
			title: "Programa de recompra: operaciones",
			day:   "2024-06-10",
			pages: []string{`Entre el 3 y el 7 de junio de 2024 se han comprado 1.600 acciones propias por 19.250 euros.

El 3 de junio de 2024 se compraron 1.000 acciones a 12,00 euros, y el 4 de junio de 2024, 500 acciones a 12,10 euros.`},
			want: []string{"amount=19250 currency=EUR from=2024-06-03 shares=1600 to=2024-06-07"},
		},
		{
			name:  "days of a person",
			title: "Operaciones con acciones propias",
			day:   "2024-06-10",
			pages: []string{`El consejero adquirió el 3 de junio de 2024 1.000 acciones a 12,00 euros y el 4 de junio de 2024 500 acciones a ` +
				`12,10 euros.`},
			want: nil,
		},
	})
}
