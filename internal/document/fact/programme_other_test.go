package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestProgrammeOfOthers(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackProgramme, []marketText{
		{
			name:    "a programme of an earlier year",
			company: "Galena Minera, S.A.",
			title:   "Programa de recompra de acciones",
			day:     "2026-05-12",
			pages: []string{`GALENA MINERA, S.A. comunica que su Consejo de Administración, en su reunión de hoy, ha acordado la puesta en marcha de un programa de recompra de acciones propias.

El programa tendrá un importe monetario máximo de 20.000.000 euros y un número máximo de 1.500.000 acciones, y permanecerá vigente hasta el 11 de mayo de 2027.

En 2025 la Sociedad ejecutó otro programa, por importe máximo de 12.000.000 euros, que finalizó el 30 de noviembre de 2025.`},
			want: []string{
				"currency=EUR ends_on=2027-05-11 event=start max_amount=20000000 max_shares=1500000",
			},
		},
		{
			name:    "a programme of another company",
			company: "Galena Minera, S.A.",
			title:   "Programa de recompra de acciones",
			day:     "2026-05-12",
			pages: []string{`GALENA MINERA, S.A. comunica el inicio de un programa de recompra de acciones propias por un importe máximo de 20.000.000 euros, hasta el 11 de mayo de 2027.

Por su parte, su participada Bética Metales, S.A. ejecuta un programa de recompra por un importe máximo de 3.000.000 euros y hasta 200.000 acciones, vigente hasta el 31 de diciembre de 2026.`},
			want: []string{
				"currency=EUR ends_on=2027-05-11 event=start max_amount=20000000",
			},
		},
		{
			name:    "a proposal to the meeting",
			company: "Iris Hoteles, S.A.",
			title:   "Acuerdos del Consejo",
			day:     "2026-03-02",
			pages:   []string{`IRIS HOTELES, S.A. informa de que su Consejo de Administración ha acordado proponer a la Junta General de Accionistas la aprobación de un programa de recompra de acciones por un importe máximo de 50 millones de euros, con una duración de doce meses. El inicio del programa, en caso de ser aprobado, se comunicaría oportunamente.`},
		},
		{
			name:    "a condition",
			company: "Iris Hoteles, S.A.",
			title:   "Información privilegiada",
			day:     "2026-03-02",
			pages:   []string{`IRIS HOTELES, S.A. comunica que, sujeto a la aprobación de la reducción de capital por la Junta, pondrá en marcha un programa de recompra por un importe máximo de 50.000.000 euros hasta el 31 de diciembre de 2026.`},
		},
		{
			name:    "suspension of what a sentence recalls",
			company: "Tajo Energía, S.A.",
			title:   "Suspensión temporal del programa de recompra",
			day:     "2026-06-18",
			pages: []string{`TAJO ENERGÍA, S.A., en relación con el programa de recompra de acciones cuyo inicio fue comunicado el 12 de enero de 2026 (número de registro 31.204), informa de que ha decidido suspender temporalmente su ejecución con efectos desde el 18 de junio de 2026, como consecuencia de la formulación de una oferta pública.

La Sociedad comunicará, en su caso, la reanudación del programa.`},
			want: []string{
				"event=suspension",
			},
		},
		{
			name:    "a change with old and new values",
			company: "Tajo Energía, S.A.",
			title:   "Modificación del programa de recompra",
			day:     "2026-09-18",
			pages: []string{`TAJO ENERGÍA, S.A. informa de la modificación de los siguientes términos del programa de recompra comunicado el 3 de febrero de 2026:

- El importe máximo, fijado inicialmente en 10.000.000 euros, pasa a 15.000.000 euros.
- El número máximo de acciones, que era de 2.000.000, queda fijado en 3.000.000 acciones.
- El plazo, que vencía el 31 de diciembre de 2026, se prorroga hasta el 30 de junio de 2027.`},
			want: []string{
				"currency=EUR ends_on=2027-06-30 event=change max_amount=15000000",
			},
		},
		{
			name:    "the size of an increase",
			company: "Tajo Energía, S.A.",
			title:   "Ampliación del programa de recompra",
			day:     "2026-09-18",
			pages:   []string{`TAJO ENERGÍA, S.A. comunica que ha acordado incrementar el importe máximo del programa de recompra en 5 millones de euros adicionales. La fecha de finalización se mantiene.`},
			want: []string{
				"event=change",
			},
		},
		{
			name:    "the day of the end before its verb",
			company: "Orión Logística, S.A.",
			title:   "Finalización del programa de recompra",
			day:     "2026-09-18",
			pages:   []string{`ORIÓN LOGÍSTICA, S.A. comunica que el 17 de septiembre de 2026 finalizó el programa de recompra, al haberse alcanzado la inversión máxima prevista de 8.000.000 euros. Se han adquirido 641.200 acciones, representativas del 1,2 % del capital, por un importe total de 7.999.870,11 euros.`},
			want: []string{
				"currency=EUR ends_on=2026-09-17 event=end max_amount=8000000",
			},
		},
		{
			name:    "a programme that waits for an authorisation",
			company: "Sorolla Bank, S.A.",
			title:   "Programa de recompra de acciones",
			day:     "2026-04-20",
			pages:   []string{`SOROLLA BANK, S.A. mantiene su compromiso de destinar hasta un máximo de 100 millones de euros a la recompra de acciones. La puesta en marcha del programa está pendiente de la autorización del supervisor.`},
		},
		{
			name:    "two classes of shares",
			company: "Dársena Naval, S.A.",
			title:   "Programa de recompra de acciones",
			day:     "2026-04-20",
			pages:   []string{`DÁRSENA NAVAL, S.A. comunica el inicio de un programa de recompra por un importe máximo de 6.000.000 euros. El número máximo de acciones a adquirir será de 1.000.000 acciones de la Clase A y 500.000 acciones de la Clase B. El programa finalizará a más tardar el 31 de marzo de 2027.`},
			want: []string{
				"currency=EUR ends_on=2027-03-31 event=start max_amount=6000000",
			},
		},
		{
			name:    "an early end",
			company: "Dársena Naval, S.A.",
			title:   "Cancelación anticipada del programa de recompra",
			day:     "2026-07-20",
			pages:   []string{`DÁRSENA NAVAL, S.A. comunica que su Consejo ha acordado cancelar anticipadamente el programa de recompra iniciado el 4 de febrero de 2026 y cuyo vencimiento estaba previsto para el 31 de diciembre de 2026. Hasta la fecha se han invertido 2.100.000 euros, sobre un máximo de 6.000.000 euros.`},
			want: []string{
				"currency=EUR event=end max_amount=6000000",
			},
		},
		{
			name:    "bonds",
			company: "Pinar Alimentación, S.A.",
			title:   "Recompra de bonos",
			day:     "2026-02-10",
			pages:   []string{`Pinar Alimentación, S.A. comunica el inicio de un programa de recompra de sus bonos simples emitidos en 2022, por un importe nominal máximo de 40.000.000 euros, hasta el 30 de junio de 2026.`},
		},
		{
			name:    "an amount before the word share",
			company: "Orion Logistics plc",
			title:   "Share buyback programme",
			day:     "2026-09-18",
			pages: []string{`Orion Logistics announces that its Board has approved the launch of a EUR 25 million share buyback programme.

The maximum number of shares to be purchased is 3,000,000. The programme will run from 21 September 2026 until 31 March 2027 at the latest.

The shareholders' authorisation granted on 12 June 2025 is valid until 12 June 2030 and covers up to 10% of the share capital (12,500,000 shares).`},
			want: []string{
				"currency=EUR ends_on=2027-03-31 event=start max_amount=25000000 max_shares=3000000",
			},
		},
		{
			name:    "an end with the day of the start",
			company: "Zafra Capital, S.A.",
			title:   "Share buy-back",
			day:     "2026-11-10",
			pages:   []string{`Zafra Capital announces the completion of its USD 10 million share buy-back programme launched on 3 March 2026. The programme ended on 9 November 2026. In total, 812,400 shares were repurchased for USD 9,998,102.`},
			want: []string{
				"currency=USD ends_on=2026-11-09 event=end max_amount=10000000",
			},
		},
		{
			name:    "an authorisation",
			company: "Mirto Telecom, S.A.",
			title:   "Acuerdos de la Junta General",
			day:     "2026-05-26",
			pages:   []string{`La Junta General ha acordado autorizar al Consejo para la adquisición derivativa de acciones propias, en el marco de programas de recompra, hasta un máximo del 10 % del capital (12.000.000 acciones), durante un plazo que vence el 26 de mayo de 2031. El importe máximo será de 100.000.000 euros.`},
		},
		{
			name:    "a least and a most amount",
			company: "Mirto Telecom, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-26",
			pages:   []string{`Mirto Telecom pone en marcha un programa de recompra de acciones por un importe mínimo de 40 millones de euros y máximo de 80 millones de euros. El programa finalizará no antes del 30 de septiembre de 2026 y no más tarde del 31 de marzo de 2027.`},
			want: []string{
				"currency=EUR ends_on=2027-03-31 event=start max_amount=80000000",
			},
		},
		{
			name:    "a change from one term to another",
			company: "Mirto Telecom plc",
			title:   "Share buyback",
			day:     "2026-05-26",
			pages:   []string{`Mirto Telecom plc announces that the Board has resolved to increase the size of its share buyback programme from EUR 50 million to EUR 75 million and to extend its term from 30 June 2026 to 31 December 2026. As at 22 May 2026, EUR 48.2 million had been spent.`},
			want: []string{
				"currency=EUR ends_on=2026-12-31 event=change max_amount=75000000",
			},
		},
		{
			name:    "a form with the terms of the programme before",
			company: "Mirto Telecom, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-26",
			pages: []string{`Evento:	Inicio de programa de recompra
Importe máximo:	80.000.000 €
Importe máximo del programa anterior:	60.000.000 €
Nº máximo de acciones:	5.000.000
Acciones en autocartera:	1.204.000
Fecha de inicio:	27/05/2026
Fecha de fin:	31/12/2026
Fecha de fin del programa anterior:	15/12/2025`},
			want: []string{
				"currency=EUR ends_on=2026-12-31 event=start max_amount=80000000 max_shares=5000000",
			},
		},
		{
			name:    "a resumption with a new day",
			company: "Mirto Telecom, S.A.",
			title:   "Programa de recompra",
			day:     "2026-05-26",
			pages:   []string{`Mirto Telecom reanuda hoy el programa de recompra suspendido el 3 de abril de 2026. Como consecuencia de la suspensión, el plazo, que finalizaba el 30 de junio de 2026, se extiende hasta el 31 de agosto de 2026. El importe máximo sigue siendo de 80 millones de euros, de los cuales restan por invertir 31 millones de euros.`},
			want: []string{
				"currency=EUR ends_on=2026-08-31 event=resumption max_amount=80000000",
			},
		},
		{
			name:    "an offer to all shareholders",
			company: "Mirto Telecom, S.A.",
			title:   "Oferta de recompra de acciones dirigida a todos los accionistas",
			day:     "2026-05-26",
			pages:   []string{`Mirto Telecom formula una oferta de recompra dirigida a todos sus accionistas sobre un máximo de 5.000.000 acciones a un precio de 11 euros, por un importe máximo de 55.000.000 euros. El plazo de aceptación finalizará el 30 de junio de 2026.`},
		},
		{
			name:    "a footnote about the programme before",
			company: "Nébula Salud, S.A.",
			title:   "Programa de recompra: inicio",
			day:     "2026-03-09",
			pages: []string{`El Consejo de Administración de NÉBULA SALUD, S.A. ha acordado poner en marcha un programa de recompra de acciones (1) por un importe máximo de 6.000.000 euros, con vencimiento el 31 de diciembre de 2026.

(1) Sustituye al programa aprobado el 4 de marzo de 2025, por un importe máximo de 4.500.000 euros y un máximo de 300.000 acciones, que expiró el 4 de marzo de 2026.`},
			want: []string{
				"currency=EUR ends_on=2026-12-31 event=start max_amount=6000000",
			},
		},
		{
			name:    "an end by time",
			company: "Nébula Salud, S.A.",
			title:   "Otra información relevante",
			day:     "2026-03-09",
			pages:   []string{`NÉBULA SALUD, S.A. informa de que el 6 de marzo de 2026 finalizó, por transcurso del plazo, el programa de recompra de acciones comunicado el 6 de marzo de 2025. El importe invertido asciende a 4.120.300 euros, un 91,6 % del importe máximo de 4.500.000 euros, y se han comprado 271.004 acciones.`},
			want: []string{
				"currency=EUR ends_on=2026-03-06 event=end max_amount=4500000",
			},
		},
		{
			name:    "a report that looks back",
			company: "Nébula Salud, S.A.",
			title:   "Informe de gestión intermedio",
			day:     "2026-09-09",
			pages:   []string{`En marzo el Consejo aprobó un programa de recompra de acciones por un importe máximo de 6.000.000 euros, que finaliza el 8 de marzo de 2027. Al cierre del semestre se habían comprado 120.000 acciones.`},
		},
		{
			name:    "a strategic plan",
			company: "Ópalo Media, S.A.",
			title:   "Plan estratégico 2026-2029",
			day:     "2026-10-02",
			pages:   []string{`El plan contempla el lanzamiento de programas de recompra por un importe máximo acumulado de 150 millones de euros hasta el 31 de diciembre de 2029.`},
		},
		{
			name:    "the programme before in English",
			company: "Ópalo Media plc",
			title:   "Buyback",
			day:     "2026-10-02",
			pages:   []string{`Ópalo Media plc today launches a new share buyback of up to USD 30 million, following completion of the previous USD 20 million programme on 28 September 2026. It will run until 30 June 2027, and the maximum number of shares is 2,000,000.`},
			want: []string{
				"currency=USD ends_on=2027-06-30 event=start max_amount=30000000 max_shares=2000000",
			},
		},
		{
			name:    "the capital of the broker",
			company: "Ópalo Media, S.A.",
			title:   "Modificación del programa de recompra",
			day:     "2026-10-02",
			pages:   []string{`ÓPALO MEDIA, S.A. informa de la modificación del programa de recompra: el intermediario pasa a ser Torre Bolsa, S.V., que cuenta con un capital de hasta 5.000.000 euros.`},
			want: []string{
				"event=change",
			},
		},
		{
			name:    "what is left to be bought",
			company: "Ópalo Media, S.A.",
			title:   "Programa de recompra",
			day:     "2026-10-02",
			pages:   []string{`ÓPALO MEDIA, S.A. retoma desde hoy las compras del programa de recompra que interrumpió el 3 de agosto de 2026. Quedan por adquirir hasta 410.000 acciones.`},
			want: []string{
				"event=resumption",
			},
		},
	})
}
