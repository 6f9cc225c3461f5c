package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestTradesOfAWeek(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackTrades, []marketText{
		{
			name:  "the form of the CNMV",
			title: "Programa de recompra de acciones",
			day:   "2024-06-10",
			pages: []string{`ALFA ENERGÍA, S.A. (la "Sociedad"), de conformidad con lo dispuesto en el artículo 5 del Reglamento (UE) nº 596/2014 y en los artículos 2.2 y 2.3 del Reglamento Delegado (UE) 2016/1052, y en relación con el programa de recompra de acciones propias comunicado el 2 de mayo de 2024, informa de las operaciones llevadas a cabo sobre sus propias acciones en el periodo comprendido entre el 3 de junio de 2024 y el 7 de junio de 2024:

Fecha	Valor	ISIN	Operación	Centro de negociación	Número de acciones	Precio medio ponderado (€)
03/06/2024	ALF	ES0112501012	Compra	XMAD	10.000	12,3456
03/06/2024	ALF	ES0112501012	Compra	CEUX	2.500	12,4000
04/06/2024	ALF	ES0112501012	Compra	XMAD	7.500	12,2950

El número total de acciones adquiridas asciende a 20.000.`},
			want: []string{
				"from=2024-06-03 shares=20000 to=2024-06-07",
				"date=2024-06-03 price=12.3456 shares=10000 venue=XMAD",
				"date=2024-06-03 price=12.4 shares=2500 venue=CEUX",
				"date=2024-06-04 price=12.295 shares=7500 venue=XMAD",
			},
		},
		{
			name:  "no total at all",
			title: "Programa de recompra de acciones: operaciones",
			day:   "2024-06-10",
			pages: []string{`Operaciones efectuadas al amparo del programa de recompra entre los días 3 y 7 de junio de 2024, ambos inclusive:

Fecha	Valor	Operación	Centro de negociación	Nº acciones	Precio medio ponderado
03/06/2024	ALF	Compra	XMAD	10.000	12,3456 €
04/06/2024	ALF	Compra	XMAD	2.500	12,4000 €`},
			want: []string{
				"from=2024-06-03 to=2024-06-07",
				"date=2024-06-03 price=12.3456 shares=10000 venue=XMAD",
				"date=2024-06-04 price=12.4 shares=2500 venue=XMAD",
			},
		},
		{
			name:  "a single day",
			title: "Operaciones del programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Beta Telecom, S.A. comunica que el día 7 de junio de 2024 ha adquirido 12.500 acciones propias en el marco de su programa de recompra, a un precio medio de 3,98 euros por acción, por un importe total de 49.750,00 euros.`},
			want:  []string{"amount=49750 currency=EUR from=2024-06-07 shares=12500 to=2024-06-07"},
		},
		{
			name:  "bilingual heading",
			title: "Operaciones del programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Operaciones realizadas del 3 al 4 de junio de 2024 / Transactions from 3 to 4 June 2024

Fecha / Date	Mercado / Market	Nº de acciones / Number of shares	Precio medio / Average price (€)
03.06.2024	XMAD	1.450	41,20
04.06.2024	XMAD	1.380	41,55
TOTAL		2.830	`},
			want: []string{
				"from=2024-06-03 shares=2830 to=2024-06-04",
				"date=2024-06-03 price=41.2 shares=1450 venue=XMAD",
				"date=2024-06-04 price=41.55 shares=1380 venue=XMAD",
			},
		},
		{
			name:  "English, with the value of each trade",
			title: "Share buy-back programme – weekly report",
			day:   "2024-06-10",
			pages: []string{`Pursuant to Article 5 of Regulation (EU) No 596/2014 and Article 2(2) of Delegated Regulation (EU) 2016/1052, Gamma Bank, S.A. discloses the transactions carried out on its own shares between 3 and 5 June 2024 under the buyback programme announced on 2 May 2024.

Date	Security	Transaction	Trading venue	Number of shares	Weighted average price (€)	Total amount (€)
3 June 2024	GAM.MC	Purchase	XMAD	1,000	4.1000	4,100.00
4 June 2024	GAM.MC	Purchase	CEUX	2,000	4.2000	8,400.00
5 June 2024	GAM.MC	Purchase	TQEX	500	4.0000	2,000.00
TOTAL				3,500	4.1429	14,500.00

To date, the Company has acquired 120,500 shares for €498,000.00, which represents 12.4% of the maximum investment.`},
			want: []string{
				"amount=14500 currency=EUR from=2024-06-03 shares=3500 to=2024-06-05",
				"date=2024-06-03 price=4.1 shares=1000 venue=XMAD",
				"date=2024-06-04 price=4.2 shares=2000 venue=CEUX",
				"date=2024-06-05 price=4 shares=500 venue=TQEX",
			},
		},
		{
			name:  "a label with the period and totals",
			title: "Recompra de acciones propias",
			day:   "2024-06-10",
			pages: []string{`COMUNICACIÓN DE OPERACIONES DE RECOMPRA
Periodo	03/06/2024 - 07/06/2024
Número total de acciones compradas	45.210
Precio medio ponderado	3,98 euros
Importe total	179.935,80 euros
Acciones acumuladas desde el inicio	812.400`},
			want: []string{"amount=179935.8 currency=EUR from=2024-06-03 shares=45210 to=2024-06-07"},
		},
		{
			name:  "totals behind the table",
			title: "Recompra de acciones propias",
			day:   "2024-06-10",
			pages: []string{`Se informa de las operaciones realizadas durante la semana del 3 al 7 de junio de 2024.

Día	Centro	Títulos	Precio medio (EUR)	Efectivo (EUR)
3/6/2024	BME	10.000	12,00	120.000,00
4/6/2024	BME	5.000	12,10	60.500,00

Total títulos adquiridos en la semana: 15.000

Efectivo total de la semana: 180.500,00 euros`},
			want: []string{
				"amount=180500 currency=EUR from=2024-06-03 shares=15000 to=2024-06-07",
				"date=2024-06-03 price=12 shares=10000 venue=BME",
				"date=2024-06-04 price=12.1 shares=5000 venue=BME",
			},
		},
		{
			name:  "total before the table, a long name of the venue",
			title: "Recompra de acciones propias",
			day:   "2024-06-10",
			pages: []string{`Entre el 3 y el 4 de junio de 2024 (ambos inclusive) la Sociedad adquirió un total de 15.000 acciones propias, con una inversión de 180.500 euros, según el siguiente detalle:

Fecha de la operación	Número de acciones compradas	Precio medio ponderado por acción (€)	Centro de negociación
3 de junio de 2024	10.000	12,00	Bolsa de Madrid
4 de junio de 2024	5.000	12,10	Bolsa de Madrid
Total	15.000	12,03`},
			want: []string{
				"amount=180500 currency=EUR from=2024-06-03 shares=15000 to=2024-06-04",
				"date=2024-06-03 price=12 shares=10000 venue=Bolsa de Madrid",
				"date=2024-06-04 price=12.1 shares=5000 venue=Bolsa de Madrid",
			},
		},
		{
			name:  "Catalan",
			title: "Programa de recompra d'accions pròpies",
			day:   "2024-06-10",
			pages: []string{`En el marc del programa de recompra, entre el 3 i el 7 de juny de 2024 la Societat ha adquirit 8.200 accions pròpies per un import total de 41.000 euros.`},
			want:  []string{"amount=41000 currency=EUR from=2024-06-03 shares=8200 to=2024-06-07"},
		},
		{
			name:  "English prose with the price first",
			title: "Transactions in own shares",
			day:   "2024-06-10",
			pages: []string{`Gamma Bank, S.A. announces that in the period from 3 to 7 June 2024 it repurchased 45,210 of its own shares at an average price of €3.98 per share, for a total consideration of €179,935.80.

Following these purchases the Company holds 1,200,000 shares in treasury.`},
			want: []string{"amount=179935.8 currency=EUR from=2024-06-03 shares=45210 to=2024-06-07"},
		},
		{
			name:  "totals of each day and each venue",
			title: "Recompra de acciones propias",
			day:   "2024-06-10",
			pages: []string{`Operaciones de compra realizadas entre el 3 y el 4 de junio de 2024.

Fecha	Centro de negociación	Número de acciones	Precio medio (€)
03/06/2024	XMAD	1.000	12,00
03/06/2024	CEUX	500	12,10
Total 03/06/2024		1.500	12,03
04/06/2024	XMAD	700	12,20
Total 04/06/2024		700	12,20
Total		2.200	12,09`},
			want: []string{
				"from=2024-06-03 shares=2200 to=2024-06-04",
				"date=2024-06-03 price=12 shares=1000 venue=XMAD",
				"date=2024-06-03 price=12.1 shares=500 venue=CEUX",
				"date=2024-06-04 price=12.2 shares=700 venue=XMAD",
			},
		},
		{
			name:  "a table and the sum of the programme",
			title: "Recompra de acciones propias",
			day:   "2024-06-10",
			pages: []string{`En la semana del 3 al 7 de junio de 2024 se han realizado las siguientes compras:

Fecha	Mercado	Acciones	Precio medio
03/06/2024	XMAD	1.000	12,00 €
04/06/2024	XMAD	700	12,20 €
Total semana		1.700	12,08 €
Total programa		91.700	11,80 €`},
			want: []string{
				"from=2024-06-03 shares=1700 to=2024-06-07",
				"date=2024-06-03 price=12 shares=1000 venue=XMAD",
				"date=2024-06-04 price=12.2 shares=700 venue=XMAD",
			},
		},
		{
			name:  "purchases and what follows from them",
			title: "Recompra de acciones propias",
			day:   "2024-06-10",
			pages: []string{`Entre el 3 y el 7 de junio de 2024 la Sociedad compró 45.210 acciones propias, representativas del 0,02 % del capital, por un importe de 179.935,80 euros, con lo que la autocartera asciende a 812.400 acciones.`},
			want:  []string{"amount=179935.8 currency=EUR from=2024-06-03 shares=45210 to=2024-06-07"},
		},
		{
			name:  "purchases since the start",
			title: "Recompra de acciones propias",
			day:   "2024-06-10",
			pages: []string{`Desde el inicio del programa, el 3 de mayo de 2024, y hasta el 7 de junio de 2024 la Sociedad ha comprado 812.400 acciones propias, por un importe acumulado de 3.200.000 euros.`},
			want:  nil,
		},
		{
			name:  "the day of an agreement is not that of the purchases",
			title: "Recompra de acciones propias",
			day:   "2024-06-10",
			pages: []string{`En ejecución del programa aprobado por el consejo el día 5 de junio de 2024, la Sociedad ha adquirido 3.000 acciones propias.`},
			want:  nil,
		},
		{
			name:  "purchases and sales",
			title: "Operaciones de autocartera",
			day:   "2024-06-10",
			pages: []string{`Operaciones entre el 3 y el 4 de junio de 2024:

Fecha	Operación	Mercado	Acciones	Precio (€)
03/06/2024	Compra	XMAD	1.000	12,00
04/06/2024	Venta	XMAD	700	12,20`},
			want: nil,
		},
		{
			name:  "English, dates with dashes and no venue",
			title: "Buyback programme: weekly purchases",
			day:   "2024-06-10",
			pages: []string{`Shares purchased by Delta Media, S.A. during the week of 3 to 7 June 2024 under the share buyback programme:

Trade date	Shares purchased	Average price (EUR)	Aggregate amount (EUR)
2024-06-03	10,000	3.5000	35,000.00
2024-06-04	20,000	3.4500	69,000.00
Total	30,000	3.4667	104,000.00`},
			want: []string{
				"amount=104000 currency=EUR from=2024-06-03 shares=30000 to=2024-06-07",
				"date=2024-06-03 price=3.5 shares=10000",
				"date=2024-06-04 price=3.45 shares=20000",
			},
		},
		{
			name:  "a title with the period",
			title: "Operaciones del programa de recompra del 3 al 7 de junio de 2024",
			day:   "2024-06-10",
			pages: []string{`Se comunica que en la semana de referencia se han adquirido 5.000 acciones propias por 60.000 euros.`},
			want:  nil,
		},
	})
}
