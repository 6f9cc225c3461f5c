package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestTradesOfWeeks(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackTrades, []marketText{
		{
			name:    "a day without its year in the sentence",
			company: "Ribera Gas, S.A.",
			title:   "Operaciones del programa de recompra",
			day:     "2026-06-15",
			pages: []string{`Ribera Gas, S.A. comunica que, entre el 8 y el 12 de junio de 2026, ha comprado 3.000 acciones propias por un importe de 30.350 euros.

Fecha	Centro	Acciones	Precio (€)
08/06/2026	XMAD	1.000	10,10
09/06/2026	XMAD	1.500	10,15
12/06/2026	XMAD	500	10,05

Desde el inicio del programa se han adquirido 41.000 acciones por 400.000 euros.`},
			want: []string{
				"amount=30350 currency=EUR from=2026-06-08 shares=3000 to=2026-06-12",
				"date=2026-06-08 price=10.1 shares=1000 venue=XMAD",
				"date=2026-06-09 price=10.15 shares=1500 venue=XMAD",
				"date=2026-06-12 price=10.05 shares=500 venue=XMAD",
			},
		},
		{
			name:    "a week in which nothing was bought on some days",
			company: "Ribera Gas, S.A.",
			title:   "Operaciones del programa de recompra",
			day:     "2026-06-15",
			pages: []string{`Operaciones realizadas al amparo del programa de recompra entre el 8 y el 12 de junio de 2026:

Fecha	Operación	Centro	Títulos	Precio medio
08/06/2026	Compra	XMAD	1.000	10,10
09/06/2026	-	-	-	-
12/06/2026	Compra	XMAD	500	10,05
Total			1.500	10,08`},
			want: []string{
				"from=2026-06-08 shares=1500 to=2026-06-12",
				"date=2026-06-08 price=10.1 shares=1000 venue=XMAD",
				"date=2026-06-12 price=10.05 shares=500 venue=XMAD",
			},
		},
		{
			name:    "purchases of the week and of the whole programme",
			company: "Ribera Gas, S.A.",
			title:   "Programa de recompra: operaciones y finalización",
			day:     "2026-06-15",
			pages:   []string{`Entre el 8 y el 12 de junio de 2026 la Sociedad ha adquirido 3.000 acciones propias por 30.350 euros en el marco del programa de recompra. Con estas operaciones, el programa ha finalizado, habiéndose adquirido en total 500.000 acciones por 4.900.000 euros.`},
			want: []string{
				"amount=30350 currency=EUR from=2026-06-08 shares=3000 to=2026-06-12",
			},
		},
		{
			name:    "English with cumulative figures first",
			company: "Ribera Gas, S.A.",
			title:   "Buy-back transactions",
			day:     "2026-06-15",
			pages: []string{`Since the start of the programme the Company has acquired 500,000 shares for EUR 4,900,000.

Between 8 June 2026 and 12 June 2026, the Company purchased 3,000 own shares under its buy-back programme for a total of EUR 30,350.`},
			want: []string{
				"amount=30350 currency=EUR from=2026-06-08 shares=3000 to=2026-06-12",
			},
		},
		{
			name:    "Catalan",
			company: "Ribera Gas, S.A.",
			title:   "Operacions del programa de recompra",
			day:     "2026-06-15",
			pages: []string{`Operacions realitzades en el marc del programa de recompra d'accions pròpies entre el 8 i el 12 de juny de 2026:

Data	Operació	Centre	Accions	Preu
08/06/2026	Compra	XMAD	1.000	10,10
12/06/2026	Compra	XMAD	500	10,05
Total			1.500	`},
			want: []string{
				"from=2026-06-08 shares=1500 to=2026-06-12",
				"date=2026-06-08 price=10.1 shares=1000 venue=XMAD",
				"date=2026-06-12 price=10.05 shares=500 venue=XMAD",
			},
		},
		{
			name:    "sales in the same table",
			company: "Ribera Gas, S.A.",
			title:   "Operaciones del programa de recompra",
			day:     "2026-06-15",
			pages: []string{`Operaciones sobre acciones propias entre el 8 y el 12 de junio de 2026:

Fecha	Operación	Centro	Acciones	Precio
08/06/2026	Compra	XMAD	1.000	10,10
09/06/2026	Venta	XMAD	700	10,20
12/06/2026	Compra	XMAD	500	10,05`},
		},
		{
			name:    "the week before in a sentence",
			company: "Ribera Gas, S.A.",
			title:   "Operaciones del programa de recompra",
			day:     "2026-06-15",
			pages:   []string{`Durante la semana del 8 al 12 de junio de 2026 se compraron 3.000 acciones propias, por un importe total de 30.350 euros, en ejecución del programa de recompra. En la semana del 1 al 5 de junio de 2026 se habían comprado 2.000 acciones por 20.100 euros.`},
			want: []string{
				"amount=30350 currency=EUR from=2026-06-08 shares=3000 to=2026-06-12",
			},
		},
		{
			name:    "a correction of the total",
			company: "Ribera Gas, S.A.",
			title:   "Operaciones del programa de recompra",
			day:     "2026-06-15",
			pages:   []string{`En la comunicación del 12 de junio de 2026 sobre el programa de recompra se indicó por error que se habían adquirido 2.900 acciones. Entre el 8 y el 12 de junio de 2026 se adquirieron 3.000 acciones por un importe de 30.350 euros.`},
			want: []string{
				"amount=30350 currency=EUR from=2026-06-08 shares=3000 to=2026-06-12",
			},
		},
		{
			name:    "what is still to be bought",
			company: "Ribera Gas, S.A.",
			title:   "Operaciones del programa de recompra",
			day:     "2026-06-15",
			pages:   []string{`Entre el 8 y el 12 de junio de 2026 se han adquirido 3.000 acciones propias al amparo del programa de recompra, por 30.350 euros. Quedan por adquirir 97.000 acciones hasta el máximo de 100.000.`},
			want: []string{
				"amount=30350 currency=EUR from=2026-06-08 shares=3000 to=2026-06-12",
			},
		},
		{
			name:    "prices of the highest and the lowest trade",
			company: "Ribera Gas, S.A.",
			title:   "Operaciones del programa de recompra",
			day:     "2026-06-15",
			pages:   []string{`Entre el 8 y el 12 de junio de 2026 se han adquirido 3.000 acciones propias al amparo del programa de recompra, a un precio medio de 10,12 euros (máximo 10,20 euros y mínimo 10,02 euros).`},
			want: []string{
				"from=2026-06-08 shares=3000 to=2026-06-12",
			},
		},
		{
			name:    "several venues each day",
			company: "Ribera Gas, S.A.",
			title:   "Operaciones del programa de recompra",
			day:     "2026-06-15",
			pages: []string{`Compras del programa de recompra de acciones entre el 8 y el 9 de junio de 2026

Fecha	Mercado	Nº acciones	Precio medio (€)	Importe (€)
08/06/2026	XMAD	1.000	10,10	10.100,00
08/06/2026	CEUX	1.500	10,15	15.225,00
09/06/2026	XMAD	500	10,05	5.025,00
Total		3.000	10,1167	30.350,00`},
			want: []string{
				"amount=30350 currency=EUR from=2026-06-08 shares=3000 to=2026-06-09",
				"date=2026-06-08 price=10.1 shares=1000 venue=XMAD",
				"date=2026-06-08 price=10.15 shares=1500 venue=CEUX",
				"date=2026-06-09 price=10.05 shares=500 venue=XMAD",
			},
		},
	})
}
