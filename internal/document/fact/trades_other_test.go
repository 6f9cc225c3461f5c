package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestTradesOfOthers(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackTrades, []marketText{
		{
			name:    "tables of two weeks",
			company: "Galena Minera, S.A.",
			title:   "Operaciones del programa de recompra",
			day:     "2026-05-18",
			pages: []string{`GALENA MINERA, S.A. comunica las operaciones realizadas del 11 al 15 de mayo de 2026 al amparo del programa de recompra, por un total de 11.000 acciones.

Semana actual

Fecha	Mercado	Acciones	Precio
11/05/2026	XMAD	5.000	10,00
12/05/2026	XMAD	6.000	10,10

Semana anterior

Fecha	Mercado	Acciones	Precio
04/05/2026	XMAD	4.000	9,90
05/05/2026	XMAD	4.500	9,95`},
			want: []string{
				"from=2026-05-11 shares=11000 to=2026-05-15",
				"date=2026-05-11 price=10 shares=5000 venue=XMAD",
				"date=2026-05-12 price=10.1 shares=6000 venue=XMAD",
			},
		},
		{
			name:    "shares of another company",
			company: "Galena Minera, S.A.",
			title:   "Compras de acciones propias",
			day:     "2026-05-18",
			pages:   []string{`GALENA MINERA, S.A. comunica que entre el 4 y el 15 de mayo de 2026 ha adquirido 120.000 acciones de Bética Metales, S.A. por un importe de 600.000 euros, en el marco del programa de recompra de ésta.`},
		},
		{
			name:    "two classes of shares",
			company: "Galena Minera, S.A.",
			title:   "Programa de recompra: operaciones",
			day:     "2026-05-18",
			pages:   []string{`Entre el 11 y el 15 de mayo de 2026 GALENA MINERA, S.A. ha adquirido, al amparo del programa de recompra, 10.000 acciones de Clase A por importe de 100.000 euros y 2.000 acciones de Clase B por importe de 24.000 euros.`},
		},
		{
			name:    "columns of two classes of shares",
			company: "Mirto Telecom, S.A.",
			title:   "Programa de recompra: operaciones",
			day:     "2026-06-15",
			pages: []string{`Operaciones entre el 8 y el 12 de junio de 2026 al amparo del programa de recompra:

Fecha	Acciones ordinarias	Acciones clase B	Precio
08/06/2026	10.000	1.000	11,00
09/06/2026	10.000	2.000	11,00
Total	20.000	3.000	`},
		},
		{
			name:    "a part of the purchases in brackets",
			company: "Dársena Naval, S.A.",
			title:   "Programa de recompra",
			day:     "2026-04-20",
			pages:   []string{`Entre los días 13 y 17 de abril de 2026 se adquirieron 9.000 acciones propias (de las que 3.000 corresponden a una operación bloque por 36.000 euros), por un importe total de 108.900 euros, dentro del programa de recompra.`},
			want: []string{
				"amount=108900 currency=EUR from=2026-04-13 shares=9000 to=2026-04-17",
			},
		},
		{
			name:    "the costs of the purchases",
			company: "Dársena Naval, S.A.",
			title:   "Programa de recompra",
			day:     "2026-04-20",
			pages:   []string{`Entre los días 13 y 17 de abril de 2026 se adquirieron 9.000 acciones propias dentro del programa de recompra. El coste de corretaje ascendió a 54,45 euros y el importe total a 108.900 euros.`},
			want: []string{
				"amount=108900 currency=EUR from=2026-04-13 shares=9000 to=2026-04-17",
			},
		},
		{
			name:    "a director",
			company: "Dársena Naval, S.A.",
			title:   "Programa de recompra",
			day:     "2026-04-20",
			pages:   []string{`D. Juan Peral, consejero de la Sociedad, ha adquirido entre el 13 y el 17 de abril de 2026 5.000 acciones por importe de 60.000 euros. Esta operación es ajena al programa de recompra de acciones propias.`},
		},
		{
			name:    "totals of a week and of the programme",
			company: "Orión Logística, S.A.",
			title:   "Programa de recompra",
			day:     "2026-09-21",
			pages: []string{`Período: 14/09/2026 - 18/09/2026

Día	Nº de acciones	Precio mínimo	Precio máximo	Precio medio	Importe
14/09/2026	2.000	9,90	10,10	10,00	20.000,00 €
15/09/2026	1.500	9,95	10,15	10,05	15.075,00 €
16/09/2026	2.500	10,00	10,20	10,10	25.250,00 €
TOTAL SEMANA	6.000			10,05	60.325,00 €
TOTAL PROGRAMA	156.000			9,80	1.528.800,00 €
Programa de recompra de acciones de Orión Logística, S.A.`},
			want: []string{
				"amount=60325 currency=EUR from=2026-09-14 shares=6000 to=2026-09-18",
				"date=2026-09-14 price=10 shares=2000",
				"date=2026-09-15 price=10.05 shares=1500",
				"date=2026-09-16 price=10.1 shares=2500",
			},
		},
		{
			name:    "two numbers of shares",
			company: "Mirto Telecom, S.A.",
			title:   "Programa de recompra",
			day:     "2026-06-15",
			pages:   []string{`En la semana del 8 al 12 de junio de 2026, y dentro del programa de recompra, se han comprado 30.000 acciones en el mercado continuo por 330.000 euros y 10.000 acciones en operaciones fuera de mercado por 109.000 euros.`},
		},
		{
			name:    "purchases and sales since the last report",
			company: "Mirto Telecom, S.A.",
			title:   "Autocartera",
			day:     "2026-06-15",
			pages:   []string{`Comunicación de operaciones con acciones propias desde la última comunicación (3 de marzo de 2026) hasta el 12 de junio de 2026: total de adquisiciones 1.250.000 acciones (1,04 % del capital); total de transmisiones 30.000 acciones.`},
		},
		{
			name:    "purchases through a subsidiary",
			company: "Mirto Telecom, S.A.",
			title:   "Programa de recompra",
			day:     "2026-06-15",
			pages:   []string{`Entre el 8 y el 12 de junio de 2026 Mirto Telecom, S.A. compró 30.000 acciones propias directamente y 5.000 a través de su filial Mirto Servicios, S.L., al amparo del programa de recompra.`},
		},
		{
			name:    "an annex with the same purchases",
			company: "Turbinas Besaya, S.A.",
			title:   "Operaciones del programa de recompra",
			day:     "2026-05-18",
			pages: []string{`Operaciones de recompra de acciones propias realizadas del 11 al 15 de mayo de 2026:

Fecha de la operación	Mercado	Volumen total diario (acciones)	Precio medio (€)
11/05/2026	XMAD	5.000	2,01
12/05/2026	XMAD	6.000	2,02
TOTAL		11.000	

El importe efectivo de las compras asciende a 22.170 euros.`, `Anexo: detalle

Fecha	Hora	Títulos	Precio
11/05/2026	09:04:11	5.000	2,01
12/05/2026	09:51:11	2.000	2,02`},
			want: []string{
				"amount=22170 currency=EUR from=2026-05-11 shares=11000 to=2026-05-15",
				"date=2026-05-11 price=2.01 shares=5000 venue=XMAD",
				"date=2026-05-12 price=2.02 shares=6000 venue=XMAD",
			},
		},
	})
}
