package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestProgrammeTexts(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackProgramme, []marketText{
		{
			name:  "end by the limit of money",
			title: "Finalización del programa de recompra",
			day:   "2024-06-10",
			pages: []string{`En relación con el programa de recompra de acciones propias comunicado el 2 de mayo de 2024 (el "Programa"), la Sociedad informa de que con fecha 7 de junio de 2024 ha finalizado el Programa, al haberse alcanzado el importe máximo previsto de 25 millones de euros. En el marco del Programa se han adquirido 2.100.000 acciones.`},
			want:  []string{"currency=EUR ends_on=2024-06-07 event=end max_amount=25000000"},
		},
		{
			name:  "end in English",
			title: "Completion of share buy-back programme",
			day:   "2024-06-10",
			pages: []string{`Gamma Bank, S.A. announces that its share buy-back programme was completed on 7 June 2024, after the maximum amount of €25 million was reached. In total 2,100,000 shares were acquired at an average price of €11.90.`},
			want:  []string{"currency=EUR ends_on=2024-06-07 event=end max_amount=25000000"},
		},
		{
			name:  "suspension",
			title: "Suspensión temporal del programa de recompra",
			day:   "2024-06-10",
			pages: []string{`La Sociedad comunica que el Consejo de Administración ha acordado suspender temporalmente el programa de recompra de acciones propias con efectos desde el 11 de junio de 2024.`},
			want:  []string{"event=suspension"},
		},
		{
			name:  "resumption",
			title: "Reanudación del programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Beta Telecom comunica la reanudación, con efectos de hoy, del programa de recompra de acciones que fue suspendido el 3 de abril de 2024. El Programa permanecerá vigente hasta el 31 de diciembre de 2024.`},
			want:  []string{"ends_on=2024-12-31 event=resumption"},
		},
		{
			name:  "English press release",
			title: "Gamma Bank launches a share buyback",
			day:   "2024-06-10",
			pages: []string{`Gamma Bank today launches a share buyback programme of up to €100 million.

The programme will start on 11 June 2024 and will run until 30 November 2024 at the latest. A maximum of 12,000,000 shares, around 1.5% of the share capital, may be repurchased. The previous programme, of €80 million, was completed in March 2024.`},
			want: []string{"currency=EUR ends_on=2024-11-30 event=start max_amount=100000000 max_shares=12000000"},
		},
		{
			name:  "a form",
			title: "Programa de recompra de acciones",
			day:   "2024-06-10",
			pages: []string{`INICIO DE PROGRAMA DE RECOMPRA DE ACCIONES PROPIAS
Finalidad	Amortización de acciones
Importe máximo (miles de euros)	30.000
Número máximo de acciones	1.500.000 (2,5 % del capital)
Fecha de inicio	11/06/2024
Duración	Hasta el 10/06/2025
Entidad gestora	Banco Imaginario, S.A.`},
			want: []string{"currency=EUR ends_on=2025-06-10 event=start max_amount=30000000 max_shares=1500000"},
		},
		{
			name:  "change of amount and term",
			title: "Ampliación del programa de recompra",
			day:   "2024-06-10",
			pages: []string{`El Consejo ha acordado ampliar el programa de recompra de acciones, elevando su importe máximo de 10.000.000 a 15.000.000 de euros y prorrogando su plazo de duración desde el 30 de junio de 2024 hasta el 31 de diciembre de 2024.`},
			want:  []string{"currency=EUR ends_on=2024-12-31 event=change max_amount=15000000"},
		},
		{
			name:  "a list with letters",
			title: "Información privilegiada",
			day:   "2024-06-10",
			pages: []string{`El Consejo de Administración de Delta, S.A. ha acordado poner en marcha un programa de recompra de acciones propias con los siguientes términos:

a) Objeto: reducir el capital social.

b) Importe monetario máximo asignado: 8.000.000 €.

c) Número máximo de acciones a adquirir: 900.000 acciones, representativas de aproximadamente el 1,8 % del capital.

d) Duración: desde el 11 de junio de 2024 hasta el 11 de diciembre de 2024, ambos inclusive.

e) Precio: no superior al más alto de los previstos en el artículo 3 del Reglamento Delegado.`},
			want: []string{"currency=EUR ends_on=2024-12-11 event=start max_amount=8000000 max_shares=900000"},
		},
		{
			name:  "Catalan",
			title: "Inici del programa de recompra d'accions",
			day:   "2024-06-10",
			pages: []string{`El Consell d'Administració ha acordat l'inici d'un programa de recompra d'accions pròpies per un import màxim de 5.000.000 d'euros i un màxim de 400.000 accions, que finalitzarà el 31 de desembre de 2024.`},
			want:  []string{"currency=EUR ends_on=2024-12-31 event=start max_amount=5000000 max_shares=400000"},
		},
		{
			name:  "a programme that the meeting may authorise",
			title: "Convocatoria de junta",
			day:   "2024-06-10",
			pages: []string{`El Consejo propone a la Junta autorizar la adquisición de acciones propias hasta un máximo de 10.000.000 de acciones, y podrá acordar el inicio de un programa de recompra.`},
			want:  nil,
		},
	})
}

func TestLiquidityTexts(t *testing.T) {
	checkMarketTexts(t, disclosure.LiquidityContract, []marketText{
		{
			name:  "a letter with opening and closing balances",
			title: "Contrato de liquidez: operaciones del tercer trimestre",
			day:   "2024-10-08",
			pages: []string{`De conformidad con lo previsto en la norma cuarta, apartado 2, de la Circular 1/2017, de 26 de abril, de la CNMV, se informa de las operaciones realizadas al amparo del contrato de liquidez entre el 1 de julio de 2024 y el 30 de septiembre de 2024.

Al inicio del periodo, la cuenta de valores tenía 50.000 acciones y la cuenta de efectivo un saldo de 400.000,00 euros.

Durante el periodo se han comprado 120.500 acciones por un importe de 964.000,00 euros y se han vendido 118.300 acciones por un importe de 950.320,50 euros.

A 30 de septiembre de 2024, el saldo de la cuenta de valores ascendía a 52.200 acciones y el de la cuenta de efectivo a 386.320,50 euros.`},
			want: []string{"balance_cash=386320.5 balance_shares=52200 bought=120500 currency=EUR from=2024-07-01 sold=118300 to=2024-09-30"},
		},
		{
			name:  "a table with a row for each thing",
			title: "Contrato de liquidez",
			day:   "2024-10-08",
			pages: []string{`Operaciones del contrato de liquidez en el periodo del 01/07/2024 al 30/09/2024

Concepto	Títulos	Efectivo (€)
Saldo inicial	50.000	400.000,00
Compras	120.500	964.000,00
Ventas	118.300	950.320,50
Saldo final	52.200	386.320,50`},
			want: []string{"balance_cash=386320.5 balance_shares=52200 bought=120500 currency=EUR from=2024-07-01 sold=118300 to=2024-09-30"},
		},
		{
			name:  "a table with a row for each day",
			title: "Contrato de liquidez",
			day:   "2024-10-08",
			pages: []string{`Operaciones realizadas al amparo del contrato de liquidez entre el 1 de julio y el 30 de septiembre de 2024

Fecha	Compras (acciones)	Efectivo compras (€)	Ventas (acciones)	Efectivo ventas (€)
01/07/2024	1.000	8.000,00	900	7.290,00
02/07/2024	500	4.050,00	700	5.740,00
Total	1.500	12.050,00	1.600	13.030,00

Saldo de la cuenta de efectivo al cierre del periodo: 386.320,50 euros

Saldo de la cuenta de valores al cierre del periodo: 52.200 acciones`},
			want: []string{"balance_cash=386320.5 balance_shares=52200 bought=1500 currency=EUR from=2024-07-01 sold=1600 to=2024-09-30"},
		},
		{
			name:  "English sentences",
			title: "Liquidity contract: third quarter",
			day:   "2024-10-08",
			pages: []string{`Under the liquidity contract with Banco Imaginario, between 1 July 2024 and 30 September 2024 the Company purchased 120,500 shares and sold 118,300 shares.

As of 30 September 2024, the cash account showed a balance of €386,320.50 and the securities account 52,200 shares.`},
			want: []string{"balance_cash=386320.5 balance_shares=52200 bought=120500 currency=EUR from=2024-07-01 sold=118300 to=2024-09-30"},
		},
		{
			name:  "a list of labels",
			title: "Contrato de liquidez",
			day:   "2024-10-08",
			pages: []string{`Información sobre el contrato de liquidez. Periodo: del 1 de julio al 30 de septiembre de 2024.

- Número de acciones adquiridas: 120.500

- Número de acciones vendidas: 118.300

- Saldo inicial de acciones: 50.000

- Saldo final de acciones: 52.200

- Saldo inicial de efectivo: 400.000,00 €

- Saldo final de efectivo: 386.320,50 €`},
			want: []string{"balance_cash=386320.5 balance_shares=52200 bought=120500 currency=EUR from=2024-07-01 sold=118300 to=2024-09-30"},
		},
		{
			name:  "purchases and sales as columns",
			title: "Contrato de liquidez",
			day:   "2024-10-08",
			pages: []string{`Contrato de liquidez - tercer trimestre de 2024

	Compras	Ventas
Número de operaciones	310	298
Número de acciones	120.500	118.300
Importe (euros)	964.000,00	950.320,50
Precio medio	8,00	8,03

	Saldo inicial	Saldo final
Acciones	50.000	52.200
Efectivo (euros)	400.000,00	386.320,50`},
			want: []string{"balance_cash=386320.5 balance_shares=52200 bought=120500 currency=EUR from=2024-07-01 sold=118300 to=2024-09-30"},
		},
		{
			name:  "quarter in words, with the quarter before",
			title: "Operaciones de liquidez",
			day:   "2024-10-08",
			pages: []string{`Durante el tercer trimestre de 2024, en ejecución del contrato de liquidez, se compraron 120.500 acciones y se vendieron 118.300. En el trimestre anterior se compraron 99.000 acciones y se vendieron 97.000. Tras estas operaciones, las cuentas asociadas al contrato presentan un saldo de 52.200 acciones y 386.320,50 euros.`},
			want:  []string{"balance_cash=386320.5 balance_shares=52200 bought=120500 currency=EUR from=2024-07-01 sold=118300 to=2024-09-30"},
		},
	})
}
