package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestProgrammeNamed: changes of a programme that is named by a pronoun, and reports that name an event
// of an earlier one.
func TestProgrammeNamed(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackProgramme, []marketText{
		{
			name:  "numbered changes",
			title: "Modificación del programa de recompra",
			day:   "2024-06-10",
			pages: []string{`En relación con el programa de recompra de acciones propias publicado en febrero, el Consejo ha acordado, por ` +
				`unanimidad de los asistentes y con el informe favorable de la Comisión de Auditoría, modificarlo así:

1.º  El importe monetario máximo, que era de 5.000.000 de euros, pasa a ser de 8.000.000 de euros.

2.º  La vigencia, que concluía el 30 de noviembre de 2024, se prolonga hasta el 31 de mayo de 2025.`},
			want: []string{"currency=EUR ends_on=2025-05-31 event=change max_amount=8000000"},
		},
		{
			name:  "the start of which an earlier report told",
			title: "Operaciones de recompra de acciones propias",
			day:   "2024-06-10",
			pages: []string{`Como continuación de la comunicación de otra información relevante de 30 de mayo de 2024 por la que la Sociedad ` +
				`hizo público el inicio de su programa de recompra, se relacionan las compras.`},
			want: nil,
		},
		{
			name:  "no change",
			title: "Operaciones del programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Nada de lo aquí expuesto supone modificación del programa de recompra, que continúa en vigor.`},
			want:  nil,
		},
	})
}
