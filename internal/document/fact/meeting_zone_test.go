package fact_test

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestMeetingZones has notices with hours of other zones, and with an hour for each call.
func TestMeetingZones(t *testing.T) {
	ordinary := func(first, second string) []map[string]string {
		return []map[string]string{{"meeting_kind": "ordinary", "first_call": first, "second_call": second}}
	}
	checkSpoken(t, disclosure.Meeting, map[string]spoken{
		"London": {
			text: "The Annual General Meeting will be held at 10.00 a.m. (London time) on 27 May 2026.",
			want: []map[string]string{{"meeting_kind": "ordinary", "first_call": "2026-05-27T11:00"}},
		},
		"Canary Islands": {
			text: "La Junta General Ordinaria se celebrará el 27 de mayo de 2026, a las 12:00 horas (hora canaria), en primera convocatoria, y el 28 de mayo de 2026, a la " +
				"misma hora, en segunda convocatoria.",
			want: ordinary("2026-05-27T13:00", "2026-05-28T13:00"),
		},
		"zone that is not known": {text: "The Annual General Meeting will be held on 27 May 2026 at 9:00 a.m. (New York time)."},
		"same hour and place of a day": {
			text: "Se convoca Junta General Ordinaria a las 12:00 horas del día 27 de mayo de 2026, en primera convocatoria, y, en su caso, a la misma hora y en el mismo " +
				"lugar del día 28 de mayo de 2026 en segunda convocatoria.",
			want: ordinary("2026-05-27T12:00", "2026-05-28T12:00"),
		},
		"hours in a row of their own": {
			text: "Junta General Ordinaria\n\n\tPrimera convocatoria\tSegunda convocatoria\nFecha\t27/05/2026\t28/05/2026\nHora\t9:30\t10:30",
			want: ordinary("2026-05-27T09:30", "2026-05-28T10:30"),
		},
		"both calls on one day": {
			text: "Se convoca la Asamblea General Ordinaria que tendrá lugar el 27 de mayo de 2026, a las 18:30 horas en primera convocatoria y a las 19:00 horas en segunda.",
			want: ordinary("2026-05-27T18:30", "2026-05-27T19:00"),
		},
		"name behind each date": {
			text: "Junta General Ordinaria\n\nFecha:\t27 de mayo de 2026, 11:00 horas (primera convocatoria)\n\t28 de mayo de 2026, 11:00 horas (segunda convocatoria)",
			want: ordinary("2026-05-27T11:00", "2026-05-28T11:00"),
		},
		"day in words and in figures": {
			text: "Se convoca Junta General Ordinaria el veintisiete de mayo de dos mil veintiséis (27 de mayo de 2026), a las 9:30 horas, en primera convocatoria, y el 28 de mayo " +
				"de 2026 a la misma hora en segunda.",
			want: ordinary("2026-05-27T09:30", "2026-05-28T09:30"),
		},
		"board": {text: "El Consejo de Administración ha sido convocado para el 27 de mayo de 2026, a las 17:00 horas, en primera convocatoria, y a las 18:00 horas en segunda, con " +
			"el fin de fijar la fecha de la Junta General Ordinaria."},
		"suspended by a court": {text: "El Juzgado ha acordado la suspensión de la celebración de la Junta General Extraordinaria convocada para los días 27 y 28 de mayo de 2026, a las " +
			"12:00 horas, en primera y segunda convocatoria."},
		"calendar": {text: "Calendario financiero 2026\n\n27 de mayo de 2026\tJunta General Ordinaria (primera convocatoria)\n28 de mayo de 2026\tJunta General Ordinaria (segunda " +
			"convocatoria)"},
	})
}
