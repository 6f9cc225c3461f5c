package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestMoreBonds(t *testing.T) {
	const fund = "Alfa Hipotecas 3, Fondo de Titulización de Activos"
	checkMarketTexts(t, disclosure.Securitisation, []marketText{
		{
			name:  "a letter with a date in its sentence",
			title: "Pago a bonistas",
			day:   "2025-03-14",
			pages: []string{`Gestora Imaginaria, S.G.F.T., S.A., en nombre de Alfa Hipotecas 3, Fondo de Titulización, comunica que el próximo día 24 de marzo de 2025 se procederá al pago de los intereses y a la amortización de los Bonos, con el siguiente desglose:

Bono	ISIN	Interés bruto (€)	Interés neto (€)	Amortización (€)	Saldo vivo (€)
A	ES0312298005	250,10	202,58	1.500,00	48.500,00
B	ES0312298013	310,00	251,10	0,00	100.000,00`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250.1 isin=ES0312298005 redemption=1500 series=A",
				"interest=310 isin=ES0312298013 redemption=0 series=B",
			},
		},
		{
			name:  "the date in a heading with words",
			title: fund,
			day:   "2025-03-14",
			pages: []string{`INFORMACIÓN A LOS TENEDORES DE BONOS CORRESPONDIENTE A LA FECHA DE PAGO 24/03/2025

Serie	ISIN	Importe de intereses	Importe de amortización
Serie A	ES0312298005	250.100,00 €	1.500.000,00 €
Serie B	ES0312298013	62.000,00 €	0,00 €
TOTAL		312.100,00 €	1.500.000,00 €`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250100 isin=ES0312298005 redemption=1500000 series=A",
				"interest=62000 isin=ES0312298013 redemption=0 series=B",
			},
		},
		{
			name:  "a sentence for the only series",
			title: fund,
			day:   "2025-03-14",
			pages: []string{`El 24 de marzo de 2025 se abonará a los titulares de los Bonos de la Serie A (ISIN ES0312298005) un importe bruto de intereses de 250,10 euros por Bono, equivalente a 202,58 euros netos, y se amortizará principal por 1.500,00 euros por Bono. El saldo pendiente quedará en 48.500,00 euros por Bono.`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250.1 isin=ES0312298005 redemption=1500 series=A",
			},
		},
		{
			name:  "English table with a per-note and a total column",
			title: "Notice to noteholders",
			day:   "2025-03-14",
			pages: []string{`Beta Auto 1, Fondo de Titulización. Interest Payment Date: 24 March 2025

Notes	ISIN	Number of notes	Interest per note (€)	Total interest (€)	Principal per note (€)	Total principal (€)	Principal outstanding after payment (€)
Class A	ES0312298005	1,000	250.10	250,100.00	1,500.00	1,500,000.00	48,500,000.00
Class B	ES0312298013	200	310.00	62,000.00	0.00	0.00	20,000,000.00`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250100 isin=ES0312298005 redemption=1500000 series=A",
				"interest=62000 isin=ES0312298013 redemption=0 series=B",
			},
		},
		{
			name:  "a form with two series one after the other",
			title: fund,
			day:   "2025-03-14",
			pages: []string{`Fondo	Alfa Hipotecas 3
Fecha de pago	24/03/2025
Serie	A
Código ISIN	ES0312298005
Intereses brutos totales	250.100,00 euros
Amortización total	1.500.000,00 euros
Saldo vivo tras el pago	48.500.000,00 euros
Serie	B
Código ISIN	ES0312298013
Intereses brutos totales	62.000,00 euros
Amortización total	0,00 euros
Saldo vivo tras el pago	20.000.000,00 euros`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250100 isin=ES0312298005 redemption=1500000 series=A",
				"interest=62000 isin=ES0312298013 redemption=0 series=B",
			},
		},
		{
			name:  "no payment: the rate of the next period",
			title: fund,
			day:   "2025-03-14",
			pages: []string{`Se comunica el tipo de interés nominal aplicable a los Bonos de la Serie A (ISIN ES0312298005) para el periodo de devengo comprendido entre el 24 de marzo de 2025 y el 24 de junio de 2025: 3,125 %.`},
			want:  nil,
		},
		{
			name:  "Catalan",
			title: "Pagament als bonistes",
			day:   "2025-03-14",
			pages: []string{`Fons de titulització Gamma 2. Data de pagament: 24 de març de 2025

Sèrie	ISIN	Interessos (€)	Amortització (€)
A	ES0312298005	250.100,00	1.500.000,00`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250100 isin=ES0312298005 redemption=1500000 series=A",
			},
		},
	})
}

func TestMoreTrades(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackTrades, []marketText{
		{
			name:  "dates in words without a year in the table",
			title: "Programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Durante la semana comprendida entre el 3 y el 7 de junio de 2024 la sociedad ha ejecutado las siguientes operaciones al amparo del Programa de Recompra:

Sesión	Nº títulos	Cambio medio	Efectivo
03-jun-24	1.000	12,00 €	12.000,00 €
04-jun-24	2.000	12,50 €	25.000,00 €
TOTAL	3.000	12,33 €	37.000,00 €`},
			want: []string{
				"amount=37000 currency=EUR from=2024-06-03 shares=3000 to=2024-06-07",
				"date=2024-06-03 price=12 shares=1000",
				"date=2024-06-04 price=12.5 shares=2000",
			},
		},
		{
			name:  "a scanned table with wide spaces",
			title: "Programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Operaciones realizadas entre el 3 y el 4 de junio de 2024 sobre acciones propias.

Fecha    Centro    Acciones    Precio (euros)
03/06/2024    XMAD    1.000    12,00
04/06/2024    XMAD    2.000    12,50
Total de acciones adquiridas    3.000`},
			want: []string{
				"from=2024-06-03 shares=3000 to=2024-06-04",
				"date=2024-06-03 price=12 shares=1000 venue=XMAD",
				"date=2024-06-04 price=12.5 shares=2000 venue=XMAD",
			},
		},
		{
			name:  "a letter without a table, amount first",
			title: "Programa de recompra",
			day:   "2024-06-10",
			pages: []string{`En virtud del programa de recompra, la Sociedad ha invertido en la semana del 3 al 7 de junio de 2024 un total de 37.000,00 euros en la compra de 3.000 acciones propias, a un precio medio de 12,33 euros.`},
			want:  []string{"amount=37000 currency=EUR from=2024-06-03 shares=3000 to=2024-06-07"},
		},
		{
			name:  "bullets",
			title: "Programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Operaciones del programa de recompra entre el 3 y el 7 de junio de 2024:

• Acciones adquiridas: 3.000

• Precio medio: 12,33 euros

• Importe total: 36.990,00 euros

• Acciones adquiridas desde el inicio del programa: 120.000

• Importe acumulado: 1.400.000 euros`},
			want: []string{"amount=36990 currency=EUR from=2024-06-03 shares=3000 to=2024-06-07"},
		},
		{
			name:  "several days in a sentence each",
			title: "Programa de recompra",
			day:   "2024-06-10",
			pages: []string{`El 3 de junio de 2024 se compraron 1.000 acciones propias a 12,00 euros. El 4 de junio de 2024 se compraron 2.000 acciones propias a 12,50 euros.`},
			want:  nil,
		},
		{
			name:  "form with the first and the last day",
			title: "Recompra de acciones",
			day:   "2024-06-10",
			pages: []string{`Programa de recompra de acciones propias
Desde	03/06/2024
Hasta	07/06/2024
Acciones adquiridas	3.000
Importe efectivo (euros)	36.990,00
Precio medio (euros)	12,33`},
			want: []string{"amount=36990 currency=EUR from=2024-06-03 shares=3000 to=2024-06-07"},
		},
		{
			name:  "English form",
			title: "Share buyback",
			day:   "2024-06-10",
			pages: []string{`Share buyback programme
Reporting period	3 June 2024 - 7 June 2024
Number of shares purchased	3,000
Total amount	EUR 36,990.00
Cumulative number of shares purchased	120,000`},
			want: []string{"amount=36990 currency=EUR from=2024-06-03 shares=3000 to=2024-06-07"},
		},
	})
}
