package fact_test

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestMeetingsThatAreNotCalled has documents with calls of a meeting that was held, moved, or is
// that of another body.
func TestMeetingsThatAreNotCalled(t *testing.T) {
	moved := []map[string]string{{
		"meeting_kind": "ordinary", "first_call": "2026-06-10T12:00", "second_call": "2026-06-11T12:00",
	}}
	checkSpoken(t, disclosure.Meeting, map[string]spoken{
		"held, with the dates of a dividend": {text: "The Annual General Meeting held today on first call resolved to distribute a dividend.\n\n" +
			"Record date: 13 May 2026\nPayment date: 14 May 2026"},
		"held, and a payment that takes place later": {text: "La Junta General Ordinaria celebrada ayer acordó un dividendo, cuyo pago tendrá lugar el " +
			"14 de mayo de 2026."},
		"postponed": {text: "El Consejo ha acordado aplazar la celebración de la Junta General Ordinaria hasta nueva fecha.\n\nLa Junta fue convocada para " +
			"el 27 de mayo de 2026 en primera convocatoria y el 28 de mayo de 2026 en segunda convocatoria."},
		"called anew in the same sentence": {text: "Convocada la Junta General Ordinaria para los días 27 y 28 de mayo de 2026, en primera y segunda convocatoria, " +
			"el Consejo ha acordado dejar sin efecto dicha convocatoria y convocar nuevamente la Junta General Ordinaria el 10 de junio de 2026, a las 12:00 " +
			"horas, en primera convocatoria, y el 11 de junio de 2026, a las 12:00 horas, en segunda convocatoria.", want: moved},
		"new dates in another sentence": {text: "El Consejo ha acordado modificar la fecha de la Junta General Ordinaria. Estaba convocada el 27 de mayo de 2026, en " +
			"primera convocatoria. Las nuevas fechas son el 10 de junio de 2026, a las 12:00, en primera convocatoria, y el 11 de junio de 2026, a las 12:00, " +
			"en segunda.", want: moved},
		"old and new column": {text: "Cambio de fecha de la Junta General Ordinaria\n\n\tAntes\tAhora\nPrimera convocatoria\t27/05/2026\t10/06/2026\n" +
			"Segunda convocatoria\t28/05/2026\t11/06/2026"},
		"board":                {text: "El Consejo de Administración se reunirá el 27 de mayo de 2026 en primera convocatoria y el 28 de mayo de 2026 en segunda."},
		"date of the document": {title: "Junta General Ordinaria", text: "Junta General Ordinaria 2026\n\nFecha: 21 de abril de 2026"},
	})
}

// TestMeetingForms has calls without the usual names.
func TestMeetingForms(t *testing.T) {
	both := func(kind string) []map[string]string {
		return []map[string]string{{"meeting_kind": kind, "first_call": "2026-05-27T12:30", "second_call": "2026-05-28T12:30"}}
	}
	checkSpoken(t, disclosure.Meeting, map[string]spoken{
		"first call implied": {text: "Se convoca Junta General Ordinaria, que se celebrará en Madrid el 27 de mayo de 2026, a las 12:30 horas, o, en segunda " +
			"convocatoria, el 28 de mayo de 2026 a la misma hora.", want: both("ordinary")},
		"adjourned meeting": {text: "A Meeting of Noteholders will be held on 27 May 2026 at 12:30 (CET) and, if the quorum is not reached, an adjourned meeting " +
			"on 28 May 2026 at 12:30 (CET).", want: both("bondholders")},
		"called by the commissioner": {text: "Arbea Comisarios, S.L., en su condición de Comisario del Sindicato, convoca a la Asamblea General de Bonistas el 27 de " +
			"mayo de 2026, a las 12:30 horas, en primera convocatoria, y el 28 de mayo de 2026, a las 12:30 horas, en segunda.", want: both("bondholders")},
		"kind behind a label": {
			text: "Tipo de Junta:\tOrdinaria\nFecha 1ª convocatoria:\t27/05/2026 – 12:30\nFecha 2ª convocatoria:\t28/05/2026 – 12:30",
			want: both("ordinary"),
		},
	})
}

// TestMeetingHours has the ways in which notices write the hour.
func TestMeetingHours(t *testing.T) {
	for hour, want := range map[string]string{
		"a las 12,30 horas":                          "T12:30",
		"a las 12'30 horas":                          "T12:30",
		"a las 12h30":                                "T12:30",
		"a las 11 h y 30 min":                        "T11:30",
		"a las 12 horas, 30 minutos":                 "T12:30",
		"a las doce y cuarto":                        "T12:15",
		"a las doce y treinta horas":                 "T12:30",
		"a las doce horas cuarenta y cinco minutos":  "T12:45",
		"a las doce del mediodía":                    "T12:00",
		"a las doce menos cuarto de la mañana":       "",
		"a las 12:30 horas (11:30 hora de Canarias)": "",
	} {
		text := "Se convoca Junta General Ordinaria para el 27 de mayo de 2026, " + hour + ", en primera convocatoria."
		var facts []map[string]string
		if want != "" {
			facts = []map[string]string{{"meeting_kind": "ordinary", "first_call": "2026-05-27" + want}}
		}
		checkSpoken(t, disclosure.Meeting, map[string]spoken{hour: {text: text, want: facts}})
	}
}
