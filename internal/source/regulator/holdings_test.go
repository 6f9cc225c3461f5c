package regulator_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pregon/internal/fault"
	"pregon/internal/source/regulator"
)

const document = "https://www.cnmv.es/webservices/verdocumento/ver?e="

var withoutSteps = cmpopts.IgnoreUnexported(regulator.Holding{})

func wantHoldings() (rights regulator.VotingRights, rows []regulator.Holding) {
	rights = regulator.VotingRights{
		Total:      "5670161554",
		Shares:     "5670161554",
		Loyalty:    "0",
		ModifiedOn: day("2024-05-13"),
	}
	return rights, []regulator.Holding{
		{
			Name:         "FONDOS INVENTADOS INC.",
			Shares:       "5.033",
			Direct:       "0.000",
			Indirect:     "5.033",
			Instruments:  "1.208",
			Total:        "6.241",
			RegisteredOn: day("2026-06-23"),
			DocumentURL:  document + "hLXZY1bLbSDf76rU2Umyew0mw",
			HasHistory:   true,
		},
		{
			Name:         "COMPAÑIA DE CARTERA SIMULADA , S.A.U.",
			Shares:       "5.007",
			Direct:       "5.007",
			Total:        "5.007",
			RegisteredOn: day("2025-01-02"),
			DocumentURL:  document + "aa%2bY1bLbSDf76rU2Umyew0mw",
			HasHistory:   true,
			HasAnnulled:  true,
		},
		{Name: "ACCION CONCERTADA", Shares: "10.014"},
		{
			Name:         "RUIZ VALDECIERZO , LEONOR",
			Shares:       "3",
			Direct:       "1.5",
			Indirect:     "1.5",
			Instruments:  "0.000",
			Total:        "3.000",
			RegisteredOn: day("2007-03-07"),
		},
	}
}

func wantNotices() []regulator.HoldingNotice {
	return []regulator.HoldingNotice{
		{
			Number:       2026082001,
			RegisteredOn: day("2026-06-23"),
			Shares:       "5.033",
			Instruments:  "1.208",
			Total:        "6.241",
			DocumentURL:  document + "hLXZY1bLbSDf76rU2Umyew0mw",
		},
		{
			Number:       2020111222,
			RegisteredOn: day("2020-11-17"),
			Shares:       "0.066",
			Instruments:  "13.025",
			Total:        "13.091",
			DocumentURL:  document + "hLYZY1bLbSDf76rU2Umyew0mw",
		},
		{
			Number:       199950136,
			RegisteredOn: day("1999-09-05"),
			Shares:       "4.900",
			Instruments:  "5.000",
			Total:        "9.900",
		},
	}
}

func wantAnnulments() []regulator.HoldingAnnulment {
	return []regulator.HoldingAnnulment{
		{By: 2021035057, Annuls: []regulator.AnnulledNotice{{Number: 2021034475, RegisteredOn: day("2021-03-17")}}},
		{By: 2022000100, Annuls: []regulator.AnnulledNotice{
			{Number: 2021000001, RegisteredOn: day("2021-01-04")},
			{Number: 2021000002, RegisteredOn: day("2021-01-05")},
			{Number: 199950136},
		}},
	}
}

func TestParseHoldingPages(t *testing.T) {
	name, pages, err := regulator.ParseHub(read(t, "holdings-hub.html"))
	links := []string{"autocartera", "hspactosparasociales", "notificaciones-participaciones", "sociedadesparticipa"}
	if err != nil || name != "ALMAZARA FICTICIA, S.A." || !slices.Equal(pages, links) {
		t.Errorf("hub: %q with %q, %v", name, pages, err)
	}
	rights, rows, err := regulator.ParsePresent(read(t, "holdings-present.html"), regulator.PublicOrigin)
	wantRights, wantRows := wantHoldings()
	if diff := cmp.Diff(wantRights, rights) + cmp.Diff(wantRows, rows, withoutSteps); diff != "" || err != nil {
		t.Error(err, diff)
	}
	notices, err := regulator.ParseHistory(read(t, "holdings-history.html"), "FONDOS INVENTADOS INC.", regulator.PublicOrigin)
	if diff := cmp.Diff(wantNotices(), notices); diff != "" || err != nil {
		t.Error(err, diff)
	}
	others, err := regulator.ParseOthers(read(t, "holdings-others.html"))
	wantOthers := []regulator.Holding{{Name: "BERTELDORF IMAGINARIA , A.G.", HasHistory: true, Former: true}}
	if diff := cmp.Diff(wantOthers, others, withoutSteps); diff != "" || err != nil {
		t.Error(err, diff)
	}
	annulments, err := regulator.ParseAnnulments(read(t, "holdings-annulled.html"))
	if diff := cmp.Diff(wantAnnulments(), annulments); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// TestHoldingPagesRefused: what is not understood is named, and no row of it returned.
func TestHoldingPagesRefused(t *testing.T) {
	hub := func(b []byte) (err error) { _, _, err = regulator.ParseHub(b); return err }
	present := func(b []byte) (err error) {
		_, _, err = regulator.ParsePresent(b, regulator.PublicOrigin)
		return err
	}
	history := func(b []byte) (err error) {
		_, err = regulator.ParseHistory(b, "FONDOS INVENTADOS INC.", regulator.PublicOrigin)
		return err
	}
	others := func(b []byte) (err error) { _, err = regulator.ParseOthers(b); return err }
	annulled := func(b []byte) (err error) { _, err = regulator.ParseAnnulments(b); return err }
	for _, test := range []struct {
		file     string
		parse    func([]byte) error
		old, new string
		want     string
		whole    bool
	}{
		{"hub", hub, " - ALMAZARA FICTICIA, S.A.", "", "title does not name the issuer", true},
		{"hub", hub, "?qS=", "?nif=", "links have no session", true},
		{"hub", hub, ".aspx?qS=", "Otra.aspx?qS=", "lead to unknown pages", true},
		{"hub", hub, "</html>", "", "ends too early", true},
		{"present", present, "data-th", "data-x", "no names of columns", true},
		{"present", present, `data-th="%  (B)"`, `data-th="% Inst."`, `no column "b"`, true},
		{"present", present, "gridAccionistasSignificativos", "grid", "but another table", true},
		{"present", present, " 5,033 ", " 5.03 ", "is not a percentage", false},
		{"present", present, " 6,241 ", " ", "a row of the table has no percentage", false},
		{"present", present, "07/03/2007", "2007-03-07", "is not a date", false},
		{"present", present, " FONDOS INVENTADOS INC. <", "<", "has no name", false},
		{"present", present, "https://www.cnmv.es/webservices/verdocumento/ver?e=", "https://cnmv.example/?e=", "lead to a document", false},
		{"present", present, "?e=hLXZ", "?e=hLXZ&amp;qS={1}", "lead to a document", false},
		{"present", present, "5.670.161.554<", "muchos<", "cannot be read", false},
		{"present", present, `data-th="% Directo"> 0,000`, `data-th="% Indirecto"> 0,000`, "has two cells", true},
		{"history", history, "FONDOS  INVENTADOS INC.</caption>", "OTROS</caption>", "not of the row that links it", true},
		{"history", history, "gridNotifAnt", "grid", "no table of notices", true},
		{"history", history, ">2020111222<", "><", "not a registration number", false},
		{"history", history, ">2020111222<", ">2026082001<", "comes twice", false},
		{"history", history, ">13,091<", ">1300,091<", "is not a percentage", false},
		{"others", others, "gvOtrasNotificaciones", "grid", "no list of other notices", true},
		{"others", others, " BERTELDORF IMAGINARIA , A.G. ", "", "", false}, // the next cell has a text
		{"annulled", annulled, "2021034475 de 17/03/2021", "la primera", "by 2021035057 does not name", false},
		{"annulled", annulled, "registro de entrada", "entrada", "2 annulments cannot be read", false},
		{"annulled", annulled, "anula", "cambia", "names no annulment", true},
	} {
		t.Run(test.file+"/"+test.want, func(t *testing.T) {
			good := string(read(t, "holdings-"+test.file+".html"))
			body := strings.ReplaceAll(good, test.old, test.new)
			if body == good {
				t.Fatal("the page was not changed")
			}
			err := test.parse([]byte(body))
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantMarkup(t, err, test.want)
			wantWhole(t, err, test.whole)
		})
	}
}

// TestNoHoldings: an issuer may have no significant holding.
func TestNoHoldings(t *testing.T) {
	for _, body := range []string{
		`<span id="x_lblDerechos">Número total de derechos de voto: 1.000</span>`,
		`<span id="x_lblDerechos">Número total de derechos de voto: 1.000</span><table id="x_gridAccionistasSignificativos"></table>`,
		`<table id="x_gridAccionistasSignificativos"><tr><th>Denominación</th></tr></table>`,
		`<table id="x_gridAccionistasSignificativos"><tr><td>No existen datos</td></tr></table>`,
	} {
		_, rows, err := regulator.ParsePresent([]byte("<html><body>"+body+"</body></html>"), regulator.PublicOrigin)
		if err != nil || len(rows) != 0 {
			t.Errorf("%s: %d rows, %v", body, len(rows), err)
		}
	}
}

// register is a site that shows the register for one spelling of the NIF, with tokens
// that differ on every visit.
func register(t *testing.T) (*fake, *regulator.Client) {
	dir := "/portal/consultas/derechosvoto/"
	visit := 0
	fresh := func(name string) http.HandlerFunc {
		body := string(read(t, name))
		return func(w http.ResponseWriter, _ *http.Request) {
			visit++
			_, _ = w.Write([]byte(strings.ReplaceAll(body, "-4000-", "-400"+string(rune('0'+visit%10))+"-")))
		}
	}
	history := fresh("holdings-history.html")
	f, c, _ := newFake(t, map[string]http.HandlerFunc{
		dir + "ps_ac_ini": func(w http.ResponseWriter, r *http.Request) {
			body := read(t, "holdings-hub.html")
			if r.URL.Query().Get("nif") != "A-69000017" {
				body = []byte(`<html><head><title>CNMV - Participaciones - ALMAZARA FICTICIA, S.A.</title></head></html>`)
			}
			_, _ = w.Write(body)
		},
		dir + "notificaciones-participaciones": fresh("holdings-present.html"),
		dir + "notificacionesanteriores": func(w http.ResponseWriter, r *http.Request) {
			rec := httptest.NewRecorder()
			history(rec, r)
			body, token := rec.Body.String(), r.URL.Query().Get("qS")
			for end, name := range map[string]string{"2}": "COMPAÑIA DE CARTERA SIMULADA , S.A.U.", "a}": "BERTELDORF IMAGINARIA , A.G."} {
				if strings.HasSuffix(token, end) {
					body = strings.ReplaceAll(body, "FONDOS  INVENTADOS INC.", name)
				}
			}
			_, _ = w.Write([]byte(body))
		},
		dir + "personasotrasnotificaciones": fresh("holdings-others.html"),
		dir + "notificacionesanuladas":      fresh("holdings-annulled.html"),
		dir + "autocartera":                 send([]byte(`<html><a href="NotificacionesAnterioresAC.aspx?qS={1}">Anteriores</a></html>`)),
		dir + "notificacionesanterioresac":  fresh("holdings-history.html"),
	})
	return f, c
}

func TestHoldings(t *testing.T) {
	f, c := register(t)
	var asked []string
	got, err := c.Holdings(t.Context(), "A69000017", func(h regulator.Holding) bool {
		asked = append(asked, h.Name)
		return h.Former || h.HasAnnulled
	})
	if err != nil {
		t.Fatal(err)
	}
	rights, rows := wantHoldings()
	rows[1].History = wantNotices()
	want := regulator.Holdings{
		Name:       "ALMAZARA FICTICIA, S.A.",
		NIF:        "A-69000017",
		SourceURL:  "https://www.cnmv.es/portal/consultas/derechosvoto/ps_ac_ini.aspx?nif=A-69000017",
		Rights:     rights,
		Holdings:   []regulator.Holding{rows[0], rows[1], rows[3]},
		Agreements: []regulator.Holding{rows[2]},
		Former: []regulator.Holding{{
			Name:       "BERTELDORF IMAGINARIA , A.G.",
			HasHistory: true,
			Former:     true,
			History:    wantNotices(),
		}},
		OwnShares:  wantNotices(),
		Annulments: wantAnnulments(),
		Received:   got.Received,
	}
	if diff := cmp.Diff(want, got, withoutSteps); diff != "" || got.Received.IsZero() {
		t.Error(diff)
	}
	if want := []string{rows[0].Name, rows[1].Name, "BERTELDORF IMAGINARIA , A.G."}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
	if n := len(f.requests()); n != 9 {
		t.Errorf("%d requests, want 9: two hubs, present, others, two histories, annulments, two of own shares", n)
	}
	for _, path := range f.requests() {
		if strings.ContainsAny(path, "{}") {
			t.Errorf("%s has braces that are not escaped", path)
		}
	}
}

// TestHoldingsRequests: rows that need nothing cost nothing, and the remembered spelling
// no second hub.
func TestHoldingsRequests(t *testing.T) {
	f, c := register(t)
	got, err := c.Holdings(t.Context(), "A-69000017", func(regulator.Holding) bool { return false })
	if err != nil || len(got.Holdings) != 3 || len(got.OwnShares) != 3 || got.Holdings[0].History != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	if n := len(f.requests()); n != 5 {
		t.Errorf("%d requests, want 5", n)
	}
}

func TestHoldingsUnknown(t *testing.T) {
	none := func(regulator.Holding) bool { return true }
	f, c, _ := newFake(t, map[string]http.HandlerFunc{
		"/portal/consultas/derechosvoto/ps_ac_ini": send([]byte(`<html><title>CNMV - Participaciones</title></html>`)),
	})
	_, err := c.Holdings(t.Context(), "A69000017", none)
	if fault.KindOf(err) != fault.NotFound || len(f.requests()) != 2 {
		t.Errorf("error %v after %d requests, want NotFound after both spellings", err, len(f.requests()))
	}
	_, c, _ = newFake(t, map[string]http.HandlerFunc{
		"/portal/consultas/derechosvoto/ps_ac_ini": send([]byte(`<html><title>CNMV - Participaciones - X, S.A.</title></html>`)),
	})
	got, err := c.Holdings(t.Context(), "A69000017", none)
	if err != nil || got.Name != "X, S.A." || got.NIF != "A69000017" || got.Holdings != nil {
		t.Errorf("an issuer without notices: %+v, %v", got, err)
	}
}

// TestSessionIsNotTold: no error names the token of a session, however a page fails.
func TestSessionIsNotTold(t *testing.T) {
	const token = "d5f80000"
	for name, answer := range map[string]http.HandlerFunc{
		"status":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"markup":   send([]byte("<html></html>")),
		"missing":  sendTo("/portal/error?errorcode=CVFE"),
		"redirect": func(w http.ResponseWriter, r *http.Request) { sendTo("https://other.example"+r.RequestURI)(w, r) },
		"address":  func(w http.ResponseWriter, r *http.Request) { sendTo("http://["+r.RequestURI)(w, r) },
		"hang up":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"stall": func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, c := register(t)
			f.pages["/portal/consultas/derechosvoto/notificaciones-participaciones"] = answer
			c.Hurry(time.Second, 200*time.Millisecond)
			_, err := c.Holdings(t.Context(), "A-69000017", func(regulator.Holding) bool { return true })
			if err == nil {
				t.Fatal("the walk had no error")
			}
			text := err.Error() + regulator.Reason(err)
			if cause := regulator.Cause(err); cause != nil {
				text += cause.Error()
			}
			if strings.Contains(text, token) || !strings.Contains(strings.Join(f.requests(), " "), token) {
				t.Errorf("the error has the token: %s", text)
			}
		})
	}
}

// TestOtherIssuersPage: a token that leads to another issuer is refused.
func TestOtherIssuersPage(t *testing.T) {
	f, c := register(t)
	f.pages["/portal/consultas/derechosvoto/notificaciones-participaciones"] = send([]byte(
		strings.ReplaceAll(string(read(t, "holdings-present.html")), "ALMAZARA FICTICIA", "OTRA FICTICIA")))
	_, err := c.Holdings(t.Context(), "A-69000017", func(regulator.Holding) bool { return true })
	wantMarkup(t, err, `it is of "OTRA FICTICIA, S.A." instead of "ALMAZARA FICTICIA, S.A."`)
}

func FuzzParseHoldingPages(f *testing.F) {
	seed(f, "holdings-hub.html", "holdings-present.html", "holdings-history.html", "holdings-others.html",
		"holdings-annulled.html", "identity.html", "shorts.html")
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _, err := regulator.ParseHub(body)
		wantLines(t, body, err)
		_, rows, err := regulator.ParsePresent(body, regulator.PublicOrigin)
		wantLines(t, body, err)
		others, err := regulator.ParseOthers(body)
		wantLines(t, body, err)
		for _, row := range append(rows, others...) {
			if row.Name == "" || strings.Contains(strings.ToLower(row.DocumentURL), "qs=") {
				t.Errorf("half a row: %+v", row)
			}
		}
		notices, err := regulator.ParseHistory(body, "FONDOS INVENTADOS INC.", regulator.PublicOrigin)
		wantLines(t, body, err)
		for _, n := range notices {
			if n.Number <= 0 || n.RegisteredOn <= 0 {
				t.Errorf("half a notice: %+v", n)
			}
		}
		_, err = regulator.ParseAnnulments(body)
		wantLines(t, body, err)
		_, _, err = regulator.ParseIdentity(body, "A69000017")
		wantLines(t, body, err)
		_, _, err = regulator.ParseShortPositions(body)
		wantLines(t, body, err)
	})
}
