package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestTakeoverTraps has documents that speak of bids that nobody announces there.
func TestTakeoverTraps(t *testing.T) {
	testTraps(t, disclosure.Takeover, []trapTest{
		{
			name:      "told by others and denied",
			company:   "Grupo Lince, S.A.",
			title:     "Desmentido",
			published: "2026-05-12",
			text:      `Ante la noticia según la cual habría decidido formular una OPA sobre Aceros Duero, S.A., Grupo Lince, S.A. desmiente dicha información.`,
		},
		{
			name:      "an interest that binds nobody",
			company:   "Aceros Duero, S.A.",
			title:     "Aclaración",
			published: "2026-05-12",
			text: `Aceros Duero, S.A. ha recibido una manifestación de interés no vinculante que llevaría a la formulación de una oferta pública de
adquisición a 7 euros por acción.`,
		},
		{
			name:      "a bid that would follow a sale",
			company:   "Grupo Lince, S.A.",
			title:     "Compraventa y OPA",
			published: "2026-05-12",
			text:      `De consumarse la compraventa, Grupo Lince, S.A. vendría obligada a formular una OPA sobre Aceros Duero, S.A.`,
		},
		{
			name:      "a bid of another year",
			company:   "Grupo Lince, S.A.",
			title:     "Presentación de la OPA",
			published: "2026-05-12",
			text:      `En 2023 Grupo Lince, S.A. anuncia una oferta pública de adquisición sobre Aceros Duero, S.A. a 7 euros por acción.`,
		},
		{
			name:      "the adviser of a bid",
			company:   "Banca Sobrino, S.A.",
			title:     "Actividad del trimestre",
			published: "2026-05-12",
			text:      `Banca Sobrino, S.A. ha asesorado a Grupo Lince, S.A. en la OPA que ha lanzado sobre Aceros Duero, S.A.`,
		},
		{
			name:      "acceptances of a day",
			company:   "Aceros Duero, S.A.",
			title:     "Aceptaciones de la OPA",
			published: "2026-05-12",
			text: `Con carácter provisional, la oferta pública de adquisición de acciones de Aceros Duero, S.A. ha sido aceptada por el 15 % de las
acciones a las que se dirige.`,
		},
		{
			name:      "an application",
			company:   "Grupo Lince, S.A.",
			title:     "Solicitud de autorización de OPA",
			published: "2026-05-12",
			text: `El 9 de abril de 2026 Grupo Lince, S.A. publicó el anuncio previo de la oferta pública de adquisición sobre Aceros Duero, S.A., cuya
autorización solicita.`,
		},
		{
			name:      "own shares",
			company:   "Grupo Lince, S.A.",
			title:     "Tender offer",
			published: "2026-05-12",
			language:  "en",
			text:      `Grupo Lince, S.A. announces a tender offer for up to 1,000,000 of its own shares.`,
		},
		{
			name:      "another bid of the bidder",
			company:   "Grupo Lince, S.A.",
			title:     "OPA sobre Aceros Duero, S.A.",
			published: "2026-05-12",
			text: `Grupo Lince, S.A. ha decidido formular una oferta pública de adquisición sobre Aceros Duero, S.A. a 7 euros por acción. Es
independiente de la formulada por Grupo Lince, S.A. sobre Forjas Cinca, S.A. a 5 euros por acción.`,
			want: []string{"action=announced; bidder=Grupo Lince, S.A.; currency=EUR; price=7; target=Aceros Duero, S.A."},
		},
		{
			name:      "the subsidiary that makes the bid",
			company:   "Grupo Lince, S.A.",
			title:     "OPA",
			published: "2026-05-12",
			text: `Grupo Lince, S.A. comunica que su filial Lince Bidco, S.L. ha presentado ante la CNMV el anuncio previo de una oferta pública de
adquisición sobre Aceros Duero, S.A.`,
			want: []string{"action=announced; bidder=Lince Bidco, S.L.; target=Aceros Duero, S.A."},
		},
		{
			name:      "who supports the bid",
			company:   "Aceros Duero, S.A.",
			title:     "OPA",
			published: "2026-05-12",
			language:  "en",
			text:      `The prior announcement of the takeover bid for Aceros Duero, S.A. is public. The bid is supported by Forjas Cinca, S.A.`,
			want:      []string{"action=announced; target=Aceros Duero, S.A."},
		},
		{
			name:      "held before the bid",
			company:   "Grupo Lince, S.A.",
			title:     "OPA",
			published: "2026-05-12",
			text: `Grupo Lince, S.A. comunica que ha alcanzado el 34 % del capital de Aceros Duero, S.A. y formulará una oferta pública de adquisición
obligatoria sobre las acciones de esta última.`,
			want: []string{"action=announced; bidder=Grupo Lince, S.A.; target=Aceros Duero, S.A."},
		},
		{
			name:      "behind the place and the day",
			company:   "Lince Foods B.V.",
			title:     "Offer",
			published: "2026-05-12",
			language:  "en",
			text:      `Amsterdam, 12 May 2026 - Lince Foods B.V. today announced a voluntary tender offer for Aceros Duero, S.A.`,
			want:      []string{"action=announced; bidder=Lince Foods B.V.; target=Aceros Duero, S.A."},
		},
	})
}
