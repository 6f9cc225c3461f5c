package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestPaymentColumns(t *testing.T) {
	checkMarketTexts(t, disclosure.Securitisation, []marketText{
		{
			name:    "totals and amounts for one bond",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Fecha de Pago: 22 de junio de 2026

Serie	ISIN	Interés ordinario bruto por bono (€)	Interés ordinario bruto total (€)	Amortización ordinaria por bono (€)	Amortización ordinaria total (€)
A	ES0339010003	1,20	1.200,00	8,00	8.000,00
B	ES0339010011	3,00	300,00	0,00	0,00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=300 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "amounts for one bond in brackets",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Fecha de Pago: 22 de junio de 2026

Serie	ISIN	Intereses brutos (por bono)	Intereses brutos (total)	Amortización (por bono)	Amortización (total)
A	ES0339010003	1,20	1.200,00	8,00	8.000,00
B	ES0339010011	3,00	300,00	0,00	0,00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=300 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "a balance behind the redemption",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Fecha de Pago: 22 de junio de 2026

Serie	ISIN	Intereses brutos	Amortización de principal	Saldo tras la amortización
A	ES0339010003	1.200,00	8.000,00	90.000,00
B	ES0339010011	300,00	0,00	9.000,00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=300 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "a balance before the redemption",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Fecha de Pago: 22 de junio de 2026

Serie	ISIN	Saldo antes de la amortización	Amortización	Saldo después de la amortización	Interés bruto total	Interés neto total
A	ES0339010003	98.000,00	8.000,00	90.000,00	1.200,00	972,00
B	ES0339010011	9.000,00	0,00	9.000,00	300,00	243,00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=300 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "interest that is not paid",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Fecha de Pago: 22 de junio de 2026

Serie	ISIN	Intereses devengados	Intereses pagados	Intereses no pagados	Principal amortizado	Principal pendiente
A	ES0339010003	1.200,00	1.200,00	0,00	8.000,00	90.000,00
B	ES0339010011	300,00	300,00	0,00	0,00	9.000,00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=300 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "English totals",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Payment Date: 22 June 2026

Class	ISIN	Gross interest per note	Total gross interest (EUR)	Principal repayment per note	Total principal repayment (EUR)	Outstanding after payment
A	ES0339010003	1.20	1,200.00	8.00	8,000.00	90,000.00
B	ES0339010011	3.00	300.00	0.00	0.00	9,000.00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=300 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "a column of the sum",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Fecha de Pago: 22 de junio de 2026

Serie	ISIN	Intereses brutos	Amortización	Total intereses y amortización
A	ES0339010003	1.200,00	8.000,00	9.200,00
B	ES0339010011	300,00	0,00	300,00
Total		1.500,00	8.000,00	9.500,00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=300 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "net amounts only",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Fecha de Pago: 22 de junio de 2026

Serie	ISIN	Interés neto total (€)	Amortización total (€)
A	ES0339010003	972,00	8.000,00
B	ES0339010011	243,00	0,00`},
			want: []string{
				"payment_date=2026-06-22",
			},
		},
		{
			name:    "totals that do not add up",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Fecha de Pago: 22 de junio de 2026

Serie	ISIN	Interés bruto total (€)	Amortización total (€)
A	ES0339010003	1.200,00	8.000,00
B	ES0339010011	300,00	0,00
Total		1.600,00	8.000,00`},
			want: []string{
				"payment_date=2026-06-22",
			},
		},
		{
			name:    "thousands",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Fecha de Pago: 22 de junio de 2026

Serie	ISIN	Interés bruto total (miles de euros)	Amortización total (miles de euros)
A	ES0339010003	1,2	8,0
B	ES0339010011	0,3	0,0`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=300 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "the column of the last payment",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Fecha de Pago: 22 de junio de 2026

Serie	ISIN	Interés bruto total	Interés bruto total pago anterior	Amortización total	Amortización total pago anterior
A	ES0339010003	1.200,00	1.100,00	8.000,00	7.000,00
B	ES0339010011	300,00	310,00	0,00	0,00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=300 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "Catalan",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Data de pagament: 22 de juny de 2026

Sèrie	ISIN	Interessos bruts totals (€)	Amortització total (€)	Saldo pendent (€)
A	ES0339010003	1.200,00	8.000,00	90.000,00
B	ES0339010011	300,00	0,00	9.000,00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=300 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "number of bonds and rate",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Fecha de Pago: 22 de junio de 2026

Serie	ISIN	Nº de bonos	Tipo de interés nominal	Total intereses brutos pagados	Total principal amortizado	% amortizado	Principal pendiente por bono
A	ES0339010003	1.000	2,914%	1.200,00	8.000,00	8,16%	90,00
B	ES0339010011	100	4,114%	300,00	0,00	0,00%	90,00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=300 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "withholding",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Fecha de Pago: 22 de junio de 2026

Bonos	Código ISIN	Cupón bruto total	Retención total	Cupón neto total	Amortización total
Serie A	ES0339010003	1.200,00	228,00	972,00	8.000,00
Serie B	ES0339010011	300,00	57,00	243,00	0,00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=300 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "interest of an extraordinary kind",
			company: "Brisa Hipotecario 2, FT",
			title:   "Pago a los bonistas",
			day:     "2026-06-16",
			pages: []string{`BRISA HIPOTECARIO 2, FONDO DE TITULIZACIÓN

Fecha de Pago: 22 de junio de 2026

Serie	ISIN	Interés ordinario (€)	Interés extraordinario (€)	Amortización (€)
A	ES0339010003	1.200,00	10,00	8.000,00
B	ES0339010011	300,00	5,00	0,00`},
			want: []string{
				"payment_date=2026-06-22",
			},
		},
		{
			name:    "interest that will not be paid",
			company: "Alba 5, FT",
			title:   "Impago de intereses de la serie B",
			day:     "2026-06-16",
			pages:   []string{`ALBA 5, FONDO DE TITULIZACIÓN. En la fecha de pago de 22 de junio de 2026 no se abonarán los intereses de la Serie B (ES0339010011), por 300,00 euros, que quedan pendientes.`},
		},
		{
			name:    "the table of the payment before, with the same columns",
			company: "Alba 5, FT",
			title:   "Información a bonistas",
			day:     "2026-06-16",
			pages: []string{`ALBA 5, FONDO DE TITULIZACIÓN
Fecha de pago: 22/06/2026

Serie	ISIN	Intereses brutos	Intereses netos	Amortización	Saldo
A	ES0339010003	1.200,00	972,00	8.000,00	90.000,00
B	ES0339010011	300,00	243,00	0,00	9.000,00
Total		1.500,00	1.215,00	8.000,00	99.000,00

Fecha de pago anterior: 23/03/2026

Serie	ISIN	Intereses brutos	Intereses netos	Amortización	Saldo
A	ES0339010003	1.300,00	972,00	8.100,00	98.000,00
B	ES0339010011	310,00	243,00	0,00	9.000,00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=300 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "what is due and what is paid",
			company: "Alba 5, FT",
			title:   "Información a bonistas",
			day:     "2026-06-16",
			pages: []string{`ALBA 5, FT – Payment date 22 June 2026

Tranche	ISIN	Interest due	Interest paid	Principal due	Principal paid	Closing balance
A	ES0339010003	1,200.00	1,200.00	8,000.00	8,000.00	90,000.00
B	ES0339010011	300.00	200.00	10.00	0.00	9,000.00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=8000 series=A",
				"interest=200 isin=ES0339010011 redemption=0 series=B",
			},
		},
		{
			name:    "two kinds of redemption",
			company: "Alba 5, FT",
			title:   "Información a bonistas",
			day:     "2026-06-16",
			pages: []string{`ALBA 5, FT – Fecha de pago 22/06/2026

Serie	ISIN	Intereses (€)	Amortización programada (€)	Amortización anticipada (€)
A	ES0339010003	1.200,00	5.000,00	3.000,00`},
			want: []string{
				"payment_date=2026-06-22",
			},
		},
		{
			name:    "a column of percentages",
			company: "Alba 5, FT",
			title:   "Información a bonistas",
			day:     "2026-06-16",
			pages: []string{`ALBA 5, FT – Fecha de pago 22/06/2026

Serie	ISIN	Intereses (€)	Amortización (% s/ saldo inicial)	Amortización (€)
A	ES0339010003	1.200,00	5,10	3.000,00`},
			want: []string{
				"payment_date=2026-06-22",
				"interest=1200 isin=ES0339010003 redemption=3000 series=A",
			},
		},
	})
}
