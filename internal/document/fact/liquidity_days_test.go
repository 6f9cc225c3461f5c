package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestLiquidityDays(t *testing.T) {
	checkMarketTexts(t, disclosure.LiquidityContract, []marketText{
		{
			name:    "days without a year",
			company: "Ribera SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages: []string{`Operaciones del contrato de liquidez entre el 1 de abril y el 30 de junio de 2026:

Acciones compradas: 4.000
Acciones vendidas: 3.900
Saldo de acciones a 30 de junio: 20.100 acciones
Saldo de efectivo a 30 de junio: 100.200,50 euros

Saldos a 31 de marzo: 20.000 acciones y 101.000 euros.`},
			want: []string{
				"balance_cash=100200.5 balance_shares=20100 bought=4000 currency=EUR from=2026-04-01 sold=3900 to=2026-06-30",
			},
		},
		{
			name:    "days without a year in a sentence",
			company: "Ribera SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages: []string{`Ribera SOCIMI, S.A. comunica que, al amparo del contrato de liquidez, del 1 de abril al 30 de junio de 2026 se compraron 4.000 acciones y se vendieron 3.900 acciones. A 31 de marzo, el saldo de la cuenta de valores era de 20.000 acciones y el de la cuenta de efectivo de 101.000 euros.

A 30 de junio, el saldo de la cuenta de valores era de 20.100 acciones y el de la cuenta de efectivo de 100.200,50 euros.`},
			want: []string{
				"balance_cash=100200.5 balance_shares=20100 bought=4000 currency=EUR from=2026-04-01 sold=3900 to=2026-06-30",
			},
		},
		{
			name:    "a table with days without a year",
			company: "Ribera SOCIMI, S.A.",
			title:   "Liquidity contract",
			day:     "2026-07-03",
			pages: []string{`Transactions under the liquidity contract between 1 April and 30 June 2026

Shares bought	4,000
Shares sold	3,900
Share balance at 31 March	20,000
Share balance at 30 June	20,100
Cash balance at 31 March (EUR)	101,000.00
Cash balance at 30 June (EUR)	100,200.50`},
			want: []string{
				"balance_cash=100200.5 balance_shares=20100 bought=4000 currency=EUR from=2026-04-01 sold=3900 to=2026-06-30",
			},
		},
		{
			name:    "balances in brackets with their days",
			company: "Ribera SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages: []string{`Segundo trimestre de 2026 (1 de abril a 30 de junio de 2026). Contrato de liquidez.

Compras: 4.000 acciones, por 31.000 euros.
Ventas: 3.900 acciones, por 30.200,50 euros.
Saldo final (30 de junio): 20.100 acciones y 100.200,50 euros.
Saldo inicial (31 de marzo): 20.000 acciones y 101.000 euros.`},
			want: []string{
				"balance_cash=100200.5 balance_shares=20100 bought=4000 currency=EUR from=2026-04-01 sold=3900 to=2026-06-30",
			},
		},
		{
			name:    "purchases with the amount before the shares",
			company: "Ribera SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages:   []string{`Entre el 1 de abril y el 30 de junio de 2026 el proveedor de liquidez realizó, en ejecución del contrato de liquidez, compras por 31.000 euros (4.000 acciones) y ventas por 30.200,50 euros (3.900 acciones). Al cierre del periodo la cuenta de valores tenía 20.100 acciones y la de efectivo 100.200,50 euros.`},
			want: []string{
				"balance_cash=100200.5 balance_shares=20100 bought=4000 currency=EUR from=2026-04-01 sold=3900 to=2026-06-30",
			},
		},
		{
			name:    "the quarter before in a column",
			company: "Ribera SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages: []string{`Operaciones del contrato de liquidez del 1 de abril al 30 de junio de 2026

Concepto	2T 2026	1T 2026
Acciones compradas	4.000	5.000
Acciones vendidas	3.900	5.100
Saldo final de acciones	20.100	20.000
Saldo final de efectivo (euros)	100.200,50	101.000,00`},
			want: []string{
				"balance_cash=100200.5 balance_shares=20100 bought=4000 currency=EUR from=2026-04-01 sold=3900 to=2026-06-30",
			},
		},
		{
			name:    "the end of a contract",
			company: "Ribera SOCIMI, S.A.",
			title:   "Terminación del contrato de liquidez",
			day:     "2026-07-03",
			pages:   []string{`Se comunica la terminación del contrato de liquidez con efectos del 30 de junio de 2026. El saldo de acciones a esa fecha es de 20.100 acciones.`},
		},
		{
			name:    "a new contract",
			company: "Ribera SOCIMI, S.A.",
			title:   "Suscripción de un contrato de liquidez",
			day:     "2026-07-03",
			pages:   []string{`La Sociedad ha suscrito un contrato de liquidez, que entrará en vigor el 6 de julio de 2026 y hasta el 6 de julio de 2027. Se ponen a disposición del intermediario 20.000 acciones y 100.000 euros.`},
		},
		{
			name:    "a contract in Catalan",
			company: "Ribera SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages: []string{`Operacions del contracte de liquiditat entre l'1 d'abril i el 30 de juny de 2026:

Accions comprades: 4.000
Accions venudes: 3.900
Saldo final d'accions: 20.100
Saldo final d'efectiu: 100.200,50 euros`},
			want: []string{
				"balance_cash=100200.5 balance_shares=20100 bought=4000 currency=EUR from=2026-04-01 sold=3900 to=2026-06-30",
			},
		},
		{
			name:    "monthly rows with a total",
			company: "Ribera SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages: []string{`Operaciones del contrato de liquidez del 1 de abril al 30 de junio de 2026

Mes	Acciones compradas	Efectivo compras	Acciones vendidas	Efectivo ventas
Abril	1.000	7.000	1.200	8.500
Mayo	1.000	7.100	1.700	12.000
Junio	2.000	14.100	1.000	7.100
Total	4.000	28.200	3.900	27.600`},
			want: []string{
				"bought=4000 from=2026-04-01 sold=3900 to=2026-06-30",
			},
		},
		{
			name:    "a correction",
			company: "Ribera SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages: []string{`Corrección de la comunicación sobre el contrato de liquidez del 1 de abril al 30 de junio de 2026. Donde decía «acciones vendidas: 3.800», debe decir «acciones vendidas: 3.900».

Acciones compradas: 4.000
Acciones vendidas: 3.900
Saldo final de acciones: 20.100`},
			want: []string{
				"balance_shares=20100 bought=4000 from=2026-04-01 sold=3900 to=2026-06-30",
			},
		},
		{
			name:    "columns of this quarter and of the one before",
			company: "Ribera SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages: []string{`Operaciones del contrato de liquidez del 1 de abril al 30 de junio de 2026

Concepto	Trimestre anterior	Trimestre actual
Acciones compradas	5.000	4.000
Acciones vendidas	5.100	3.900
Saldo final de acciones	20.000	20.100
Saldo final de efectivo (euros)	101.000,00	100.200,50`},
			want: []string{
				"balance_cash=100200.5 balance_shares=20100 bought=4000 currency=EUR from=2026-04-01 sold=3900 to=2026-06-30",
			},
		},
		{
			name:    "columns of this quarter and of all",
			company: "Ribera SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages: []string{`Operaciones del contrato de liquidez del 1 de abril al 30 de junio de 2026

Concepto	Acumulado	Desde el inicio
Acciones compradas	5.000	4.000
Acciones vendidas	5.100	3.900`},
		},
		{
			name:    "two numbers for purchases and sales",
			company: "Alba Papel, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages:   []string{`Alba Papel, S.A. comunica que del 1 de abril al 30 de junio de 2026 se realizaron 210 compras y 198 ventas por un total de 12.000 y 11.400 acciones. El saldo de títulos a 30 de junio es de 40.600 y el de efectivo de 88.000 euros.`},
		},
		{
			name:    "the quarter before in brackets",
			company: "Alba Papel, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages:   []string{`Segundo trimestre de 2026. Contrato de liquidez con Norte, S.V. En el trimestre se compraron 12.000 acciones (15.000 en el primer trimestre) y se vendieron 11.400 (14.100). Saldo de acciones: 40.600. Saldo de efectivo: 88.000 euros. Límite de acciones: 60.000.`},
			want: []string{
				"balance_cash=88000 balance_shares=40600 bought=12000 currency=EUR from=2026-04-01 sold=11400 to=2026-06-30",
			},
		},
	})
}
