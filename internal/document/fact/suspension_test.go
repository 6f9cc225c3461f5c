package fact_test

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestSuspensions(t *testing.T) {
	suspended := []map[string]string{{"action": "suspended", "at": "2026-04-20T09:30"}}
	lifted := []map[string]string{{"action": "lifted", "at": "2026-04-20T13:15"}}
	excluded := []map[string]string{{"action": "excluded", "at": "2026-04-22"}}
	checkSpoken(t, disclosure.Suspension, map[string]spoken{
		"decision": {text: "La Comisión Nacional del Mercado de Valores ha acordado suspender cautelarmente, con efectos desde las 9:30 horas del día 20 de " +
			"abril de 2026, la negociación en los mercados de las acciones de Lumbre Textil, S.A. por concurrir circunstancias que pudieran " +
			"perturbar el normal desarrollo de las operaciones.", want: suspended},
		"lines of a form": {text: "Suspensión\n\nISIN: ES0105999001\n\nMedida: Suspensión cautelar de la negociación\n\n" +
			"Fecha y hora de efectos: 20/04/2026, 09:30 horas\n\nMotivo: circunstancias que pudieran perturbar las operaciones", want: suspended},
		"today": {
			text: "Con efectos a partir de las 09:30 horas de hoy queda suspendida la negociación de las acciones de Lumbre Textil, S.A.",
			want: suspended,
		},
		"lifted": {text: "Se ha acordado levantar con efectos de las 13:15 horas del 20 de abril de 2026 la suspensión cautelar de la negociación de las " +
			"acciones de Lumbre Textil, S.A., acordada el 20 de abril de 2026, al haber sido puesta a disposición del público información " +
			"suficiente.", want: lifted},
		"lifted in English": {text: "Trading in the shares, which was suspended on 17 April 2026, will resume at 13:15 on 20 April 2026.", want: lifted},
		"resumption":        {text: "The suspension of trading is lifted with effect from 13:15 on 20 April 2026.", want: lifted},
		"excluded": {
			text: "Las acciones de Lumbre Textil, S.A. quedarán excluidas de negociación en las Bolsas de Valores con efectos del 22 de abril de 2026.",
			want: excluded,
		},
		"Catalan": {text: "S'ha acordat suspendre la negociació de les accions a partir de les 9:30 hores del 20 d'abril de 2026.", want: suspended},
		"form": {text: "Decisión\n\nMedida adoptada\tLevantamiento de la suspensión de la negociación\nFecha de la suspensión\t17/04/2026\n" +
			"Fecha de efectos\t20/04/2026\nHora\t13:15", want: lifted},
		"columns": {
			text: "Se suspende la negociación de los valores siguientes:\n\nValor\tFecha\tHora\nLumbre Textil\t20/04/2026\t9.30",
			want: suspended,
		},
		"columns with prices": {text: "Quedan excluidas de negociación las acciones siguientes:\n\nValor\tFecha de exclusión\tÚltimo precio (EUR)\n" +
			"Lumbre Textil\t22/04/2026\t9.30", want: excluded},
		"suspended and then excluded": {text: "Las acciones, suspendidas desde el 17 de abril de 2026, quedan excluidas de negociación con efectos del " +
			"22 de abril de 2026."},
		"two hours": {
			text: "Se suspende la negociación de las acciones desde las 9:30 horas del 20 de abril de 2026, a las 10:15 horas.",
			want: []map[string]string{{"action": "suspended"}},
		},
		"older":      {text: "La negociación de las acciones fue suspendida el 5 de marzo de 2025."},
		"possible":   {text: "La Comisión podrá suspender la negociación de las acciones desde el 22 de abril de 2026."},
		"wish":       {text: "La Sociedad solicitará la exclusión de negociación de sus acciones con efectos del 22 de abril de 2026."},
		"condition":  {text: "Si se alcanza el umbral, se acordará la exclusión de negociación de las acciones."},
		"buy-back":   {text: "Se suspende la ejecución del programa de recompra de acciones, cuya negociación se realizaba en el mercado continuo."},
		"contract":   {text: "Queda suspendido el contrato de liquidez sobre las acciones admitidas a negociación desde el 20 de abril de 2026."},
		"denied":     {text: "No se ha acordado suspender la negociación de las acciones."},
		"subsidiary": {text: "Se ha suspendido la negociación de las acciones de la filial Marenda, S.A. desde el 20 de abril de 2026."},
		"other text": {text: "Las acciones cotizan en el mercado continuo."},
	})
}
