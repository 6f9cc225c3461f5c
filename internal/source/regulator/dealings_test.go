package regulator_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/source/regulator"
)

func day(s string) disclosure.Day {
	d, ok := disclosure.ParseDay(s)
	if !ok {
		panic(s)
	}
	return d
}

func TestParseDealings(t *testing.T) {
	got, err := regulator.ParseDealings(read(t, "dealings.html"), 0, regulator.PublicOrigin)
	if err != nil {
		t.Fatal(err)
	}
	want := []regulator.Dealing{
		{
			Number:       2026127006,
			RegisteredOn: day("2026-09-25"),
			Name:         "ALMAZARA FICTICIA, S.A.",
			NIF:          "A-69000017",
			Declarant:    "CAPITAL INVENTADO UK LP",
			Relation:     disclosure.RelationAssociated,
			DocumentURL:  "https://www.cnmv.es/webservices/verdocumento/ver?e=hLXZ%2bQaA00jEuhbk%2bTc0vHNC%2bVxBv",
		},
		{
			Number:       2026126933,
			RegisteredOn: day("2026-09-25"),
			Name:         "TEJARES & HORNOS IMAGINARIOS, S.A.",
			NIF:          "A69000025",
			Declarant:    "Leonor Ruiz Valdecierzo",
			Relation:     disclosure.RelationManager,
			Rectifies:    []int64{2026126001},
			DocumentURL:  "https://www.cnmv.es/webservices/verdocumento/ver?e=abc%2f00jEuhbk%2bTc0vHNC%2bVxBv",
		},
		{
			Number:       2026126001,
			RegisteredOn: day("2026-09-24"),
			Name:         "TEJARES & HORNOS IMAGINARIOS, S.A.",
			NIF:          "A69000025",
			Declarant:    "Leonor Ruiz Valdecierzo",
			Relation:     disclosure.RelationManager,
			Rectifies:    []int64{2026125000},
			RectifiedBy:  []int64{2026126933, 2026126934},
			DocumentURL:  "https://www.cnmv.es/webservices/verdocumento/ver?e=abd%2f00jEuhbk%2bTc0vHNC%2bVxBv",
		},
	}
	if diff := cmp.Diff(want, got.Rows); diff != "" {
		t.Error(diff)
	}
	if got.Page != 0 || got.Pages != 1 || len(got.Unknown) != 0 {
		t.Errorf("page %d of %d, unknown %v", got.Page, got.Pages, got.Unknown)
	}
}

// TestDealingsRefused: one change of a good page loses one row, or the page.
func TestDealingsRefused(t *testing.T) {
	good := string(read(t, "dealings.html"))
	for _, test := range []struct {
		name, old, new string
		want           string // in the detail
		whole          bool
	}{
		{"other rows", "PrimerNivel", "Otro", "an unknown format", true},
		{"cut", "</body></html>", "", "ends too early", true},
		{"no number", "Número de registro: 2026127006", "Número: 2026127006", "row 1 has no registration number", false},
		{"no date", "        25/09/2026", "        25/13/2026", "row 1 has no date", false},
		{"no issuer", "<span>ALMAZARA FICTICIA, S.A.</span>", "", "row 1 has no issuer", false},
		{"no declarant", "Declarante: CAPITAL INVENTADO UK LP", "Declarante:", "row 1 does not say who dealt", false},
		{"other reason", "Persona Estrechamente Vinculada", "Otra persona", `a reason that is not known: "Otra persona"`, false},
		{"no reason", "Motivo de la notificaci&#243;n", "Causa", "a reason that is not known", false},
		{"other link", "https://www.cnmv.es/webservices/verdocumento/ver?e=hLXZ", "https://cnmv.example/x?e=hLXZ", "no document", false},
		{"rectification", "rectificada por nº de registro", "rectificada por otra", "row 3 has a rectification that cannot be read", false},
		{"not a number", "registro: 2026125000", "registro: 02026125000", "a number that is none", false},
		{"twice", "registro: 2026126933<", "registro: 2026127006<", "row 2 comes twice", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := strings.ReplaceAll(good, test.old, test.new)
			if body == good {
				t.Fatal("the page was not changed")
			}
			got, err := regulator.ParseDealings([]byte(body), 0, regulator.PublicOrigin)
			wantMarkup(t, err, test.want)
			wantWhole(t, err, test.whole)
			if !test.whole && len(got.Rows) != 2 {
				t.Errorf("got %d rows, want the other two", len(got.Rows))
			}
		})
	}
}

// dealingRows returns a page of so many dealings, with a pager unless pages is 0.
func dealingRows(n, page, pages int) []byte {
	var b strings.Builder
	b.WriteString(`<html><body><ul id="listaElementosPrimernivel">`)
	for i := range n {
		fmt.Fprintf(&b, `<li id="x_elementoPrimerNivel"><ul><li id="x_liFechaRegistro">25/09/2026</li>`+
			`<li><a id="x_hlTituloCabecera" href="datosentidad.aspx?nif=A-69000017">ALMAZARA FICTICIA, S.A.</a></li>`+
			`<li>Declarante: Leonor Ruiz Valdecierzo</li><li>Motivo de la notificación: Persona con Responsabilidad de Dirección</li>`+
			`<li>Número de registro: %d</li></ul></li>`, 2026100100+page*10+i)
	}
	b.WriteString(`</ul>`)
	if pages > 0 {
		fmt.Fprintf(&b, `<span id="x_lblInfoPaginacion">Página %d de %d</span>`, page+1, pages)
	}
	b.WriteString(`</body></html>`)
	return []byte(b.String())
}

// TestDealingsPager: the rows of a page agree with its pager, or it is refused.
func TestDealingsPager(t *testing.T) {
	for _, test := range []struct {
		rows, shown, pages, requested int
		want                          string // empty: good
	}{
		{0, 0, 0, 0, ""},
		{1, 0, 0, 0, ""},
		{10, 0, 0, 0, ""},
		{10, 0, 3, 0, ""},
		{10, 1, 3, 1, ""},
		{1, 2, 3, 2, ""},
		{10, 2, 3, 2, ""},
		{0, 0, 0, 3, ""}, // past the end
		{9, 0, 3, 0, "page 1 of 3 has 9 rows instead of 10"},
		{11, 0, 3, 0, "page 1 of 3 has 11 rows instead of 10"},
		{0, 1, 3, 1, "page 2 of 3 has 0 rows"},
		{0, 2, 3, 2, "the last of 3 pages has 0 rows"},
		{11, 2, 3, 2, "the last of 3 pages has 11 rows"},
		{11, 0, 0, 0, "it has 11 rows and no pager"},
		{10, 0, 0, 1, "page 2 was requested, and it has no pager"},
		{10, 1, 3, 0, "it shows page 2 instead of 1"},
	} {
		got, err := regulator.ParseDealings(dealingRows(test.rows, test.shown, test.pages), test.requested, regulator.PublicOrigin)
		if test.want != "" {
			wantMarkup(t, err, test.want)
			wantWhole(t, err, true)
			continue
		}
		if err != nil || len(got.Rows) != test.rows {
			t.Errorf("%+v: %d rows, %v", test, len(got.Rows), err)
		}
	}
}

func TestClientDealings(t *testing.T) {
	f, c, _ := newFake(t, map[string]http.HandlerFunc{
		"/portal/consultas/directivos-resultado": send(dealingRows(10, 2, 4)),
	})
	got, err := c.Dealings(t.Context(), day("2026-09-01"), day("2026-09-30"), 2)
	if err != nil || len(got.Rows) != 10 || got.Page != 2 || got.Pages != 4 || got.Received.IsZero() {
		t.Errorf("%d rows, page %d of %d at %v, %v", len(got.Rows), got.Page, got.Pages, got.Received, err)
	}
	want := "/portal/consultas/directivos-resultado?fechad=01/09/2026&fechah=30/09/2026&page=2"
	if asked := f.requests(); len(asked) != 1 || asked[0] != want {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

func FuzzParseDealings(f *testing.F) {
	seed(f, "dealings.html", "list-oir.html")
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := regulator.ParseDealings(body, regulator.AnyPage, regulator.SimulatedOrigin)
		wantLines(t, body, err)
		for _, d := range got.Rows {
			if d.Number <= 0 || d.RegisteredOn <= 0 || d.Name == "" || d.Declarant == "" || d.Relation == "" {
				t.Errorf("half a row: %+v", d)
			}
		}
	})
}
