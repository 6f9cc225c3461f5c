package fact

import (
	"testing"
	"time"

	"pregon/internal/disclosure"
)

func TestTradesTraps(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackTrades, []marketText{
		{
			name:  "purchases by a director",
			title: "Operaciones",
			day:   "2024-06-10",
			pages: []string{`Notificación de operaciones de personas con responsabilidades de dirección sobre acciones de la propia sociedad.

Fecha	Operación	Mercado	Acciones	Precio (€)
03/06/2024	Compra	XMAD	1.000	12,00`},
			want: nil,
		},
		{
			name:  "end of a programme",
			title: "Finalización del programa de recompra",
			day:   "2024-06-10",
			pages: []string{`El programa de recompra finalizó el 7 de junio de 2024. Durante la vigencia del programa, del 2 de mayo al 7 de junio de 2024, se adquirieron 2.100.000 acciones propias por 25 millones de euros.`},
			want:  nil,
		},
		{
			name:  "the last week and the end of a programme",
			title: "Finalización del programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Entre el 3 y el 7 de junio de 2024 la Sociedad ha adquirido las siguientes acciones propias:

Fecha	Mercado	Acciones	Precio (€)
03/06/2024	XMAD	1.000	12,00
07/06/2024	XMAD	500	12,10
Total		1.500

Con estas adquisiciones la Sociedad ha comprado 2.100.000 acciones desde el inicio del programa, que queda finalizado.`},
			want: []string{
				"from=2024-06-03 shares=1500 to=2024-06-07",
				"date=2024-06-03 price=12 shares=1000 venue=XMAD",
				"date=2024-06-07 price=12.1 shares=500 venue=XMAD",
			},
		},
		{
			name:  "two tables, this week and the week before",
			title: "Programa de recompra: operaciones",
			day:   "2024-06-10",
			pages: []string{`Operaciones de recompra realizadas del 3 al 7 de junio de 2024

Fecha	Mercado	Acciones	Precio (€)
03/06/2024	XMAD	1.000	12,00
Total		1.000

Operaciones de la semana anterior

Fecha	Mercado	Acciones	Precio (€)
27/05/2024	XMAD	700	11,80
Total		700`},
			want: nil,
		},
		{
			name:  "a correction",
			title: "Programa de recompra: corrección de errores",
			day:   "2024-06-12",
			pages: []string{`En relación con las operaciones de recompra del 3 al 7 de junio de 2024, se ha advertido un error en el número de acciones adquiridas: donde dice 45.210 acciones debe decir 45.120 acciones.`},
			want:  []string{"from=2024-06-03 shares=45120 to=2024-06-07"},
		},
		{
			name:  "a volume in money and thousands",
			title: "Programa de recompra: operaciones",
			day:   "2024-06-10",
			pages: []string{`Compras de acciones propias del 3 al 7 de junio de 2024:

Fecha	Centro	Acciones	Precio medio (€)	Importe (miles de €)
03/06/2024	XMAD	10.000	12,00	120,0
04/06/2024	XMAD	5.000	12,10	60,5
Total		15.000		180,5`},
			want: []string{
				"amount=180500 currency=EUR from=2024-06-03 shares=15000 to=2024-06-07",
				"date=2024-06-03 price=12 shares=10000 venue=XMAD",
				"date=2024-06-04 price=12.1 shares=5000 venue=XMAD",
			},
		},
		{
			name:  "a table with no price",
			title: "Buy-back transactions",
			day:   "2024-06-10",
			pages: []string{`Transactions in own shares from 3 to 4 June 2024 under the buy-back programme

Date	Venue	Shares
3 June 2024	XMAD	1,000
4 June 2024	CEUX	500

Total number of shares purchased: 1,500. Total consideration: €18,050.00.`},
			want: []string{
				"amount=18050 currency=EUR from=2024-06-03 shares=1500 to=2024-06-04",
				"date=2024-06-03 shares=1000 venue=XMAD",
				"date=2024-06-04 shares=500 venue=CEUX",
			},
		},
	})
}

// A week without purchases tells of those before it.
func TestNoTrades(t *testing.T) {
	for _, text := range []string{
		"Durante la semana del 8 al 12 de junio de 2026 no se ha realizado ninguna operación al amparo del programa de recompra de acciones.\n\n" +
			"Al 5 de junio de 2026 la Sociedad había adquirido 250.000 acciones propias.",
		"No shares were purchased under the buy-back programme between 8 and 12 June 2026. The Company holds 250,000 own shares.",
	} {
		found := Find(Document{
			Company:   "Lumbre Textil, S.A.",
			Title:     "Programa de recompra de acciones",
			Published: time.Date(2026, 6, 15, 0, 0, 0, 0, time.UTC),
			Pages:     []string{text},
		})
		if len(found) > 0 {
			t.Errorf("%s: got %v", text, found)
		}
	}
}

// A programme that began before is no fact of a report of trades.
func TestProgrammeOfTrades(t *testing.T) {
	found := Find(Document{
		Company:   "Lumbre Textil, S.A.",
		Title:     "Operaciones del programa de recompra",
		Published: time.Date(2026, 6, 15, 0, 0, 0, 0, time.UTC),
		Pages: []string{"Lumbre Textil, S.A. informa de las operaciones realizadas al amparo del programa de recompra cuya puesta en marcha fue " +
			"comunicada el 3 de mayo de 2026, que tiene un importe máximo de 40.000.000 de euros."},
	})
	for _, f := range found {
		if f.Kind == disclosure.BuybackProgramme {
			t.Errorf("got %v", f.Fields)
		}
	}
}
