package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestSuspensionMoods has sentences whose verb or noun does not say that someone decided.
func TestSuspensionMoods(t *testing.T) {
	var tests []trapTest
	for name, text := range map[string]string{
		"should":            `Should trading resume, members will be notified by a further notice.`,
		"when":              `La suspensión se levantará cuando se reanude la contratación en el mercado.`,
		"future":            `Una vez liquidada la oferta, las acciones quedarán excluidas de negociación.`,
		"no motives":        `La Sociedad considera que existen motivos para suspender la negociación de sus acciones.`,
		"hope":              `La Sociedad confía en que BME acuerde el levantamiento de la suspensión de la negociación.`,
		"maintained":        `La CNMV ha decidido mantener la suspensión de la negociación de las acciones.`,
		"if it is not done": `Transcurrido dicho plazo, se acordará la suspensión de la negociación con efectos del 7 de octubre de 2026.`,
		"redemptions":       `Se ha acordado suspender las ventas debido a que la negociación de los valores no es posible.`,
		"procedure":         `La CNMV ha notificado el acuerdo de incoación del procedimiento de exclusión de negociación de las acciones.`,
		"timetable":         "Hito\tFecha\nExclusión de negociación\t07/10/2026",
		"subject alone":     "Asunto:\tSuspensión de la negociación\nReferencia:\t11/2026",
		"like its name":     `La Bolsa de Toronto ha suspendido hoy la negociación de las acciones de Cierzo Gold Corp.`,
	} {
		tests = append(tests, trapTest{
			name:      name,
			company:   "Cierzo Telecom, S.A.",
			title:     "Información",
			published: "2026-10-06",
			text:      text,
		})
	}
	testTraps(t, disclosure.Suspension, tests)
}

// TestSuspensionsOfAuthority has decisions in the words of the regulator or of an exchange.
func TestSuspensionsOfAuthority(t *testing.T) {
	testTraps(t, disclosure.Suspension, []trapTest{
		{
			name:      "about a company that the title names",
			company:   "Comisión Nacional del Mercado de Valores",
			title:     "Levantamiento de la suspensión de CIERZO TELECOM, S.A.",
			published: "2026-10-06",
			text: `"Levantar, con efectos a las 13:00 horas del día de hoy, 6 de octubre de 2026, la suspensión de la negociación de las acciones de
CIERZO TELECOM, S.A. acordada el 5 de octubre de 2026".`,
			want: []string{"action=lifted; at=2026-10-06T13:00"},
		},
		{
			name:      "about another than the title names",
			company:   "Comisión Nacional del Mercado de Valores",
			title:     "Levantamiento de la suspensión de CIERZO TELECOM, S.A.",
			published: "2026-10-06",
			text:      `La CNMV ha acordado suspender con efectos de hoy la negociación de las acciones de BETA MOTORES, S.A.`,
		},
		{
			name:      "a form with a subject",
			company:   "Bolsa de Crecimiento",
			title:     "Instrucción operativa",
			published: "2026-10-06",
			text:      "Asunto:\tSuspensión de la negociación\nEmisor:\tCIERZO TELECOM, S.A.\nEfectos:\t06/10/2026, 9:05 horas",
			want:      []string{"action=suspended; at=2026-10-06T09:05"},
		},
		{
			name:      "asked for behind the decision",
			company:   "Iberian Growth Exchange",
			title:     "Market notice",
			published: "2026-10-06",
			language:  "en",
			text:      `The Supervision Department has resolved to suspend trading in the shares as from 15:42 on 6 October 2026, at the request of the company.`,
			want:      []string{"action=suspended; at=2026-10-06T15:42"},
		},
		{
			name:      "rows of other securities",
			company:   "BME Exchange",
			title:     "Instrucciones",
			published: "2026-10-06",
			text: `Valor	Instrucción	Efectos
BETA MOTORES, S.A.	Pago de dividendo	09/10/2026
CIERZO TELECOM, S.A.	Suspensión de la negociación	06/10/2026 08:45`,
			want: []string{"action=suspended; at=2026-10-06T08:45"},
		},
	})
}
