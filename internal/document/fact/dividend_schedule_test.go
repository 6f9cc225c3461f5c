package fact_test

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestDividendSchedules has documents with a list of days, with days without a month, and with
// dates that were replaced.
func TestDividendSchedules(t *testing.T) {
	const decided = "El Consejo ha acordado un dividendo de 0,25 euros brutos por acción.\n\n"
	all := []map[string]string{{
		"gross_per_share": "0.25",
		"currency":        "EUR",
		"ex_date":         "2026-05-12",
		"record_date":     "2026-05-13",
		"payment_date":    "2026-05-14",
	}}
	checkSpoken(t, disclosure.Dividend, map[string]spoken{
		"a paragraph for each day": {
			text: decided + "11 de mayo. Último día de negociación con derecho.\n\n12 de mayo. Comienzo del periodo. Las acciones cotizan ex-cupón.\n\n" +
				"13 de mayo. Fecha de registro (record date).\n\n14 de mayo. Pago del dividendo.\n\n18 de mayo. Fin del plazo para reclamar el pago.",
			want: all,
		},
		"a line for each day": {
			text: decided + "11 de mayo – último día con derecho\n12 de mayo – ex date\n13 de mayo – record date\n14 de mayo – pago",
			want: all,
		},
		"English": {
			text: "The Board resolved to pay a dividend of EUR 0.25 gross per share.\n\n12 May 2026. Ex-date.\n\n13 May 2026. Record date.\n\n14 May 2026. Payment.",
			want: all,
		},
		"days of the same month": {
			text: decided + "Se abonará el próximo 14 de mayo, cotizando ex dividendo desde el día 12 del mismo mes.",
			want: []map[string]string{{"gross_per_share": "0.25", "currency": "EUR", "ex_date": "2026-05-12", "payment_date": "2026-05-14"}},
		},
		"days before their names": {
			text: decided + "El pago tendrá lugar el 14 de mayo de 2026; el 12 será la fecha ex-dividendo y el 13, la fecha de registro.",
			want: all,
		},
		"replaced dates": {
			text: "El pago del dividendo de 0,25 euros brutos por acción aprobado por la Junta, previsto inicialmente para el 7 de mayo, se realizará el 14 de mayo de " +
				"2026. Las acciones cotizarán ex-dividendo desde el 12 de mayo (y no desde el 5 de mayo) y la fecha de registro será el 13 de mayo.",
			want: all,
		},
		"instead of": {
			text: "The dividend of EUR 0.25 gross per share will be paid on 14 May 2026 instead of 7 May 2026.",
			want: []map[string]string{paid("0.25")},
		},
		"takes effect": {
			text: "El Consell ha acordat fer efectiu el dia 14 de maig de 2026 un dividend de 0,25 euros bruts per acció.",
			want: []map[string]string{paid("0.25")},
		},
		"rest to be paid": {
			text: "The General Meeting agreed to distribute a dividend in the total gross amount of EUR 2,770,470.00, of which EUR 1,608,660.00 was already paid on 20 " +
				"October 2025, and therefore the dividend pending payment amounts to EUR 1,161,810.00, i.e. EUR 0.25 gross per share.\n\nPayment date: 14 May 2026",
			want: []map[string]string{paid("0.25")},
		},
		"another one is possible": {
			text: "La Junta General de hoy ha acordado un dividendo de 0,25 euros por acción (importe bruto), pagadero el 14 de mayo de 2026.\n\nEl Consejo estudiará una " +
				"posible devolución de prima de emisión, que se sometería a una nueva Junta.",
			want: []map[string]string{paid("0.25")},
		},
		"number of rights before the price": {
			text: "Scrip dividend: the number of rights required to receive one new share is 47 and the gross fixed price of the purchase commitment is EUR 0.25 per " +
				"right.\n\n14 May 2026: Cash payment.",
			want: []map[string]string{{"gross_per_share": "0.25", "currency": "EUR", "form": "scrip", "payment_date": "2026-05-14"}},
		},
		"proposals": {
			title: "Propuestas de acuerdo a la Junta",
			text:  "Segundo. Aprobar la distribución de un dividendo de 0,25 euros brutos por acción, que se pagará el 14 de mayo de 2026.",
		},
		"title of a proposal": {
			text: "PROPUESTA AL PUNTO SEGUNDO. Aprobar la distribución de un dividendo de 0,25 euros brutos por acción, que se pagará el 14 de mayo de 2026.",
		},
	})
}

// TestUndecidedDividends has documents about dividends that nobody has decided, or another company.
func TestUndecidedDividends(t *testing.T) {
	checkSpoken(t, disclosure.Dividend, map[string]spoken{
		"rejected":        {text: "La Junta General celebrada hoy rechazó la distribución de un dividendo de 0,25 euros brutos por acción con pago el 14 de mayo de 2026."},
		"if approved":     {text: "De aprobarse por la Junta, el dividendo de 0,25 euros brutos por acción se abonará el 14 de mayo de 2026."},
		"once approved":   {text: "Una vez aprobado por la Junta General, el dividendo de 0,25 euros brutos por acción se abonará el 14 de mayo de 2026."},
		"recommended":     {text: "El Consejo recomienda a la Junta un dividendo de 0,25 euros brutos por acción. Pago: 14 de mayo de 2026."},
		"vote":            {text: "Shareholders will vote on a dividend of EUR 0.25 gross per share payable on 14 May 2026."},
		"vote in Spanish": {text: "Los accionistas votarán el reparto de un dividendo de 0,25 euros brutos por acción, que se abonará el 14 de mayo de 2026."},
		"limit":           {text: "El contrato de financiación limita el dividendo a 0,25 euros brutos por acción hasta el 14 de mayo de 2026."},
		"in kind":         {text: "Dividendo en especie: una acción por cada 40. Valor: 0,25 euros brutos por acción. Entrega: 14 de mayo de 2026."},
		"others pay":      {text: "El dividendo de 0,25 euros brutos por acción que Cobre Austral pagará el 14 de mayo de 2026 reportará a Lumbre 3 millones de euros."},
		"plan":            {text: "El plan contempla un dividendo de 0,25 euros brutos por acción en 2026 y 0,30 en 2027."},
		"needs approval":  {text: "El dividendo de 0,25 euros brutos por acción requiere autorización del Banco de España. Se abonaría el 14 de mayo de 2026."},
		"shares of others": {
			text: "Los accionistas de Cobre Austral tendrán derecho a un dividendo de 0,25 euros brutos por acción, pagadero el 14 de mayo de 2026.",
		},
		"agenda": {
			text: "Se convoca Junta General Ordinaria para el 28 de mayo de 2026 en primera convocatoria.\n\nOrden del día\n\nSegundo. Aprobación de un dividendo de " +
				"0,25 euros brutos por acción, que se pagará el 4 de junio de 2026.",
		},
	})
}
