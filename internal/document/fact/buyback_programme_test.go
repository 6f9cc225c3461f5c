package fact

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
)

// marketText is a document of an issuer, and what it states of one kind: one line for each
// fact, "name=value …" in the order of the names, and one for each of its rows.
type marketText struct {
	name    string
	company string
	title   string
	day     string   // of publication
	pages   []string // separated by "\f" in one text
	want    []string
}

// checkMarketTexts checks the facts of one kind in some documents.
func checkMarketTexts(t *testing.T, kind disclosure.FactKind, tests []marketText) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			day, err := time.Parse(time.DateOnly, test.day)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range Find(Document{Company: test.company, Title: test.title, Published: day, Pages: test.pages}) {
				if f.Kind != kind {
					continue
				}
				got = append(got, fieldsLine(f.Fields))
				for _, row := range f.Rows {
					got = append(got, fieldsLine(row))
				}
				for name := range f.Fields {
					if f.Evidence[name].Text == "" {
						t.Errorf("%s has no evidence", name)
					}
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

func fieldsLine(fields map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		words = append(words, fmt.Sprintf("%s=%s", name, fields[name]))
	}
	return strings.Join(words, " ")
}

func TestBuybackProgramme(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackProgramme, []marketText{
		{
			name:  "start with its terms in a list",
			title: "Programa de recompra de acciones propias",
			day:   "2025-02-27",
			pages: []string{`COMUNICACIÓN DE INFORMACIÓN PRIVILEGIADA

De conformidad con lo dispuesto en el artículo 17 del Reglamento (UE) nº 596/2014, Alfa Energía, S.A. comunica que el Consejo de Administración ha acordado, en su reunión de hoy, llevar a cabo un programa de recompra de acciones propias (el "Programa de Recompra") al amparo de la autorización conferida por la Junta General Ordinaria de Accionistas celebrada el 4 de abril de 2024.

El Programa de Recompra tendrá las siguientes características:

- Propósito: reducir el capital social de la Sociedad mediante la amortización de las acciones adquiridas.

- Inversión máxima: el Programa de Recompra tendrá una inversión máxima de 250.000.000 euros.

- Número máximo de acciones: 15.000.000 acciones, representativas de aproximadamente el 2,5% del capital social.

- Precio y volumen: la Sociedad no comprará en ningún día de negociación más del 25% del volumen diario medio de las acciones.

- Duración: el Programa de Recompra comenzará el 3 de marzo de 2025 y permanecerá vigente hasta el 31 de diciembre de 2025. No obstante, la Sociedad se reserva el derecho a finalizar el Programa de Recompra si, con anterioridad a su fecha límite de vigencia, se hubiera alcanzado el importe máximo.

La interrupción, finalización o modificación del Programa de Recompra, así como las operaciones realizadas, serán debidamente comunicadas a la CNMV.`},
			want: []string{"currency=EUR ends_on=2025-12-31 event=start max_amount=250000000 max_shares=15000000"},
		},
		{
			name:  "end because the limit was reached",
			title: "Finalización del Programa de Recompra",
			day:   "2025-11-12",
			pages: []string{`Como continuación de la comunicación de otra información relevante de 3 de marzo de 2025 (número de registro 33.123), relativa al programa de recompra de acciones propias, la Sociedad informa de que, con la última adquisición, ha alcanzado la inversión máxima prevista, de 60.000.000 euros, y ha adquirido un total de 4.500.000 acciones propias.

En consecuencia, el Programa de Recompra queda finalizado antes de su vencimiento.`},
			want: []string{"currency=EUR event=end max_amount=60000000"},
		},
		{
			name:  "suspension",
			title: "Suspensión temporal del programa de recompra",
			day:   "2025-05-12",
			pages: []string{`Beta Telecom, S.A. informa de que ha decidido suspender temporalmente la ejecución de su programa de recompra de acciones, comunicado el 10 de enero de 2025, con motivo de la oferta pública de adquisición anunciada. Las compras podrán reanudarse una vez liquidada la oferta.`},
			want:  []string{"event=suspension"},
		},
		{
			name:  "more money and more time",
			title: "Modificación del programa de recompra de acciones",
			day:   "2025-06-20",
			pages: []string{`El Consejo de Administración ha acordado ampliar el importe máximo del programa de recompra de 20 a 30 millones de euros y extender su duración hasta el 30 de junio de 2026. El resto de los términos no se modifica.`},
			want:  []string{"currency=EUR ends_on=2026-06-30 event=change max_amount=30000000"},
		},
		{
			name:  "English change",
			title: "Increase of the share buyback programme",
			day:   "2025-06-20",
			pages: []string{`Gamma Foods, S.A. announces that its Board of Directors has resolved to increase the maximum amount of its share buyback programme from €200 million to €300 million. The programme will end on 15 December 2025.`},
			want:  []string{"currency=EUR ends_on=2025-12-15 event=change max_amount=300000000"},
		},
		{
			name:  "English start",
			title: "Buy-back programme",
			day:   "2026-02-05",
			pages: []string{`Delta Bank, S.A. will commence tomorrow the execution of a share buy-back programme (the "Programme") with the following terms:

Maximum investment: The Programme will have a maximum pecuniary amount of EUR 1,525 million.

Maximum number of shares: 310,000,000 shares.

Duration: From 6 February 2026 until 31 July 2026.

The suspension, termination or modification of the Programme will be communicated to the market without delay.`},
			want: []string{"currency=EUR ends_on=2026-07-31 event=start max_amount=1525000000 max_shares=310000000"},
		},
		{
			name:  "resumption",
			title: "Reanudación del programa de recompra de acciones",
			day:   "2025-09-01",
			pages: []string{`Épsilon Hoteles, S.A. comunica que hoy, 1 de septiembre de 2025, ha levantado la suspensión y reanuda la ejecución del programa de recompra de acciones, cuyo importe máximo asciende a 12,5 millones de euros.`},
			want:  []string{"currency=EUR event=resumption max_amount=12500000"},
		},
		{
			name:  "Catalan",
			title: "Programa de recompra d'accions",
			day:   "2025-03-03",
			pages: []string{`El Consell d'Administració ha aprovat un programa de recompra d'accions pròpies per un import màxim d'11 milions d'euros, que serà vigent fins al 30 d'abril de 2026.`},
			want:  []string{"currency=EUR ends_on=2026-04-30 event=start max_amount=11000000"},
		},
		{
			name:  "form in thousands",
			title: "Programa de recompra",
			day:   "2025-03-03",
			pages: []string{"Tipo de comunicación\tInicio del programa de recompra\nImporte máximo (miles de euros)\t7.500\nNúmero máximo de acciones\t1.200.000\nFecha de inicio\t05/03/2025\nFecha de finalización\t04/03/2026\n"},
			want:  []string{"currency=EUR ends_on=2026-03-04 event=start max_amount=7500000 max_shares=1200000"},
		},
		{
			name:  "correction",
			title: "Corrección de errores: inicio del programa de recompra",
			day:   "2025-03-04",
			pages: []string{`En la comunicación relativa al inicio de un programa de recompra de acciones se ha advertido un error. Donde dice «importe máximo de 30 millones de euros» debe decir «importe máximo de 35 millones de euros».`},
			want:  []string{"currency=EUR event=start max_amount=35000000"},
		},
		{
			name:  "last year's figure beside it",
			title: "Zeta lanza un programa de recompra",
			day:   "2025-03-04",
			pages: []string{`Zeta Cementos, S.A. ha aprobado un programa de recompra de acciones de hasta 40 millones de euros. El programa del ejercicio anterior tuvo un importe máximo de 25 millones de euros y finalizó el 31 de octubre de 2024.`},
			want:  []string{"currency=EUR event=start max_amount=40000000"},
		},
		{
			name:  "proposal",
			title: "Convocatoria de la Junta General",
			day:   "2025-03-04",
			pages: []string{`El Consejo propone a la Junta General poner en marcha un programa de recompra de acciones por un importe máximo de 100 millones de euros.`},
		},
		{
			name:  "possibility",
			title: "Plan estratégico",
			day:   "2025-03-04",
			pages: []string{`La Sociedad podrá poner en marcha un programa de recompra de acciones de hasta 100 millones de euros, sujeto a las condiciones del mercado. The Board may consider launching a share buy-back of up to €50 million.`},
		},
		{
			name:  "subsidiary",
			title: "Otra información relevante",
			day:   "2025-03-04",
			pages: []string{`Se informa de que la filial cotizada Eta Renovables, S.A. ha iniciado un programa de recompra de acciones por un importe máximo de 10 millones de euros.`},
		},
		{
			name:  "policy",
			title: "Política de remuneración al accionista",
			day:   "2025-03-04",
			pages: []string{`La política de remuneración de la Sociedad combina un dividendo en efectivo con programas de recompra de acciones de entre 50 y 100 millones de euros cada año.`},
		},
		{
			name:  "purchases",
			title: "Operaciones del programa de recompra",
			day:   "2025-03-10",
			pages: []string{`Desde el inicio del programa de recompra, con un importe máximo de 40 millones de euros y vigente hasta el 30 de junio de 2025, se han adquirido 400.000 acciones.`},
		},
		{
			name:  "a reference to the start",
			title: "Programa de recompra de acciones",
			day:   "2025-06-10",
			pages: []string{`En relación con el inicio del programa de recompra de acciones comunicado el 3 de marzo de 2025 (nº de registro 33.221), se informa de las operaciones realizadas entre el 2 y el 6 de junio de 2025: 12.000 acciones por 98.400 euros.`},
		},
		{
			name:  "a word of another meaning",
			title: "Programa de recompra",
			day:   "2025-06-10",
			pages: []string{`La tabla adjunta resume las operaciones del programa de recompra y amplía la información facilitada.`},
		},
		{
			name:  "an earlier programme in a report of results",
			title: "Resultados del primer trimestre",
			day:   "2025-06-10",
			pages: []string{`El beneficio por acción se incrementa un 5% gracias al programa de recompra. La compañía ha completado su programa de recompra de 100 millones de euros.`},
		},
		{
			name:  "a new programme in a report of results",
			title: "Resultados del ejercicio 2024",
			day:   "2025-02-27",
			pages: []string{`El beneficio fue de 300 millones de euros. El Consejo ha aprobado un nuevo programa de recompra de acciones por importe de 500 millones de euros.`},
			want:  []string{"currency=EUR event=start max_amount=500000000"},
		},
		{
			name:  "an increment, and the old end",
			title: "Plan de recompra: ampliación",
			day:   "2025-06-10",
			pages: []string{`El Consejo de Administración ha acordado incrementar en 50 millones de euros el importe máximo del programa de recompra, hasta un total de 150 millones de euros, y prorrogar su vigencia, inicialmente prevista hasta el 30 de junio de 2025, hasta el 31 de diciembre de 2025.`},
			want:  []string{"currency=EUR ends_on=2025-12-31 event=change max_amount=150000000"},
		},
		{
			name:  "what a programme allows",
			title: "Announcement of a new share repurchase program",
			day:   "2025-06-10",
			pages: []string{`Delta Group N.V. announced today that its Board has approved a share repurchase program under which it may repurchase up to US$200 million of its ordinary shares through December 31, 2026.`},
			want:  []string{"currency=USD ends_on=2026-12-31 event=start max_amount=200000000"},
		},
		{
			name:  "an amount before the name",
			title: "Launch of a share buyback",
			day:   "2025-02-27",
			pages: []string{`Alpha launches a €1.5bn share buyback programme. The programme starts today and runs until 30 September 2025.`},
			want:  []string{"currency=EUR ends_on=2025-09-30 event=start max_amount=1500000000"},
		},
		{
			name:  "what was spent and what may be",
			title: "Interrupción del programa de recompra",
			day:   "2025-06-10",
			pages: []string{`Se interrumpe con efectos de hoy el Programa de Recompra, cuyo plazo de vigencia finaliza el 30 de septiembre de 2025. El importe ejecutado asciende a 12,3 millones de euros, sobre un importe máximo de 20 millones de euros.`},
			want:  []string{"currency=EUR ends_on=2025-09-30 event=suspension max_amount=20000000"},
		},
		{
			name:  "a price per share",
			title: "Otra información relevante",
			day:   "2025-03-03",
			pages: []string{`La Sociedad acordó iniciar un programa de recompra de acciones propias. El número máximo de acciones a adquirir es de 2.000.000 de acciones, y el importe monetario máximo asignado asciende a 18.000.000 €. El precio máximo será de 12,50 euros por acción.`},
			want:  []string{"currency=EUR event=start max_amount=18000000 max_shares=2000000"},
		},
		{
			name:  "before and after",
			title: "Changes to the buy-back programme",
			day:   "2025-06-02",
			pages: []string{`The Board has amended the current share buy-back programme:

Term	Before	After
Maximum amount (EUR million)	39	60
End date	31 December 2025	20 May 2026`},
			want: []string{"currency=EUR ends_on=2026-05-20 event=change max_amount=60000000"},
		},
		{
			name:  "a tranche beside the whole",
			title: "Programa de recompra de acciones",
			day:   "2025-03-03",
			pages: []string{`El Consejo ha acordado la puesta en marcha de un programa de recompra por un importe máximo de 100.000.000 euros, en dos tramos. El primer tramo, por un importe máximo de 40.000.000 euros, se ejecutará antes del verano. El programa finalizará el 31 de diciembre de 2025.`},
			want:  []string{"ends_on=2025-12-31 event=start"},
		},
		{
			name:  "one programme ends and the next begins",
			title: "Programa de recompra de acciones",
			day:   "2025-03-03",
			pages: []string{`Con fecha 28 de febrero de 2025 ha finalizado el programa de recompra iniciado el 1 de septiembre de 2024, por un importe máximo de 30 millones de euros. Asimismo, el Consejo ha acordado iniciar un nuevo programa de recompra por un importe máximo de 50 millones de euros.`},
		},
		{
			name:  "an estimate at the price of the day",
			title: "Inicio del programa de recompra",
			day:   "2025-03-03",
			pages: []string{`A la cotización de cierre de ayer, 11,20 euros, el número máximo de acciones (3.000.000) supondría una inversión de 33,6 millones de euros. El programa de recompra tiene un importe máximo de 30 millones de euros y se inicia hoy.`},
			want:  []string{"currency=EUR event=start max_amount=30000000"},
		},
	})
}
