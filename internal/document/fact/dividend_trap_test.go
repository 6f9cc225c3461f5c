package fact_test

import (
	"testing"

	"pregon/internal/disclosure"
)

// paid returns a dividend that is paid on 14 May 2026.
func paid(amount string) map[string]string {
	return map[string]string{"gross_per_share": amount, "currency": "EUR", "payment_date": "2026-05-14"}
}

// TestDividendTraps has documents with amounts and dates that are not those of the dividend.
func TestDividendTraps(t *testing.T) {
	checkSpoken(t, disclosure.Dividend, map[string]spoken{
		"part that was anticipated": {
			text: "La Junta General celebrada hoy acordó repartir un dividendo total de 0,45 euros brutos por acción. Parte de este dividendo, por importe " +
				"de 0,20 euros brutos por acción, fue anticipada por acuerdo del Consejo y el resto, hasta el total acordado, esto es, 0,25 euros brutos por " +
				"acción, se pagará el 14 de mayo de 2026.",
			want: []map[string]string{paid("0.25")},
		},
		"last year in brackets": {
			text: "El Consejo ha acordado un dividendo de 0,25 euros brutos por acción (0,22 euros brutos por acción en 2025) que se abonará el 14 de mayo de 2026.",
			want: []map[string]string{paid("0.25")},
		},
		"adjusted for own shares": {
			text: "La Junta acordó un dividendo de 0,24 euros brutos por acción. Una vez excluida la autocartera, el importe bruto definitivo asciende a 0,25 euros " +
				"por acción. Se abonará el 14 de mayo de 2026.",
			want: []map[string]string{paid("0.25")},
		},
		"form of another resolution": {
			title: "Acuerdos de la Junta General",
			text: "La Junta General Ordinaria celebrada hoy ha aprobado los acuerdos siguientes:\n\nSegundo.- Aprobar la distribución de un dividendo de 0,25 euros " +
				"brutos por acción, que será pagadero el 14 de mayo de 2026.\n\nTercero.- Aprobar un aumento de capital liberado.",
			want: []map[string]string{paid("0.25")},
		},
		"dates before their names": {
			text: "Se pagará un dividendo de 0,25 euros brutos por acción, siendo el 12 de mayo de 2026 la fecha ex-dividendo, el 13 de mayo de 2026 la fecha de " +
				"registro y el 14 de mayo de 2026 la fecha de pago.",
			want: []map[string]string{{
				"gross_per_share": "0.25", "currency": "EUR", "ex_date": "2026-05-12", "record_date": "2026-05-13", "payment_date": "2026-05-14",
			}},
		},
		"converted": {
			text: "El Consejo ha acordado pagar el 14 de mayo de 2026 un dividendo de 0,27 dólares por acción, equivalentes a 0,25 euros brutos por acción.",
			want: []map[string]string{{"gross_per_share": "0.27", "currency": "USD", "payment_date": "2026-05-14"}},
		},
		"bonus for attendance": {
			text: "Prima de asistencia a la Junta: 0,005 euros brutos por acción. Dividendo: 0,25 euros brutos por acción, pagadero el 14 de mayo de 2026.",
			want: []map[string]string{paid("0.25")},
		},
		"absorbed company":        {text: "La sociedad absorbida aprobó un dividendo de 0,25 euros brutos por acción pagadero el 14 de mayo de 2026."},
		"authorisation asked for": {text: "El Consejo ha acordado solicitar autorización para pagar un dividendo de 0,25 euros brutos por acción el 14 de mayo de 2026."},
		"condition alone":         {text: "Se acordó un dividendo de 0,25 euros brutos por acción. Fecha de pago: 14 de mayo de 2026. Sujeto a la aprobación de la Junta."},
		"for many shares":         {text: "El Consejo acordó un dividendo de 25 euros brutos por cada 100 acciones, pagadero el 14 de mayo de 2026."},
		"number torn by a scan":   {text: "Dividendo bruto por acción: 0, 25 euros\nFecha de pago: 14 de mayo de 2026"},
		"condition":               {text: "El pago del dividendo de 0,25 euros brutos por acción el 14 de mayo de 2026 queda condicionado al cierre de la venta."},
		"decision to come":        {text: "El Consejo decidirá el 14 de mayo de 2026 sobre el pago de un dividendo de 0,25 euros brutos por acción."},
		"price of an offer":       {text: "El precio de la oferta se reducirá en el importe del dividendo de 0,25 euros brutos por acción que se pagará el 14 de mayo de 2026."},
		"halves":                  {text: "El dividendo, de 0,50 euros brutos por acción, se pagará por mitades: el 50 % el 14 de mayo de 2026 y el resto en noviembre de 2026."},
		"amount of one class":     {text: "Se reparte un dividendo:\n\n\tClase A\tClase B\nPreferente (euros brutos por acción)\t-\t0,01\nFecha de pago\t14/05/2026\t14/05/2026"},
		"another amount as near":  {text: "Se pagará un dividendo de 0,20 euros brutos por acción y 0,75 euros brutos por acción de la serie antigua el 14 de mayo de 2026."},
	})
}

// TestSeveralDividends has documents with more than one amount.
func TestSeveralDividends(t *testing.T) {
	checkSpoken(t, disclosure.Dividend, map[string]spoken{
		"classes of shares": {
			text: "El Consejo ha acordado abonar un dividendo de 0,36 euros brutos por acción de clase A y de 0,37 euros brutos por acción de clase B el 14 de mayo de 2026.",
			want: []map[string]string{paid("0.36"), paid("0.37")},
		},
		"classes in columns, with a total": {
			text: "Se acordó el reparto de un dividendo:\n\n\tClase A\tClase B\nDividendo preferente (euros brutos por acción)\t-\t0,01\n" +
				"Dividendo ordinario (euros brutos por acción)\t0,36\t0,36\nTotal (euros brutos por acción)\t0,36\t0,37\n\nFecha de pago: 14 de mayo de 2026",
			want: []map[string]string{paid("0.36"), paid("0.37")},
		},
		"a column that was paid": {
			text: "The General Meeting held today approved the final dividend:\n\n\tInterim 2025 (paid)\tFinal 2025\nGross amount per share\t€0.20\t€0.25\nPayment date\t10 Sep 2025\t14 May 2026",
			want: []map[string]string{paid("0.25")},
		},
		"a column for each year": {
			text: "La Junta ha aprobado el dividendo:\n\n\t2024\t2025\nDividendo bruto por acción (euros)\t0,22\t0,25\nFecha de pago\t15/05/2025\t14/05/2026",
			want: []map[string]string{paid("0.25")},
		},
		"equal payments": {
			text: "Se acordó un dividendo total de 0,50 euros brutos por acción, en dos pagos iguales:\n\na) 0,25 euros brutos por acción, el 14 de mayo de 2026 " +
				"(record date: 13 de mayo).\n\nb) 0,25 euros brutos por acción, el 1 de octubre de 2026 (record date: 30 de septiembre).",
			want: []map[string]string{
				{"gross_per_share": "0.25", "currency": "EUR", "payment_date": "2026-05-14", "record_date": "2026-05-13"},
				{"gross_per_share": "0.25", "currency": "EUR", "payment_date": "2026-10-01", "record_date": "2026-09-30"},
			},
		},
		"paid together": {
			text: "La Junta aprobó un dividendo de 0,10 euros brutos por acción y una devolución de prima de emisión de 0,15 euros brutos por acción, ambos " +
				"pagaderos el 14 de mayo de 2026.",
			want: []map[string]string{paid("0.1"), paid("0.15")},
		},
		"day without its month": {
			text: "El dividendo de 0,25 euros brutos por acción se pagará el 14 de mayo de 2026. La fecha ex-dividendo será el 12 y la de registro el 13 de mayo.",
			want: []map[string]string{{
				"gross_per_share": "0.25", "currency": "EUR", "payment_date": "2026-05-14", "ex_date": "2026-05-12", "record_date": "2026-05-13",
			}},
		},
		"unit in the label": {
			text: "Dividendo a cuenta\n\nImporte bruto total (euros): 2.144.880,00\nImporte bruto unitario (euros/acción): 0,25\nFecha de pago: 14 de mayo de 2026",
			want: []map[string]string{paid("0.25")},
		},
	})
}
