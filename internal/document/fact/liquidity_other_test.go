package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestLiquidityOfOthers(t *testing.T) {
	checkMarketTexts(t, disclosure.LiquidityContract, []marketText{
		{
			name:    "the contract of a subsidiary",
			company: "Galena Minera, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-04-10",
			pages:   []string{`GALENA MINERA, S.A. informa de que, en el marco del contrato de liquidez de su filial Bética Metales, S.A., entre el 1 de enero y el 31 de marzo de 2026 se compraron 10.000 acciones y se vendieron 8.000 acciones de ésta.`},
		},
		{
			name:    "since the contract began",
			company: "Galena Minera, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-04-10",
			pages:   []string{`Entre el 1 de enero y el 31 de marzo de 2026 el proveedor de liquidez compró 10.000 acciones y vendió 8.000. Desde la entrada en vigor del contrato de liquidez se han comprado 110.000 acciones y vendido 88.000 acciones. Saldo final: 22.000 acciones y 150.000,50 euros.`},
			want: []string{
				"balance_cash=150000.5 balance_shares=22000 bought=10000 currency=EUR from=2026-01-01 sold=8000 to=2026-03-31",
			},
		},
		{
			name:    "two classes of shares",
			company: "Galena Minera, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-04-10",
			pages:   []string{`Entre el 1 de enero y el 31 de marzo de 2026, en virtud del contrato de liquidez, se compraron 10.000 acciones de clase A y 1.000 acciones de clase B, y se vendieron 8.000 acciones de clase A y 500 acciones de clase B.`},
		},
		{
			name:    "a programme of purchases",
			company: "Pinar SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages:   []string{`Entre el 1 de abril y el 30 de junio de 2026, el proveedor de liquidez ha comprado 3.000 acciones y vendido 2.900 acciones. Aparte del contrato de liquidez, la Sociedad compró 50.000 acciones al amparo de su programa de recompra.`},
			want: []string{
				"bought=3000 from=2026-04-01 sold=2900 to=2026-06-30",
			},
		},
		{
			name:    "a balance of a later day",
			company: "Pinar SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages:   []string{`Entre el 1 de abril y el 30 de junio de 2026, al amparo del contrato de liquidez, se compraron 3.000 acciones y se vendieron 2.900 acciones. A 2 de julio de 2026, el saldo de la cuenta de valores es de 10.350 acciones y el de efectivo de 87.100 euros.`},
			want: []string{
				"bought=3000 from=2026-04-01 sold=2900 to=2026-06-30",
			},
		},
		{
			name:    "sales in brackets",
			company: "Pinar SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages: []string{`De acuerdo con la Circular 1/2017, de 26 de abril, Pinar SOCIMI comunica las operaciones del contrato de liquidez del período 01/04/2026 a 30/06/2026.

Concepto	Acciones	Importe (€)	Precio medio
Saldo inicial (01/04/2026)	10.000	90.000,00	
Compras	3.000	27.000,00	9,00
Ventas	(2.900)	(26.300,00)	9,07
Saldo final (30/06/2026)	10.100	89.300,00	`},
			want: []string{
				"bought=3000 from=2026-04-01 sold=2900 to=2026-06-30",
			},
		},
		{
			name:    "purchases and sales in one clause",
			company: "Pinar SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages:   []string{`Entre el 1 de abril y el 30 de junio de 2026, en virtud del contrato de liquidez, se compraron y vendieron 3.000 y 2.900 acciones, respectivamente.`},
		},
		{
			name:    "balances of two days",
			company: "Pinar SOCIMI, S.A.",
			title:   "Contrato de liquidez",
			day:     "2026-07-03",
			pages: []string{`Contrato de liquidez. Operaciones entre el 1 de abril y el 30 de junio de 2026: compras 3.000 acciones; ventas 2.900 acciones.

	31/03/2026	30/06/2026
Acciones	10.000	10.100
Efectivo (€)	90.000,00	89.300,00`},
			want: []string{
				"balance_cash=89300 balance_shares=10100 bought=3000 currency=EUR from=2026-04-01 sold=2900 to=2026-06-30",
			},
		},
		{
			name:    "numbers of trades in brackets",
			company: "Orion Logistics plc",
			title:   "Liquidity contract: half-year statement",
			day:     "2026-07-03",
			pages:   []string{`Under the liquidity contract, between 1 January 2026 and 30 June 2026, a total of 41,200 shares were purchased (310 transactions) and 39,800 shares were sold (295 transactions).`},
			want: []string{
				"bought=41200 from=2026-01-01 sold=39800 to=2026-06-30",
			},
		},
		{
			name:    "opening balances in brackets",
			company: "Orion Logistics plc",
			title:   "Liquidity agreement",
			day:     "2026-07-03",
			pages:   []string{`For the quarter from 1 April 2026 to 30 June 2026, the liquidity provider bought 3,000 shares for EUR 27,000 and sold 2,900 shares for EUR 26,300 under the liquidity contract (first quarter: 4,000 bought and 4,100 sold). Closing balances: 10,100 shares and EUR 89,300 (opening: 10,000 shares and EUR 90,000).`},
			want: []string{
				"balance_cash=89300 balance_shares=10100 bought=3000 currency=EUR from=2026-04-01 sold=2900 to=2026-06-30",
			},
		},
	})
}
