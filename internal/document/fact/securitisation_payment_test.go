package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestSecuritisationPayment(t *testing.T) {
	checkMarketTexts(t, disclosure.Securitisation, []marketText{
		{
			name:  "amounts for each bond and in total",
			title: "Alfa Hipotecas 3, Fondo de Titulización de Activos",
			day:   "2025-03-14",
			pages: []string{`La Sociedad Gestora comunica el pago a los titulares de los bonos en la Fecha de Pago de 24 de marzo de 2025, correspondiente al periodo de devengo comprendido entre el 24 de diciembre de 2024 y el 24 de marzo de 2025:

Serie	Código ISIN	Nº de bonos	Intereses brutos por bono (€)	Intereses brutos totales (€)	Amortización por bono (€)	Amortización total (€)	Saldo vivo (€)
Serie A	ES0312298005	1.000	250,10	250.100,00	1.500,00	1.500.000,00	48.500.000,00
Serie B	ES0312298013	200	310,00	62.000,00	0,00	0,00	20.000.000,00
Total				312.100,00		1.500.000,00	68.500.000,00

La próxima Fecha de Pago será el 24 de junio de 2025.`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250100 isin=ES0312298005 redemption=1500000 series=A",
				"interest=62000 isin=ES0312298013 redemption=0 series=B",
			},
		},
		{
			name:  "a total that does not add up",
			title: "Alfa Hipotecas 3, Fondo de Titulización de Activos",
			day:   "2025-03-14",
			pages: []string{`Fecha de pago: 24/03/2025

Serie	ISIN	Intereses (€)	Amortización (€)
A	ES0312298005	250.100,00	1.500.000,00
B	ES0312298013	62.000,00	0,00
Total		312.200,00	1.500.000,00`},
			want: []string{"payment_date=2025-03-24"},
		},
		{
			name:  "thousands, and the next page",
			title: "Beta Auto 1, Fondo de Titulización",
			day:   "2025-03-14",
			pages: []string{`The Fund will pay its notes on 24 March 2025. The previous payment date was 24 December 2024.

Class	ISIN	Interest (EUR thousand)	Principal (EUR thousand)
A	ES0312298005	250.1	1,500.0

Beta Auto 1	Page 1 of 2`, `Class	ISIN	Interest (EUR thousand)	Principal (EUR thousand)
B	ES0312298013	62.0	0.0`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250100 isin=ES0312298005 redemption=1500000 series=A",
				"interest=62000 isin=ES0312298013 redemption=0 series=B",
			},
		},
		{
			name:  "a date in the past and one in a far year",
			title: "Alfa Hipotecas 3, Fondo de Titulización de Activos",
			day:   "2025-03-14",
			pages: []string{`La fecha de pago anterior fue el 24 de diciembre de 2024. La fecha de vencimiento legal de los bonos es el 24 de marzo de 2051.`},
		},
		{
			name:  "a dividend",
			title: "Pago de dividendo",
			day:   "2025-03-14",
			pages: []string{`Fecha de pago: 24 de marzo de 2025. Importe bruto: 0,25 euros por acción.`},
		},
		{
			name:  "joined cells of a heading",
			title: "Alfa Hipotecas 3, Fondo de Titulización",
			day:   "2025-07-07",
			pages: []string{`Fecha de pago: 14 de julio de 2025

Serie	ISIN Nº de bonos Intereses por bono (€) Intereses totales (€) Amortización total (€)
A	ES0312298005	1.000	125,10	125.100,00	90.000,00`},
			want: []string{
				"payment_date=2025-07-14",
				"interest=125100 isin=ES0312298005 redemption=90000 series=A",
			},
		},
		{
			name:  "accrued and paid, in English",
			title: "Gamma RMBS, Fondo de Titulización: payment",
			day:   "2025-07-07",
			pages: []string{`On the Payment Date falling on 14 July 2025 the following amounts will be distributed:

Notes	ISIN	Interest accrued (EUR)	Interest paid (EUR)	Principal paid (EUR)
Class A	ES0312298005	125,200.00	125,100.00	90,000.00`},
			want: []string{
				"payment_date=2025-07-14",
				"interest=125100 isin=ES0312298005 redemption=90000 series=A",
			},
		},
		{
			name:  "another event on a date of payment",
			title: "Liquidación anticipada de Alfa, FTA",
			day:   "2025-04-10",
			pages: []string{`La Sociedad Gestora procederá a la liquidación anticipada del Fondo en la Fecha de Pago de 24 de abril de 2025.`},
		},
		{
			name:  "the next date and the one after it",
			title: "Alfa Hipotecas, FTA - pago de intereses",
			day:   "2025-04-08",
			pages: []string{`La próxima fecha de pago de intereses será el 15 de abril de 2025, y la siguiente el 15 de julio de 2025. El periodo de interés va del 15 de enero al 15 de abril de 2025.`},
			want:  []string{"payment_date=2025-04-15"},
		},
		{
			name:  "a company that pays a coupon",
			title: "Pago de cupón",
			day:   "2025-04-08",
			pages: []string{`Beta Autopistas, S.A. pagará el cupón de sus obligaciones el 15 de abril de 2025: 25 euros brutos por obligación.`},
		},
	})
}

func TestSeriesOfBonds(t *testing.T) {
	const fund = "Alfa Hipotecas 3, Fondo de Titulización de Activos"
	checkMarketTexts(t, disclosure.Securitisation, []marketText{
		{
			name:  "a form for one series, amounts of one bond",
			title: fund,
			day:   "2025-03-14",
			pages: []string{`ANUNCIO DE PAGO

Fecha de Pago	24/03/2025
Serie	B
ISIN	ES0312298013
Tipo de interés nominal	3,125 %
Intereses brutos por bono	310,00 €
Retención fiscal por bono (19 %)	58,90 €
Intereses netos por bono	251,10 €
Amortización por bono	1.204,55 €
Principal pendiente por bono tras el pago	41.120,05 €
Fecha de pago siguiente	24/06/2025`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=310 isin=ES0312298013 redemption=1204.55 series=B",
			},
		},
		{
			name:  "lines for two series",
			title: fund,
			day:   "2025-03-14",
			pages: []string{`Fecha de pago: 24 de marzo de 2025

Bonos Serie A (ISIN ES0312298005)

Interés bruto por bono: 250,10 euros

Interés neto por bono: 202,58 euros

Amortización de principal por bono: 1.500,00 euros

Saldo vivo por bono: 48.500,00 euros

Bonos Serie B (ISIN ES0312298013)

Interés bruto por bono: 310,00 euros

Interés neto por bono: 251,10 euros

Amortización de principal por bono: 0,00 euros

Saldo vivo por bono: 100.000,00 euros`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250.1 isin=ES0312298005 redemption=1500 series=A",
				"interest=310 isin=ES0312298013 redemption=0 series=B",
			},
		},
		{
			name:  "sentences",
			title: fund,
			day:   "2025-03-14",
			pages: []string{`En la Fecha de Pago de 24 de marzo de 2025 se abonarán a los titulares de los Bonos los siguientes importes. Serie A (ISIN ES0312298005): intereses brutos por 250.100,00 euros y amortización de principal por 1.500.000,00 euros. Serie B (ISIN ES0312298013): intereses brutos por 62.000,00 euros, sin retención, y amortización de principal por 0,00 euros.`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250100 isin=ES0312298005 redemption=1500000 series=A",
				"interest=62000 isin=ES0312298013 redemption=0 series=B",
			},
		},
		{
			name:  "a column for each series",
			title: fund,
			day:   "2025-03-14",
			pages: []string{`Fecha de pago: 24/03/2025

Concepto	Serie A	Serie B
Código ISIN	ES0312298005	ES0312298013
Intereses brutos totales (€)	250.100,00	62.000,00
Retenciones (€)	47.519,00	11.780,00
Amortización total (€)	1.500.000,00	0,00
Saldo vivo tras el pago (€)	48.500.000,00	20.000.000,00`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250100 isin=ES0312298005 redemption=1500000 series=A",
				"interest=62000 isin=ES0312298013 redemption=0 series=B",
			},
		},
		{
			name:  "a table with amounts of one bond only",
			title: fund,
			day:   "2025-03-14",
			pages: []string{`Payment date: 24 March 2025

Class	ISIN	Gross interest per note (EUR)	Net interest per note (EUR)	Principal redemption per note (EUR)	Outstanding principal per note (EUR)
Class A	ES0312298005	250.10	202.58	1,500.00	48,500.00
Class B	ES0312298013	310.00	251.10	0.00	100,000.00`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250.1 isin=ES0312298005 redemption=1500 series=A",
				"interest=310 isin=ES0312298013 redemption=0 series=B",
			},
		},
		{
			name:  "English, in lines",
			title: "Beta Auto 1, Fondo de Titulización",
			day:   "2025-03-14",
			pages: []string{`Noteholders are informed of the amounts to be paid on the Payment Date falling on 24 March 2025.

Class A Notes (ISIN: ES0312298005): gross interest of EUR 250.10 per note; principal redemption of EUR 1,500.00 per note.

Class B Notes (ISIN: ES0312298013): gross interest of EUR 310.00 per note; principal redemption of EUR 0.00 per note.`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250.1 isin=ES0312298005 redemption=1500 series=A",
				"interest=310 isin=ES0312298013 redemption=0 series=B",
			},
		},
		{
			name:  "interest of one series only",
			title: fund,
			day:   "2025-03-14",
			pages: []string{`Fecha de pago: 24/03/2025

Serie A (ISIN ES0312298005): intereses brutos 250.100,00 euros; amortización 1.500.000,00 euros.

Serie B (ISIN ES0312298013): intereses netos 62.000,00 euros; amortización 0,00 euros.`},
			want: []string{"payment_date=2025-03-24"},
		},
	})
}
