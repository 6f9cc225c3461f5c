package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestMoreLiquidity(t *testing.T) {
	const all = "balance_cash=386320.5 balance_shares=52200 bought=120500 currency=EUR from=2024-07-01 sold=118300 to=2024-09-30"
	checkMarketTexts(t, disclosure.LiquidityContract, []marketText{
		{
			name:  "amounts in brackets",
			title: "Contrato de liquidez",
			day:   "2024-10-08",
			pages: []string{`Operaciones efectuadas por el intermediario financiero al amparo del contrato de liquidez, del 1 de julio al 30 de septiembre de 2024, ambos inclusive:

Compras: 120.500 acciones (964.000,00 euros)

Ventas: 118.300 acciones (950.320,50 euros)

Saldo final: 52.200 acciones y 386.320,50 euros`},
			want: []string{all},
		},
		{
			name:  "scanned",
			title: "Contrato de liquidez",
			day:   "2024-10-08",
			pages: []string{`CONTRATO  DE  LlQUlDEZ

Periodo:  del 1 de julio de 2024 al 30 de septiembre de 2024

Acciones compradas:   120.500

Acciones vendidas:   118.300

Saldo final de la cuenta de valores:   52.200 acciones

Saldo final de la cuenta de efectivo:   386.320,50 euros`},
			want: []string{all},
		},
		{
			name:  "shares and cash in two tables",
			title: "Contrato de liquidez: información trimestral",
			day:   "2024-10-08",
			pages: []string{`Periodo de referencia: 01/07/2024 a 30/09/2024

CUENTA DE VALORES

Saldo inicial (acciones)	50.000
Acciones compradas	120.500
Acciones vendidas	118.300
Saldo final (acciones)	52.200

CUENTA DE EFECTIVO

Saldo inicial (euros)	400.000,00
Importe de las compras (euros)	964.000,00
Importe de las ventas (euros)	950.320,50
Saldo final (euros)	386.320,50`},
			want: []string{all},
		},
		{
			name:  "balances at two dates",
			title: "Contrato de liquidez",
			day:   "2024-10-08",
			pages: []string{`Entre el 1 de julio de 2024 y el 30 de septiembre de 2024 se adquirieron, al amparo del contrato de liquidez, 120.500 acciones y se enajenaron 118.300 acciones.

El saldo de acciones afectas al contrato era de 50.000 acciones a 1 de julio de 2024 y de 52.200 acciones a 30 de septiembre de 2024.`},
			want: []string{"balance_shares=52200 bought=120500 from=2024-07-01 sold=118300 to=2024-09-30"},
		},
		{
			name:  "only an opening balance",
			title: "Contrato de liquidez",
			day:   "2024-10-08",
			pages: []string{`Entre el 1 de julio de 2024 y el 30 de septiembre de 2024 se compraron, al amparo del contrato de liquidez, 120.500 acciones y se vendieron 118.300 acciones. A 1 de julio de 2024 el saldo de la cuenta de efectivo era de 400.000 euros y el de la cuenta de valores de 50.000 acciones.`},
			want:  []string{"bought=120500 from=2024-07-01 sold=118300 to=2024-09-30"},
		},
		{
			name:  "end of a contract",
			title: "Resolución del contrato de liquidez",
			day:   "2024-10-08",
			pages: []string{`La Sociedad comunica la terminación del contrato de liquidez suscrito con Banco Imaginario el 1 de julio de 2022. A la fecha de terminación la cuenta de valores tenía 52.200 acciones y la cuenta de efectivo 386.320,50 euros.`},
			want:  nil,
		},
		{
			name:  "English labels",
			title: "Liquidity agreement – quarterly information",
			day:   "2024-10-08",
			pages: []string{`Quarterly statement on the liquidity agreement, Q3 2024 (1 July 2024 to 30 September 2024)

Shares purchased	120,500
Shares sold	118,300
Securities account, closing balance (shares)	52,200
Cash account, closing balance (EUR)	386,320.50`},
			want: []string{all},
		},
	})
}

func TestScannedBonds(t *testing.T) {
	checkMarketTexts(t, disclosure.Securitisation, []marketText{
		{
			name:  "scanned lines",
			title: "Alfa Hipotecas 3, Fondo de Titulización",
			day:   "2025-03-14",
			pages: []string{`ALFA  HIPOTECAS 3,  FONDO DE TITULIZACIÓN

Fecha de pago:   24 de rnarzo de 2025

Serie A   ISIN ES0312298005

Intereses brutos por bono:   250,10 euros

Amortización por bono:   1.500,00 euros`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250.1 isin=ES0312298005 redemption=1500 series=A",
			},
		},
		{
			name:  "series without codes",
			title: "Alfa Hipotecas 3, Fondo de Titulización",
			day:   "2025-03-14",
			pages: []string{`Fecha de pago: 24/03/2025

Serie A: intereses 250.100,00 euros; amortización 1.500.000,00 euros.

Serie B: intereses 62.000,00 euros; amortización 0,00 euros.`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250100 redemption=1500000 series=A",
				"interest=62000 redemption=0 series=B",
			},
		},
		{
			name:  "last and next payment beside this one",
			title: "Alfa Hipotecas 3, Fondo de Titulización",
			day:   "2025-03-14",
			pages: []string{`En la Fecha de Pago anterior, 24 de diciembre de 2024, los Bonos de la Serie A (ISIN ES0312298005) percibieron intereses por 240,00 euros por bono y amortización por 1.400,00 euros por bono.

En la Fecha de Pago del 24 de marzo de 2025 los Bonos de la Serie A percibirán intereses brutos por 250,10 euros por bono y una amortización de principal de 1.500,00 euros por bono. La siguiente Fecha de Pago será el 24 de junio de 2025.`},
			want: []string{
				"payment_date=2025-03-24",
				"interest=250.1 redemption=1500 series=A",
			},
		},
	})
}
