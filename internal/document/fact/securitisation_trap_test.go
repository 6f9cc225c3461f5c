package fact

import (
	"testing"
	"time"

	"pregon/internal/disclosure"
)

func TestPaymentTraps(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want int // rows, or -1 for no fact
	}{
		"payment that was not made": {
			text: "El pago correspondiente al 26 de mayo de 2026 no ha podido tramitarse. El abono se realizará previsiblemente el 28 de mayo de 2026.",
			want: -1,
		},
		"deferred interest is another thing": {
			text: "Pagos a los bonistas\n\nFecha de pago: 26 de mayo de 2026\n\nDeferred interest: none.",
		},
		"series that was redeemed": {
			text: "Pagos a los bonistas\n\nFecha de pago: 26 de mayo de 2026\n\nBONO B\nISIN: ES0372666022\nIntereses brutos por bono: 88,31 euros\nAmortización por bono: 1.240,07 " +
				"euros\n\nLos Bonos A (ES0372666006) quedaron íntegramente amortizados en 2025.",
			want: 1,
		},
		"labels above the values": {
			text: "1. Fondo\nPymes Duero 1, F.T.\n2. Fecha de pago\n26 de mayo de 2026\n3. Serie\nA2\n4. Código ISIN\nES0372666014\n5. Intereses brutos por bono\n" +
				"87,14 euros\n6. Amortización por bono\n640,22 euros",
			want: 1,
		},
		"amounts of the whole series": {
			text: "Fecha de pago: 26 de mayo de 2026\n\nSerie\tISIN\tIntereses totales serie (€)\tAmortización total serie (€)\nA\tES0372666014\t400,00\t3.000,00\n" +
				"B\tES0372666022\t100,00\t0,00",
			want: 2,
		},
		"totals behind the series": {
			text: "Fecha de pago:\t26 de mayo de 2026\n\nSerie A\nISIN:\tES0372666014\nIntereses totales:\t400,00 €\nAmortización total:\t3.000,00 €\n\nSerie B\nISIN:\tES0372666022\n" +
				"Intereses totales:\t100,00 €\nAmortización total:\t0,00 €\n\nTotal intereses:\t500,00 €\nTotal amortización:\t3.000,00 €",
			want: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := -1
			for _, f := range Find(Document{
				Company:   "Pymes Duero 1, F.T.",
				Title:     "Pagos a los bonistas",
				Published: time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC),
				Pages:     []string{c.text},
			}) {
				if f.Kind == disclosure.Securitisation {
					got = len(f.Rows)
				}
			}
			if got != c.want {
				t.Errorf("%d rows, want %d", got, c.want)
			}
		})
	}
}
