package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestPaymentsOfOthers(t *testing.T) {
	checkMarketTexts(t, disclosure.Securitisation, []marketText{
		{
			name:    "the table of the payment before",
			company: "Alcor Hipotecario 9, FTA",
			title:   "Fecha de pago",
			day:     "2026-03-17",
			pages: []string{`Pagos del Fondo de Titulización ALCOR HIPOTECARIO 9

Fecha de pago: 23 de marzo de 2026

Serie	ISIN	Intereses brutos (€)	Amortización de principal (€)
A	ES0381010018	918.440,16	7.150.220,04
B	ES0381010026	140.300,80	0,00

Fecha de pago anterior: 22 de diciembre de 2025

Serie	ISIN	Intereses brutos (€)	Amortización de principal (€)
A	ES0381010018	950.112,00	7.400.000,00
B	ES0381010026	139.200,00	0,00`},
			want: []string{
				"payment_date=2026-03-23",
				"interest=918440.16 isin=ES0381010018 redemption=7150220.04 series=A",
				"interest=140300.8 isin=ES0381010026 redemption=0 series=B",
			},
		},
		{
			name:    "the unit above the table",
			company: "Alcor Hipotecario 9, FTA",
			title:   "Fecha de pago",
			day:     "2026-03-17",
			pages: []string{`Fondo: ALCOR HIPOTECARIO 9, Fondo de Titulización de Activos. Fecha de pago: 23/03/2026

(Importes en miles de euros)

Serie	ISIN	Intereses	Amortización
A	ES0381010018	918,45	7.150,20
B	ES0381010026	140,30	0,00`},
			want: []string{
				"payment_date=2026-03-23",
				"interest=918450 isin=ES0381010018 redemption=7150200 series=A",
				"interest=140300 isin=ES0381010026 redemption=0 series=B",
			},
		},
		{
			name:    "an estimate",
			company: "Alcor Hipotecario 9, FTA",
			title:   "Estimación de pagos",
			day:     "2026-03-10",
			pages: []string{`Estimación orientativa de los pagos de ALCOR HIPOTECARIO 9, FTA, en la próxima fecha de pago (23 de marzo de 2026). Los importes definitivos se comunicarán el 19 de marzo.

Serie	ISIN	Intereses estimados	Amortización estimada
A	ES0381010018	918.000,00	7.100.000,00
B	ES0381010026	140.000,00	0,00`},
		},
		{
			name:    "a corrected table",
			company: "Alcor Hipotecario 9, FTA",
			title:   "Corrección",
			day:     "2026-03-19",
			pages: []string{`Corrección de errores en la comunicación de pago de ALCOR HIPOTECARIO 9, FTA, de fecha de pago 23 de marzo de 2026. Donde dice:

Serie	ISIN	Intereses	Amortización
A	ES0381010018	981.450,00	7.150.200,00

Debe decir:

Serie	ISIN	Intereses	Amortización
A	ES0381010018	918.450,00	7.150.200,00`},
			want: []string{
				"payment_date=2026-03-23",
				"interest=918450 isin=ES0381010018 redemption=7150200 series=A",
			},
		},
		{
			name:    "two funds",
			company: "Atlante Titulización, SGFT",
			title:   "Pagos de los fondos",
			day:     "2026-03-17",
			pages: []string{`Pagos de fondos gestionados por ATLANTE TITULIZACIÓN, SGFT. Fecha de pago: 23 de marzo de 2026

Fondo	Serie	ISIN	Intereses	Amortización
ALCOR HIPOTECARIO 9, FTA	A	ES0381010018	918.450,00	7.150.200,00
ALCOR PYMES 3, FT	A	ES0377201019	12.450,00	1.150.200,00`},
			want: []string{
				"payment_date=2026-03-23",
			},
		},
		{
			name:    "columns for series, and the payment before",
			company: "Alcor Hipotecario 9, FTA",
			title:   "Pago",
			day:     "2026-03-17",
			pages: []string{`ALCOR HIPOTECARIO 9, FTA. Fecha de pago 23/03/2026

	Serie A	Serie B
ISIN	ES0381010018	ES0381010026
Intereses brutos (total)	918.450,00	140.300,00
Intereses brutos del pago anterior	950.112,00	139.200,00
Amortización (total)	7.150.200,00	0,00
Saldo vivo tras el pago	61.000.000,00	9.000.000,00`},
			want: []string{
				"payment_date=2026-03-23",
				"interest=918450 isin=ES0381010018 redemption=7150200 series=A",
				"interest=140300 isin=ES0381010026 redemption=0 series=B",
			},
		},
		{
			name:    "what an amount is behind it",
			company: "Alcor Hipotecario 9, FTA",
			title:   "Pago",
			day:     "2026-03-17",
			pages: []string{`En la Fecha de Pago del 23 de marzo de 2026, ALCOR HIPOTECARIO 9, Fondo de Titulización, abonará:

– Bonos de la Serie A (ES0381010018): 918.450,00 euros en concepto de intereses y 7.150.200,00 euros en concepto de amortización.
– Bonos de la Serie B (ES0381010026): 140.300,00 euros en concepto de intereses y 0,00 euros en concepto de amortización.`},
			want: []string{
				"payment_date=2026-03-23",
				"interest=918450 isin=ES0381010018 redemption=7150200 series=A",
				"interest=140300 isin=ES0381010026 redemption=0 series=B",
			},
		},
		{
			name:    "a series that was paid before",
			company: "Alcor Hipotecario 9, FTA",
			title:   "Información de pago",
			day:     "2026-03-17",
			pages:   []string{`ATLANTE TITULIZACIÓN, SGFT, en nombre de ALCOR HIPOTECARIO 9, FTA, comunica que el 23 de marzo de 2026 se abonarán a los tenedores de los bonos los siguientes importes: Serie A2 (ISIN ES0381010018), intereses de 918.450,00 euros y amortización de 7.150.200,00 euros; Serie B (ISIN ES0381010026), intereses de 140.300,00 euros, sin amortización de principal. En la anterior fecha de pago, 22 de diciembre de 2025, se abonaron a la Serie A2 intereses de 950.112,00 euros.`},
			want: []string{
				"payment_date=2026-03-23",
				"interest=918450 isin=ES0381010018 redemption=7150200 series=A2",
				"interest=140300 isin=ES0381010026 redemption=0 series=B",
			},
		},
		{
			name:    "a payment that was made, and the next date",
			company: "Alcor Hipotecario 9, FTA",
			title:   "Pago",
			day:     "2026-03-17",
			pages: []string{`ATLANTE TITULIZACIÓN, SGFT comunica que con fecha 16 de marzo de 2026 se ha procedido al pago de los bonos de ALCOR HIPOTECARIO 9, FTA. La próxima fecha de pago será el 16 de junio de 2026.

Serie	ISIN	Intereses	Amortización
A	ES0381010018	918.450,00	7.150.200,00`},
			want: []string{
				"payment_date=2026-03-16",
				"interest=918450 isin=ES0381010018 redemption=7150200 series=A",
			},
		},
		{
			name:    "a date that was moved",
			company: "Alcor Hipotecario 9, FTA",
			title:   "Pago",
			day:     "2026-03-17",
			pages:   []string{`La fecha de pago prevista para el 23 de marzo de 2026 de ALCOR HIPOTECARIO 9, FTA se traslada al 24 de marzo de 2026 por incidencia técnica.`},
		},
		{
			name:    "a report with the next date",
			company: "Alcor Hipotecario 9, FTA",
			title:   "Informe trimestral",
			day:     "2026-03-31",
			pages: []string{`ALCOR HIPOTECARIO 9, FTA. Informe del fondo a 31 de marzo de 2026. Última fecha de pago: 23 de marzo de 2026. Próxima fecha de pago: 22 de junio de 2026.

Serie	ISIN	Saldo inicial	Amortización	Saldo final	Intereses
A	ES0381010018	68.150.200,00	7.150.200,00	61.000.000,00	918.450,00`},
		},
		{
			name:    "a meeting",
			company: "Alcor Hipotecario 9, FTA",
			title:   "Convocatoria de asamblea de bonistas",
			day:     "2026-03-17",
			pages:   []string{`Se convoca asamblea de bonistas del fondo de titulización ALCOR HIPOTECARIO 9, FTA para el 23 de abril de 2026. La próxima fecha de pago es el 22 de junio de 2026.`},
		},
		{
			name:    "codes beside the names of series",
			company: "Nordeste Pymes 2, FT",
			title:   "Pago",
			day:     "2026-10-15",
			pages: []string{`NORDESTE PYMES 2, Fondo de Titulización, comunica el pago en la fecha de pago de 20 de octubre de 2026:

	Intereses brutos totales	Amortización de principal
Serie A (ES0377201019)	402.117,60 euros	3.115.000,20 euros
Serie B (ES0377201027)	88.410,00 euros	412.000,80 euros

La Serie C quedó totalmente amortizada en la fecha de pago de 20 de enero de 2025.`},
			want: []string{
				"payment_date=2026-10-20",
				"interest=402117.6 isin=ES0377201019 redemption=3115000.2 series=A",
				"interest=88410 isin=ES0377201027 redemption=412000.8 series=B",
			},
		},
	})
}
