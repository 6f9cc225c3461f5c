package fact_test

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestDividends(t *testing.T) {
	quarter := map[string]string{
		"gross_per_share": "0.25", "currency": "EUR", "form": "cash",
		"ex_date": "2026-05-12", "record_date": "2026-05-13", "payment_date": "2026-05-14",
	}
	amount := map[string]string{"gross_per_share": "0.25", "currency": "EUR"}
	checkSpoken(t, disclosure.Dividend, map[string]spoken{
		"agreement of the board": {
			text: "El Consejo de Administración de Lumbre Textil, S.A., en su reunión del pasado 17 de abril de 2026, " +
				"ha acordado repartir un dividendo a cuenta de los resultados del ejercicio 2026 de 0,25 euros brutos por acción, de los que " +
				"se deducirá, en su caso, la retención a cuenta correspondiente. El dividendo se abonará en efectivo el 14 de mayo de 2026 " +
				"a través de los medios que Iberclear pone a disposición de sus entidades participantes.\n\n" +
				"Las acciones cotizarán ex-dividendo a partir del 12 de mayo de 2026, siendo el 13 de mayo de 2026 la fecha en la que se " +
				"determinarán los titulares inscritos con derecho a percibirlo (record date).",
			want: []map[string]string{quarter},
		},
		"list": {
			text: "La Junta General Ordinaria de Accionistas ha aprobado el pago de un dividendo en efectivo:\n\n" +
				"- Importe bruto: 0,25 €/acción\n- Importe neto: 0,2025 €/acción\n- Last trading date: 11 de mayo de 2026\n- Ex-date: 12 de mayo de 2026\n" +
				"- Record date: 13 de mayo de 2026\n- Fecha de pago: 14 de mayo de 2026",
			want: []map[string]string{quarter},
		},
		"form": {
			text: "Pago de dividendo\n\nDividendo bruto por acción\t0,25 €\nDividendo neto por acción\t0,2025 €\nForma de pago\tEn metálico\n" +
				"Último día de negociación con derecho a dividendo\t11/05/2026\nFecha ex-dividendo\t12/05/2026\nFecha de registro\t13/05/2026\n" +
				"Fecha de pago\t14/05/2026",
			want: []map[string]string{quarter},
		},
		"columns": {
			text: "Se hace público el pago en efectivo del siguiente dividendo:\n\nValor\tBruto por acción (€)\tNeto por acción (€)\tFecha ex\tRecord date\tFecha de pago\n" +
				"Acciones ordinarias\t0,25\t0,2025\t12/05/2026\t13/05/2026\t14/05/2026",
			want: []map[string]string{quarter},
		},
		"continued on the next page": {
			text: "Se hace público el pago en efectivo del siguiente dividendo:\n\nConcepto\tDato\nImporte bruto por acción\t0,25 euros\n" +
				"Fecha ex-dividendo\t12/05/2026\f" + "Fecha de registro\t13/05/2026\nFecha de pago\t14/05/2026",
			want: []map[string]string{quarter},
		},
		"English": {
			text: "The Board of Directors has resolved to distribute an interim cash dividend of €0.25 gross per share, compared with €0.20 " +
				"in the previous year.\n\nThe dividend will be paid on 14 May 2026 to shareholders of record on 13 May 2026. The shares will start " +
				"trading ex-dividend on 12 May 2026. The company paid €0.22 per share on 5 November 2025.",
			want: []map[string]string{quarter},
		},
		"Catalan": {
			text: "El Consell d'Administració ha acordat distribuir un dividend a compte de 0,25 euros bruts per acció. " +
				"El dividend es pagarà en efectiu el 14 de maig de 2026. Data de registre: 13 de maig de 2026. Data ex-dividend: 12 de maig de 2026.",
			want: []map[string]string{quarter},
		},
		"scrip": {
			text: "Lumbre Textil ejecuta su programa de dividendo flexible. Los accionistas podrán optar entre recibir acciones liberadas o " +
				"vender sus derechos a la sociedad a un precio fijo garantizado de 0,25 euros brutos por derecho. " +
				"Fecha de pago del efectivo: 14 de mayo de 2026.",
			want: []map[string]string{{"gross_per_share": "0.25", "currency": "EUR", "form": "scrip", "payment_date": "2026-05-14"}},
		},
		"scanned with wide spaces": {
			text: "El Consejo  de Administración acordó el reparto de un dividendo ,  en efectivo , de 0,25 euros brutos  por acción.\n\n" +
				"La fecha de cotización  ex-dividendo será el  12  de mayo de 2026 y la fecha  de registro (record date) el 13 de mayo de 2026. " +
				"El  pago se realizará el 14 de mayo de 2026.",
			want: []map[string]string{quarter},
		},
		"dates of an approved dividend": {
			text: "Como continuación de la comunicación de 2 de abril de 2026, la Sociedad informa del calendario de pago del " +
				"dividendo en efectivo aprobado por la Junta General.\n\n- Fecha ex-dividendo: 12 de mayo de 2026\n- Record date: 13 de mayo de 2026\n" +
				"- Fecha de pago: 14 de mayo de 2026",
			want: []map[string]string{{
				"form": "cash", "ex_date": "2026-05-12", "record_date": "2026-05-13", "payment_date": "2026-05-14",
			}},
		},
		"dates of a proposal": {text: "El Consejo ha propuesto el pago de un dividendo.\n\n- Fecha ex-dividendo: 12 de mayo de 2026\n" +
			"- Fecha de pago: 14 de mayo de 2026"},
		"financial calendar": {text: "Calendario financiero\n\nPago de dividendo: 14 de mayo de 2026\n\nResultados semestrales: 23 de julio de 2026"},
		"dates before events": {
			text: "Se distribuirá en efectivo la cantidad fija de 0,25 euros brutos por cada una de las acciones, como dividendo.\n\n" +
				"Fecha\tHito\n11 de mayo de 2026\tLast trading date\n12 de mayo de 2026\tEx-date\n13 de mayo de 2026\tRecord date\n" +
				"14 de mayo de 2026\tPayment date",
			want: []map[string]string{quarter},
		},
		"cents": {
			text: "El Consejo ha acordado abonar un dividendo de 25 céntimos de euro brutos por acción.",
			want: []map[string]string{amount},
		},
		"cents of no currency": {text: "The Board has declared a dividend of 25 cents per share (gross)."},
		"rate of tax in the heading": {
			text: "Se pagará en efectivo el siguiente dividendo:\n\nISIN\tConcepto\tImporte bruto unitario (€)\tRetención 19% (€)\t" +
				"Importe neto unitario (€)\nES0105999001\tDividendo a cuenta\t0,250000\t0,047500\t0,202500\n\n" +
				"Último día de negociación con derecho\tFecha ex-dividendo\tFecha de registro\tFecha de pago\n" +
				"11/05/2026\t12/05/2026\t13/05/2026\t14/05/2026",
			want: []map[string]string{quarter},
		},
		"against earnings": {
			text: "The Board has approved an interim dividend against 2026 earnings of EUR 0.25 gross per share.",
			want: []map[string]string{amount},
		},
		"dates without a year": {
			text: "A partir del 14 de mayo se procederá al pago en efectivo del dividendo, por importe de 0,25 euros íntegros por acción. " +
				"La fecha de registro es el 13 de mayo y la fecha ex cupón, el 12 de mayo.",
			want: []map[string]string{quarter},
		},
		"date without a year that is over": {
			text: "El dividendo es de 0,25 euros brutos por acción. Fecha de pago: 14 de enero.",
			want: []map[string]string{amount},
		},
		"choice": {
			title: "Dividendo opción", text: "Programa «Dividendo Opción»: los accionistas podrán recibir acciones nuevas o vender sus derechos a la Sociedad. " +
				"El precio garantizado es de 0,25 euros brutos por derecho.\n\n14 de mayo de 2026: pago en efectivo a quienes opten por la venta.",
			want: []map[string]string{{"gross_per_share": "0.25", "currency": "EUR", "form": "scrip", "payment_date": "2026-05-14"}},
		},
		"on the register": {
			text: "The Board has declared a cash dividend of €0.25 gross per share. It will be paid on 14 May 2026 to shareholders on the register on " +
				"13 May 2026. The shares will trade ex-dividend from 12 May 2026.",
			want: []map[string]string{quarter},
		},
		"amount of a change": {text: "El dividendo aumenta en 0,03 euros brutos por acción y se pagará el 14 de mayo de 2026."},
		"calendar of the year": {text: "Calendario financiero 2026\n\n24 de abril de 2026\tResultados\n12 de mayo de 2026\tEx-dividend date\n" +
			"14 de mayo de 2026\tPago de dividendo"},
		"two dividends": {
			text: "El Consejo ha acordado dos repartos en efectivo.\n\nUn dividendo ordinario de 0,25 euros brutos por acción, con fecha de pago " +
				"14 de mayo de 2026.\n\nUn dividendo extraordinario de 0,40 euros brutos por acción, con fecha de pago 20 de junio de 2026.",
			want: []map[string]string{
				{"gross_per_share": "0.25", "currency": "EUR", "form": "cash", "payment_date": "2026-05-14"},
				{"gross_per_share": "0.4", "currency": "EUR", "form": "cash", "payment_date": "2026-06-20"},
			},
		},
		"last year in the next sentence": {text: "El dividendo asciende a 0,25 euros brutos por acción. El dividendo del ejercicio anterior ascendió " +
			"a 0,20 euros brutos por acción.", want: []map[string]string{amount}},
		"last year in the same sentence": {text: "El dividendo asciende a 0,25 euros brutos por acción, un 25 % más que los 0,20 euros brutos por " +
			"acción del año anterior.", want: []map[string]string{amount}},
		"last year in the next column": {text: "Dividendo\n\nConcepto\t2026\t2025\nDividendo bruto por acción (euros)\t0,25\t0,20"},
		"correction": {text: "Corrección de errores del anuncio de dividendo.\n\nDonde dice «el dividendo de 0,52 euros brutos por acción», debe decir " +
			"«el dividendo de 0,25 euros brutos por acción».", want: []map[string]string{amount}},
		"total":        {text: "Se repartirá un dividendo bruto total de 25.000.000 euros."},
		"thousands":    {text: "Dividendo\n\n(miles de euros)\t2026\nDividendo bruto\t25"},
		"policy":       {text: "La política de dividendos contempla un importe de 0,25 euros brutos por acción cada ejercicio."},
		"possible":     {text: "El Consejo podrá acordar un dividendo de 0,25 euros brutos por acción."},
		"may consider": {text: "The Board may consider a dividend of €0.25 gross per share."},
		"condition":    {text: "Dividendo de 0,25 euros brutos por acción, sujeto a la aprobación de la Junta General."},
		"condition in the next sentence": {text: "El dividendo será de 0,25 euros brutos por acción y se pagará el 14 de mayo de 2026. " +
			"El pago queda condicionado a que la Junta General de Accionistas lo apruebe."},
		"proposal":            {text: "El Consejo propondrá a la Junta General un dividendo de 0,25 euros brutos por acción, que se abonaría el 14 de mayo de 2026."},
		"another company":     {text: "La filial Marenda, S.L. ha acordado pagar un dividendo de 0,25 euros brutos por acción."},
		"history":             {text: "Dividendos pagados\n\nFecha de pago\tImporte bruto por acción (€)\n14/05/2025\t0,25\n12/05/2024\t0,20"},
		"coupon":              {text: "El cupón bruto de los bonos es de 25 euros por bono, y se pagará el 14 de mayo de 2026."},
		"not about dividends": {text: "La acción cerró a 12,50 euros. El beneficio por acción fue de 0,25 euros."},
	})
}
