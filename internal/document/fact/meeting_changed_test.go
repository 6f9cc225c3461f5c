package fact_test

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestChangedMeetings has documents about meetings that are only planned, or whose dates and hours
// were replaced.
func TestChangedMeetings(t *testing.T) {
	checkSpoken(t, disclosure.Meeting, map[string]spoken{
		"planned":          {text: "La Sociedad prevé celebrar su Junta General Ordinaria el 28 de mayo de 2026 en primera convocatoria."},
		"planned, English": {text: "The Company expects to hold its Annual General Meeting on 28 May 2026 on first call."},
		"planned that":     {text: "Está previsto que la Junta General Ordinaria se celebre el 28 de mayo de 2026, en primera convocatoria."},
		"would be held":    {text: "La Junta General Ordinaria tendría lugar el 28 de mayo de 2026 en primera convocatoria."},
		"not held": {
			text: "No se celebrará la Junta General Extraordinaria convocada para el 28 de mayo de 2026 en primera convocatoria y el 29 de mayo de 2026 en segunda.",
		},
		"short name of the second call": {
			text: "Convocatoria de Junta General Extraordinaria: 28 de mayo de 2026, 10:00 horas, primera convocatoria; 29 de mayo de 2026, 10:00 horas, segunda.",
			want: []map[string]string{{"meeting_kind": "extraordinary", "first_call": "2026-05-28T10:00", "second_call": "2026-05-29T10:00"}},
		},
		"replaced hour": {
			text: "La hora de la Junta General Ordinaria será a las 17:00 horas, en lugar de a las 12:00 horas, del 28 de mayo de 2026, en primera convocatoria.",
		},
		"replaced date": {
			text: "La Junta General Ordinaria, inicialmente convocada para el 21 de mayo de 2026, se celebrará el 28 de mayo de 2026, a las 12:00 horas, en primera " +
				"convocatoria.",
			want: []map[string]string{{"meeting_kind": "ordinary", "first_call": "2026-05-28T12:00"}},
		},
		"a day later": {
			text: "Quedan convocados a Junta General Extraordinaria el 28 de mayo de 2026, a las 10:00 horas, en primera convocatoria y, de no reunirse el quórum " +
				"necesario, 24 horas después en segunda convocatoria.",
			want: []map[string]string{{"meeting_kind": "extraordinary", "first_call": "2026-05-28T10:00", "second_call": "2026-05-29T10:00"}},
		},
	})
}
