package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// These texts are written as issuers, funds and the supervisor write. The company of the
// report is Hilaturas del Norte, S.A.

func TestIssuersTakeovers(t *testing.T) {
	checkFacts(t, disclosure.Takeover, []statedFacts{
		{
			name:      "a competing bid that tells of the authorised one",
			title:     "Improved offer for Aceros Duero, S.A.",
			published: "2026-07-07",
			text: "Hilaturas del Norte, S.A. announces its decision to launch a competing voluntary takeover bid for 100% of the " +
				"shares of Aceros Duero, S.A.\n\nThe consideration will be EUR 9.00 per share, above the EUR 8.50 per share " +
				"offered by Grupo Lince, S.A. in its bid authorised on 16 June 2026.",
			want: []string{"action=announced; bidder=Hilaturas del Norte, S.A.; target=Aceros Duero, S.A.; price=9; currency=EUR"},
		},
		{
			name:      "the supervisor announces the result",
			title:     "Result of the tender offer",
			published: "2026-07-07",
			text: "The CNMV announces that the tender offer launched by Grupo Lince, S.A. for the shares of Hilaturas del Norte, " +
				"S.A. has been accepted in respect of 1,500,000 shares, representing 75% of the shares to which the offer was " +
				"addressed.\n\nThe offer has a positive result, as the minimum acceptance condition set by the bidder at 51% " +
				"has been met.",
			want: []string{"action=result; bidder=Grupo Lince, S.A.; target=Hilaturas del Norte, S.A.; acceptance=75"},
		},
		{
			name:      "obliged to bid, with short names",
			title:     "OPA sobre Aceros Duero, S.A.",
			published: "2026-07-07",
			text: "Hilaturas del Norte, S.A. («Hilaturas») ha adquirido un 5 % adicional de Aceros Duero, S.A. a Fondo Lince, " +
				"S.C.R. a 8,10 euros por acción, por lo que está obligada a formular una oferta pública de adquisición.\n\n" +
				"El precio ofrecido es de 8,50 euros por acción.",
			want: []string{"action=announced; bidder=Hilaturas del Norte, S.A.; target=Aceros Duero, S.A.; price=8.5; currency=EUR"},
		},
		{
			name:      "a squeeze-out that tells of the result",
			title:     "Venta forzosa",
			published: "2026-07-07",
			text: "Hilaturas del Norte, S.A., tras el resultado de la oferta pública de adquisición sobre Aceros Duero, S.A., " +
				"que fue aceptada por el 96 % de las acciones, ejercerá el derecho de venta forzosa.",
		},
	})
}

func TestIssuersCapital(t *testing.T) {
	checkFacts(t, disclosure.Capital, []statedFacts{
		{
			name:      "the largest number of shares of a scrip dividend",
			title:     "Dividendo opción",
			published: "2026-07-07",
			text: "Documento informativo. Aumento de capital liberado\n\nNúmero máximo de acciones nuevas: 3.900.000 (importe " +
				"nominal máximo: 1.950.000 euros).",
		},
		{
			name:      "a power that is used, and the capital before and after",
			title:     "Ampliación de capital",
			published: "2026-07-07",
			text: "En uso de la delegación conferida por la Junta General, el Consejo ha acordado aumentar el capital social " +
				"en 1.250.000 euros, mediante la emisión de 2.500.000 acciones nuevas.\n\nTras el aumento, el capital social " +
				"pasará de 10.000.000 euros a 11.250.000 euros.",
			want: []string{"action=increase; new_shares=2500000; amount=1250000; capital_after=11250000; currency=EUR"},
		},
		{
			name:      "a power that is not used",
			title:     "Acuerdos de la Junta",
			published: "2026-07-07",
			text:      "La Junta ha delegado en el Consejo la facultad de aumentar el capital social en 5.000.000 euros.",
		},
		{
			name:      "lines of a form, one label below the amount of another",
			title:     "Capital",
			published: "2026-07-07",
			text: "Operación: Ampliación de capital\nAcciones nuevas emitidas: 2.500.000\nPrecio de emisión: 4,00 euros\n" +
				"Importe efectivo: 10.000.000 euros\nImporte nominal: 1.250.000 euros",
			want: []string{"action=increase; new_shares=2500000; price=4; amount=1250000; currency=EUR"},
		},
		{
			name:      "the figures of another year",
			title:     "Resultado del dividendo flexible",
			published: "2026-07-07",
			text: "El número definitivo de acciones ordinarias de 0,50 euros de valor nominal que se emiten en el aumento de " +
				"capital es de 1.200.000, siendo el importe nominal del aumento de 600.000 euros.\n\nEn la edición de 2025 se " +
				"emitieron 1.100.000 acciones por un importe nominal de 550.000 euros.",
			want: []string{"action=increase; new_shares=1200000; amount=600000; currency=EUR"},
		},
	})
}

func TestIssuersBoards(t *testing.T) {
	checkFacts(t, disclosure.Board, []statedFacts{
		{
			name:      "a form whose second change is written in another way",
			title:     "Cambios",
			published: "2026-07-07",
			text: "Nombre: D. Pedro Gil Mora\nCargo: Vocal – consejero independiente\nTipo de cambio: Dimisión\n" +
				"Fecha de efectos: 01/07/2026\n\nNombre: Dª Eva Luna Paz\nCargo: Vocal\nTipo de cambio: Otros",
			want: []string{"action=resigned; person=Pedro Gil Mora; role=Vocal – consejero independiente; effective=2026-07-01"},
		},
		{
			name:      "one who leaves in the sentence about who comes",
			title:     "New CEO",
			published: "2026-07-07",
			text: "The Board has appointed Ms Eva Luna Paz as Chief Executive Officer. She will succeed Mr Pedro Gil Mora, who " +
				"has tendered his resignation as Chief Executive Officer with effect from 31 July 2026.",
			want: []string{
				"action=appointed; person=Eva Luna Paz; role=Chief Executive Officer",
				"action=resigned; person=Pedro Gil Mora; role=Chief Executive Officer; effective=2026-07-31",
			},
		},
		{
			name:      "a role whose first word is broken",
			title:     "Cambios",
			published: "2026-07-07",
			text:      "D. Pedro Gil Mora ha presentado su dimisión como Presi dente y miembro del Consejo.",
			want:      []string{"action=resigned; person=Pedro Gil Mora"},
		},
		{
			name:      "duties of a role for some time",
			title:     "Fallecimiento",
			published: "2026-07-07",
			text:      "El Vicepresidente, D. Luis Cano Vera, asumirá interinamente las funciones de Presidente.",
		},
		{
			name:      "a proposal that was rejected in a list of resolutions",
			title:     "Acuerdos de la Junta",
			published: "2026-07-07",
			text: "La Junta General, celebrada en segunda convocatoria, ha acordado:\n\n1.º No aprobar la propuesta de " +
				"disolución.\n\n2.º El cese de D. Pedro Gil Mora en su cargo de consejero ejecutivo.\n\n3.º La propuesta de " +
				"cese de D. Luis Cano Vera como consejero no ha alcanzado la mayoría.",
			want: []string{"action=removed; person=Pedro Gil Mora; role=consejero ejecutivo"},
		},
		{
			name:      "a table headed by the members",
			title:     "Reelecciones",
			published: "2026-07-07",
			text: "La Junta ha aprobado los siguientes acuerdos:\n\nConsejero/a\tAcuerdo\tCategoría\tPlazo\n" +
				"Dña. Eva Luna Paz\tReelección\tConsejera dominical\t4 años",
			want: []string{"action=reelected; person=Eva Luna Paz; role=Consejera dominical"},
		},
	})
}

func TestIssuersVotes(t *testing.T) {
	checkFacts(t, disclosure.VotingRights, []statedFacts{
		{
			name:      "one figure for shares and votes, after an increase",
			title:     "Derechos de voto tras el aumento de capital",
			published: "2026-07-31",
			text: "A 30 de julio de 2026, el número total de acciones y de derechos de voto de la Sociedad asciende a " +
				"22.500.000, correspondientes a un capital social de 11.250.000 euros.",
			want: []string{"shares=22500000; voting_rights=22500000; capital=11250000; currency=EUR; as_of=2026-07-30"},
		},
		{
			name:      "two figures in the order of the labels",
			title:     "Total voting rights",
			published: "2026-07-31",
			text: "As at 30 July 2026 the total number of shares and voting rights of the Company is 22,500,000 and " +
				"21,900,000, respectively.",
		},
		{
			name:      "votes of the shares in issue, and those that can be used",
			title:     "Derechos de voto",
			published: "2026-07-31",
			text: "A 31 de julio de 2026 el número total de derechos de voto correspondientes a las acciones emitidas es de " +
				"22.500.000, de los que 100.000 corresponden a acciones propias, por lo que los derechos de voto ejercitables " +
				"son 22.400.000.",
			want: []string{"voting_rights=22500000; as_of=2026-07-31"},
		},
		{
			name:      "lines of a form",
			title:     "Derechos de voto y capital",
			published: "2026-07-31",
			text: "Capital social (euros): 11.250.000,00\nNúmero total de acciones: 22.500.000\n" +
				"Número total de derechos de voto: 22.500.000\nAcciones en autocartera (derechos de voto en suspenso): 312.455",
			want: []string{"shares=22500000; voting_rights=22500000; capital=11250000; currency=EUR"},
		},
		{
			name:      "an empty cell in the total",
			title:     "Total de derechos de voto",
			published: "2026-07-31",
			text: "Clase\tN.º de acciones\tNominal unitario (€)\tCapital (€)\tDerechos de voto\n" +
				"Clase A\t20.000.000\t0,50\t10.000.000,00\t20.000.000\nClase B (sin voto)\t2.500.000\t0,10\t250.000,00\t0\n" +
				"Total\t22.500.000\t\t10.250.000,00\t20.000.000",
			want: []string{"shares=22500000; voting_rights=20000000; capital=10250000; currency=EUR"},
		},
	})
}

func TestIssuersRatings(t *testing.T) {
	checkFacts(t, disclosure.Rating, []statedFacts{
		{
			name:      "structured finance",
			title:     "Actuación de agencia de calificación",
			published: "2026-07-07",
			text: "La agencia de calificación Fitch Ratings ha llevado a cabo la siguiente actuación:\n\nBonos de la Clase B: " +
				"sube a «AAsf» perspectiva estable, desde «A+sf».",
			want: []string{"agency=Fitch; action=upgrade; rating=AAsf; outlook=stable"},
		},
		{
			name:      "a table before and after",
			title:     "Bajada de calificación",
			published: "2026-07-07",
			text: "S&P Global Ratings ha bajado la calificación de la siguiente serie:\n\n" +
				"Serie\tCalificación anterior\tCalificación actual\nC\tBB- (sf)\tB (sf)",
			want: []string{"agency=S&P; action=downgrade; rating=B (sf)"},
		},
		{
			name:      "different ratings of two series",
			title:     "Bajada de calificación",
			published: "2026-07-07",
			text: "S&P Global Ratings ha bajado la calificación de las siguientes series:\n\n" +
				"Serie\tCalificación anterior\tCalificación actual\nB\tA- (sf)\tBBB (sf)\nC\tBB- (sf)\tB (sf)",
			want: []string{"agency=S&P; action=downgrade"},
		},
	})
}
