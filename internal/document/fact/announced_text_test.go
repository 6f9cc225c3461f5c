package fact_test

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestDividendsAsIssuersWriteThem(t *testing.T) {
	may := map[string]string{
		"gross_per_share": "0.2", "currency": "EUR",
		"ex_date": "2026-05-05", "record_date": "2026-05-06", "payment_date": "2026-05-07",
	}
	november := map[string]string{
		"gross_per_share": "0.15", "currency": "EUR",
		"ex_date": "2026-11-03", "record_date": "2026-11-04", "payment_date": "2026-11-05",
	}
	checkSpoken(t, disclosure.Dividend, map[string]spoken{
		"amount in words": {
			text: "El Consejo ha acordado abonar el próximo 7 de mayo un dividendo a cuenta de veinte céntimos de euro (0,20 €) brutos por " +
				"acción. Las acciones cotizarán ex dividendo el día 5 de mayo y la fecha de registro será el 6 de mayo.",
			want: []map[string]string{may},
		},
		"only the end of an amount in words": {
			text: "El Consejo ha acordado repartir un dividendo bruto de treinta y un céntimos de euro por acción.",
		},
		"columns": {
			text: "Dividendos aprobados por la Junta\n\nDetalle\tPrimer pago\tSegundo pago\nDividendo bruto por acción (euros)\t0,20\t0,15\n" +
				"Ex-date\t05/05/2026\t03/11/2026\nRecord date\t06/05/2026\t04/11/2026\nFecha de pago\t07/05/2026\t05/11/2026",
			want: []map[string]string{may, november},
		},
		"columns of two years": {
			text: "Dividendo\n\nDetalle\tDividendo 2025\tDividendo 2024\nDividendo bruto por acción (euros)\t0,20\t0,15\n" +
				"Fecha de pago\t07/05/2026\t05/05/2025",
		},
		"two in one sentence": {
			text: "La Junta General ha aprobado repartir dos dividendos: el primero, de 0,20 euros brutos por acción, se abonará el 7 de mayo de " +
				"2026; el segundo, de 0,15 euros brutos por acción, se abonará el 5 de noviembre de 2026.",
			want: []map[string]string{
				{"gross_per_share": "0.2", "currency": "EUR", "payment_date": "2026-05-07"},
				{"gross_per_share": "0.15", "currency": "EUR", "payment_date": "2026-11-05"},
			},
		},
		"days before their amounts": {
			text: "La Junta ha aprobado dos dividendos: el 7 de mayo de 2026 se abonarán 0,20 euros brutos por acción y el 5 de noviembre de 2026, " +
				"0,15 euros brutos por acción.",
		},
		"the rest of a dividend": {
			title: "La Junta aprueba el dividendo",
			text: "La Junta aprobó ayer un dividendo de 0,30 €/acción. La compañía abonó en enero 0,10 €/acción a cuenta, por lo que el 7 de " +
				"mayo se pagarán los 0,20 € restantes.",
		},
		"a final dividend to come": {
			title: "Dividendo a cuenta",
			text: "El Consejo ha acordado un dividendo a cuenta de 0,20 euros brutos por acción.\n\nEx-date: 5 de mayo de 2026\n\n" +
				"Record date: 6 de mayo de 2026\n\nFecha de pago: 7 de mayo de 2026\n\n" +
				"El Consejo propondrá a la Junta General un dividendo complementario por el mismo importe.",
			want: []map[string]string{may},
		},
		"two languages": {
			title: "Dividendo / Dividend",
			text: "La Junta General ha aprobado un dividendo de 0,20 euros brutos por acción.\tThe General Meeting has approved a dividend of " +
				"EUR 0.20 gross per share.\n\nFecha ex: 05/05/2026\tEx-date: 05/05/2026\nFecha de registro: 06/05/2026\tRecord date: 06/05/2026\n" +
				"Fecha de pago: 07/05/2026\tPayment date: 07/05/2026",
			want: []map[string]string{may},
		},
		"scanned": {
			text: "Pago de dividendo\n\nBruto por acción\tO,20 €\nFecha ex-divi dendo\t05/O5/2026\nFecha de regis tro\t06/05/2O26\n" +
				"Fecha de pago\t07/05/2026",
			want: []map[string]string{may},
		},
	})
}

func TestResultsAsIssuersWriteThem(t *testing.T) {
	quarter := map[string]string{"period": "2026-Q1", "currency": "EUR", "revenue": "90100000", "net_profit": "7200000"}
	year := map[string]string{
		"period": "2025", "currency": "EUR", "revenue": "123456000", "ebitda": "23456000", "net_profit": "3456000",
	}
	checkSpoken(t, disclosure.Results, map[string]spoken{
		"parts of the business": {
			title: "Resultados del primer trimestre de 2026",
			text: "Lumbre Textil obtuvo en el primer trimestre de 2026 unas ventas minoristas de 45,2 millones de euros y unos ingresos totales de " +
				"90,1 millones. El EBITDA del negocio internacional fue de 5,4 millones. El beneficio neto alcanzó 7,2 millones de euros.",
			want: []map[string]string{quarter},
		},
		"parts of the business in English": {
			title: "Q1 2026 results",
			text: "Lumbre Textil reported retail sales of €45.2 million and total revenue of €90.1 million in Q1 2026. International EBITDA was " +
				"€5.4m. Net profit reached €7.2 million, up 4% on Q1 2025.",
			want: []map[string]string{quarter},
		},
		"a bank": {
			title: "Resultados 2025",
			text: "El volumen de negocio asciende a 12.000 millones de euros. El margen de intereses sube un 4 %. El beneficio neto de 2025 fue " +
				"de 80,1 millones de euros.",
			want: []map[string]string{{"period": "2025", "currency": "EUR", "net_profit": "80100000"}},
		},
		"columns of shares": {
			title: "Resultados del ejercicio 2025",
			text: "Cuenta de resultados consolidada (miles de €)\n\tEjercicio 2025\t%\tEjercicio 2024\t%\tVar. %\n" +
				"Cifra de negocios\t123.456\t100,0\t110.000\t100,0\t12,2\nEBITDA\t23.456\t19,0\t20.000\t18,2\t17,3\n" +
				"Beneficio neto atribuido\t3.456\t2,8\t(1.200)\t(1,1)\tn.a.",
			want: []map[string]string{year},
		},
		"scanned": {
			title: "Resultados del ejercicio 2025",
			text: "Ejercicio 2025 (miles de euros)\n\nConcepto\t2O25\t2024\nCifra de negocios\t123.456\t11O.000\nEBlTDA\t23.456\t2O.00O\n" +
				"Beneficio neto atribuido\t3.456\t1.38O",
			want: []map[string]string{year},
		},
		"goals in lines": {
			title: "Resultados del primer trimestre",
			text: "Avance de resultados del primer trimestre de 2026\n\nVentas: 90,1 M€ (+6 %)\nResultado neto atribuido: 7,2 M€\n\n" +
				"Objetivos 2026\nVentas: 380 M€\nEBITDA: 65 M€",
			want: []map[string]string{quarter},
		},
		"up to a figure": {
			title: "Resultados 2025",
			text: "Lumbre Textil gana 7,2 millones en 2025, un 20 % más. Las ventas mejoraron un 5 %, hasta los 123,4 millones de euros, y el " +
				"presupuesto permite invertir hasta 20 millones.",
			want: []map[string]string{{"period": "2025", "currency": "EUR", "revenue": "123400000", "net_profit": "7200000"}},
		},
		"a row without its note": {
			title: "Informe financiero anual 2025",
			text: "(En miles de euros)\tNota\t2025\t2024\nImporte neto de la cifra de negocios\t21\t123.456\t110.000\n" +
				"Resultado del ejercicio\t\t7.200\t6.100\nResultado bruto de explotación\t12\t9.100",
			want: []map[string]string{{"period": "2025", "currency": "EUR", "revenue": "123456000", "net_profit": "7200000"}},
		},
		"about": {title: "Results 2025", text: "Results for 2025. Revenue in 2025 was c. €123m and EBITDA circa €23 million."},
		"others have a share of the profit": {
			title: "Resultados 2025",
			text: "El beneficio neto de 2025 se situó en 7,2 millones de euros, de los que 0,2 millones corresponden a minoritarios. Las ventas " +
				"de 2025 ascendieron a 123,4 millones de euros.",
			want: []map[string]string{{"period": "2025", "currency": "EUR", "revenue": "123400000"}},
		},
		"the whole year behind a quarter": {
			title: "Resultados anuales 2025",
			text: "El Grupo cerró 2025 con un beneficio neto de 7,2 millones de euros. En el cuarto trimestre los ingresos fueron de 30,2 " +
				"millones. En el conjunto del ejercicio los ingresos ascendieron a 123,4 millones de euros.",
			want: []map[string]string{{"period": "2025", "currency": "EUR", "revenue": "123400000", "net_profit": "7200000"}},
		},
	})
}

func TestSuspensionsAsTheyAreWritten(t *testing.T) {
	checkSpoken(t, disclosure.Suspension, map[string]spoken{
		"immediate effect": {
			text: "La CNMV ha acordado suspender cautelarmente, con efectos inmediatos, la negociación de las acciones de LUMBRE TEXTIL, S.A.\n\n" +
				"Lo que se hace público a las 11:42 horas.\n\nMadrid, 20 de abril de 2026",
			want: []map[string]string{{"action": "suspended", "at": "2026-04-20T11:42"}},
		},
		"immediate effect, signed on another day": {
			text: "La CNMV ha acordado suspender cautelarmente, con efectos inmediatos, la negociación de las acciones.\n\nMadrid, 8 de abril de 2026",
			want: []map[string]string{{"action": "suspended"}},
		},
		"hour of the earlier decision": {
			text: "Levantar, con efectos de las 16:00 horas del día de hoy, 20 de abril de 2026, la suspensión cautelar acordada a las 11:42 " +
				"horas de la negociación de las acciones.",
			want: []map[string]string{{"action": "lifted", "at": "2026-04-20T16:00"}},
		},
		"effect in the next sentence": {
			text: "Se ha acordado la exclusión de negociación de las acciones. La exclusión surtirá efectos el 24 de abril de 2026.",
			want: []map[string]string{{"action": "excluded", "at": "2026-04-24"}},
		},
		"hour with seconds": {
			text: "Queda interrumpida la contratación de las acciones a partir de las 11:05:30 horas del 20 de abril de 2026.",
			want: []map[string]string{{"action": "suspended", "at": "2026-04-20T11:05"}},
		},
		"title of a section": {text: "6. Delisting\n\nThe Bidder has no plans."},
		"title of a section in Spanish": {
			text: "7. Exclusión de negociación\n\nSi se alcanzan los umbrales, las acciones serán excluidas de negociación.",
		},
	})
}

func TestMeetingsAsTheyAreWritten(t *testing.T) {
	want := []map[string]string{{
		"meeting_kind": "extraordinary", "first_call": "2026-05-26T10:00", "second_call": "2026-05-27T10:00",
	}}
	checkSpoken(t, disclosure.Meeting, map[string]spoken{
		"year in words": {
			text: "El Consejo convoca Junta General Extraordinaria para el veintiséis de mayo de dos mil veintiséis a las diez horas, en primera " +
				"convocatoria, y para el siguiente día, veintisiete de mayo, a la misma hora, en segunda convocatoria.",
			want: want,
		},
		"supplement": {
			text: "A solicitud del accionista Marenda, S.L., se publica el complemento a la convocatoria de la Junta General Extraordinaria " +
				"prevista para el 26 de mayo de 2026, en primera convocatoria, y para el 27 de mayo de 2026, en segunda, en ambos casos a las 10:00 horas.",
			want: want,
		},
		"request": {
			text: "El accionista Marenda, S.L. ha presentado una solicitud de convocatoria de Junta General Extraordinaria para el 26 de mayo de " +
				"2026 en primera convocatoria.",
		},
	})
}
