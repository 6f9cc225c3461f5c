package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestVotingRights(t *testing.T) {
	checkFacts(t, disclosure.VotingRights, []statedFacts{
		{
			name:      "letter with treasury shares and the earlier total",
			title:     "Total de derechos de voto y capital",
			published: "2026-06-04",
			text: "Total de derechos de voto y capital\n\nA los efectos del artículo 32 del Real Decreto 1362/2007, se hace público que, a 31 de mayo de 2026, el capital social " +
				"de la Sociedad asciende a 12.340.567,50 euros, dividido en 24.681.135 acciones ordinarias de 0,50 euros de valor nominal cada una, de las cuales 120.400 " +
				"se encuentran en autocartera.\n\nEl número total de derechos de voto asciende a 24.681.135.\n\nEn la comunicación anterior el número total de derechos de voto " +
				"era de 23.000.000.",
			want: []string{"shares=24681135; voting_rights=24681135; capital=12340567.5; currency=EUR; as_of=2026-05-31"},
		},
		{
			name:      "form with votes for loyalty",
			title:     "Número total de derechos de voto",
			published: "2026-02-10",
			text: "Número total de derechos de voto\n\nFecha de publicación\t10/02/2026\nFecha de referencia\t31/01/2026\nCapital social (€)\t5.000.000,00\n" +
				"Valor nominal (€)\t0,10\nNúmero de acciones\t50.000.000\nVotos adicionales por lealtad\t1.250.000\nTotal derechos de voto\t51.250.000\n",
			want: []string{"shares=50000000; voting_rights=51250000; capital=5000000; currency=EUR; as_of=2026-01-31"},
		},
		{
			name:      "classes with a total",
			title:     "Total voting rights",
			published: "2026-10-02",
			text: "Total voting rights\n\nPosition as at 30 September 2026:\n\nClass\tNumber of shares\tVoting rights\nClass A\t400,000,000\t400,000,000\n" +
				"Class B\t250,000,000\t25,000,000\nTotal\t650,000,000\t425,000,000\n",
			want: []string{"shares=650000000; voting_rights=425000000; as_of=2026-09-30"},
		},
		{
			name:      "Catalan",
			title:     "Nombre total de drets de vot",
			published: "2026-09-03",
			text: "Nombre total de drets de vot\n\nA 31 d'agost de 2026 el capital social és de 9.000.000 euros, representat per 9.000.000 accions. " +
				"El nombre total de drets de vot és de 9.000.000.",
			want: []string{"shares=9000000; voting_rights=9000000; capital=9000000; currency=EUR; as_of=2026-08-31"},
		},
		{
			name:      "correction",
			title:     "Corrección: total de derechos de voto",
			published: "2026-06-12",
			text: "Corrección del total de derechos de voto\n\nDonde dice «número total de derechos de voto: 24.681.153», debe decir «número total de derechos de voto: 24.681.135», " +
				"a 31 de mayo de 2026.",
			want: []string{"voting_rights=24681135; as_of=2026-05-31"},
		},
		{
			name:      "an increase that is only possible",
			title:     "Derechos de voto",
			published: "2026-06-12",
			text:      "Derechos de voto\n\nTras el aumento, el número total de derechos de voto podría alcanzar 30.000.000.",
		},
		{
			name:      "a holding in another company",
			title:     "Notificación de participaciones significativas",
			published: "2026-06-12",
			text: "Notificación de participaciones significativas\n\nNúmero total de derechos de voto del emisor: 24.681.135.\n\n" +
				"Porcentaje de derechos de voto: 5,1 %.",
		},
		{
			name:      "totals that disagree",
			title:     "Total de derechos de voto",
			published: "2026-06-04",
			text: "Total de derechos de voto\n\nA 31 de mayo de 2026 el número total de derechos de voto es de 24.681.135.\n\n" +
				"Número total de derechos de voto: 24.681.153.",
		},
		{
			name:      "the total of an earlier day",
			title:     "Derechos de voto",
			published: "2026-06-02",
			text: "A 31 de mayo de 2026 el capital social asciende a 15.230.400 euros, dividido en 152.304.000 " +
				"acciones. El número total de derechos de voto, incluidos los de lealtad, es de 157.500.000.\n\nA 30 " +
				"de abril de 2026 el número total de derechos de voto era de 155.000.000.",
			want: []string{"shares=152304000; voting_rights=157500000; capital=15230400; currency=EUR; as_of=2026-05-31"},
		},
		{
			name:      "the total of an earlier day in brackets",
			title:     "Voting rights",
			published: "2026-06-02",
			text: "As at 31 May 2026 the total number of voting rights is 157,500,000 (155,000,000 as at 30 April " +
				"2026).",
			want: []string{"voting_rights=157500000; as_of=2026-05-31"},
		},
		{
			name:      "only an earlier total",
			title:     "Derechos de voto a 31 de mayo de 2026",
			published: "2026-06-02",
			text:      "A 30 de abril de 2026 el número total de derechos de voto era de 155.000.000.",
		},
		{
			name:      "votes at a meeting",
			title:     "Derechos de voto",
			published: "2026-06-02",
			text:      "En la Junta se emitieron 98.000.000 votos, de un total de 152.304.000 derechos de voto.",
		},
		{
			name:      "a subsidiary",
			title:     "Derechos de voto",
			published: "2026-06-02",
			text:      "El número total de derechos de voto de la filial asciende a 3.000.000.",
		},
		{
			name:      "without some votes",
			title:     "Derechos de voto",
			published: "2026-06-02",
			text: "El número de derechos de voto asciende a 157.500.000. Sin considerar los votos dobles, el total de " +
				"derechos de voto sería de 152.304.000.",
			want: []string{"voting_rights=157500000"},
		},
		{
			name:      "spelled figures",
			title:     "Derechos de voto",
			published: "2026-06-02",
			text: "A fecha 31 de mayo de 2026, el capital social está dividido en ciento cincuenta millones " +
				"(150.000.000) de acciones, con un total de 150.000.000 derechos de voto.",
			want: []string{"shares=150000000; voting_rights=150000000; as_of=2026-05-31"},
		},
		{
			name:      "lines with the date of the notice",
			title:     "Derechos de voto",
			published: "2026-06-02",
			text: "A fecha 31 de mayo de 2026:\n\n- Número de acciones: 152.304.000\n- Derechos de voto totales: " +
				"160.204.000\n\nFecha de la comunicación: 2 de junio de 2026",
			want: []string{"shares=152304000; voting_rights=160204000; as_of=2026-05-31"},
		},
		{
			name:      "the change before the total",
			title:     "Derechos de voto",
			published: "2026-06-02",
			text:      "El número de derechos de voto se ha incrementado en 106.784 hasta alcanzar los 53.110.902.",
			want:      []string{"voting_rights=53110902"},
		},
		{
			name:      "a row that says what it includes",
			title:     "Derechos de voto",
			published: "2026-06-02",
			text: "Total acciones\t49.202.673\nAcciones con voto de lealtad\t3.908.229\n" +
				"Total derechos de voto, incluyendo los de lealtad\t53.110.902\nFecha de referencia\t31.05.2026",
			want: []string{"shares=49202673; voting_rights=53110902; as_of=2026-05-31"},
		},
	})
}
