package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestProgrammeRefused(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackProgramme, []marketText{
		{
			name:    "a programme that is not planned",
			company: "Galera Pesca, S.A.",
			title:   "Otra información relevante",
			day:     "2026-07-13",
			pages:   []string{`GALERA PESCA, S.A. comunica que el Consejo no contempla de momento, dadas las circunstancias, y tampoco a medio plazo la puesta en marcha de un nuevo programa de recompra de acciones.`},
		},
		{
			name:    "a title that refuses",
			company: "Galera Pesca, S.A.",
			title:   "Decisión de no poner en marcha el programa de recompra",
			day:     "2026-07-13",
			pages:   []string{`El Consejo ha acordado un programa de recompra de acciones que finalmente no se ejecutará.`},
		},
		{
			name:    "a company that gives up its programme",
			company: "Galera Pesca, S.A.",
			title:   "Programa de recompra",
			day:     "2026-07-13",
			pages:   []string{`El Consejo de Administración ha decidido desistir de la puesta en marcha del programa de recompra de acciones propias por un importe máximo de 10 millones de euros.`},
		},
		{
			name:    "a start that is postponed",
			company: "Galera Pesca, S.A.",
			title:   "Share buy-back",
			day:     "2026-07-13",
			pages:   []string{`The Board has decided to postpone until further notice the launch of a share buy-back programme of up to EUR 20,000,000.`},
		},
		{
			name:    "a decision not to start",
			company: "Galera Pesca, S.A.",
			title:   "Share buy-back",
			day:     "2026-07-13",
			pages:   []string{`The Board of Directors has decided, in view of market conditions, not to proceed at this time with the launch of a new share buy-back programme.`},
		},
		{
			name:    "a rumour",
			company: "Galera Pesca, S.A.",
			title:   "Desmentido",
			day:     "2026-07-13",
			pages:   []string{`La Sociedad desmiente las informaciones publicadas sobre el inicio de un programa de recompra de acciones por 30 millones de euros.`},
		},
		{
			name:    "a number of a programme",
			company: "Galera Pesca, S.A.",
			title:   "Programa de recompra No. 5",
			day:     "2026-07-13",
			pages:   []string{`GALERA PESCA, S.A. comunica el inicio de su programa de recompra de acciones No. 5, por un importe máximo de 3.000.000 euros y vigente hasta el 31 de enero de 2027.`},
			want: []string{
				"currency=EUR ends_on=2027-01-31 event=start max_amount=3000000",
			},
		},
		{
			name:    "a permission that was given",
			company: "Galera Banco, S.A.",
			title:   "Programa de recompra",
			day:     "2026-07-13",
			pages:   []string{`Galera Banco, S.A. comunica que, una vez recibida la autorización del Banco Central Europeo, el Consejo ha acordado ejecutar un programa de recompra de acciones por un importe máximo de 60 millones de euros, que finalizará no más tarde del 30 de diciembre de 2026.`},
			want: []string{
				"currency=EUR ends_on=2026-12-30 event=start max_amount=60000000",
			},
		},
		{
			name:    "a permission that is missing",
			company: "Galera Banco, S.A.",
			title:   "Programa de recompra",
			day:     "2026-07-13",
			pages:   []string{`Galera Banco, S.A. comunica que pondrá en marcha un programa de recompra de acciones por un importe máximo de 60 millones de euros una vez obtenida la autorización del Banco Central Europeo.`},
		},
		{
			name:    "a decision that waits for a permission",
			company: "Galera Banco, S.A.",
			title:   "Programa de recompra",
			day:     "2026-07-13",
			pages:   []string{`Galera Banco, S.A. comunica que el Consejo ha acordado iniciar un programa de recompra de acciones por un importe máximo de 60 millones de euros una vez obtenida la autorización del supervisor.`},
		},
		{
			name:    "a subsidiary as the reason",
			company: "Galera Telecom, S.A.",
			title:   "Interrupción del programa de recompra",
			day:     "2026-07-13",
			pages:   []string{`Galera Telecom, S.A. informa de que ha interrumpido hoy las compras de su programa de recompra de acciones propias debido a las conversaciones sobre la venta de una filial.`},
			want: []string{
				"event=suspension",
			},
		},
		{
			name:    "a programme of a subsidiary that ends for a reason",
			company: "Galera Telecom, S.A.",
			title:   "Otra información relevante",
			day:     "2026-07-13",
			pages:   []string{`Galera Telecom, S.A. informa de que la filial Galera Torres, S.A. ha suspendido su programa de recompra de acciones con motivo de una oferta.`},
		},
		{
			name:    "an end that would have come before",
			company: "Galera Pharma, S.A.",
			title:   "Amendment of the buyback programme",
			day:     "2026-07-13",
			pages:   []string{`The Board has resolved to amend the buyback programme, raising the maximum amount from EUR 20,000,000 to EUR 30,000,000 and the maximum number of shares from 500,000 to 700,000, and to extend its term, which was to end on 30 September 2026, until 31 March 2027.`},
			want: []string{
				"currency=EUR ends_on=2027-03-31 event=change max_amount=30000000 max_shares=700000",
			},
		},
		{
			name:    "an end that would have come before, in Spanish",
			company: "Galera Pharma, S.A.",
			title:   "Modificación del programa de recompra",
			day:     "2026-07-13",
			pages:   []string{`El Consejo ha acordado prorrogar el programa de recompra de acciones, que habría finalizado el 30 de septiembre de 2026, hasta el 31 de marzo de 2027.`},
			want: []string{
				"ends_on=2027-03-31 event=change",
			},
		},
		{
			name:    "an end that would have come before, in the imperfect",
			company: "Galera Pharma, S.A.",
			title:   "Modificación del programa de recompra",
			day:     "2026-07-13",
			pages:   []string{`El Consejo ha acordado ampliar hasta el 31 de marzo de 2027 la duración del programa de recompra de acciones, que inicialmente debía concluir el 30 de septiembre de 2026.`},
			want: []string{
				"ends_on=2027-03-31 event=change",
			},
		},
		{
			name:    "a list in English with both limits",
			company: "Galera Pharma, S.A.",
			title:   "Programa de recompra de acciones",
			day:     "2026-07-13",
			pages: []string{`Galera Pharma, S.A. announces that, having obtained the relevant authorisation, its Board has resolved to carry out a share buy-back programme with the following terms:

- Purpose: to reduce share capital.
- Maximum investment: EUR 12.5 million.
- Maximum number of shares: 900,000 (0.9% of the share capital).
- Duration: from 14 July 2026 to 15 January 2027. The Company reserves the right to terminate the programme earlier.

The previous programme, of EUR 8 million, ended on 2 March 2026.`},
			want: []string{
				"currency=EUR ends_on=2027-01-15 event=start max_amount=12500000 max_shares=900000",
			},
		},
		{
			name:    "a programme in Catalan",
			company: "Galera Pharma, S.A.",
			title:   "Programa de recompra de acciones",
			day:     "2026-07-13",
			pages: []string{`Galera Pharma, S.A. comunica que el Consell d'Administració ha acordat posar en marxa un programa de recompra d'accions pròpies.

- Import màxim: 2.000.000 d'euros.
- Nombre màxim d'accions: 150.000.
- Durada: fins al 15 de gener de 2027.`},
			want: []string{
				"currency=EUR ends_on=2027-01-15 event=start max_amount=2000000 max_shares=150000",
			},
		},
		{
			name:    "an end when the most shares were bought",
			company: "Galera Pharma, S.A.",
			title:   "Finalización del programa de recompra",
			day:     "2026-07-13",
			pages:   []string{`Galera Pharma, S.A. comunica que, tras las compras efectuadas el 10 de julio de 2026, se ha alcanzado el número máximo de acciones previsto (500.000 acciones), por lo que ha finalizado el programa de recompra. La inversión total ha sido de 3.411.220,18 euros.`},
			want: []string{
				"event=end max_shares=500000",
			},
		},
		{
			name:    "results with a plan to buy back",
			company: "Galera Pharma, S.A.",
			title:   "Otra información relevante",
			day:     "2026-07-13",
			pages:   []string{`Galera Pharma, S.A. ha obtenido un beneficio de 12 millones. La Sociedad tiene intención de destinar parte de la caja a un programa de recompra de acciones, cuyo lanzamiento decidirá el Consejo tras el verano.`},
		},
		{
			name:    "an authorisation of the meeting",
			company: "Galera Pharma, S.A.",
			title:   "Acuerdos de la Junta General",
			day:     "2026-07-13",
			pages:   []string{`La Junta General aprobó autorizar al Consejo para la adquisición de acciones propias y la puesta en marcha de programas de recompra hasta el 10 % del capital durante cinco años.`},
		},
		{
			name:    "a programme that is foreseen",
			company: "Alba Papel, S.A.",
			title:   "Información privilegiada",
			day:     "2026-05-04",
			pages:   []string{`El Consejo de Administración ha acordado ofrecer a los accionistas un dividendo flexible y amortizar acciones propias. Para neutralizar la dilución, está previsto que la Sociedad lleve a cabo un programa de recompra de acciones de hasta 20 millones de euros antes del 31 de diciembre de 2026.`},
		},
		{
			name:    "a manager of a programme",
			company: "Alba Papel, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`Alba Papel, S.A. comunica que ha designado a Bróker Norte, S.V., S.A. como gestor del programa de recompra de acciones cuyo inicio se comunicó el 20 de abril de 2026, con un importe máximo de 5.000.000 euros.`},
		},
		{
			name:    "a phase of a programme",
			company: "Alba Papel, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`Alba Papel, S.A. comunica el inicio de la segunda fase del programa de recompra de acciones. El importe máximo de la segunda fase será de 5.000.000 euros, dentro del importe máximo del programa de 12.000.000 euros, y finalizará como máximo el 30 de septiembre de 2026.`},
			want: []string{
				"ends_on=2026-09-30 event=start",
			},
		},
		{
			name:    "a programme that goes on",
			company: "Alba Papel, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`Alba Papel, S.A. informa de que el programa de recompra iniciado el 5 de enero de 2026 continúa en vigor en sus mismos términos: importe máximo de 5.000.000 euros y vencimiento el 31 de diciembre de 2026.`},
		},
		{
			name:    "a complement with the most shares of a day",
			company: "Alba Papel, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`Como complemento a la comunicación de 20 de abril de 2026 (inicio del programa de recompra), se informa de que el número máximo de acciones que se adquirirá en cada sesión no superará 25.000 acciones.`},
		},
		{
			name:    "a request of a shareholder",
			company: "Alba Papel, S.A.",
			title:   "Otra información relevante",
			day:     "2026-05-04",
			pages:   []string{`Alba Papel, S.A. ha recibido de su accionista Fondo Pino, S.A. la solicitud de que el Consejo apruebe un programa de recompra de acciones por importe de 10 millones de euros.`},
		},
		{
			name:    "a limit behind its amount",
			company: "Alba Papel, S.A.",
			title:   "Cancelación del programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`Alba Papel, S.A. ha acordado cancelar el programa de recompra de acciones, de 5.000.000 euros de importe máximo, que tenía vigencia hasta el 31 de diciembre de 2026. Se han adquirido 100.000 acciones por 800.000 euros.`},
			want: []string{
				"currency=EUR event=end max_amount=5000000",
			},
		},
		{
			name:    "a last day that has come",
			company: "Galera Pharma, S.A.",
			title:   "Finalización del programa de recompra",
			day:     "2026-07-03",
			pages:   []string{`Se informa de que, llegado el 30 de junio de 2026, último día de vigencia, ha finalizado el programa de recompra de acciones comunicado el 1 de febrero de 2026.`},
			want: []string{
				"ends_on=2026-06-30 event=end",
			},
		},
		{
			name:    "a last day without its year",
			company: "Galera Pharma, S.A.",
			title:   "Finalización del programa de recompra",
			day:     "2026-07-03",
			pages:   []string{`Se informa de que el programa de recompra de acciones finalizó el pasado 30 de junio.`},
			want: []string{
				"ends_on=2026-06-30 event=end",
			},
		},
		{
			name:    "the days of other events beside an end",
			company: "Galera Pharma, S.A.",
			title:   "Finalización del programa de recompra",
			day:     "2026-07-03",
			pages:   []string{`Se informa de que, tras la junta celebrada el 25 de junio de 2026 y las compras comunicadas el 29 de junio de 2026, ha finalizado el programa de recompra de acciones.`},
			want: []string{
				"event=end",
			},
		},
		{
			name:    "an end of a suspension",
			company: "Alba Papel, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`Alba Papel, S.A. comunica que ha concluido el periodo de suspensión de su programa de recompra y que a partir de mañana retomará las compras. El programa, con un máximo de 5.000.000 euros, vence el 31 de octubre de 2026.`},
			want: []string{
				"currency=EUR ends_on=2026-10-31 event=resumption max_amount=5000000",
			},
		},
		{
			name:    "shares of a programme that has ended",
			company: "Alba Papel, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`Alba Papel, S.A. comunica que el Consejo ha aprobado reducir el capital mediante la amortización de las 400.000 acciones adquiridas en el programa de recompra finalizado el 20 de abril de 2026.`},
		},
		{
			name:    "a programme that will be approved",
			company: "Alba Papel, S.A.",
			title:   "Reducción de capital y programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`La Junta General ha aprobado una reducción de capital por un máximo de 2.000.000 euros mediante la amortización de hasta 2.000.000 acciones, que se adquirirán a través de un programa de recompra que el Consejo aprobará en su momento.`},
		},
		{
			name:    "notes in brackets about the programme before",
			company: "Alba Papel, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-04",
			pages: []string{`Se comunica la puesta en marcha del programa de recompra de acciones con las siguientes condiciones:
Importe máximo: 6.000.000 € (el programa anterior tenía un máximo de 4.000.000 €).
Número máximo de acciones: 500.000 (0,5% del capital, dividido en 100.000.000 acciones).
Plazo: hasta el 30 de abril de 2027 (la autorización de la Junta vence el 30 de junio de 2029).`},
			want: []string{
				"currency=EUR ends_on=2027-04-30 event=start max_amount=6000000 max_shares=500000",
			},
		},
		{
			name:    "limits of one day",
			company: "Alba Papel, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`El programa de recompra de acciones que hoy se inicia tiene por objeto adquirir hasta un máximo de 500.000 acciones. El banco gestor podrá adquirir hasta 10.000 acciones diarias, con un límite de 100.000 euros por sesión.`},
			want: []string{
				"event=start max_shares=500000",
			},
		},
		{
			name:    "an increase and the new whole",
			company: "Alba Papel, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`Alba Papel, S.A. comunica la ampliación del programa de recompra en 2.000.000 euros adicionales, hasta un total de 8.000.000 euros, manteniéndose el límite de 500.000 acciones y el plazo hasta el 30 de noviembre de 2026.`},
			want: []string{
				"currency=EUR ends_on=2026-11-30 event=change max_amount=8000000 max_shares=500000",
			},
		},
		{
			name:    "what was returned to date",
			company: "Alba Papel, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`Alba Papel, S.A. anuncia un programa de recompra de acciones de 10 millones de euros, ampliable a 15 millones. Hasta la fecha la Sociedad ha devuelto a sus accionistas hasta 40 millones de euros. Finalizará el 4 de mayo de 2027 salvo que antes se complete.`},
			want: []string{
				"event=start",
			},
		},
		{
			name:    "two parts of a programme",
			company: "Alba Papel, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`El Consejo ha aprobado un programa de recompra en dos tramos: un primer tramo de hasta 4.000.000 euros, hasta el 31 de octubre de 2026, y un segundo tramo de hasta 6.000.000 euros, hasta el 30 de abril de 2027.`},
			want: []string{
				"event=start",
			},
		},
		{
			name:    "a meeting that must decide first",
			company: "Alba Papel, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`En caso de que la Junta de 20 de junio de 2026 apruebe la reducción de capital, se iniciará un programa de recompra por un máximo de 5.000.000 euros.`},
		},
		{
			name:    "a programme of another company without its legal form",
			company: "Alba Papel, S.A.",
			title:   "Otra información relevante",
			day:     "2026-05-04",
			pages:   []string{`Alba Papel, S.A. comunica que Banco Sur ha iniciado un programa de recompra de sus propias acciones, entre ellas las que posee la Sociedad.`},
		},
		{
			name:    "the short name of the company",
			company: "Alba Papel, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-04",
			pages:   []string{`Se comunica que Alba Papel ha iniciado un programa de recompra de sus propias acciones.`},
			want: []string{
				"event=start",
			},
		},
	})
}
