package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestSuspensionTraps has sentences that only refer to a suspension, beside those that decide one.
func TestSuspensionTraps(t *testing.T) {
	testTraps(t, disclosure.Suspension, []trapTest{
		{
			name:      "behind a preposition",
			company:   "Cierzo Telecom, S.A.",
			title:     "Información sobre la venta",
			published: "2026-10-05",
			text:      `Tras la suspensión de la cotización acordada por la CNMV esta mañana, Cierzo Telecom, S.A. comunica que ha firmado la venta de su filial.`,
		},
		{
			name:      "in relation to",
			company:   "Cierzo Telecom, S.A.",
			title:     "Información",
			published: "2026-10-05",
			text:      `En relación con la suspensión cautelar de la negociación de las acciones decidida hoy por la CNMV, la Sociedad informa de que está negociando la venta de su división de fibra.`,
		},
		{
			name:      "lifted today, suspended yesterday",
			company:   "Cierzo Telecom, S.A.",
			title:     "Levantamiento",
			published: "2026-10-06",
			text:      `La CNMV ha acordado levantar, con efectos a partir de las 10:30 horas del día de hoy, la suspensión cautelar acordada el día 5 de octubre de 2026 a las 9:05 horas de la negociación de las acciones de CIERZO TELECOM, S.A.`,
			want:      []string{"action=lifted; at=2026-10-06T10:30"},
		},
		{
			name:      "told in the past",
			company:   "Cierzo Telecom, S.A.",
			title:     "Antecedentes",
			published: "2026-10-06",
			text:      `La negociación de las acciones fue suspendida por la CNMV el 2 de octubre de 2026 y reanudada el 3 de octubre de 2026. La Sociedad no tiene conocimiento de nuevos hechos.`,
		},
		{
			name:      "table with a measure",
			company:   "Cierzo Telecom, S.A.",
			title:     "Suspensión",
			published: "2026-10-06",
			text: `Valor	Medida	Fecha	Hora
CIERZO TELECOM, S.A.	Suspensión de la negociación	06/10/2026	09:12`,
			want: []string{"action=suspended; at=2026-10-06T09:12"},
		},
		{
			name:      "table with two companies",
			company:   "Cierzo Telecom, S.A.",
			title:     "Suspensión",
			published: "2026-10-06",
			text: `Valor	Medida	Fecha	Hora
OTRA EMPRESA, S.A.	Suspensión de la negociación	06/10/2026	09:12
CIERZO TELECOM, S.A.	Levantamiento de la suspensión de la negociación	06/10/2026	11:00`,
			want: []string{"action=lifted; at=2026-10-06T11:00"},
		},
		{
			name:      "during a suspension",
			company:   "Cierzo Telecom, S.A.",
			title:     "Nota",
			published: "2026-10-06",
			text:      `El Tribunal Supremo ha confirmado la multa impuesta por operar durante la suspensión de la cotización acordada por la CNMV.`,
		},
		{
			name:      "once lifted",
			company:   "Cierzo Telecom, S.A.",
			title:     "Nota",
			published: "2026-10-06",
			text:      `Una vez levantada la suspensión de la cotización acordada esta mañana, la Sociedad informa del acuerdo alcanzado con sus acreedores.`,
		},
		{
			name:      "while suspended",
			company:   "Cierzo Telecom, S.A.",
			title:     "Nota",
			published: "2026-10-06",
			text:      `Mientras la negociación permanezca suspendida, los accionistas no podrán operar. La CNMV decidirá sobre el levantamiento mañana.`,
		},
		{
			name:      "admission of others",
			company:   "Cierzo Telecom, S.A.",
			title:     "Nota",
			published: "2026-10-06",
			text:      `Se comunica la admisión a negociación de 1.200.000 acciones nuevas con efectos desde el 7 de octubre de 2026, quedando excluidas de negociación las acciones de la clase B.`,
		},
		{
			name:      "usual reason",
			company:   "Cierzo Telecom, S.A.",
			title:     "Nota",
			published: "2026-10-06",
			text: `CNMV

Asunto: suspensión
La CNMV, al concurrir circunstancias que pudieran perturbar el normal desarrollo de las operaciones, ha acordado suspender cautelarmente la negociación de CIERZO TELECOM, S.A. mientras es difundida una información.

Madrid, 6 de octubre de 2026, 9:12 horas`,
			want: []string{"action=suspended"},
		},
		{
			name:      "hour in the next line",
			company:   "Cierzo Telecom, S.A.",
			title:     "Aviso",
			published: "2026-10-06",
			text: `Valor: CIERZO TELECOM, S.A.
Medida: levantamiento de la suspensión de la negociación
Fecha de efectos: 6 de octubre de 2026
Hora: 15:30`,
			want: []string{"action=lifted; at=2026-10-06T15:30"},
		},
		{
			name:      "day of publication",
			company:   "Cierzo Telecom, S.A.",
			title:     "Aviso",
			published: "2026-10-06",
			text: `Medida: suspensión cautelar de la negociación
Fecha de la solicitud: 5 de octubre de 2026
Fecha de publicación: 6 de octubre de 2026
Fecha de efectos: 7 de octubre de 2026`,
			want: []string{"action=suspended; at=2026-10-07"},
		},
		{
			name:      "announced before",
			company:   "Cierzo Telecom, S.A.",
			title:     "Nota",
			published: "2026-10-06",
			text:      `Como se comunicó el 5 de octubre de 2026, la CNMV acordó suspender la negociación de las acciones.`,
		},
		{
			name:      "three days",
			company:   "Cierzo Telecom, S.A.",
			title:     "Nota",
			published: "2026-10-06",
			text:      `La CNMV, en su reunión de 5 de octubre de 2026, acordó levantar la suspensión de la negociación con efectos de 6 de octubre de 2026 a las 8:30 horas, adoptada el 28 de septiembre de 2026 a las 16:45 horas.`,
			want:      []string{"action=lifted; at=2026-10-06T08:30"},
		},
		{
			name:      "talks",
			company:   "Cierzo Telecom, S.A.",
			title:     "Nota",
			published: "2026-10-06",
			text:      `El Consejo ha decidido suspender la negociación con el inversor interesado hasta que el mercado mejore.`,
		},
		{
			name:      "no notice",
			company:   "Cierzo Telecom, S.A.",
			title:     "Nota",
			published: "2026-10-06",
			text:      `La Sociedad comunica que no ha recibido notificación alguna sobre la suspensión de cotización de sus acciones.`,
		},
		{
			name:      "law",
			company:   "Cierzo Telecom, S.A.",
			title:     "Nota",
			published: "2026-10-06",
			text:      `Los servicios jurídicos informan: el artículo 64 permite acordar la suspensión de la negociación cuando concurran circunstancias especiales.`,
		},
		{
			name:      "company without its legal form",
			company:   "Cierzo Telecom, S.A.",
			title:     "Nota",
			published: "2026-10-06",
			text:      `La negociación de las acciones de Beta Motores, competidora de Cierzo Telecom, S.A., ha quedado suspendida hoy por acuerdo de la CNMV.`,
		},
	})
}

// TestSuspensionsGranted has decisions that someone asked for, and wishes.
func TestSuspensionsGranted(t *testing.T) {
	testTraps(t, disclosure.Suspension, []trapTest{
		{
			name:      "asked and granted",
			company:   "Cierzo Telecom, S.A.",
			title:     "Exclusión de negociación",
			published: "2026-10-06",
			text:      `La CNMV ha resuelto, a petición de la propia sociedad y previo acuerdo de su Junta General de 2 de julio de 2026, la exclusión de negociación de las acciones de CIERZO TELECOM, S.A., con efectos del 9 de octubre de 2026.`,
			want:      []string{"action=excluded; at=2026-10-09"},
		},
		{
			name:      "asked and granted in English",
			company:   "Cierzo Telecom, S.A.",
			title:     "Delisting",
			published: "2026-10-06",
			language:  "en",
			text:      `The CNMV has agreed, at the request of the company, the delisting of all its shares, with effect from 9 October 2026.`,
			want:      []string{"action=excluded; at=2026-10-09"},
		},
		{
			name:      "decision of the meeting to ask",
			company:   "Cierzo Telecom, S.A.",
			title:     "Exclusión de negociación",
			published: "2026-10-06",
			text:      `La Junta General ha acordado, a petición de su accionista principal, la exclusión de negociación de las acciones, que se solicitará a la CNMV.`,
		},
		{
			name:      "decision of the meeting alone",
			company:   "Cierzo Telecom, S.A.",
			title:     "Acuerdos de la Junta",
			published: "2026-10-06",
			text:      `La Junta General de Accionistas de 5 de octubre de 2026 ha aprobado la exclusión de negociación de las acciones.`,
		},
		{
			name:      "request of another",
			company:   "Cierzo Telecom, S.A.",
			title:     "Nota",
			published: "2026-10-06",
			text:      `La CNMV ha acordado, a solicitud de la sociedad, ampliar el plazo para resolver sobre la exclusión de negociación de las acciones hasta el 9 de octubre de 2026.`,
		},
		{
			name:      "signed with the hour",
			company:   "Cierzo Telecom, S.A.",
			title:     "Suspensión",
			published: "2026-10-06",
			text: `La CNMV ha acordado levantar, con efectos inmediatos, la suspensión cautelar de la negociación de las acciones de CIERZO TELECOM, S.A.

El Vicepresidente, 6 de octubre de 2026, 16:05 horas.`,
			want: []string{"action=lifted; at=2026-10-06T16:05"},
		},
		{
			name:      "signed at another hour than made public",
			company:   "Cierzo Telecom, S.A.",
			title:     "Suspensión",
			published: "2026-10-06",
			text: `La CNMV ha acordado suspender, con efectos inmediatos, la negociación de las acciones de CIERZO TELECOM, S.A.

Se hace público a las 10:15 horas.

Madrid, 6 de octubre de 2026, 09:42 horas.`,
			want: []string{"action=suspended"},
		},
		{
			name:      "trading suspended since",
			company:   "Cierzo Telecom, S.A.",
			title:     "Información",
			published: "2026-10-06",
			text:      `La negociación de las acciones se halla suspendida desde el 5 de octubre de 2026, a las 9:42 horas, y la Sociedad está recabando la información requerida.`,
		},
		{
			name:      "bonds of a subsidiary",
			company:   "Cierzo Telecom, S.A.",
			title:     "Información",
			published: "2026-10-06",
			text:      `La Bolsa de Luxemburgo ha suspendido hoy la negociación de los bonos emitidos por Cierzo Finance, B.V., filial de la Sociedad.`,
		},
		{
			name:      "order by the company to its broker",
			company:   "Cierzo Telecom, S.A.",
			title:     "Información",
			published: "2026-10-06",
			text:      `La Sociedad ha acordado suspender temporalmente la negociación de acciones propias en el mercado con efectos de hoy.`,
		},
		{
			name:      "resumes after a notice",
			company:   "Cierzo Telecom, S.A.",
			title:     "Reanudación",
			published: "2026-10-06",
			text:      `Como consecuencia de la información relevante difundida por la entidad, la CNMV ha acordado levantar con efectos de las 12:30 horas del día de hoy la suspensión de la negociación de CIERZO TELECOM, S.A.`,
			want:      []string{"action=lifted; at=2026-10-06T12:30"},
		},
	})
}
