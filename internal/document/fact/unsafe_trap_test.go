package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestBoardBackstories has changes that are told beside another, wait for something, or are those of
// someone who is only named.
func TestBoardBackstories(t *testing.T) {
	testTraps(t, disclosure.Board, []trapTest{
		{
			name:      "relative clause in the past",
			company:   "Alfa Minera, S.A.",
			title:     "Política de selección de consejeros",
			published: "2026-06-03",
			text:      `El Consejo ha aprobado una política para cubrir vacantes como la que dejó en marzo don Luis Parra Gil, que dimitió como consejero independiente.`,
		},
		{
			name:      "register",
			company:   "Alfa Minera, S.A.",
			title:     "Inscripción en el Registro Mercantil",
			published: "2026-11-26",
			text:      `La Sociedad informa de que ha quedado inscrita la escritura de los acuerdos de la Junta, entre ellos el nombramiento de doña Eva Mira Sanz como consejera independiente.`,
		},
		{
			name:      "meeting of long ago",
			company:   "Alfa Minera, S.A.",
			title:     "Acuerdos",
			published: "2026-11-26",
			text:      `La Sociedad informa de los acuerdos de la Junta General de 18 de mayo de 2026, entre ellos el nombramiento de doña Eva Mira Sanz como consejera independiente.`,
		},
		{
			name:      "waits for a supervisor",
			company:   "Alfa Banco, S.A.",
			title:     "Consejero delegado",
			published: "2026-11-05",
			text:      `El Consejo ha acordado nombrar consejera delegada a doña Eva Mira Sanz. El nombramiento producirá efectos cuando el Banco Central Europeo confirme su idoneidad.`,
		},
		{
			name:      "ratification to come",
			company:   "Alfa Minera, S.A.",
			title:     "Cambios en el Consejo",
			published: "2026-03-26",
			text:      `El Consejo ha nombrado a doña Eva Mira Sanz como consejera dominical. La ratificación de su nombramiento se someterá a la próxima Junta General.`,
			want:      []string{"action=appointed; person=Eva Mira Sanz; role=consejera dominical"},
		},
		{
			name:      "members of the board in a table",
			company:   "Alfa Minera, S.A.",
			title:     "Composición del Consejo",
			published: "2026-06-19",
			text: `Tras el nombramiento de doña Eva Mira Sanz como consejera independiente, acordado por la Junta General, la composición del Consejo es la siguiente:

Consejero	Cargo	Carácter
Don Luis Parra Gil	Presidente	Ejecutivo
Doña Eva Mira Sanz	Vocal	Independiente`,
			want: []string{"action=appointed; person=Eva Mira Sanz; role=consejera independiente"},
		},
		{
			name:      "holder whose term ends",
			company:   "Alfa Minera, S.A.",
			title:     "Acuerdos del Consejo",
			published: "2026-07-09",
			text:      `El Consejo ha acordado designar presidenta de la Comisión de Auditoría a doña Eva Mira Sanz, por haber transcurrido el plazo del anterior presidente, don Luis Parra Gil.`,
			want:      []string{"action=appointed; person=Eva Mira Sanz; role=presidenta de la Comisión de Auditoría"},
		},
		{
			name:      "superior",
			company:   "Alfa Minera, S.A.",
			title:     "Directora de Internacional",
			published: "2026-03-09",
			text:      `Alfa Minera ha nombrado a Eva Mira Sanz directora de Internacional. Se incorporará al comité de dirección y reportará al consejero delegado, Luis Parra Gil.`,
			want:      []string{"action=appointed; person=Eva Mira Sanz; role=directora de Internacional"},
		},
		{
			name:      "goes on about a subsidiary",
			company:   "Alfa Minera, S.A.",
			title:     "Beta Logistics names new chief executive",
			published: "2026-05-19",
			language:  "en",
			text:      `Beta Logistics B.V., a subsidiary of Alfa Minera, S.A., has appointed Willem de Groot as its chief executive officer. He succeeds Ana Lucía Ferrer, who has resigned.`,
		},
		{
			name:      "press reports",
			company:   "Alfa Minera, S.A.",
			title:     "Clarification of press reports",
			published: "2026-08-04",
			language:  "en",
			text:      `Mr Anders Lindqvist, mentioned in those reports as having been appointed Chief Executive Officer, is an adviser to a shareholder.`,
		},
		{
			name:      "state that someone leaves",
			company:   "Alfa Minera, S.A.",
			title:     "Categoría de consejera",
			published: "2026-02-24",
			text:      `Doña Eva Mira Sanz cumple hoy doce años de mandato, por lo que deja de tener la consideración de consejera independiente.`,
		},
		{
			name:      "waiver",
			company:   "Alfa Minera, S.A.",
			title:     "Renuncia a la retribución variable",
			published: "2026-02-26",
			text:      `La Sociedad informa de que los consejeros doña Eva Mira Sanz y don Luis Parra Gil han renunciado a las dietas de asistencia.`,
		},
		{
			name:      "honour",
			company:   "Alfa Minera, S.A.",
			title:     "Directiva del año",
			published: "2026-03-16",
			text:      `La consejera delegada de Alfa Minera, Eva Mira Sanz, ha sido elegida directiva del año por una revista.`,
		},
		{
			name:      "half of a role",
			company:   "Alfa Minera, S.A.",
			title:     "Management changes",
			published: "2026-06-16",
			language:  "en",
			text:      `Dr Jaime Ledesma Cot has been appointed Chief Scientific Officer.`,
			want:      []string{"action=appointed; person=Jaime Ledesma Cot; role=Chief Scientific Officer"},
		},
	})
}

// TestRatingRequests has ratings that are only asked for, expected, or none of credit.
func TestRatingRequests(t *testing.T) {
	testTraps(t, disclosure.Rating, []trapTest{
		{
			name:      "asked for",
			company:   "Tejidos Cardona, S.A.",
			title:     "Solicitud de retirada de la calificación",
			published: "2026-07-24",
			text:      `Tejidos Cardona, S.A. ha solicitado a EthiFinance Ratings la retirada de la calificación BB- asignada a la Sociedad.`,
		},
		{
			name:      "sustainability",
			company:   "Tejidos Cardona, S.A.",
			title:     "Calificación de sostenibilidad",
			published: "2026-07-24",
			text:      `Verdalis Ratings ha elevado la calificación de la Sociedad de "BB" a "A". Esta calificación no es una calificación crediticia.`,
		},
		{
			name:      "two ratings of an insurer",
			company:   "Mutua Cierzo, S.A.",
			title:     "AM Best confirma la calificación",
			published: "2026-10-21",
			text:      `AM Best ha confirmado la calificación de fortaleza financiera de A- (Excelente) y la calificación crediticia de emisor a largo plazo de "a-" de Mutua Cierzo, S.A.`,
			want:      []string{"action=affirmed; agency=AM Best"},
		},
		{
			name:      "expected rating",
			company:   "Tejidos Cardona, S.A.",
			title:     "Rating",
			published: "2026-04-15",
			language:  "en",
			text:      `Fitch Ratings has assigned the Company a rating of 'BB+'. Fitch has also assigned an expected rating of 'BBB-(EXP)' to the notes.`,
			want:      []string{"action=assigned; agency=Fitch; rating=BB+"},
		},
		{
			name:      "agency in another sentence",
			company:   "Aparcamientos Levante, S.A.",
			title:     "Terminación del contrato con la agencia de calificación",
			published: "2026-06-04",
			text:      `La Sociedad ha dado por terminado el contrato con EthiFinance Ratings. En consecuencia, la agencia ha retirado hoy la calificación de la Sociedad, que era de BB.`,
			want:      []string{"action=withdrawn; agency=EthiFinance"},
		},
	})
}

// TestResultsPeriods has figures of funds and of years that do not begin in January, and periods
// in headings.
func TestResultsPeriods(t *testing.T) {
	testTraps(t, disclosure.Results, []trapTest{
		{
			name:      "fund",
			company:   "Gestora Peñalara, S.G.I.I.C., S.A.",
			title:     "Informe trimestral del fondo Peñalara Rentas",
			published: "2026-07-28",
			text:      `Informe del segundo trimestre de 2026. El resultado del periodo, de 1.204 miles de euros, procede de la cartera de renta fija.`,
		},
		{
			name:      "split year",
			company:   "Agrícola del Guadalope, S.A.",
			title:     "Resultados del primer semestre del ejercicio 2026/27",
			published: "2027-02-25",
			text:      `Resultados del primer semestre del ejercicio 2026/27, cerrado el 31 de diciembre de 2026. La cifra de negocios fue de 44,2 millones de euros.`,
		},
		{
			name:      "forecast in Catalan",
			company:   "Grup Montsià, S.A.",
			title:     "Resultats del primer semestre de 2026",
			published: "2026-07-30",
			language:  "ca",
			text:      `En el primer semestre de 2026 l'EBITDA ha estat de 14,2 milions d'euros. La previsió per al conjunt de l'any és assolir uns ingressos de 250 milions d'euros.`,
			want:      []string{"currency=EUR; ebitda=14200000; period=2026-H1"},
		},
		{
			name:      "two levels of headings",
			company:   "Papelera del Cinca, S.A.",
			title:     "Resultados de los nueve primeros meses de 2026",
			published: "2026-11-05",
			text: `Miles de euros

	Tercer trimestre		Nueve meses	
	2026	2025	2026	2025
Ingresos	133.211	140.940	418.603	431.002`,
			want: []string{"currency=EUR; period=2026-9M; revenue=418603000"},
		},
		{
			name:      "figure of the year before behind from",
			company:   "Nimbo Mobility, S.A.",
			title:     "Full-year 2025 results",
			published: "2026-03-18",
			language:  "en",
			text:      `In 2025 the EBITDA loss narrowed to €8.2 million from €15.5 million in 2024, and the net loss to €21.9 million from €28.0 million.`,
			want:      []string{"currency=EUR; ebitda=-8200000; net_profit=-21900000; period=2025"},
		},
		{
			name:      "capital letters",
			company:   "Alfarerías Talaveranas, S.A.",
			title:     "Resultados",
			published: "2026-08-31",
			text: `INFORMACIÓN CORRESPONDIENTE AL PRIMER SEMESTRE DE 2026 (miles de euros)

	Ejercicio actual	Ejercicio anterior
Importe neto de la cifra de negocio	9.218	8.874`,
			want: []string{"currency=EUR; period=2026-H1; revenue=9218000"},
		},
	})
}
