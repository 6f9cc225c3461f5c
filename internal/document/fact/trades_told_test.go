package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestTradesTold: purchases that a report tells without being about them.
func TestTradesTold(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackTrades, []marketText{
		{
			name:  "a period long before the report",
			title: "Programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Entre el 15 de enero y el 9 de febrero de 2024 la Sociedad ha adquirido 45.300 acciones propias por 150.000 euros.`},
			want:  nil,
		},
		{
			name:  "results",
			title: "Resultados del primer trimestre",
			day:   "2024-06-10",
			pages: []string{`Entre el 3 y el 7 de junio de 2024 la Sociedad ha adquirido 45.300 acciones propias por 150.000 euros.`},
			want:  nil,
		},
		{
			name:  "the amount of another number of shares",
			title: "Programa de recompra: operaciones",
			day:   "2024-06-10",
			pages: []string{`Operaciones de recompra del 3 al 7 de junio de 2024

Fecha	Mercado	Acciones	Precio (€)
03/06/2024	XMAD	1.000	12,00
Total		1.000

En el programa se han comprado 154.700 acciones propias, por un importe de 812.400 euros.`},
			want: []string{
				"from=2024-06-03 shares=1000 to=2024-06-07",
				"date=2024-06-03 price=12 shares=1000 venue=XMAD",
			},
		},
		{
			name:  "a volume in euros beside the shares",
			title: "Programa de recompra: operaciones",
			day:   "2024-06-10",
			pages: []string{`Operaciones de recompra del 3 al 7 de junio de 2024

Fecha	Mercado	Títulos	Precio	Volumen (€)
03/06/2024	XMAD	1.000	12,00	12.000,00
Total		1.000		12.000,00`},
			want: []string{
				"amount=12000 currency=EUR from=2024-06-03 shares=1000 to=2024-06-07",
				"date=2024-06-03 price=12 shares=1000 venue=XMAD",
			},
		},
		{
			name:  "the month of May is no possibility",
			title: "Share buyback programme",
			day:   "2024-06-03",
			pages: []string{`From 27 May 2024 to 31 May 2024 the Company purchased 62,500 of its own shares for EUR 502,500.`},
			want:  []string{"amount=502500 currency=EUR from=2024-05-27 shares=62500 to=2024-05-31"},
		},
	})
}

// TestLiquidityTold: the trades of a liquidity contract that a report recalls.
func TestLiquidityTold(t *testing.T) {
	checkMarketTexts(t, disclosure.LiquidityContract, []marketText{
		{
			name:  "the contract is suspended",
			title: "Suspensión del contrato de liquidez",
			day:   "2024-05-06",
			pages: []string{`Queda suspendido el contrato de liquidez. En el primer trimestre de 2024 se compraron 12.300 acciones y se vendieron 11.980.`},
			want:  nil,
		},
		{
			name:  "an answer to the regulator",
			title: "Respuesta al requerimiento",
			day:   "2024-05-06",
			pages: []string{`Entre el 15 y el 19 de abril de 2024 se compraron 9.210 acciones y se vendieron 9.455 al amparo del contrato de liquidez.`},
			want:  nil,
		},
		{
			name:  "the whole year beside the quarter",
			title: "Contrato de liquidez",
			day:   "2024-01-12",
			pages: []string{`Operaciones del 1 de octubre al 31 de diciembre de 2023:

Compras	22.140 acciones	148.560,12 euros
Ventas	20.905 acciones	141.213,40 euros

En todo el año 2023 se compraron 90.118 acciones y se vendieron 88.470.`},
			want: []string{"bought=22140 from=2023-10-01 sold=20905 to=2023-12-31"},
		},
	})
}
