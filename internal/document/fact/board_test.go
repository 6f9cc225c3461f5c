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

// stating returns the facts of a kind that a document states, each as "field=value"
// joined by semicolons, in the order of the fields.
func stating(kind disclosure.FactKind, d Document) (found []string) {
	for _, f := range Find(d) {
		if f.Kind != kind {
			continue
		}
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
			fields = append(fields, fmt.Sprintf("%s=%s", name, f.Fields[name]))
		}
		found = append(found, strings.Join(fields, "; "))
	}
	return found
}

// factTest is a document and the facts that it states.
type factTest struct {
	name string
	text string
	want []string
}

// testFacts finds the facts of a kind in documents of one company.
func testFacts(t *testing.T, kind disclosure.FactKind, tests []factTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := stating(kind, Document{
				Company:   "Molinos del Ebro, S.A.",
				Published: time.Date(2026, 6, 10, 0, 0, 0, 0, time.UTC),
				Pages:     strings.Split(test.text, "\f"),
			})
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

func TestBoard(t *testing.T) {
	testFacts(t, disclosure.Board, []factTest{
		{
			"told of long ago",
			"c) El 9 de febrero de 2024 la Sociedad informó de la dimisión de su consejero delegado, don Juan López Ruiz.\n\n" +
				"La Sociedad comunicó el nombramiento de doña Ana Gil Mas, su entonces consejera delegada.",
			nil,
		},
		{
			"resolutions of a meeting that approved all proposals",
			"La Junta General Ordinaria celebrada hoy ha aprobado todas las propuestas, entre ellas:\n\n" +
				"Quinto. Reelección de D. Juan López Ruiz como consejero ejecutivo por el plazo de cuatro años.",
			[]string{"action=reelected; person=Juan López Ruiz; role=consejero ejecutivo"},
		},
		{
			"co-option",
			"El Consejo de Administración, en su reunión celebrada en el día de hoy, ha acordado, previo informe " +
				"favorable de la Comisión de " +
				"Nombramientos y Retribuciones, nombrar por cooptación a Dña. Pilar Gómez-Acebo Ruiz como consejera " +
				"independiente de la Sociedad. " +
				"Dicho nombramiento se someterá a ratificación en la primera Junta General que se celebre.",
			[]string{"action=appointed; person=Pilar Gómez-Acebo Ruiz; role=consejera independiente"},
		},
		{
			"role before the person",
			"La Junta General de Accionistas ha aprobado designar consejero dominical a don Miguel Ángel de la Peña y " +
				"Soler, por el plazo estatutario.",
			[]string{"action=appointed; person=Miguel Ángel de la Peña y Soler; role=consejero dominical"},
		},
		{
			"two people, two changes",
			"Molinos del Ebro, S.A. informa de que D. Pedro Ruiz Sanz ha presentado su renuncia al cargo de consejero " +
				"delegado, con efectos desde " +
				"el 30 de junio de 2026; en su sustitución, el Consejo ha nombrado a D.ª Marta Soria Vega consejera " +
				"delegada, con efectos desde " +
				"el 1 de julio de 2026.",
			[]string{
				"action=resigned; effective=2026-06-30; person=Pedro Ruiz Sanz; role=consejero delegado",
				"action=appointed; effective=2026-07-01; person=Marta Soria Vega; role=consejera delegada",
			},
		},
		{
			"a list of people",
			"La Junta General acordó reelegir a D. Juan Ortiz Lara como consejero ejecutivo y a D.ª Inés Roca Font como " +
				"consejera independiente.",
			[]string{
				"action=reelected; person=Juan Ortiz Lara; role=consejero ejecutivo",
				"action=reelected; person=Inés Roca Font; role=consejera independiente",
			},
		},
		{
			"one role for several people",
			"La Junta General ha acordado nombrar a D. Juan Ortiz Lara y D. Luis Roca Font como consejeros independientes.",
			[]string{"action=appointed; person=Juan Ortiz Lara", "action=appointed; person=Luis Roca Font"},
		},
		{
			"a category behind the role",
			"El Consejo ha acordado nombrar a D. Juan Ortiz Lara como consejero de la Sociedad, con la categoría de " +
				"consejero dominical.",
			[]string{"action=appointed; person=Juan Ortiz Lara; role=consejero dominical"},
		},
		{
			"adopted resolutions",
			"La Junta General ha adoptado los siguientes acuerdos:\n\nPrimero.- Aprobar las cuentas anuales.\n\n" +
				"Segundo.- Reelegir a D. Juan Ortiz Lara como consejero independiente por el plazo de cuatro años.",
			[]string{"action=reelected; person=Juan Ortiz Lara; role=consejero independiente"},
		},
		{
			"a proposal",
			"El Consejo ha acordado proponer a la Junta General el nombramiento de D. Juan Ortiz Lara como consejero " +
				"independiente.", nil,
		},
		{
			"an agenda",
			"Se convoca Junta General con el siguiente orden del día:\n\nQuinto.- Reelección de D. Juan Ortiz Lara como " +
				"consejero.\n\n" +
				"Sexto.- Nombrar a D. Luis Roca Font como consejero independiente.", nil,
		},
		{
			"a possibility",
			"Según la prensa, la Sociedad podría nombrar a D. Juan Ortiz Lara como consejero delegado.", nil,
		},
		{
			"a denial",
			"La Sociedad desmiente que D. Juan Ortiz Lara haya dimitido o vaya a ser cesado. D. Juan Ortiz Lara no ha " +
				"presentado su dimisión.", nil,
		},
		{
			"a condition",
			"El Consejo ha acordado nombrar a D. Juan Ortiz Lara como consejero delegado, sujeto a la autorización del " +
				"supervisor.", nil,
		},
		{
			"a life",
			"D. Juan Ortiz Lara fue nombrado consejero delegado en 2015. En 2019 dimitió como consejero de otra " +
				"compañía.", nil,
		},
		{
			"an older fact",
			"Tal y como se comunicó el 3 de marzo de 2026, D. Juan Ortiz Lara presentó su dimisión como consejero.", nil,
		},
		{
			"another company",
			"La Junta General de Aguas del Ebro, S.L. ha nombrado a D. Juan Ortiz Lara como consejero.", nil,
		},
		{
			"a company as director",
			"El Consejo ha nombrado consejera a Inversiones Soto, S.L., representada por D. Juan Ortiz Lara.", nil,
		},
		{
			"the end of a term",
			"D. Juan Ortiz Lara ha cesado como consejero por vencimiento de su mandato.", nil,
		},
		{
			"removal",
			"La Junta General ha acordado la destitución de D. Juan Ortiz Lara como consejero dominical, con efectos " +
				"inmediatos.",
			[]string{"action=removed; person=Juan Ortiz Lara; role=consejero dominical"},
		},
		{
			"apposition",
			"Ponemos en su conocimiento que la consejera independiente D.ª Marta Soria Vega ha comunicado su dimisión " +
				"por motivos personales.",
			[]string{"action=resigned; person=Marta Soria Vega; role=consejera independiente"},
		},
		{
			"English",
			"Molinos del Ebro, S.A. announces that Mr. John O'Neill has been appointed Chief Financial Officer of the " +
				"Company, effective 1 July 2026. " +
				"He replaces Ms. Anne Clark, who has stepped down as Chief Financial Officer.",
			[]string{
				"action=appointed; effective=2026-07-01; person=John O'Neill; role=Chief Financial Officer",
				"action=resigned; person=Anne Clark; role=Chief Financial Officer",
			},
		},
		{
			"English resignation",
			"The Board of Directors has accepted the resignation of Ms Anne Clark as independent director, with effect " +
				"from 30 June 2026.",
			[]string{"action=resigned; effective=2026-06-30; person=Anne Clark; role=independent director"},
		},
		{"English proposal", "The Board will propose the appointment of Ms Anne Clark as independent director to the " +
			"General Meeting.", nil},
		{
			"Catalan",
			"El Consell d'Administració ha acordat nomenar la Sra. Marta Soler i Puig consellera independent, amb " +
				"efectes de l'1 de juliol de 2026.",
			[]string{"action=appointed; effective=2026-07-01; person=Marta Soler i Puig; role=consellera independent"},
		},
		{
			"a form",
			"Tipo de movimiento:\tCese por dimisión\nNombre y apellidos:\tDon Juan Ortiz Lara\nCargo:\tConsejero\nFecha " +
				"de efectos:\t30/06/2026",
			[]string{"action=resigned; effective=2026-06-30; person=Juan Ortiz Lara; role=Consejero"},
		},
		{
			"a table over two pages",
			"La Junta General ha acordado los siguientes nombramientos:\n\nNombre\tCargo\tFecha de efectos\nJuan Ortiz " +
				"Lara\tConsejero independiente\t01/07/2026\n\n" +
				"Página 1\fNombre\tCargo\tFecha de efectos\nInés Roca Font\tConsejera dominical\t02/07/2026",
			[]string{
				"action=appointed; effective=2026-07-01; person=Juan Ortiz Lara; role=Consejero independiente",
				"action=appointed; effective=2026-07-02; person=Inés Roca Font; role=Consejera dominical",
			},
		},
		{
			"committee",
			"Asimismo, el Consejo ha acordado nombrar a la consejera D.ª Marta Soria Vega presidenta de la Comisión de " +
				"Auditoría y Control.",
			[]string{"action=appointed; person=Marta Soria Vega; role=presidenta de la Comisión de Auditoría y Control"},
		},
		{
			"press release",
			"Molinos del Ebro ficha a Marta Soria Vega como directora financiera\n\nMarta Soria Vega se incorporará como " +
				"directora financiera a partir " +
				"del 1 de septiembre de 2026. Hasta ahora era directora de Tesorería de otra compañía.",
			[]string{"action=appointed; effective=2026-09-01; person=Marta Soria Vega; role=directora financiera"},
		},
		{
			"resignation received",
			"La Sociedad comunica que ha recibido la carta de dimisión de D. Juan Ortiz Lara como vocal del Consejo de " +
				"Administración y miembro de la " +
				"Comisión de Auditoría, que tendrá efectos el 30 de junio de 2026.",
			[]string{"action=resigned; effective=2026-06-30; person=Juan Ortiz Lara; role=vocal del Consejo de " +
				"Administración y miembro de la Comisión de Auditoría"},
		},
		{
			"secretary",
			"El Consejo de Administración ha acordado el nombramiento de don Juan Ortiz Lara como nuevo secretario no " +
				"consejero del Consejo de " +
				"Administración, en sustitución de don Luis Roca Font, que ha dimitido de su cargo.",
			[]string{
				"action=appointed; person=Juan Ortiz Lara; role=secretario no consejero del Consejo de Administración",
				"action=resigned; person=Luis Roca Font",
			},
		},
		{
			"vacancy",
			"Para cubrir la vacante producida por la renuncia de D. Luis Roca Font, el Consejo ha nombrado consejero " +
				"dominical, a propuesta del accionista " +
				"Inversiones Soto, S.L., a D. Juan Ortiz Lara.",
			[]string{"action=appointed; person=Juan Ortiz Lara; role=consejero dominical"},
		},
		{
			"a correction",
			"En la comunicación de ayer, donde dice «D. Luis Roca Font ha sido nombrado consejero independiente» debe " +
				"decir «D. Juan Ortiz Lara ha sido " +
				"nombrado consejero independiente».",
			[]string{"action=appointed; person=Juan Ortiz Lara; role=consejero independiente"},
		},
		{
			"capitals", "DON JUAN ORTIZ LARA HA SIDO NOMBRADO CONSEJERO INDEPENDIENTE DE MOLINOS DEL EBRO, S.A.",
			[]string{"action=appointed; person=JUAN ORTIZ LARA; role=CONSEJERO INDEPENDIENTE"},
		},
		{"a policy", "El Reglamento establece que el Consejo nombra al Presidente y que los consejeros cesan al " +
			"cumplir setenta años.", nil},
		{
			"a subsidiary",
			"D. Juan Ortiz Lara ha sido nombrado consejero delegado de Aguas del Ebro, S.L., filial de la Sociedad.", nil,
		},
		{
			"last year",
			"El Consejo ha nombrado a D.ª Marta Soria Vega directora general. El año anterior había nombrado a D. Luis " +
				"Roca Font director de Operaciones.",
			[]string{"action=appointed; person=Marta Soria Vega; role=directora general"},
		},
		{
			"English form",
			"Type of change: Appointment\n\nName: Ms Anne Clark\n\nPosition: Independent Director\n\nEffective date: 1 " +
				"July 2026",
			[]string{"action=appointed; effective=2026-07-01; person=Anne Clark; role=Independent Director"},
		},
		{
			"English committee",
			"The Board resolved to appoint Ms Anne Clark as chair of the Audit Committee, replacing Mr Paul Moss, whose " +
				"term has expired.",
			[]string{"action=appointed; person=Anne Clark; role=chair of the Audit Committee"},
		},
		{"may consider", "The Board may consider the appointment of Ms Anne Clark as director.", nil},
		{"no change", "El Consejo de Administración está presidido por D. Juan Ortiz Lara. D.ª Marta Soria Vega " +
			"continúa como consejera.", nil},
		{
			"a subsidiary without a name",
			"El Consejo ha nombrado a D. Juan Ortiz Lara como consejero delegado de su filial mexicana.", nil,
		},
		{"auditors", "La Junta General ha acordado nombrar a D. Juan Ortiz Lara como auditor de cuentas y reelegir a " +
			"Cuentas Claras Auditores, S.L.", nil},
		{
			"a representative",
			"Inversiones Soto, S.L. ha nombrado a D. Juan Ortiz Lara como su representante persona física en el Consejo " +
				"de Administración.", nil,
		},
		{"an honour", "D. Juan Ortiz Lara ha sido nombrado hijo predilecto de la ciudad.", nil},
		{
			"adopted items",
			"La Junta General ha aprobado los siguientes acuerdos:\n\n5.1 Reelección de D. Juan Ortiz Lara como " +
				"consejero independiente.\n\n" +
				"5.2 Nombramiento de Dña. Marta Soria Vega como consejera dominical.",
			[]string{
				"action=reelected; person=Juan Ortiz Lara; role=consejero independiente",
				"action=appointed; person=Marta Soria Vega; role=consejera dominical",
			},
		},
		{
			"languages side by side",
			"El Consejo de Administración ha nombrado a D. Juan Ortiz Lara consejero independiente, con efectos del 1 de " +
				"julio de 2026.\t" +
				"The Board of Directors has appointed Mr Juan Ortiz Lara as independent director with effect from 1 July 2026.",
			[]string{"action=appointed; effective=2026-07-01; person=Juan Ortiz Lara; role=consejero independiente"},
		},
		{
			"one after the other",
			"Se acuerda cesar a D. Juan Ortiz Lara en su cargo de secretario no consejero y nombrar, en su sustitución, " +
				"a Dña. Marta Soria Vega como " +
				"secretaria no consejera.",
			[]string{
				"action=removed; person=Juan Ortiz Lara; role=secretario no consejero",
				"action=appointed; person=Marta Soria Vega; role=secretaria no consejera",
			},
		},
		{"refused", "La Junta General ha rechazado el cese de D. Juan Ortiz Lara como consejero.", nil},
		{
			"a list of members",
			"Composición del Consejo de Administración\n\nNombre\tCargo\tFecha de nombramiento\nJuan Ortiz " +
				"Lara\tPresidente\t01/07/2020", nil,
		},
	})
}
