package rest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/rest/resttest"
	"pregon/internal/store"
)

// categorized is a store with a report in each of some categories, by issuers in
// different markets.
func categorized() store.Batch {
	b := store.Batch{}
	markets := []string{"SIBE", "BME Growth", "BME Scaleup", ""}
	sectors := []string{"FINANCIACIÓN Y SEGUROS/BANCOS", "FINANCIACIÓN Y SEGUROS/SEGUROS", "INMOBILIARIAS", ""}
	for i, market := range markets {
		b.Issuers = append(b.Issuers, disclosure.Issuer{
			ID:     fmt.Sprintf("fi-%d", i+1),
			Name:   fmt.Sprintf("EMPRESA %d, S.A.", i+1),
			Kind:   disclosure.Company,
			Market: market,
			Sector: sectors[i],
		})
	}
	for i, category := range []string{
		"Programas de recompra de acciones, estabilización y autocartera",
		"Sobre operaciones corporativas",
		"Sobre operaciones corporativas: fusiones, adquisiciones y otros",
		"Sobre resultados ",
		"SOBRE RESULTADOS - Informe anual de gobierno corporativo",
		"Sobre Gobierno corporativo",
		"Recompras",
		"",
	} {
		r := newReport(disclosure.OIR, int64(i+1), "2026-04-22T08:00:00Z")
		r.NIF, r.Category = fmt.Sprintf("fi-%d", i%len(markets)+1), category
		b.Reports = append(b.Reports, r)
	}
	return b
}

// A category or a market is given by its whole name, which selects only that one, or
// by words, which select all names that have them.
func TestNamesByWords(t *testing.T) {
	s := start(t, "demo", categorized())
	for target, want := range map[string]string{
		encode("category", "Sobre operaciones corporativas"):  "oir-2",
		encode("category", "operaciones corporativas"):        "oir-3 oir-2",
		encode("category", "FUSIÓN"):                          "oir-3",
		encode("category", "acción recompra"):                 "oir-1",
		encode("category", "recompra"):                        "oir-7 oir-1",
		encode("category", "Recompras"):                       "oir-7", // a whole name
		encode("category", "gobierno"):                        "oir-6 oir-5",
		encode("category", "concursales"):                     "", // known, but no report has it
		encode("market", "bme growth"):                        "oir-6 oir-2",
		encode("market", "bme"):                               "oir-7 oir-6 oir-3 oir-2",
		encode("market", "bme", "category", "recompra"):       "oir-7",
		encode("market", "Latibex"):                           "",
		encode("sector", "bancos"):                            "oir-5 oir-1",
		encode("sector", "banks"):                             "oir-5 oir-1",
		encode("sector", "finance"):                           "oir-6 oir-5 oir-2 oir-1",
		encode("sector", "real estate"):                       "oir-7 oir-3",
		encode("sector", "Financiacion y seguros - bancos"):   "oir-5 oir-1",
		encode("sector", "finance", "market", "growth"):       "oir-6 oir-2",
		encode("sector", "construcción"):                      "",
		encode("issuer", "empresa 1", "category", "recompra"): "oir-1",
	} {
		if got := s.get(http.StatusOK, "/api/v1/reports"+target).ids(); got != want {
			t.Errorf("%s finds %q, want %q", target, got, want)
		}
	}
	for target, want := range map[string]string{
		encode("sector", "finance"):                     "fi-1 fi-2",
		encode("sector", "finance", "market", "growth"): "fi-2",
		encode("sector", "banks", "search", "empresa"):  "fi-1",
		encode("market", "bme"):                         "fi-2 fi-3",
	} {
		if got := s.get(http.StatusOK, "/api/v1/issuers"+target).ids(); got != want {
			t.Errorf("issuers with %s are %q, want %q", target, got, want)
		}
	}
	s.get(http.StatusBadRequest, "/api/v1/issuers?sector=zzz").refused("sector", "zzz")
	one, other := s.get(http.StatusOK, "/api/v1/reports?category=fusiones"), s.get(http.StatusOK, "/api/v1/reports?category=FUSI%C3%93N")
	if one.header.Get("ETag") != other.header.Get("ETag") {
		t.Error("two spellings of a question have different tags")
	}
}

// A category or a market that is not known is refused everywhere, with similar names.
func TestUnknownNames(t *testing.T) {
	s := start(t, "demo", categorized())
	key := s.credentials(access.ReadReports | access.ReadIssuers)[0]
	var made struct{ ID string }
	s.call("POST", "/api/v1/webhooks", key, `{"url":"https://127.0.0.1/","filter":{"category":"recompra"}}`, http.StatusCreated, &made)
	for _, test := range []struct{ parameter, value, detail, best string }{
		{"category", "recompar", `Unknown category "recompar". Did you mean «Programas de recompra de acciones, estabilización y autocartera» or «Recompras»?`, ""},
		{"category", "resultdos", `Unknown category "resultdos". Did you mean «Sobre resultados»?`, "Sobre resultados"},
		{"category", "oper", `Unknown category "oper". Did you mean «`, "Sobre operaciones corporativas"},
		{"category", "zzz", `Unknown category "zzz". Known names are, for example, «`, ""},
		{"category", "***", `Unknown category "***". Known names are, for example, «`, ""},
		{"market", "groth", `Unknown market "groth". Did you mean «BME Growth»?`, "BME Growth"},
		{"sector", "bnaks", `Unknown sector "bnaks". Did you mean «FINANCIACIÓN Y SEGUROS/BANCOS»?`, "FINANCIACIÓN Y SEGUROS/BANCOS"},
		{"sector", "inmobilaria", `Unknown sector "inmobilaria". Did you mean «INMOBILIARIAS»?`, "INMOBILIARIAS"},
		{"sector", "zzz", `Unknown sector "zzz". Known names are, for example, «`, ""},
		{"market", "nasdaq", `Unknown market "nasdaq". Known names are, for example, «`, ""},
	} {
		for _, path := range []string{"/api/v1/reports", "/api/v1/reports.csv", "/api/v1/stream", "/api/v1/changes", "/api/v1/search/documents"} {
			doc := s.getWith(http.StatusBadRequest, path+encode(test.parameter, test.value, "search", "x"), key).problem()
			if !strings.HasPrefix(doc.Detail, test.detail) || len(doc.Errors) != 1 || doc.Errors[0].Reason != doc.Detail ||
				len(doc.Errors[0].Suggestions) == 0 || len(doc.Errors[0].Suggestions) > 5 {
				t.Errorf("%s of %q: %+v", path, test.value, doc)
				continue
			}
			if got := doc.Errors[0].Suggestions[0]; test.best != "" && strings.TrimSpace(got) != test.best {
				t.Errorf("%s of %q suggests %q, want %q", path, test.value, got, test.best)
			}
		}
		filter := fmt.Sprintf(`{"filter":{%q:%q}}`, test.parameter, test.value)
		s.call("POST", "/api/v1/webhooks/preview", key, filter, http.StatusBadRequest, nil)
		s.call("POST", "/api/v1/webhooks", key, `{"url":"https://127.0.0.1/",`+filter[1:], http.StatusBadRequest, nil)
		s.call("PATCH", "/api/v1/webhooks/"+made.ID, key, filter, http.StatusBadRequest, nil)
	}
	s.get(http.StatusBadRequest, "/api/v1/reports"+encode("category", strings.Repeat("a", 201)))
	if header := s.getWith(http.StatusOK, "/api/v1/reports?category=recompra", key).header; header.Get("Pregon-Warning") != "" {
		t.Errorf("a warning about a known category: %v", header)
	}
}

// Until the history is loaded, a name that is not known is accepted with a warning,
// and selects reports as soon as they come.
func TestUnknownNamesWithoutHistory(t *testing.T) {
	s := serve(t, query.Options{Source: func() string { return "" }, Partial: func() bool { return true }})
	s.append(categorized())
	key := s.credentials(access.ReadReports | access.ReadIssuers)[0]
	const category = "No category with these words is known so far, and the history is not loaded yet: check the spelling."
	for target, want := range map[string]string{
		"/api/v1/reports?category=recompra":                     "",
		"/api/v1/reports?category=dividendos":                   category,
		"/api/v1/reports?category=dividendos&as_of=1":           category,
		"/api/v1/reports.csv?category=dividendos":               category,
		"/api/v1/changes?category=dividendos":                   category,
		"/api/v1/search/documents?category=dividendos&search=x": category,
		"/api/v1/reports?category=dividendos&market=nasdaq":     category + " " + strings.Replace(category, "category", "market", 1),
	} {
		if got := s.getWith(http.StatusOK, target, key).header.Get("Pregon-Warning"); got != want {
			t.Errorf("%s: warning %q, want %q", target, got, want)
		}
	}
	if got := s.do(http.MethodHead, "/api/v1/stream?category=dividendos", key).header.Get("Pregon-Warning"); got != category {
		t.Errorf("a stream has the warning %q", got)
	}
	s.call("POST", "/api/v1/webhooks/preview", key, `{"filter":{"category":"dividendos"}}`, http.StatusOK, nil)
	s.call("POST", "/api/v1/webhooks", key, `{"url":"https://127.0.0.1/","filter":{"category":"dividendos"}}`, http.StatusCreated, nil)
	late := newReport(disclosure.OIR, 99, "2026-04-23T08:00:00Z")
	late.Category = "Sobre dividendos"
	s.append(store.Batch{Reports: []disclosure.Report{late}})
	if got := s.getWith(http.StatusOK, "/api/v1/reports?category=dividendo", key); got.ids() != "oir-99" || got.header.Get("Pregon-Warning") != "" {
		t.Errorf("once there is a report: %q, %v", got.ids(), got.header)
	}
}

// The document declares the header of warnings wherever a category or a market can be named.
func TestWarningIsDocumented(t *testing.T) {
	warns := []string{
		"getReports", "searchDocuments", "streamEvents", "getChanges", "createWebhook", "previewWebhook", "changeWebhook",
		"createStreamTicket",
		"getShorts", "getShortTotals", "getDealings", "getHoldings", "getOwnShares", "createAlert", "changeAlert",
		"getReportCounts",
	}
	var documented []string
	for _, item := range resttest.Document().Paths.Map() {
		for _, operation := range item.Operations() {
			for _, response := range operation.Responses.Map() {
				if response.Value.Headers["Pregon-Warning"] != nil {
					documented = append(documented, operation.OperationID)
				}
			}
		}
	}
	slices.Sort(warns)
	slices.Sort(documented)
	if !slices.Equal(documented, warns) {
		t.Errorf("the header is documented for %q, want %q", documented, warns)
	}
}

// What a list finds by random words of names, the change list delivers, and nothing
// else.
func TestListsAndChangesAgreeOnNames(t *testing.T) {
	s := start(t, "demo", categorized())
	key := s.credentials(access.ReadReports | access.ReadIssuers)[0]
	rng := rand.New(rand.NewPCG(5, 8))
	words := map[string][]string{}
	for _, r := range categorized().Reports {
		words["category"] = append(words["category"], append(strings.Fields(r.Category), r.Category)...)
	}
	words["market"] = []string{"BME", "growth", "Scaleup", "SIBE", "bme growth", ""}
	found := 0
	for range 300 {
		target := "?limit=50"
		for _, parameter := range []string{"category", "market"} {
			value := words[parameter][rng.IntN(len(words[parameter]))]
			if rng.IntN(3) == 0 {
				value += " " + strings.ToUpper(words[parameter][rng.IntN(len(words[parameter]))])
			}
			if rng.IntN(3) > 0 && value != "-" {
				target += "&" + encode(parameter, value)[1:]
			}
		}
		list, changes := s.do(http.MethodGet, "/api/v1/reports"+target, key), s.do(http.MethodGet, "/api/v1/changes"+target+"&events=report.published,report.backfilled", key)
		if list.status != changes.status {
			t.Fatalf("%s: a list has %d, the changes %d", target, list.status, changes.status)
		}
		if list.status != http.StatusOK {
			continue
		}
		got, want := strings.Fields(changes.ids()), strings.Fields(list.ids())
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: changes have %v, a list %v", target, got, want)
		}
		found += len(want)
	}
	if found < 100 {
		t.Errorf("only %d reports were found", found)
	}
}
