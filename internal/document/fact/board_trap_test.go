package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestBoardTraps has changes that are only asked, conditional, of others, or long over.
func TestBoardTraps(t *testing.T) {
	testTraps(t, disclosure.Board, []trapTest{
		{
			name:      "called meeting",
			company:   "Alfa Minera, S.A.",
			title:     "Convocatoria de Junta General",
			published: "2026-05-10",
			text:      `El Consejo ha acordado convocar la Junta General para decidir sobre la reelección de doña Ana Belmonte Ruiz como consejera independiente y el cese de don Luis Parra Gil.`,
		},
		{
			name:      "asked by a shareholder",
			company:   "Alfa Minera, S.A.",
			title:     "Complemento de convocatoria",
			published: "2026-05-10",
			text:      `La Sociedad comunica que ha recibido de su accionista Inversiones Noroeste, S.L. una solicitud de complemento de convocatoria para incluir el cese de don Luis Parra Gil como consejero y el nombramiento de doña Eva Mira Sanz como consejera dominical.`,
		},
		{
			name:      "only reported on",
			company:   "Alfa Minera, S.A.",
			title:     "Cambios en el Consejo",
			published: "2026-05-10",
			text:      `La Comisión de Nombramientos ha informado favorablemente el nombramiento de doña Eva Mira Sanz como consejera independiente, que se elevará al Consejo en su próxima reunión.`,
		},
		{
			name:      "advisers",
			company:   "Alfa Minera, S.A.",
			title:     "Asesores",
			published: "2026-05-10",
			text:      `El Consejo de Administración ha acordado designar a Bufete Losada Asociados, S.L.P. como asesor legal y a Grant Mirón Consultores como experto independiente.`,
		},
		{
			name:      "life of the person in a relative clause",
			company:   "Alfa Minera, S.A.",
			title:     "Nombramiento de consejero delegado",
			published: "2026-05-10",
			text:      `El Consejo ha acordado nombrar consejera delegada a doña Eva Mira Sanz, que fue nombrada consejera independiente en 2021 y reelegida en 2025, en sustitución de don Luis Parra Gil, que dimitió el pasado marzo de 2025.`,
			want:      []string{"action=appointed; person=Eva Mira Sanz; role=consejera delegada"},
		},
		{
			name:      "after a transaction",
			company:   "Alfa Minera, S.A.",
			title:     "Pacto parasocial",
			published: "2026-06-12",
			text:      `En virtud del pacto, las partes acuerdan nombrar a don Pedro Lomas Vera como presidente del Consejo una vez se complete la operación.`,
		},
		{
			name:      "list behind a proposal",
			company:   "Alfa Minera, S.A.",
			title:     "Board changes",
			published: "2026-06-12",
			language:  "en",
			text:      `The Board of Directors has resolved to propose to the General Meeting the appointment of Ms Eva Mira Sanz as independent director and the re-election of Mr Pedro Lomas Vera.`,
		},
		{
			name:      "proposal in Catalan",
			company:   "Alfa Minera, S.A.",
			title:     "Canvis al Consell",
			published: "2026-06-12",
			language:  "ca",
			text:      `El Consell d'Administració ha acordat proposar a la Junta el nomenament de la Sra. Eva Mira Sanz com a consellera independent.`,
		},
		{
			name:      "table of an earlier year",
			company:   "Alfa Minera, S.A.",
			title:     "Informe de gobierno",
			published: "2026-05-12",
			text: `Cambios en el Consejo durante el ejercicio 2025:

Nombre	Cargo	Movimiento	Fecha
Pedro Lomas Vera	Consejero independiente	Nombramiento	12/06/2025
Eva Mira Sanz	Consejera dominical	Dimisión	14/09/2025`,
		},
		{
			name:      "table of proposals",
			company:   "Alfa Minera, S.A.",
			title:     "Propuestas de acuerdos",
			published: "2026-05-12",
			text: `Consejeros cuya reelección se propone:

Nombre	Cargo	Tipo
Pedro Lomas Vera	Consejero independiente	Reelección
Eva Mira Sanz	Consejera dominical	Reelección`,
		},
		{
			name:      "errand",
			company:   "Alfa Minera, S.A.",
			title:     "Operación vinculada",
			published: "2026-06-12",
			text:      `El Consejo ha acordado designar a don Pedro Lomas Vera, letrado, para que pueda elevar a público los acuerdos, y facultar al secretario del Consejo.`,
		},
		{
			name:      "condition in the next sentence",
			company:   "Alfa Minera, S.A.",
			title:     "Cambios en el Consejo",
			published: "2026-06-12",
			text:      `El Consejo ha nombrado consejero delegado a don Pedro Lomas Vera. El nombramiento está condicionado a la obtención de la autorización del Banco de España.`,
		},
		{
			name:      "announced before",
			company:   "Alfa Minera, S.A.",
			title:     "Cambios en el Consejo",
			published: "2026-06-12",
			text:      `La Sociedad comunica que, tal y como anunció el 2 de marzo de 2026, don Pedro Lomas Vera dejará su cargo de consejero delegado el 30 de septiembre de 2026.`,
		},
		{
			name:      "role that is kept",
			company:   "Alfa Minera, S.A.",
			title:     "Cambios en el Consejo",
			published: "2026-06-12",
			text:      `El Consejo ha acordado, en sesión celebrada hoy, aceptar la dimisión de Dª Eva Mira Sanz-Briz y Ruiz de Lobera como vocal de la Comisión de Auditoría, manteniendo su condición de consejera independiente.`,
			want:      []string{"action=resigned; person=Eva Mira Sanz-Briz y Ruiz de Lobera; role=vocal de la Comisión de Auditoría"},
		},
		{
			name:      "merger plan",
			company:   "Alfa Minera, S.A.",
			title:     "Fusión",
			published: "2026-06-12",
			text:      `Está previsto que, tras la fusión, don Pedro Lomas Vera sea nombrado presidente de la sociedad resultante y doña Eva Mira Sanz asuma la vicepresidencia. El Consejo ha aprobado el proyecto común, que recoge el nombramiento de don Pedro Lomas Vera como presidente.`,
		},
		{
			name:      "Catalan resignation",
			company:   "Alfa Minera, S.A.",
			title:     "Canvis",
			published: "2026-06-12",
			language:  "ca",
			text:      `El Sr. Pere Lloret i Mas ha presentat la seva dimissió com a conseller dominical, amb efectes des del 30 de juny de 2026.`,
			want:      []string{"action=resigned; effective=2026-06-30; person=Pere Lloret i Mas; role=conseller dominical"},
		},
		{
			name:      "told by someone else, with effect today",
			company:   "Alfa Minera, S.A.",
			title:     "Cambios",
			published: "2026-06-12",
			text:      `Don Pedro Lomas Vera, presidente de la Comisión de Auditoría, ha comunicado la dimisión de doña Eva Mira Sanz como consejera independiente, con efectos desde el día de hoy.`,
			want:      []string{"action=resigned; effective=2026-06-12; person=Eva Mira Sanz; role=consejera independiente"},
		},
		{
			name:      "firm without legal form",
			company:   "Alfa Minera, S.A.",
			title:     "Sucesión",
			published: "2026-06-12",
			text:      `Don Pedro Lomas Vera ha sido nombrado consejero delegado de Beta Motores y dejará de ser consejero independiente de Alfa Minera el 30 de junio de 2026.`,
		},
		{
			name:      "short name of the company",
			company:   "Alfa Minera, S.A.",
			title:     "Sucesión",
			published: "2026-06-12",
			text:      `Doña Eva Mira Sanz ha sido nombrada consejera delegada de Alfa Minera con efectos desde el 1 de julio de 2026.`,
			want:      []string{"action=appointed; effective=2026-07-01; person=Eva Mira Sanz; role=consejera delegada"},
		},
		{
			name:      "adopted list",
			company:   "Alfa Minera, S.A.",
			title:     "Junta",
			published: "2026-06-12",
			text: `La Junta General ha aprobado los siguientes acuerdos:

Primero.- Aprobar las cuentas anuales.

Segundo.- Reelegir a don Pedro Lomas Vera como consejero independiente, por el plazo de cuatro años.

Tercero.- Nombrar a Pérez Cano Auditores, S.L. auditor de cuentas.

Cuarto.- Delegar en don Luis Parra Gil, secretario del Consejo, la ejecución de los acuerdos.`,
			want: []string{"action=reelected; person=Pedro Lomas Vera; role=consejero independiente"},
		},
		{
			name:      "agenda",
			company:   "Alfa Minera, S.A.",
			title:     "Junta",
			published: "2026-05-12",
			text: `El Consejo ha acordado convocar Junta General con arreglo al siguiente orden del día:

1. Aprobar las cuentas.

2. Reelegir a don Pedro Lomas Vera como consejero independiente.

3. Nombrar a doña Eva Mira Sanz como consejera dominical.`,
		},
		{
			name:      "approved list of proposals",
			company:   "Alfa Minera, S.A.",
			title:     "Junta: propuestas",
			published: "2026-05-12",
			text: `El Consejo ha aprobado las siguientes propuestas de acuerdo que se someten a la Junta:

Reelegir a don Pedro Lomas Vera como consejero independiente.

Nombrar a doña Eva Mira Sanz como consejera dominical.`,
		},
		{
			name:      "court",
			company:   "Alfa Minera, S.A.",
			title:     "Cambios",
			published: "2026-06-12",
			text:      `El Juzgado ha nombrado administrador concursal a don Pedro Lomas Vera y ha suspendido al consejo en sus facultades.`,
		},
		{
			name:      "waived pay",
			company:   "Alfa Minera, S.A.",
			title:     "Cambios",
			published: "2026-06-12",
			text:      `El Consejo ha tomado conocimiento de la renuncia de don Pedro Lomas Vera a percibir su retribución como consejero.`,
		},
		{
			name:      "waived right",
			company:   "Alfa Minera, S.A.",
			title:     "Cambios",
			published: "2026-06-12",
			text:      `Doña Eva Mira Sanz, consejera, ha renunciado a su derecho de suscripción preferente.`,
		},
	})
}

// TestBoardLists has lists of resolutions, days that words refer to, and two people who leave.
func TestBoardLists(t *testing.T) {
	testTraps(t, disclosure.Board, []trapTest{
		{
			name:      "call of a meeting in the list",
			company:   "Alfa Minera, S.A.",
			title:     "Acuerdos del Consejo",
			published: "2026-05-10",
			text: `El Consejo de Administración ha adoptado los siguientes acuerdos:

1. Convocar la Junta General Ordinaria para el 12 de junio de 2026.

2. Proponer a la Junta la reelección de don Luis Parra Gil como consejero.

3. Nombrar a doña Eva Mira Sanz secretaria no consejera.`,
			want: []string{"action=appointed; person=Eva Mira Sanz; role=secretaria no consejera"},
		},
		{
			name:      "agenda in the list",
			company:   "Alfa Minera, S.A.",
			title:     "Acuerdos del Consejo",
			published: "2026-05-10",
			text: `El Consejo de Administración ha adoptado los siguientes acuerdos:

1. Convocar la Junta General Ordinaria para el 12 de junio de 2026, con el orden del día que se indica.

2. Reelegir a don Luis Parra Gil como consejero.`,
		},
		{
			name:      "agenda below the list",
			company:   "Alfa Minera, S.A.",
			title:     "Acuerdos del Consejo",
			published: "2026-05-10",
			text: `El Consejo de Administración ha adoptado los siguientes acuerdos:

1. Convocar la Junta General Ordinaria para el 12 de junio de 2026.

Orden del día

1. Reelegir a don Luis Parra Gil como consejero.`,
		},
		{
			name:      "co-option beside a call",
			company:   "Alfa Minera, S.A.",
			title:     "Convocatoria de Junta General",
			published: "2026-05-10",
			text: `El Consejo de Administración ha acordado:

1. Convocar la Junta General Ordinaria para el 12 de junio de 2026.

2. Designar por cooptación a doña Eva Mira Sanz consejera dominical.

3. Reelegir a don Luis Parra Gil como consejero.`,
			want: []string{"action=appointed; person=Eva Mira Sanz; role=consejera dominical"},
		},
		{
			name:      "same day as the meeting",
			company:   "Alfa Minera, S.A.",
			title:     "Cambios en el Consejo",
			published: "2026-05-10",
			text:      `El Consejo, en su sesión de 9 de mayo de 2026, ha acordado nombrar consejera delegada a doña Eva Mira Sanz, con efectos desde dicha fecha.`,
			want:      []string{"action=appointed; effective=2026-05-09; person=Eva Mira Sanz; role=consejera delegada"},
		},
		{
			name:      "one of two days",
			company:   "Alfa Minera, S.A.",
			title:     "Cambios en el Consejo",
			published: "2026-05-10",
			text:      `El Consejo, en su sesión de 9 de mayo de 2026, ha tomado razón de la carta de 7 de mayo de 2026, y ha acordado nombrar consejera delegada a doña Eva Mira Sanz, con efectos desde dicha fecha.`,
			want:      []string{"action=appointed; person=Eva Mira Sanz; role=consejera delegada"},
		},
		{
			name:      "same day in English",
			company:   "Alfa Minera, S.A.",
			title:     "Board changes",
			published: "2026-05-10",
			language:  "en",
			text: `Mr Luis Parra Gil has resigned as proprietary director, with effect from 1 June 2026.

The board has appointed Ms Eva Mira Sanz as proprietary director, effective from the same date.`,
			want: []string{
				"action=resigned; effective=2026-06-01; person=Luis Parra Gil; role=proprietary director",
				"action=appointed; effective=2026-06-01; person=Eva Mira Sanz; role=proprietary director",
			},
		},
		{
			name:      "one resigns, another is removed",
			company:   "Alfa Minera, S.A.",
			title:     "Cambios en el Consejo",
			published: "2026-05-10",
			text:      `El Consejo ha aceptado la dimisión de don Luis Parra Gil como consejero y ha acordado destituir a don Pedro Lomas Vera como director general.`,
			want: []string{
				"action=resigned; person=Luis Parra Gil; role=consejero",
				"action=removed; person=Pedro Lomas Vera; role=director general",
			},
		},
		{
			name:      "wants to leave",
			company:   "Alfa Minera, S.A.",
			title:     "Cambios en el Consejo",
			published: "2026-05-10",
			text:      `A petición propia, el Consejo ha acordado cesar a don Pedro Lomas Vera como director general.`,
		},
	})
}

// TestBoardOthers has changes of other firms, causes of vacancies, and procedures.
func TestBoardOthers(t *testing.T) {
	testTraps(t, disclosure.Board, []trapTest{
		{
			name:      "firm without its legal form",
			company:   "Alfa Minera, S.A.",
			title:     "Nota",
			published: "2026-05-10",
			text:      `Beta Motores ha nombrado presidente a D. Pedro Lomas Vera, que es consejero de la Sociedad.`,
		},
		{
			name:      "firm without its legal form in English",
			company:   "Alfa Minera, S.A.",
			title:     "Note",
			published: "2026-05-10",
			language:  "en",
			text:      `Northgate Partners has appointed Mr Pedro Lomas Vera as Chairman.`,
		},
		{
			name:      "initials of the company",
			company:   "Fomento Minero Andaluz, S.A.",
			title:     "Nota",
			published: "2026-05-10",
			text:      `FMA ha nombrado presidente a D. Pedro Lomas Vera.`,
			want:      []string{"action=appointed; person=Pedro Lomas Vera; role=presidente"},
		},
		{
			name:      "no subject",
			company:   "Alfa Minera, S.A.",
			title:     "Nota",
			published: "2026-05-10",
			text:      `El Consejo se ha reunido hoy. Adicionalmente ha nombrado presidente a D. Pedro Lomas Vera.`,
			want:      []string{"action=appointed; person=Pedro Lomas Vera; role=presidente"},
		},
		{
			name:      "procedure and cause of the vacancy",
			company:   "Alfa Minera, S.A.",
			title:     "Nombramiento",
			published: "2026-05-10",
			text:      `El Consejo ha aprobado el nombramiento, por el sistema de cooptación, de D.ª Eva Mira Sanz como consejera independiente, para cubrir la vacante originada por la dimisión de D. Luis Parra Gil, comunicada el 3 de abril de 2026.`,
			want:      []string{"action=appointed; person=Eva Mira Sanz; role=consejera independiente"},
		},
		{
			name:      "resolutions by the title",
			company:   "Alfa Minera, S.A.",
			title:     "Acuerdos adoptados por la Junta General",
			published: "2026-05-10",
			text: `Sexto. Consejo de Administración:

6.1 Reelegir a D. Luis Parra Gil como consejero independiente por el plazo de cuatro años.`,
			want: []string{"action=reelected; person=Luis Parra Gil; role=consejero independiente"},
		},
		{
			name:      "proposals by the title",
			company:   "Alfa Minera, S.A.",
			title:     "Propuestas de acuerdos de la Junta General",
			published: "2026-05-10",
			text:      `6.1 Reelegir a D. Luis Parra Gil como consejero independiente por el plazo de cuatro años.`,
		},
	})
}

// TestBoardRefused has changes that were refused, undone, or only told by others.
func TestBoardRefused(t *testing.T) {
	document := func(name, text string, want ...string) trapTest {
		return trapTest{name: name, company: "Alfa Minera, S.A.", title: "Cambios en el Consejo", published: "2026-05-10", text: text, want: want}
	}
	testTraps(t, disclosure.Board, []trapTest{
		document("rejected", `La Junta General ha aprobado la reelección de D. Luis Parra Gil como consejero independiente y ha rechazado el nombramiento de D.ª Eva Mira Sanz como consejera dominical.`,
			"action=reelected; person=Luis Parra Gil; role=consejero independiente"),
		document("rejected before", `La Junta ha rechazado el informe y ha aprobado el nombramiento de D.ª Eva Mira Sanz como consejera dominical.`,
			"action=appointed; person=Eva Mira Sanz; role=consejera dominical"),
		document("undone", `El Consejo ha acordado dejar sin efecto el nombramiento de D.ª Eva Mira Sanz como consejera dominical.`),
		document("told by a paper", `Un diario ha publicado que D. Luis Parra Gil ha dimitido como presidente del Consejo.`),
		document("predecessor", `El consejero delegado recordó que su antecesora, Eva Mira Sanz, dimitió tras diez años en el Consejo.`),
	})
}
