package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestProgrammeNamedAsReason(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackProgramme, []marketText{
		{
			name:  "the reason of a suspended contract",
			title: "Suspensión del contrato de liquidez",
			day:   "2025-05-12",
			pages: []string{`Beta Textil, S.A. comunica que, a raíz del inicio del programa de recompra de acciones, queda suspendido el contrato de liquidez.`},
		},
		{
			name:  "a contract is suspended while a programme lasts",
			title: "Programa de recompra de acciones",
			day:   "2025-05-12",
			pages: []string{`El Consejo ha aprobado un programa de recompra de acciones por un importe máximo de 4.000.000 de euros.

Durante la vigencia del programa queda suspendido el contrato de liquidez suscrito por la Sociedad.`},
			want: []string{"currency=EUR event=start max_amount=4000000"},
		},
		{
			name:  "a change that recalls the first terms",
			title: "Modificación del programa de recompra",
			day:   "2025-09-30",
			pages: []string{`En relación con la comunicación de 2 de junio de 2025, relativa a un programa de recompra con una inversión máxima de 3.000.000 de euros y vigente hasta el 31 de diciembre de 2025, se informa de que se ha acordado su modificación:

a) Inversión máxima: se incrementa de 3.000.000 de euros a 4.500.000 euros.

b) Plazo: se prorroga hasta el 30 de junio de 2026.

c) El número máximo de acciones que se podrán adquirir se fija en 900.000, frente a las 600.000 iniciales.`},
			want: []string{"currency=EUR ends_on=2026-06-30 event=change max_amount=4500000 max_shares=900000"},
		},
		{
			name:  "a number of shares that depends on the price",
			title: "Inicio de programa de recompra",
			day:   "2025-09-01",
			pages: []string{`El Banco ejecutará un programa de recompra de acciones por un importe máximo de 90 millones de euros.

El número máximo de acciones dependerá del precio; asumiendo un precio medio de 3 euros, se adquirirían 30.000.000 acciones.`},
			want: []string{"currency=EUR event=start max_amount=90000000"},
		},
		{
			name:  "shares bought out of the maximum",
			title: "Resumption of the buy-back programme",
			day:   "2025-09-01",
			pages: []string{`The Board has resolved to resume the buy-back programme. To date 12,500 shares have been purchased out of a maximum of 80,000 shares.`},
			want:  []string{"event=resumption max_shares=80000"},
		},
		{
			name:  "reanudación con datos",
			title: "Reanudación del programa de recompra",
			day:   "2025-09-01",
			pages: []string{`Una vez publicados los resultados, la Sociedad informa de la reanudación del programa de recompra de acciones a partir del 2 de septiembre de 2025. Hasta la fecha se han adquirido 40.000 acciones de un máximo de 250.000 acciones.`},
			want:  []string{"event=resumption max_shares=250000"},
		},
		{
			name:  "bilingual rows",
			title: "Programa de recompra / Buy-back programme",
			day:   "2025-10-01",
			pages: []string{"La Sociedad ha acordado iniciar un programa de recompra de acciones.\tThe Company has resolved to launch a share buy-back programme.\n\nImporte máximo: 5.200.000 euros.\tMaximum amount: EUR 5,200,000.\n\nNúmero máximo de acciones: 410.000 (0,50 % del capital).\tMaximum number of shares: 410,000 (0.50% of the capital).\n\nFecha límite: 30 de abril de 2026\tEnd date: 30 April 2026"},
			want:  []string{"currency=EUR ends_on=2026-04-30 event=start max_amount=5200000 max_shares=410000"},
		},
		{
			name:  "termination with what was bought",
			title: "Completion of share buy-back programme",
			day:   "2025-10-01",
			pages: []string{`Delta Foods, S.A. announces the completion of its buy-back programme on 30 September 2025, after acquiring 2,000,000 shares for a total of EUR 18,450,000. A new programme may be considered in 2026 for up to EUR 20,000,000.`},
			want:  []string{"event=end"},
		},
		{
			name:  "a proposal for the meeting",
			title: "Propuestas de acuerdo",
			day:   "2025-05-12",
			pages: []string{`Autorizar al Consejo para la adquisición de acciones propias, hasta un máximo del 10 % del capital, por un plazo de cinco años. El Consejo podrá poner en marcha un programa de recompra por importe de hasta 10 millones de euros.`},
		},
	})
}

func TestTradesOfTables(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackTrades, []marketText{
		{
			name:  "totals of each day, and prices with three decimals",
			title: "Operaciones de recompra / Buy-back transactions",
			day:   "2025-06-09",
			pages: []string{"Operaciones del programa de recompra entre el 3 y el 4 de junio de 2025:\n\nFecha / Date\tMercado / Venue\tN.º acciones / No. of shares\tPrecio / Price (EUR)\n03/06/2025\tXMAD\t1.200\t10,125\n03/06/2025\tCEUX\t1.300\t10,135\nSubtotal 03/06/2025\t\t2.500\t10,130\n04/06/2025\tXMAD\t2.100\t10,155\nSubtotal 04/06/2025\t\t2.100\t10,155\nTotal\t\t4.600\t10,141"},
			want: []string{
				"from=2025-06-03 shares=4600 to=2025-06-04",
				"date=2025-06-03 price=10.125 shares=1200 venue=XMAD",
				"date=2025-06-03 price=10.135 shares=1300 venue=CEUX",
				"date=2025-06-04 price=10.155 shares=2100 venue=XMAD",
			},
		},
		{
			name:  "the total behind its figures",
			title: "Programa de recompra",
			day:   "2025-06-09",
			pages: []string{"Adquisiciones del 3 al 4 de junio de 2025:\n\nPrecio (€)\tAcciones\tMercado\tFecha\n10,1250\t1.200\tXMAD\t03/06/2025\n10,1550\t2.100\tXMAD\t04/06/2025\n10,1441\t3.300\tTOTAL\t"},
			want: []string{
				"from=2025-06-03 shares=3300 to=2025-06-04",
				"date=2025-06-03 price=10.125 shares=1200 venue=XMAD",
				"date=2025-06-04 price=10.155 shares=2100 venue=XMAD",
			},
		},
		{
			name:  "a heading that was misread, and the unit below",
			title: "Recompra de acciones",
			day:   "2025-06-09",
			pages: []string{"Operaciones sobre acciones propias entre el 3 y el 4 de junio de 2025:\n\nFeoha\tMercado\tTítulos\tPrecio medio\tEfectivo\n03/06/2025\tXMAD\t1.200\t10,10\t12.120,00\n04/06/2025\tXMAD\t1.000\t10,00\t10.000,00\nTOTAL\t\t2.200\t\t22.120,00\n\n(Cifras en euros)"},
			want: []string{
				"amount=22120 currency=EUR from=2025-06-03 shares=2200 to=2025-06-04",
				"date=2025-06-03 price=10.1 shares=1200 venue=XMAD",
				"date=2025-06-04 price=10 shares=1000 venue=XMAD",
			},
		},
		{
			name:  "a digit that was taken for a letter",
			title: "Recompra de acciones",
			day:   "2025-06-09",
			pages: []string{"Entre el 3 y el 4 de junio de 2025 se han adquirido 1O.200 acciones propias por un importe de 4O.310,50 euros."},
			want:  []string{"amount=40310.5 currency=EUR from=2025-06-03 shares=10200 to=2025-06-04"},
		},
		{
			name:  "a day without trades, and a column of all shares so far",
			title: "Operaciones de recompra",
			day:   "2025-06-09",
			pages: []string{"Compras de acciones propias del 3 al 6 de junio de 2025.\n\nDía\tAcciones\tPrecio\tAcumulado\n03/06/2025\t1.000\t5,10 €\t41.000\n04/06/2025\t-\t-\t41.000\n05/06/2025\t3.000\t5,15 €\t44.000\nTotal semana\t4.000\t5,14 €\t44.000"},
			want: []string{
				"from=2025-06-03 shares=4000 to=2025-06-06",
				"date=2025-06-03 price=5.1 shares=1000",
				"date=2025-06-05 price=5.15 shares=3000",
			},
		},
		{
			name:  "purchases of an earlier year",
			title: "Compras de acciones propias",
			day:   "2025-06-09",
			pages: []string{"Del 2 al 6 de junio de 2025 se compraron 25.000 acciones propias. En 2024 se compraron 900.000 acciones."},
			want:  []string{"from=2025-06-02 shares=25000 to=2025-06-06"},
		},
	})
}

func TestPaymentsOfFunds(t *testing.T) {
	checkMarketTexts(t, disclosure.Securitisation, []marketText{
		{
			name:  "a holiday",
			title: "Pago a los tenedores de bonos",
			day:   "2025-06-18",
			pages: []string{"HIPOTECAS DELTA, FONDO DE TITULIZACIÓN\n\nFecha de pago: 21 de junio de 2025 (por ser sábado, el pago se hará el 23 de junio de 2025)\n\nSerie\tISIN\tN.º de bonos\tIntereses brutos (€)\tAmortización (€)\nSerie A\tES0312345008\t1.000\t12.000,00\t500.000,00\nSerie B\tES0312345016\t200\t3.000,00\t-\nTotal\t\t\t15.000,00\t500.000,00"},
			want: []string{
				"payment_date=2025-06-23",
				"interest=12000 isin=ES0312345008 redemption=500000 series=A",
				"interest=3000 isin=ES0312345016 redemption=0 series=B",
			},
		},
		{
			name:  "a holiday without the day of the payment",
			title: "Pago a los tenedores de bonos",
			day:   "2025-06-18",
			pages: []string{"HIPOTECAS DELTA, FONDO DE TITULIZACIÓN\n\nFecha de pago: 21 de junio de 2025 (inhábil; se pagará el siguiente día hábil)"},
		},
		{
			name:  "a letter in which a series gets no principal",
			title: "Fecha de pago",
			day:   "2025-06-18",
			pages: []string{`Se comunica que el próximo día 23 de junio de 2025 se procederá al pago de intereses y, en su caso, de principal de los bonos de HIPOTECAS DELTA, FONDO DE TITULIZACIÓN:

Serie A (ISIN ES0312345008): intereses brutos de 12.000,00 euros y amortización de 500.000,00 euros.

Serie B (ISIN ES0312345016): intereses brutos de 3.000,00 euros, sin amortización.`},
			want: []string{
				"payment_date=2025-06-23",
				"interest=12000 isin=ES0312345008 redemption=500000 series=A",
				"interest=3000 isin=ES0312345016 redemption=0 series=B",
			},
		},
		{
			name:  "lines of a scanned form",
			title: "Comunicación de pago",
			day:   "2025-06-18",
			pages: []string{"HIPOTECAS DELTA, FT\nFondo de titulización\n\nFecha de Pago: 23 de junio de 2025\nFecha de Pago anterior: 21 de marzo de 2025\n\nClase A  -  ISIN ES0312345008\nIntereses brutos: 12.000,00 euros\nAmorti zación de principal: 500.000,00 euros\nIntereses del período anterior: 14.000,00 euros"},
			want: []string{
				"payment_date=2025-06-23",
				"interest=12000 isin=ES0312345008 redemption=500000 series=A",
			},
		},
		{
			name:  "a total of the principal that does not add up",
			title: "Pago a los bonistas",
			day:   "2025-06-18",
			pages: []string{"HIPOTECAS DELTA, FONDO DE TITULIZACIÓN\n\nFecha de pago: 23 de junio de 2025\n\nSerie\tISIN\tIntereses (€)\tAmortización (€)\nA\tES0312345008\t12.000,00\t500.000,00\nB\tES0312345016\t3.000,00\t0,00\nTotal\t\t15.000,00\t510.000,00"},
			want:  []string{"payment_date=2025-06-23"},
		},
		{
			name:  "the rate of the next period",
			title: "Fijación de tipos de interés",
			day:   "2025-06-18",
			pages: []string{"HIPOTECAS DELTA, FONDO DE TITULIZACIÓN\n\nSerie\tISIN\tTipo\nA\tES0312345008\t2,512 %\n\nFecha de pago: 23 de septiembre de 2025"},
		},
		{
			name:  "headings that would be one in one cell",
			title: "Payment notice",
			day:   "2025-06-18",
			pages: []string{"DELTA RMBS, FONDO DE TITULIZACIÓN\n\nPayment Date: 23 June 2025\n\nClass\tISIN\tInterest\tPrincipal\tOutstanding after payment\nClass A Notes\tES0312345008\tEUR 12,000.00\tEUR 500,000.00\tEUR 9,000,000.00"},
			want: []string{
				"payment_date=2025-06-23",
				"interest=12000 isin=ES0312345008 redemption=500000 series=A",
			},
		},
	})
}

func TestLiquidityPeriods(t *testing.T) {
	checkMarketTexts(t, disclosure.LiquidityContract, []marketText{
		{
			name:  "a row for each quarter",
			title: "Contrato de liquidez",
			day:   "2025-07-07",
			pages: []string{"Como continuación de las comunicaciones de 4 de abril de 2025 y 3 de enero de 2025, se informa de las operaciones del contrato de liquidez desde el 1 de abril de 2025 hasta el 30 de junio de 2025.\n\nPeriodo\tAcciones compradas\tAcciones vendidas\tSaldo acciones\tSaldo efectivo (€)\n01/01/2025-31/03/2025\t5.000\t4.000\t21.000\t80.000,00\n01/04/2025-30/06/2025\t6.000\t7.000\t20.000\t91.000,00"},
			want:  []string{"balance_cash=91000 balance_shares=20000 bought=6000 currency=EUR from=2025-04-01 sold=7000 to=2025-06-30"},
		},
		{
			name:  "from the last notice, in two languages",
			title: "Contrato de liquidez / Liquidity contract",
			day:   "2025-07-07",
			pages: []string{"Operaciones del contrato de liquidez desde la última comunicación (1 de abril de 2025) hasta el 30 de junio de 2025:\tTransactions under the liquidity contract since the last notice (1 April 2025) to 30 June 2025:\n\nCompras: 6.000 acciones; 61.250,00 euros\tPurchases: 6,000 shares; EUR 61,250.00\nVentas: 7.000 acciones; 72.310,00 euros\tSales: 7,000 shares; EUR 72,310.00\nSaldo final de efectivo: 91.000,50 euros\tClosing cash balance: EUR 91,000.50"},
			want:  []string{"balance_cash=91000.5 bought=6000 currency=EUR from=2025-04-01 sold=7000 to=2025-06-30"},
		},
		{
			name:  "numbers of trades beside those of shares",
			title: "Contrato de liquidez",
			day:   "2025-07-07",
			pages: []string{"Del 1 de abril al 30 de junio de 2025 se ejecutaron 120 operaciones de compra por un total de 8.000 acciones y 115 operaciones de venta por un total de 7.000 acciones. Posición final: 11.000 acciones y 45.120,33 euros (posición inicial: 10.000 acciones y 50.000 euros)."},
			want:  []string{"balance_cash=45120.33 balance_shares=11000 bought=8000 currency=EUR from=2025-04-01 sold=7000 to=2025-06-30"},
		},
		{
			name:  "balances with their days",
			title: "Contrato de liquidez",
			day:   "2025-07-07",
			pages: []string{"Operaciones entre el 1 de abril y el 30 de junio de 2025:\n\n\tAcciones\tEuros\nSaldo a 1 de abril de 2025\t50.000\t250.000,00\nCompras\t80.000\t408.000,00\nVentas\t78.500\t402.300,00\nSaldo a 30 de junio de 2025\t51.500\t244.300,00"},
			want:  []string{"balance_cash=244300 balance_shares=51500 bought=80000 currency=EUR from=2025-04-01 sold=78500 to=2025-06-30"},
		},
	})
}
