package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestProgrammeTraps(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackProgramme, []marketText{
		{
			name:  "end of an earlier programme beside a new one",
			title: "Programa de recompra de acciones",
			day:   "2024-06-10",
			pages: []string{`El Consejo ha acordado llevar a cabo un nuevo programa de recompra de acciones propias por un importe máximo de 20 millones de euros, que permanecerá vigente hasta el 31 de marzo de 2025. El anterior programa finalizó el 7 de junio de 2024.`},
			want:  []string{"currency=EUR ends_on=2025-03-31 event=start max_amount=20000000"},
		},
		{
			name:  "end with the purchases, whose number is no limit",
			title: "Fin del programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Se comunica la finalización del programa de recompra de acciones propias, que concluyó el 7 de junio de 2024. En total se han adquirido 2.100.000 acciones, equivalentes al 1,2 % del capital, por 24.900.000 euros.`},
			want:  []string{"ends_on=2024-06-07 event=end"},
		},
		{
			name:  "scanned form",
			title: "Programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Inicio de un prograrna de recompra de acciones propias

lmporte rnáximo:   12.000.000 euros

Número máxirno de acciones:   1.000.000 acciones, representativas del 2 % del capital

Fecha límite:   31 de diciernbre de 2024`},
			want: []string{"currency=EUR ends_on=2024-12-31 event=start max_amount=12000000 max_shares=1000000"},
		},
	})
}
