package regulator_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/fault"
	"pregon/internal/source/regulator"
)

func TestParseDecimal(t *testing.T) {
	for _, test := range []struct {
		in, want string
		ok       bool
	}{
		{"5,033", "5.033", true},
		{"0", "0", true},
		{"0,000", "0.000", true},
		{"5.670.161.554", "5670161554", true},
		{"5.670.161.554,00", "5670161554.00", true},
		{"115513,00", "115513.00", true},
		{"007", "7", true},
		{"", "", false},
		{"5.03", "", false}, // a point is between thousands
		{"1.0000", "", false},
		{"-1", "", false},
		{"1,2,3", "", false},
		{"1,", "", false},
		{"uno", "", false},
		{"1e5", "", false},
		{strings.Repeat("1", 16), "", false},
	} {
		if got, ok := regulator.ParseDecimal(test.in); got != test.want || ok != test.ok {
			t.Errorf("%q: got %q, %v, want %q, %v", test.in, got, ok, test.want, test.ok)
		}
	}
	for in, want := range map[string]string{"": "", "-": "", "5,5 %": "5.5", "100": "100", "5.033": "refused", "1000": "refused"} {
		got, ok := regulator.ParsePercent(in)
		if !ok {
			got = "refused"
		}
		if got != want {
			t.Errorf("percentage %q: got %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"23/06/2026": "2026-06-23", "1/2/2007": "2007-02-01", "31/02/2026": "", "2026-06-23": "", "23/06/26": "", "23/06/1900": "",
	} {
		got, ok := regulator.ParseDate(in)
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("date %q: got %v, %v, want %q", in, got, ok, want)
		}
	}
}

func TestParseIdentity(t *testing.T) {
	got, found, err := regulator.ParseIdentity(read(t, "identity.html"), "A-69000017")
	want := regulator.Identity{
		Name:      "EDITORIAL IMAGINARIA, S.A.",
		NIF:       "A-69000017",
		LEI:       "SIMU00TESTALMAZARA03",
		ShortName: "IMAGINARIA",
		Sector:    "MEDIOS DE COMUNICACIÓN",
		Capital:   "5670161554.00",
	}
	if diff := cmp.Diff(want, got); diff != "" || !found || err != nil {
		t.Error(found, err, diff)
	}
	for _, test := range []struct {
		old, new, want string
		whole          bool
	}{
		{"ALMAZARA03", "ALMAZARA04", "is not an LEI", false},
		{"5.670.161.554,00 €", "mucho", "is not an amount", false},
		{">A69000017<", ">A69000025<", "is of the NIF", true},
		{`data-th="Sector"`, `data-th="Ramo"`, `no column "sector"`, true},
		{"gridDatos", "grid", "but another table", true},
		{"EDITORIAL IMAGINARIA, S.A.", "", "does not name the issuer", true},
	} {
		body := strings.ReplaceAll(string(read(t, "identity.html")), test.old, test.new)
		_, _, err := regulator.ParseIdentity([]byte(body), "A-69000017")
		wantMarkup(t, err, test.want)
		wantWhole(t, err, test.whole)
	}
	empty := strings.NewReplacer("SIMU00TESTALMAZARA03", "", "5.670.161.554,00 €", "", "IMAGINARIA<", "<").Replace(string(read(t, "identity.html")))
	if got, found, err := regulator.ParseIdentity([]byte(empty), "A69000017"); err != nil || !found || got.LEI+got.Capital != "" {
		t.Errorf("empty cells: %+v, %v, %v", got, found, err)
	}
}

func TestClientIdentity(t *testing.T) {
	page := read(t, "identity.html")
	f, c, _ := newFake(t, map[string]http.HandlerFunc{
		"/portal/consultas/ee/datosgenerales": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("nif") == "A-69000017" {
				_, _ = w.Write(page)
				return
			}
			_, _ = w.Write([]byte("<html><body>No existen datos para la entidad</body></html>"))
		},
	})
	got, err := c.Identity(t.Context(), "A69000017")
	if err != nil || got.NIF != "A-69000017" || got.Received.IsZero() ||
		got.SourceURL != "https://www.cnmv.es/portal/consultas/ee/datosgenerales.aspx?nif=A-69000017" {
		t.Errorf("got %+v, %v", got, err)
	}
	if len(f.requests()) != 2 {
		t.Errorf("%d requests, want one for each spelling", len(f.requests()))
	}
	if _, err := c.Identity(t.Context(), "A69000025"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown issuer: %v, want NotFound", err)
	}
}

func TestParseShortPositions(t *testing.T) {
	name, rows, err := regulator.ParseShortPositions(read(t, "shorts.html"))
	want := []regulator.ShortPosition{
		{Name: "BAJISTA INVENTADO (UK) LIMITED", Percent: "0.62", On: day("2026-08-04")},
		{Name: "CAISSE IMAGINÉE DE QUÉBEC", Percent: "0", On: day("2025-12-04")},
	}
	if diff := cmp.Diff(want, rows); diff != "" || err != nil || name != "ALMAZARA FICTICIA, S.A." {
		t.Error(name, err, diff)
	}
	for _, test := range []struct{ old, new, want string }{
		{"04/08/2026", "ayer", "lacks its name"},
		{`data-th="% sobre el capital"`, `data-th="% del capital"`, "but another table"},
		{`data-th="Fecha de la posición"`, "", "no column"},
	} {
		body := strings.ReplaceAll(string(read(t, "shorts.html")), test.old, test.new)
		_, _, err := regulator.ParseShortPositions([]byte(body))
		wantMarkup(t, err, test.want)
	}
}

func TestParseLastDays(t *testing.T) {
	body := read(t, "lastdays.html")
	got, err := regulator.ParseLastDays(body)
	want := regulator.LastDays{
		Since: day("2026-09-18"),
		Issuers: []regulator.ChangedIssuer{
			{NIF: "A-69000017", Name: "ALMAZARA FICTICIA, S.A.", Day: day("2026-09-22")},
			{NIF: "A69000025", Name: "TEJARES & HORNOS IMAGINARIOS, S.A.", Day: day("2026-09-22")},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for _, test := range []struct{ old, new, want string }{
		{"(2)<ul>", "(3)<ul>", "announces 1 issuers more or less"},
		{"(2)<ul>", "(1)<ul>", "announces 1 issuers more or less"},
		{"ps_ac_ini.aspx?nif=A-69000017", "otra.aspx?nif=A-69000017", "announces 1 issuers"},
		{"desde el d&#237;a", "hasta el d&#237;a", "since which day"},
		{"</html>", "", "ends too early"},
	} {
		_, err := regulator.ParseLastDays([]byte(strings.ReplaceAll(string(body), test.old, test.new)))
		wantMarkup(t, err, test.want)
	}
	quiet := "<html><p>Incorporación desde el día 18/09/2026</p></html>"
	if got, err := regulator.ParseLastDays([]byte(quiet)); err != nil || len(got.Issuers) != 0 {
		t.Errorf("no changes: %+v, %v", got, err)
	}
}

func FuzzParseLastDays(f *testing.F) {
	seed(f, "lastdays.html", "holdings-hub.html")
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := regulator.ParseLastDays(body)
		wantLines(t, body, err)
		for _, i := range got.Issuers {
			if i.NIF == "" {
				t.Errorf("an issuer without a number: %+v", i)
			}
		}
	})
}

// TestHostileRegisters: pages that grow cost no more than their size.
func TestHostileRegisters(t *testing.T) {
	row := func(name string) string { return `<td data-th="` + name + `">1</td>` }
	for _, h := range []hostile{
		{"rows", `<html><table id="x_gridNotifAnt"><caption>X</caption>`, "<tr>" + row("Total % acciones (A)") +
			row("Total % Inst. financieros (B)") + row("Total A+B") + row("Número de Registro") + row("F.Registro Entrada CNMV") +
			"</tr>", "</table></html>"},
		{"loose rows", `<html><table id="x_gridNotifAnt"><caption>X</caption>`, "<tr><td>1</td></tr>", "</table></html>"},
		{"tables", `<html>`, `<table id="x_gridNotifAnt%d"><tr>`, "</table></html>"},
		{"annulments", `<html>`, "registro de entrada 2021035057 anula la: 2021034475 de 17/03/2021 ", "</html>"},
		{"annulled", `<html>nº de registro 2021035057 anula las:`, " 2021034475", "</html>"},
		{"columns", `<html><table id="x_gridNotifAnt"><caption>X</caption><tr>`, `<td data-th="c%d">1</td>`, "</tr></table></html>"},
		{"headings", `<html>`, "<li>Participaciones significativas y Autocartera (1)", "</html>"},
		{"links", `<html><li>Participaciones significativas y Autocartera (9999)`, `<a href="ps_ac_ini?nif=%d">x</a>`, "</html>"},
		{"steps", `<html><title>CNMV - a - b</title><ul id="x_listaEnlaces">`, `<a href="p%d.aspx?qS={1}">x</a>`, "</html>"},
	} {
		t.Run(h.name, func(t *testing.T) {
			small, large := h.sizes(512 << 10)
			wantLinear(t, small, large, func(body []byte) {
				_, _ = regulator.ParseHistory(body, "X", regulator.PublicOrigin)
				_, _, _ = regulator.ParseHub(body)
				_, _ = regulator.ParseAnnulments(body)
				_, _ = regulator.ParseLastDays(body)
			})
		})
	}
	many := fmt.Sprintf(`<html><table id="x_gridNotifAnt"><caption>X</caption>%s</table></html>`,
		strings.Repeat("<tr>"+row("Número de Registro")+"</tr>", 5001))
	_, err := regulator.ParseHistory([]byte(many), "X", regulator.PublicOrigin)
	wantMarkup(t, err, "more than 5000 rows")
}
