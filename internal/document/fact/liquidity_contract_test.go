package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestLiquidityContract(t *testing.T) {
	checkMarketTexts(t, disclosure.LiquidityContract, []marketText{
		{
			name:  "prose",
			title: "Operaciones realizadas al amparo del contrato de liquidez",
			day:   "2025-04-04",
			pages: []string{`De acuerdo con la Circular 1/2017 de la CNMV, Alfa Energía, S.A. comunica las operaciones realizadas al amparo de su contrato de liquidez durante el primer trimestre de 2025 (del 1 de enero al 31 de marzo de 2025).

Durante el periodo se han adquirido 152.340 acciones, por un importe de 1.203.486,00 euros, y se han vendido 149.100 acciones, por un importe de 1.180.872,00 euros.

El saldo inicial era de 40.000 acciones y 300.000,00 euros. Al cierre del periodo, el saldo es de 43.240 acciones y 277.386,00 euros.`},
			want: []string{"balance_cash=277386 balance_shares=43240 bought=152340 currency=EUR from=2025-01-01 sold=149100 to=2025-03-31"},
		},
		{
			name:  "a table with the amounts and the prices",
			title: "Contrato de liquidez",
			day:   "2025-04-04",
			pages: []string{`Detalle de las operaciones del contrato de liquidez entre el 1 de enero de 2025 y el 31 de marzo de 2025:

Concepto	Número de acciones	Importe (euros)
Saldo inicial	40.000	300.000,00
Compras	152.340	1.203.486,00
Ventas	149.100	1.180.872,00
Saldo final	43.240	277.386,00

En el trimestre anterior se compraron 98.000 acciones y se vendieron 97.000 acciones.`},
			want: []string{"balance_cash=277386 balance_shares=43240 bought=152340 currency=EUR from=2025-01-01 sold=149100 to=2025-03-31"},
		},
		{
			name:  "English",
			title: "Liquidity contract",
			day:   "2025-07-04",
			pages: []string{`From 1 April 2025 to 30 June 2025, the liquidity provider purchased 20,150 shares and sold 18,400 shares under the liquidity contract. At the end of the period, the securities account held 9,750 shares and the cash account held €81,220.15.`},
			want:  []string{"balance_cash=81220.15 balance_shares=9750 bought=20150 currency=EUR from=2025-04-01 sold=18400 to=2025-06-30"},
		},
		{
			name:  "the beginning of a contract",
			title: "Suscripción de un contrato de liquidez",
			day:   "2025-07-04",
			pages: []string{`La Sociedad ha suscrito un contrato de liquidez con Banco Beta, S.A. El intermediario podrá comprar y vender acciones por cuenta de la Sociedad. La cuenta de valores tendrá inicialmente 50.000 acciones y la de efectivo 400.000 euros.`},
		},
		{
			name:  "purchases of a buy-back programme",
			title: "Programa de recompra",
			day:   "2025-07-04",
			pages: []string{`La Sociedad ha comprado 50.000 acciones propias entre el 23 y el 27 de junio de 2025 por 400.000 euros. El contrato de liquidez permanece suspendido.`},
		},
		{
			name:  "a quarter, and numbers of trades",
			title: "Contrato de liquidez",
			day:   "2025-04-10",
			pages: []string{`En el primer trimestre de 2025, el proveedor de liquidez realizó 150 compras de 30.000 acciones y 140 ventas de 29.000 acciones.`},
			want:  []string{"bought=30000 from=2025-01-01 sold=29000 to=2025-03-31"},
		},
		{
			name:  "columns for purchases and sales",
			title: "Contrato de liquidez",
			day:   "2025-07-07",
			pages: []string{`Operaciones desde el 01/04/2025 hasta el 30/06/2025 al amparo del contrato de liquidez:

Concepto	Compras	Ventas
Número de operaciones	120	131
Número de acciones	12.500	11.900
Importe (euros)	98.750,00	94.605,00

Posición inicial: 40.000 acciones. Posición final: 40.600 acciones.`},
			want: []string{"balance_shares=40600 bought=12500 from=2025-04-01 sold=11900 to=2025-06-30"},
		},
		{
			name:  "Catalan",
			title: "Contracte de liquiditat",
			day:   "2025-07-07",
			pages: []string{`Entre l'1 d'abril de 2025 i el 30 de juny de 2025 s'han comprat 500 accions i se n'han venut 400 a l'empara del contracte de liquiditat. El saldo final és de 4.100 accions i 20.300,50 euros.`},
			want:  []string{"balance_cash=20300.5 balance_shares=4100 bought=500 currency=EUR from=2025-04-01 sold=400 to=2025-06-30"},
		},
		{
			name:  "a row for each day",
			title: "Contrato de liquidez",
			day:   "2025-04-08",
			pages: []string{`Periodo: del 1 de enero de 2025 al 31 de marzo de 2025

Fecha	Compras (acciones)	Efectivo compras (€)	Ventas (acciones)	Efectivo ventas (€)
02/01/2025	100	1.000,00	200	2.000,00
03/01/2025	300	3.000,00	100	1.000,00
Total	400	4.000,00	300	3.000,00`},
			want: []string{"bought=400 from=2025-01-01 sold=300 to=2025-03-31"},
		},
		{
			name:  "the balance before",
			title: "Contrato de liquidez",
			day:   "2025-04-08",
			pages: []string{`Operaciones entre el 1 de enero y el 31 de marzo de 2025 al amparo del contrato de liquidez. Compras: 5.000 acciones (50.000 euros). Ventas: 4.000 acciones (40.500 euros). Saldo anterior: 10.000 acciones y 100.000 euros. Saldo actual: 11.000 acciones y 90.500 euros.`},
			want:  []string{"balance_cash=90500 balance_shares=11000 bought=5000 currency=EUR from=2025-01-01 sold=4000 to=2025-03-31"},
		},
	})
}
