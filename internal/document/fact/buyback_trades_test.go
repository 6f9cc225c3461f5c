package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestBuybackTrades(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackTrades, []marketText{
		{
			name:  "a table of a week",
			title: "Operaciones realizadas en el marco del programa de recompra",
			day:   "2024-06-10",
			pages: []string{`En relación con el programa de recompra de acciones propias comunicado el 2 de mayo de 2024 (número de registro 28.001), Alfa Energía, S.A. comunica que, durante el periodo transcurrido entre el 3 y el 7 de junio de 2024, ha llevado a cabo las siguientes operaciones sobre sus propias acciones:

Fecha	Valor	Operación	Centro de negociación	Número de acciones	Precio medio ponderado (€)
03/06/2024	ALF.MC	Compra	XMAD	10.000	12,3456
04/06/2024	ALF.MC	Compra	CEUX	2.500	12,4000
05/06/2024	ALF.MC	Compra	XMAD	7.500	12,2950
TOTAL			20.000

Intermediario financiero a través del cual se han realizado las compras: Banco Beta, S.A.`},
			want: []string{
				"from=2024-06-03 shares=20000 to=2024-06-07",
				"date=2024-06-03 price=12.3456 shares=10000 venue=XMAD",
				"date=2024-06-04 price=12.4 shares=2500 venue=CEUX",
				"date=2024-06-05 price=12.295 shares=7500 venue=XMAD",
			},
		},
		{
			name:  "a total that does not add up",
			title: "Programa de recompra: operaciones",
			day:   "2024-06-10",
			pages: []string{`Operaciones de recompra del 3 al 7 de junio de 2024:

Fecha	Mercado	Títulos	Precio (€)
03/06/2024	XMAD	10.000	12,34
04/06/2024	XMAD	2.500	12,40
Total		12.600`},
			want: []string{"from=2024-06-03 shares=12600 to=2024-06-07"},
		},
		{
			name:  "an amount that does not fit the prices",
			title: "Programa de recompra: operaciones",
			day:   "2024-06-10",
			pages: []string{`Entre el 3 y el 4 de junio de 2024 la Sociedad ha adquirido 12.500 acciones propias por un importe de 254.400,00 euros.

Fecha	Mercado	Títulos	Precio (€)
03/06/2024	XMAD	10.000	12,34
04/06/2024	XMAD	2.500	12,40`},
			want: []string{"amount=254400 currency=EUR from=2024-06-03 shares=12500 to=2024-06-04"},
		},
		{
			name:  "over the end of a month and of a page",
			title: "Share buy-back programme: transactions",
			day:   "2024-07-08",
			pages: []string{`The Company reports the transactions carried out under its buy-back programme from 28 June to 2 July 2024. In total, 3,000 shares were purchased for €36,150.00.

Date	Venue	Number of shares	Average price (EUR)
28/06/2024	XMAD	1,000	12.0000

Alfa Energía, S.A.	Page 1 of 2`, `Date	Venue	Number of shares	Average price (EUR)
01/07/2024	AQEU	1,500	12.0500
02/07/2024	XMAD	500	12.1500`},
			want: []string{
				"amount=36150 currency=EUR from=2024-06-28 shares=3000 to=2024-07-02",
				"date=2024-06-28 price=12 shares=1000 venue=XMAD",
				"date=2024-07-01 price=12.05 shares=1500 venue=AQEU",
				"date=2024-07-02 price=12.15 shares=500 venue=XMAD",
			},
		},
		{
			name:  "prose, with the sum since the start and the week before",
			title: "Recompra de acciones",
			day:   "2024-06-10",
			pages: []string{`Entre el 3 y el 7 de junio de 2024, Beta Telecom, S.A. compró 45.210 acciones propias, a un precio medio de 3,98 euros por acción, por un importe total de 179.935,80 euros. La semana anterior compró 51.000 acciones por 204.000 euros. Desde el inicio del programa se han comprado 812.400 acciones, por 3,2 millones de euros, de un máximo de 10 millones de euros.`},
			want:  []string{"amount=179935.8 currency=EUR from=2024-06-03 shares=45210 to=2024-06-07"},
		},
		{
			name:  "Catalan",
			title: "Compres d'accions pròpies",
			day:   "2025-10-13",
			pages: []string{`Del 6 d'octubre de 2025 al 10 d'octubre de 2025 la Societat ha comprat 12.000 accions pròpies per un import de 98.400 euros.`},
			want:  []string{"amount=98400 currency=EUR from=2025-10-06 shares=12000 to=2025-10-10"},
		},
		{
			name:  "a form in thousands",
			title: "Operaciones de recompra",
			day:   "2025-10-13",
			pages: []string{"Periodo\tDel 06/10/2025 al 10/10/2025\nAcciones adquiridas en el periodo\t12.000\nImporte (miles de euros)\t98,4\nPrecio medio (euros)\t8,20\nAcciones acumuladas\t240.000\n"},
			want:  []string{"amount=98400 currency=EUR from=2025-10-06 shares=12000 to=2025-10-10"},
		},
		{
			name:  "only since the start",
			title: "Finalización del programa de recompra",
			day:   "2025-10-13",
			pages: []string{`El programa de recompra ha finalizado. Durante su vigencia se han adquirido 2.400.000 acciones propias por un importe de 19,7 millones de euros.`},
		},
		{
			name:  "a director's purchase",
			title: "Operaciones de directivos",
			day:   "2025-10-13",
			pages: []string{`El consejero D. Juan Pérez ha comprado 12.000 acciones de la Sociedad entre el 6 y el 10 de octubre de 2025 por 98.400 euros.`},
		},
		{
			name:  "a plan",
			title: "Programa de recompra",
			day:   "2025-10-13",
			pages: []string{`La Sociedad podrá adquirir 12.000 acciones propias entre el 6 y el 10 de octubre de 2025.`},
		},
		{
			name:  "purchases and sales",
			title: "Programa de recompra",
			day:   "2025-06-10",
			pages: []string{`Operaciones con acciones propias del 2 al 6 de junio de 2025:

Fecha	Mercado	Operación	Títulos	Precio
02/06/2025	XMAD	Compra	1.000	10,00
03/06/2025	XMAD	Venta	500	10,00
Total	1.500`},
		},
		{
			name:  "a day without trades, and the own shares after them",
			title: "Programa de recompra: operaciones",
			day:   "2025-07-07",
			pages: []string{`Operaciones de la semana del 30 de junio al 4 de julio de 2025 dentro del programa de recompra.

Fecha	Nº títulos	Precio medio (€)	Importe (€)
30/06/2025	1.000	10,00	10.000,00
01/07/2025	2.000	10,10	20.200,00
02/07/2025	-	-	-
Total	3.000	10,07	30.200,00

Tras estas operaciones, la autocartera asciende a 1.200.000 acciones.`},
			want: []string{
				"amount=30200 currency=EUR from=2025-06-30 shares=3000 to=2025-07-04",
				"date=2025-06-30 price=10 shares=1000",
				"date=2025-07-01 price=10.1 shares=2000",
			},
		},
		{
			name:  "a heading with brackets",
			title: "Transactions in own shares",
			day:   "2025-07-07",
			pages: []string{`Transactions carried out between 30 June 2025 and 4 July 2025 under the share buy-back programme:

Date	Security	Transaction	Trading venue	Aggregated daily volume (number of shares)	Weighted average price per share (€)
30/06/2025	ES0100000001	Purchase	XMAD	1,000	10.00
30/06/2025	ES0100000001	Purchase	CEUX	500	10.00
Total				1,500	10.00`},
			want: []string{
				"from=2025-06-30 shares=1500 to=2025-07-04",
				"date=2025-06-30 price=10 shares=1000 venue=XMAD",
				"date=2025-06-30 price=10 shares=500 venue=CEUX",
			},
		},
		{
			name:  "a table and a form in one line",
			title: "Recompra de acciones",
			day:   "2025-06-10",
			pages: []string{`Periodo ... Del 02-jun-25 al 06-jun-25 Total de títulos comprados ... 2.200 Efectivo total ... 22.120,00 €

Fecha ... Mercado ... Títulos ... Precio 02-jun-25 ... XMAD ... 1.000 ... 10,00 03-jun-25 ... CEUX ... 1.200 ... 10,10`},
			want: []string{
				"amount=22120 currency=EUR from=2025-06-02 shares=2200 to=2025-06-06",
				"date=2025-06-02 price=10 shares=1000 venue=XMAD",
				"date=2025-06-03 price=10.1 shares=1200 venue=CEUX",
			},
		},
		{
			name:  "lines with labels, without a year",
			title: "Recompra de acciones",
			day:   "2025-07-07",
			pages: []string{`Compras efectuadas entre el 30 de junio y el 4 de julio

Total acciones adquiridas: 3.000

Importe total: 30.200,00 euros

Precio medio: 10,07 euros`},
			want: []string{"amount=30200 currency=EUR from=2025-06-30 shares=3000 to=2025-07-04"},
		},
		{
			name:  "brackets, and the shares of the company",
			title: "Programa de recompra",
			day:   "2025-06-09",
			pages: []string{`En el periodo del 2 al 6 de junio de 2025 se compraron 6.000 acciones propias (61.000 euros). El capital social está dividido en 120.000.000 acciones.`},
			want:  []string{"amount=61000 currency=EUR from=2025-06-02 shares=6000 to=2025-06-06"},
		},
		{
			name:  "compared with the week before",
			title: "Programa de recompra",
			day:   "2025-06-09",
			pages: []string{`La Sociedad ha comprado 6.000 acciones propias por 61.000 euros en la semana del 2 al 6 de junio de 2025, frente a las 5.000 acciones de la semana anterior.`},
			want:  []string{"amount=61000 currency=EUR from=2025-06-02 shares=6000 to=2025-06-06"},
		},
		{
			name:  "a table without a period",
			title: "Operaciones del programa de recompra",
			day:   "2025-06-09",
			pages: []string{`Se adjunta el detalle de las operaciones del programa de recompra.

Fecha	Mercado	Acciones	Precio (€)
03/06/2025	XMAD	6.000	10,00
05/06/2025	XMAD	1.000	10,10
Total		7.000	10,01`},
			want: []string{
				"from=2025-06-03 shares=7000 to=2025-06-05",
				"date=2025-06-03 price=10 shares=6000 venue=XMAD",
				"date=2025-06-05 price=10.1 shares=1000 venue=XMAD",
			},
		},
	})
}
