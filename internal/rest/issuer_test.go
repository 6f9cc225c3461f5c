package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/server/problem"
	"pregon/internal/store"
)

// The list matches the contract byte by byte: it has no total, page or limit.
func TestIssuerListBytes(t *testing.T) {
	s := start(t, "demo", market())
	want := `{"data":[` +
		`{"id":"A69000024","name":"ACEROS DE NAVALBRUMA, S.A.","cif":"A69000024","ticker":"ANB","market":"BME Growth"},` +
		`{"id":"sgiic-194","name":"ARDAZUL GESTIÓN, SGIIC, S.A.","cif":null,"ticker":null,"market":null},` +
		`{"id":"fi-4720","name":"ARDAZUL RENTA FIJA, FI","cif":null,"ticker":null,"market":null},` +
		`{"id":"A69000016","name":"BODEGAS DE VALDEBRISA, S.A.","cif":"A69000016","ticker":"BVB","market":"SIBE"}` +
		`]}`
	if diff := cmp.Diff(want, string(s.get(http.StatusOK, "/api/v1/issuers").body)); diff != "" {
		t.Error(diff)
	}
	if got := string(s.get(http.StatusOK, "/api/v1/issuers?search=nobody").body); got != `{"data":[]}` {
		t.Error(got)
	}
}

func TestIssuerLimit(t *testing.T) {
	var b store.Batch
	for n := range 60 {
		nif := string(disclosure.MakeNIF('A', "69001"+string(rune('0'+n/10))+string(rune('0'+n%10))))
		b.Issuers = append(b.Issuers, disclosure.Issuer{NIF: nif, Name: "MINAS DE CERROQUEDO, S.A."})
	}
	s := start(t, "demo", b)
	for query, want := range map[string]int{
		"": 10, "?limit=": 10, "?limit=1": 1, "?limit=50": 50,
		"?page=2": 10, "?page=x": 10, // not a parameter of this operation
		"?search=minas&limit=50": 50,
	} {
		if got := len(s.get(http.StatusOK, "/api/v1/issuers"+query).reports().Data); got != want {
			t.Errorf("%q: %d issuers, want %d", query, got, want)
		}
	}
}

func TestIssuerSearch(t *testing.T) {
	b := market()
	b.Issuers = append(b.Issuers,
		disclosure.Issuer{NIF: "A69000040", Name: "GRAN BODEGAS DE URDANABE, S.A.", Kind: disclosure.Company},
		disclosure.Issuer{NIF: "A69000057", Name: "BODEGAS ANB DE OLLAVIEJA, S.L.", Kind: disclosure.Company},
	)
	s := start(t, "demo", b)
	for _, test := range []struct{ want, query string }{
		{"A69000016", encode("search", "BVB")},
		{"A69000016", encode("search", "a-69000016")},
		{"A69000016", encode("search", "ES0SIM000010")},
		{"A69000016", encode("search", "nandu")}, // a former name
		{"fi-4720", encode("search", "V69000107")},
		{"fi-4720", encode("search", "FI-4720")},
		{"sgiic-194 fi-4720", encode("search", "ardazul")},
		{"sgiic-194", encode("search", "ardazul", "kind", "manager")},
		{"A69000024 A69000057", encode("search", "anb")},                  // a match of the ticker is first
		{"A69000057 A69000016 A69000040", encode("search", "bodegas")},    // a match at the start of the name is first
		{"A69000016 A69000057 A69000040", encode("search", "bodegas de")}, // the words in order rank before the words anywhere
		{"A69000057 A69000016", encode("search", "bodegas -urdanabe")},
		{"A69000024 A69000016", encode("search", "s.a. -gran -ardazul")}, // a legal form alone is searched for
		{"fi-4720", encode("kind", "fund")},
		{"", encode("kind", "other")},
		{"", encode("search", "40374")},
	} {
		if got := s.get(http.StatusOK, "/api/v1/issuers"+test.query).ids(); got != test.want {
			t.Errorf("%s finds %q, want %q", test.query, got, test.want)
		}
	}
}

func TestIssuerDetail(t *testing.T) {
	s := start(t, "demo", market())
	for _, key := range []string{"A69000016", "a69000016", "A-69000016", "ESA69000016", "ES0SIM000010", "es0sim000010", "PREGONSIM000000BVB37", "pregonsim000000bvb37", "BVB", "bvb"} {
		var got map[string]any
		s.get(http.StatusOK, "/api/v1/issuers/"+key).decode(&got)
		delete(got, "attribution") // see TestAttribution
		var list map[string]any
		s.get(http.StatusOK, "/api/v1/reports?issuer=A69000016").decode(&list)
		want := map[string]any{
			"id": "A69000016", "name": "BODEGAS DE VALDEBRISA, S.A.", "cif": "A69000016", "ticker": "BVB", "market": "SIBE",
			"kind": "company", "isins": []any{"ES0SIM000010"}, "former_names": []any{"VIÑEDOS DEL ÑANDÚ, S.A."}, "aliases": []any{},
			"lei": "PREGONSIM000000BVB37", "sector": "ALIMENTACIÓN Y BEBIDAS",
			"capital": "12500000.50", "voting_rights": "25000001", "voting_rights_on": "2025-06-30",
			"manager": nil, "depositary": nil, "report_count": 1.0, "latest_reports": list["data"],
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	for key, id := range map[string]string{
		"fi-4720": "fi-4720", "FI-4720": "fi-4720", "V69000107": "fi-4720", "v-69000107": "fi-4720", "sgiic-194": "sgiic-194", "0194": "sgiic-194",
	} {
		var got struct{ ID string }
		s.get(http.StatusOK, "/api/v1/issuers/"+key).decode(&got)
		if got.ID != id {
			t.Errorf("%s is %s, want %s", key, got.ID, id)
		}
	}
	for _, key := range []string{"A69000017", "BVBX", "B69000032", "%00", "%ff", "a%2Fb", "ES0SIM000011"} {
		if doc := s.get(http.StatusNotFound, "/api/v1/issuers/"+key).problem(); doc.Type != "urn:pregon:problem:not-found" {
			t.Errorf("%s: %+v", key, doc)
		}
	}
}

// A fund's detail names its manager, with the id of the one issuer of that name,
// and its depositary; a search finds the fund by them.
func TestIssuerDetailOfFund(t *testing.T) {
	b := market()
	b.Issuers = append(b.Issuers, disclosure.Issuer{
		ID: "fi-4721", Name: "VELARDA MIXTO, FI", Kind: disclosure.Fund, Manager: "Ardazul Gestion SGIIC SA", Depositary: "BANCO QUE NADIE CONOCE, S.A.",
	})
	s := start(t, "demo", b)
	var got map[string]any
	s.get(http.StatusOK, "/api/v1/issuers/fi-4721").decode(&got)
	want := map[string]any{
		"manager":    map[string]any{"name": "Ardazul Gestion SGIIC SA", "id": "sgiic-194"},
		"depositary": map[string]any{"name": "BANCO QUE NADIE CONOCE, S.A.", "id": nil},
	}
	if diff := cmp.Diff(want, map[string]any{"manager": got["manager"], "depositary": got["depositary"]}); diff != "" {
		t.Error(diff)
	}
	if ids := s.get(http.StatusOK, "/api/v1/issuers"+encode("search", "ardazul gestion")).ids(); ids != "sgiic-194 fi-4721" {
		t.Errorf("a search for the manager finds %s", ids)
	}
}

// An issuer has the ISINs that only the registers of positions have, if these name the
// issuer by its LEI. It is found by them too, on every surface.
func TestIssuerByISINOfRegister(t *testing.T) {
	const second = "ES0SIM000036"
	b := market()
	b.Positions = []disclosure.Position{
		querytest.Short(querytest.ISIN, "Fondo Imaginario Alfa LLP", "2026-02-02", "0.62", disclosure.StateCurrent, 1),
		querytest.Short(second, "Fondo Imaginario Alfa LLP", "2026-02-02", "0.5", disclosure.StateCurrent, 1),
	}
	s := start(t, "demo", b)
	var got struct {
		ID    string
		ISINs []string `json:"isins"`
	}
	for _, name := range []string{querytest.ISIN, second, "es0sim000036"} {
		s.get(http.StatusOK, "/api/v1/issuers/"+name).decode(&got)
		if want := []string{querytest.ISIN, second}; got.ID != "A69000016" || !slices.Equal(got.ISINs, want) {
			t.Errorf("%s is %s with %q, want A69000016 with %q", name, got.ID, got.ISINs, want)
		}
	}
	if ids := s.get(http.StatusOK, "/api/v1/reports?issuer="+second).ids(); ids != "oir-40374" {
		t.Errorf("the reports of %s are %q", second, ids)
	}
	s.get(http.StatusOK, "/api/v1/issuers/"+second+"/history")
	s.get(http.StatusNotFound, "/api/v1/issuers/"+querytest.UnknownISIN)
}

// Every filter accepts an issuer by any identifier or its ticker. An unknown
// issuer is refused with suggestions.
func TestIssuersInFilters(t *testing.T) {
	s, key := startLive(t)
	want := s.get(http.StatusOK, "/api/v1/reports?issuer=A69000016").ids()
	for _, name := range []string{"BVB", "bvb", " Bvb ", "es0sim000010", "a-69000016", "pregonsim000000bvb37", "BODEGAS DE VALDEBRISA, S.A.", "bodegas de valdebrisa sa", "Bódegas de Valdebrisa"} {
		if got := s.get(http.StatusOK, "/api/v1/reports"+encode("issuer", name)).ids(); got != want || want == "" {
			t.Errorf("%q has %q, want %q", name, got, want)
		}
	}
	for name, near := range map[string]string{
		"bodegas":             `Unknown issuer "bodegas". Did you mean BODEGAS DE VALDEBRISA, S.A. (A69000016)?`,
		"bodgeas":             `Unknown issuer "bodgeas". Did you mean BODEGAS DE VALDEBRISA, S.A. (A69000016)?`,
		"bodegas y viñas s.a": `Unknown issuer "bodegas y viñas s.a". Did you mean BODEGAS DE VALDEBRISA, S.A. (A69000016)?`,
		"A69000017":           `Unknown issuer "A69000017". Give its ticker, NIF, ISIN, LEI, id or full name.`,
		"zzz":                 `Unknown issuer "zzz". Give its ticker, NIF, ISIN, LEI, id or full name.`,
	} {
		for _, path := range []string{"/api/v1/reports", "/api/v1/stream", "/api/v1/changes"} {
			doc := s.getWith(http.StatusBadRequest, path+encode("issuer", name), key).problem()
			if len(doc.Errors) != 1 || doc.Errors[0].Parameter != "issuer" || doc.Detail != near || doc.Errors[0].Reason != near {
				t.Errorf("%s of %s: %+v", path, name, doc)
			}
			if got, want := len(doc.Errors[0].Suggestions), strings.Count(near, "(A69000016)"); got != want {
				t.Errorf("%s of %s has %d suggestions, want %d", path, name, got, want)
			}
		}
	}
	s.get(http.StatusBadRequest, "/api/v1/reports"+encode("issuer", strings.Repeat("x", 201)))
	var preview struct{ Total int }
	s.call("POST", "/api/v1/webhooks/preview", key, `{"filter":{"issuer":"bvb"}}`, 200, &preview)
	s.call("POST", "/api/v1/webhooks/preview", key, `{"filter":{"issuer":"zzz"}}`, 400, nil)
	s.call("POST", "/api/v1/webhooks/preview", key, `{"filter":{"search":"😀"}}`, 400, nil)
	s.call("POST", "/api/v1/webhooks", key, `{"url":"https://x.example/","filter":{"issuer":"zzz"}}`, 400, nil)
}

// A ticker shared by two issuers identifies neither. An issuer that only has
// reports is known. While there is no directory, any tax number is accepted.
func TestAmbiguousIssuers(t *testing.T) {
	b := store.Batch{
		Issuers: []disclosure.Issuer{{NIF: "A69000024", Name: "ACEROS", Ticker: "DUO"}, {NIF: "A69000032", Name: "BARCAS", Ticker: "duo"}},
		Reports: []disclosure.Report{newReport(disclosure.OIR, 1, "2026-04-22T08:00:00Z")},
	}
	b.Reports[0].NIF = "A69000040"
	s := start(t, "demo", b)
	for _, doc := range []problem.Document{s.get(http.StatusBadRequest, "/api/v1/reports?issuer=duo").problem(), s.get(http.StatusNotFound, "/api/v1/issuers/duo").problem()} {
		if !strings.Contains(doc.Detail, `Several issuers are called "duo": ACEROS (A69000024), BARCAS (A69000032). Use an id.`) {
			t.Errorf("%+v", doc)
		}
	}
	if got := s.get(http.StatusOK, "/api/v1/reports?issuer=a-69000040").ids(); got != "oir-1" {
		t.Errorf("reports of an issuer outside the directory: %q", got)
	}
	empty := start(t, "demo", store.Batch{})
	empty.get(http.StatusOK, "/api/v1/reports?issuer=A69000016")
	empty.get(http.StatusOK, "/api/v1/reports?issuer=es0sim000010")
	empty.get(http.StatusBadRequest, "/api/v1/reports?issuer=BVB")
}

// The detail shows the newest five reports and counts all.
func TestIssuerDetailCountsReports(t *testing.T) {
	b := store.Batch{Issuers: []disclosure.Issuer{{NIF: "A69000024", Name: "ACEROS DE NAVALBRUMA, S.A."}}}
	for n := range int64(7) {
		b.Reports = append(b.Reports, newReport(disclosure.OIR, n+1, "2026-04-22T08:00:00Z"))
	}
	s := start(t, "demo", b)
	var got struct {
		Count  int              `json:"report_count"`
		Latest []map[string]any `json:"latest_reports"`
		Kind   *string
	}
	s.get(http.StatusOK, "/api/v1/issuers/A69000024").decode(&got)
	if got.Count != 7 || len(got.Latest) != 5 || got.Latest[0]["id"] != "oir-7" || got.Latest[4]["id"] != "oir-3" || got.Kind != nil {
		t.Errorf("%+v", got)
	}
}

// Every record names its source. Those of the real market also state that they
// are available free of charge from the regulator.
func TestAttribution(t *testing.T) {
	free := map[string]any{
		"source": "Comisión Nacional del Mercado de Valores (CNMV)", "url": "https://www.cnmv.es",
		"notice": "Reproduced as filed. The information can be obtained free of charge at the web site of the CNMV.",
	}
	simulated := map[string]any{
		"source": "Mercado simulado de Pregón", "url": nil,
		"notice": "Simulated market: companies, funds and reports are fictional. None of this was filed with any regulator.",
	}
	for source, want := range map[string]map[string]any{"demo": simulated, "cnmv": free, "": free} {
		s := start(t, source, market())
		for _, path := range []string{"/api/v1/reports/oir-40374", "/api/v1/issuers/A69000016"} {
			var got struct{ Attribution map[string]any }
			s.get(http.StatusOK, path).decode(&got)
			if diff := cmp.Diff(want, got.Attribution); diff != "" {
				t.Errorf("%s with source %q: %s", path, source, diff)
			}
		}
	}
}
