package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestProgrammeRecalled: sentences that name an event of a programme and do not announce it.
func TestProgrammeRecalled(t *testing.T) {
	checkMarketTexts(t, disclosure.BuybackProgramme, []marketText{
		{
			name:  "which programme it was",
			title: "Reducción de capital",
			day:   "2024-06-10",
			pages: []string{`Las acciones amortizadas fueron adquiridas al amparo del programa de recompra que finalizó en febrero.`},
			want:  nil,
		},
		{
			name:  "a month long before the report",
			title: "Programa de recompra",
			day:   "2024-06-10",
			pages: []string{`La Sociedad completó en enero su segundo programa de recompra de acciones, por 150 millones de euros.`},
			want:  nil,
		},
		{
			name:  "what newspapers say",
			title: "Aclaración",
			day:   "2024-06-10",
			pages: []string{`En relación con las noticias según las cuales la Sociedad habría decidido iniciar un programa de recompra de acciones por un importe máximo de 120 millones de euros, no existe acuerdo.`},
			want:  nil,
		},
		{
			name:  "what the company might do",
			title: "Resultados",
			day:   "2024-06-10",
			pages: []string{`El banco está en condiciones de lanzar un programa de recompra de acciones de hasta 300 millones de euros.`},
			want:  nil,
		},
		{
			name:  "a question",
			title: "Preguntas de los accionistas sobre la recompra",
			day:   "2024-06-10",
			pages: []string{`¿Ha acordado iniciar un programa de recompra de acciones por un importe máximo de 50 millones de euros?`},
			want:  nil,
		},
		{
			name:  "a sample of a guide",
			title: "Guía para emisores",
			day:   "2024-06-10",
			pages: []string{`El emisor comunica que su Consejo ha acordado iniciar un programa de recompra de acciones por un importe máximo de 5.000.000 de euros.`},
			want:  nil,
		},
		{
			name:  "programmes in the plural",
			title: "Programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Between January and June 38 share repurchase programmes were launched, with a maximum amount of EUR 11 billion.`},
			want:  nil,
		},
		{
			name:  "a condition without if",
			title: "Buyback",
			day:   "2024-06-10",
			pages: []string{`Should the board launch a second share buyback programme, leverage will exceed 2.5x.`},
			want:  nil,
		},
		{
			name:  "the term of a programme is not its end",
			title: "Programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Fin del programa de recompra de acciones: 31 de marzo de 2025.`},
			want:  nil,
		},
		{
			name:  "limits of the earlier report",
			title: "Suspensión del programa de recompra",
			day:   "2024-06-10",
			pages: []string{`Hacemos referencia a la comunicación de 2 de febrero de 2024, por la que la Sociedad anunció un programa de recompra de acciones por un importe máximo de 20 millones de euros.

La Sociedad ha resuelto suspender temporalmente la ejecución de ese programa con efectos desde hoy.`},
			want: []string{"event=suspension"},
		},
		{
			name:  "what shareholders allowed",
			title: "Share buyback programme",
			day:   "2024-06-10",
			pages: []string{`The Company announces the commencement of a share buyback programme. The maximum number of shares that may be purchased under the programme is 2,000, being the headroom under the authority granted at the Annual General Meeting, at which up to 4,000 shares could be acquired.`},
			want:  []string{"event=start max_shares=2000"},
		},
		{
			name:    "news of another company",
			company: "Valores Gredos, S.A.",
			title:   "Programa de recompra",
			day:     "2024-06-10",
			pages:   []string{`Telecom Sur: el consejo ha aprobado un programa de recompra de acciones de hasta 200 millones de euros.`},
			want:    nil,
		},
		{
			name:  "suspended after a possible deal",
			title: "Programa de recompra",
			day:   "2024-06-10",
			pages: []string{`La Sociedad informa de que, por las conversaciones sobre una posible operación corporativa, el Consejo ha acordado suspender la ejecución del programa de recompra de acciones.`},
			want:  []string{"event=suspension"},
		},
	})
}

// TestProgrammeOfNamedCompany: the name of another company without its legal form is the
// subject.
func TestProgrammeOfNamedCompany(t *testing.T) {
	r := readDocument(Document{
		Company: "Inversiones Puerto Real, S.A.",
		Pages: []string{`Química del Guadalete compró acciones.

El Consejo de Administración compró acciones.

Puerto Real Inversiones compró acciones.`},
	})
	want := []bool{true, false, false}
	for i := range r.parts {
		p := &r.parts[i]
		for _, c := range p.all("bought") {
			if got := r.isSubjectOther(p, c.from); got != want[i] {
				t.Errorf("%q: got %t, want %t", p.text, got, want[i])
			}
		}
	}
}
