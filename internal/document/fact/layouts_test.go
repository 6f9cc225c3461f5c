package fact_test

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestMeetingLayouts has meetings in columns and forms, and those with only one call left.
func TestMeetingLayouts(t *testing.T) {
	both := []map[string]string{
		{"meeting_kind": "ordinary", "first_call": "2026-05-28T10:00", "second_call": "2026-05-29T10:00"},
	}
	checkSpoken(t, disclosure.Meeting, map[string]spoken{
		"columns": {
			text: "Se convoca a los accionistas a la Junta General     The shareholders are called to the Ordinary\n" +
				"Ordinaria, que se celebrará el 28 de mayo de        General Meeting to be held on 28 May 2026\n" +
				"2026, a las 10:00 horas, en primera                 at 10:00 on first call and on 29 May 2026,\n" +
				"convocatoria, y el 29 de mayo de 2026, a la         at the same time, on second call.\n" +
				"misma hora, en segunda.",
			want: both,
		},
		"labels above": {
			text: "Clase de reunión:\nJunta General Ordinaria\nLugar:\nPalacio de Congresos de la ciudad, avenida de la Ribera, número 18\nPrimera convocatoria:\n" +
				"28 de mayo de 2026, 10:00 horas\nSegunda convocatoria:\n29 de mayo de 2026, 10:00 horas",
			want: both,
		},
		"no quorum": {
			text: "No habiéndose alcanzado el quórum de la Junta General Ordinaria en primera convocatoria, la Junta se celebrará en segunda convocatoria el " +
				"29 de mayo de 2026, a las 10:00 horas.",
			want: []map[string]string{{"meeting_kind": "ordinary", "second_call": "2026-05-29T10:00"}},
		},
		"no quorum, and a payment": {
			text: "Al no haberse alcanzado el quórum de la Junta General Ordinaria en primera convocatoria, la Junta, celebrada hoy en segunda convocatoria, ha " +
				"aprobado un dividendo, cuyo pago tendrá lugar el 28 de mayo de 2026.",
		},
		"without proxies": {
			text: "The board has resolved to call the shareholders to the Ordinary General Meeting without the attendance of proxies, on single call, on " +
				"28 May 2026 at 10:00.",
			want: []map[string]string{{"meeting_kind": "ordinary", "first_call": "2026-05-28T10:00"}},
		},
		"hour below its label": {
			text: "Carácter de la junta:\nOrdinaria\nFecha de la primera convocatoria:\n28 de mayo de 2026\nFecha de la segunda convocatoria:\n" +
				"29 de mayo de 2026\nHora:\n10:00",
			want: both,
		},
		"votes": {
			text: "Los votos a distancia para la Junta General Ordinaria convocada, en primera convocatoria, se recibirán el 28 de mayo de 2026.",
		},
	})
}

// TestDividendLayouts has dividends that the shareholders of a foreign company declare, and dates that
// are named behind them.
func TestDividendLayouts(t *testing.T) {
	checkSpoken(t, disclosure.Dividend, map[string]spoken{
		"declared on a recommendation": {
			text: "The meeting has declared, upon the recommendation made by the directors, a final dividend of 21.4 euro cents (€0.214), before any " +
				"withholding, for each ordinary share, to be satisfied wholly in cash on 5 June 2026.",
			want: []map[string]string{
				{"gross_per_share": "0.214", "currency": "EUR", "form": "cash", "payment_date": "2026-06-05"},
			},
		},
		"named behind": {
			text: "La Sociedad pagará el 5 de junio de 2026 un dividendo de 0,60 euros brutos por acción. El 3 de junio de 2026 las acciones comenzarán a " +
				"cotizar ex-dividendo, siendo el 4 de junio de 2026 la fecha en la que se determinarán los titulares con derecho a cobro.",
			want: []map[string]string{{
				"gross_per_share": "0.6",
				"currency":        "EUR",
				"ex_date":         "2026-06-03",
				"record_date":     "2026-06-04",
				"payment_date":    "2026-06-05",
			}},
		},
	})
}
