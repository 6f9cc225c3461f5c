package fact_test

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestMeetings(t *testing.T) {
	both := []map[string]string{{
		"meeting_kind": "ordinary", "first_call": "2026-05-27T12:00", "second_call": "2026-05-28T12:00",
	}}
	days := []map[string]string{{"meeting_kind": "ordinary", "first_call": "2026-05-27", "second_call": "2026-05-28"}}
	checkSpoken(t, disclosure.Meeting, map[string]spoken{
		"notice": {text: "El Consejo de Administración, en su reunión de 16 de abril de 2026, ha acordado convocar a los señores accionistas a la Junta " +
			"General Ordinaria, que se celebrará en el domicilio social, calle Mayor, 5, el día 27 de mayo de 2026, a las 12:00 horas, en primera " +
			"convocatoria, o el día siguiente, 28 de mayo de 2026, a la misma hora y en el mismo lugar, en segunda convocatoria, caso de no " +
			"alcanzarse el quórum necesario en la primera.", want: both},
		"hour before the day": {text: "Junta General Ordinaria de Accionistas, a las 12:00 horas del día 27 de mayo de 2026 en primera convocatoria, y a las 12:00 " +
			"horas del día 28 de mayo de 2026 en segunda convocatoria.", want: both},
		"days together": {text: "Se convoca Junta General Ordinaria para los días 27 y 28 de mayo de 2026, a las 12:00 horas, en primera y segunda " +
			"convocatoria, respectivamente.", want: both},
		"hour in words": {text: "Se convoca a los accionistas a la Junta General que, con carácter de ordinaria, tendrá lugar a las doce horas y cero minutos del " +
			"próximo día 27 de mayo de 2026, en primera convocatoria, y a la misma hora del día 28 de mayo de 2026, en segunda.", want: both},
		"half past": {
			text: "Se convoca Junta General Ordinaria a las doce y media de la mañana del día 27 de mayo de 2026, en primera convocatoria.",
			want: []map[string]string{{"meeting_kind": "ordinary", "first_call": "2026-05-27T12:30"}},
		},
		"hours and minutes": {
			text: "Se convoca Junta General Ordinaria el día 27 de mayo de 2026, a las 12 horas y 30 minutos, en primera convocatoria.",
			want: []map[string]string{{"meeting_kind": "ordinary", "first_call": "2026-05-27T12:30"}},
		},
		"hour of both calls": {text: "La Junta General Ordinaria ha sido convocada para el 27 de mayo de 2026 (primera convocatoria) y el 28 de mayo de 2026 " +
			"(segunda convocatoria), a las 12:00 horas en ambos casos.", want: both},
		"afternoon before the day": {
			text: "The Annual General Meeting will be held at 4:30 p.m. on 27 May 2026 on first call.",
			want: []map[string]string{{"meeting_kind": "ordinary", "first_call": "2026-05-27T16:30"}},
		},
		"first call named twice": {text: "La Junta General Ordinaria se celebrará el día 27 de mayo de 2026, a las 12:00 horas, en primera convocatoria y, para el supuesto " +
			"de que no pudiera celebrarse en primera convocatoria, en segunda convocatoria el día 28 de mayo de 2026, a las 12:00 horas.", want: both},
		"expected in the same sentence": {text: "Se convoca Junta General Ordinaria para los días 27 y 28 de mayo de 2026, a las 12:00 horas, en primera y segunda " +
			"convocatoria, respectivamente, previéndose que se celebre en segunda convocatoria.", want: both},
		"form with one call": {
			text: "Convocatoria de Junta General Ordinaria\n\nFecha y hora: miércoles, 27 de mayo de 2026, a las 12:00 h\n\nFormato: telemático",
			want: []map[string]string{{"meeting_kind": "ordinary", "first_call": "2026-05-27T12:00"}},
		},
		"form with two calls": {text: "Convocatoria de Junta General Ordinaria\n\nFecha: 27 de mayo de 2026\n\nSegunda convocatoria: por determinar"},
		"names before days": {
			text: "Se convoca Junta General Ordinaria en primera convocatoria el 27 de mayo de 2026 y, en segunda, el 28 de mayo de 2026.",
			want: days,
		},
		"expected at the second call": {text: "La Junta General Ordinaria se celebrará el 27 de mayo de 2026 en primera convocatoria y el 28 de mayo de 2026 en segunda " +
			"convocatoria, siendo previsible que se celebre en segunda convocatoria.", want: days},
		"English": {text: "Notice of the Annual General Meeting. The Annual General Shareholders' Meeting will be held on 27 May 2026 at 12:00 p.m. CET, on first " +
			"call, and on 28 May 2026, at the same time, on second call.", want: both},
		"Catalan": {text: "Es convoca la Junta General Ordinària, que se celebrarà el 27 de maig de 2026, a les 12:00 hores, en primera convocatòria, i el " +
			"28 de maig de 2026, a la mateixa hora, en segona convocatòria.", want: both},
		"form": {text: "Convocatoria de Junta\n\nTipo\tJunta General Ordinaria\nPrimera convocatoria\t27/05/2026 12:00\nSegunda convocatoria\t28/05/2026 12:00\n" +
			"Fecha límite de legitimación\t22/05/2026", want: both},
		"hour in a row of its own": {text: "Convocatoria de Junta\n\nTipo\tJunta General Ordinaria\nPrimera convocatoria\t27/05/2026\nSegunda convocatoria\t28/05/2026\n" +
			"Hora\t12:00", want: both},
		"columns": {text: "Junta General Ordinaria\n\nPrimera convocatoria\tSegunda convocatoria\n27/05/2026\t28/05/2026", want: days},
		"on the next page": {
			text: "Junta General Ordinaria\n\nConvocatoria\tFecha\nPrimera convocatoria\t27/05/2026\fSegunda convocatoria\t28/05/2026",
			want: days,
		},
		"bondholders": {
			text: "El comisario convoca a la Asamblea General de Bonistas para el 27 de mayo de 2026 en única convocatoria.",
			want: []map[string]string{{"meeting_kind": "bondholders", "first_call": "2026-05-27"}},
		},
		"ordinary and extraordinary": {
			text: "Se convoca Junta General Ordinaria y Extraordinaria para el 27 de mayo de 2026 en primera convocatoria.",
			want: []map[string]string{{"first_call": "2026-05-27"}},
		},
		"without a name": {
			text: "The Extraordinary General Meeting will be held on 27 May 2026 at 10:30.",
			want: []map[string]string{{"meeting_kind": "extraordinary", "first_call": "2026-05-27T10:30"}},
		},
		"correction": {
			text: "Convocatoria de la Junta General Ordinaria. Donde dice «el 25 de mayo de 2026, en primera convocatoria», debe decir «el 27 de mayo " +
				"de 2026, en primera convocatoria».",
			want: []map[string]string{{"meeting_kind": "ordinary", "first_call": "2026-05-27"}},
		},
		"another company": {text: "Los accionistas de Marenda, S.A. están convocados a Junta General Ordinaria el 27 de mayo de 2026 en primera convocatoria."},
		"days for attendance": {text: "Podrán asistir los accionistas con acciones inscritas el 22 de mayo de 2026, si la Junta General Ordinaria se celebra en " +
			"primera convocatoria."},
		"held, and a payment to come": {text: "La Junta General Ordinaria, reunida en segunda convocatoria el 17 de abril de 2026, aprobó un dividendo que se " +
			"abonará el 27 de mayo de 2026."},
		"hour in a sentence of its own": {
			text: "La Junta General Ordinaria se celebrará el 27 de mayo de 2026, en primera convocatoria. Apertura de puertas a las 11:00 " +
				"horas. Comienzo a las 12:00 horas.",
			want: []map[string]string{{"meeting_kind": "ordinary", "first_call": "2026-05-27T12:00"}},
		},
		"the day after": {text: "Se convoca Junta General Ordinaria para el 27 de mayo de 2026, a las 12:00 horas, en primera convocatoria y, en su caso, al día " +
			"siguiente, en el mismo lugar y hora, en segunda convocatoria.", want: both},
		"the same month": {text: "Se convoca a Junta General Ordinaria el próximo día 27 de mayo de 2026, a las 12 horas, en primera convocatoria, y el día 28 del " +
			"mismo mes, a la misma hora, en segunda convocatoria.", want: both},
		"days as words": {
			text: "Se convoca Junta General Ordinaria en primera convocatoria el día veintisiete de mayo de 2026 y en segunda el día veintiocho de mayo de 2026.",
			want: days,
		},
		"numbered calls":       {text: "JUNTA GENERAL ORDINARIA 2026\n\nMadrid, 27 de mayo de 2026, 1ª convocatoria\n\nMadrid, 28 de mayo de 2026, 2.ª convocatoria", want: days},
		"last one":             {text: "La anterior Junta General Ordinaria se celebró el 27 de mayo de 2025 en segunda convocatoria."},
		"held":                 {text: "La Junta General Ordinaria celebrada hoy, 20 de abril de 2026, en primera convocatoria, ha aprobado todos los acuerdos."},
		"subsidiary":           {text: "La filial Marenda, S.A. celebrará su Junta General Ordinaria el 27 de mayo de 2026 en primera convocatoria."},
		"planned":              {text: "El Consejo tiene previsto convocar Junta General Ordinaria para el 27 de mayo de 2026 en primera convocatoria."},
		"possible":             {text: "The Annual General Meeting may be held on 27 May 2026."},
		"cancelled":            {text: "Se desconvoca la Junta General Ordinaria prevista para el 27 de mayo de 2026 en primera convocatoria."},
		"days of other things": {text: "Junta General Ordinaria. Los accionistas podrán solicitar un complemento de convocatoria hasta el 27 de mayo de 2026."},
		"two meetings": {text: "La Junta General Ordinaria se celebrará el 27 de mayo de 2026 en primera convocatoria.\n\n" +
			"La Asamblea de Bonistas se celebrará el 3 de junio de 2026 en primera convocatoria.", want: []map[string]string{
			{"meeting_kind": "ordinary", "first_call": "2026-05-27"},
			{"meeting_kind": "bondholders", "first_call": "2026-06-03"},
		}},
		"hour that is not read": {text: "La Junta General Ordinaria se celebrará el 27 de mayo de 2026, a las doce menos cuarto, en primera convocatoria."},
	})
}
