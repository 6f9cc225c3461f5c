package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pregon/internal/auth/access"
)

// An error lists all invalid arguments and says how to correct them.
func TestInvalidArguments(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	key := s.key(access.AllScopes)
	for _, test := range []struct {
		tool, arguments string
		want            []string
	}{
		{"search_reports", `{"type":"XX"}`, []string{"unknown type 'XX': use IP, HR or OIR"}},
		{"search_reports", `{"type":"ip"}`, []string{"unknown type 'ip': use IP, HR or OIR"}},
		{"search_reports", `{"kind":"bank"}`, []string{"unknown kind 'bank': use company, fund, manager or other"}},
		{"search_reports", `{"limit":0}`, []string{"limit '0' must be a whole number from 1 to 50"}},
		{"search_reports", `{"limit":51}`, []string{"limit '51' must be"}},
		{"search_reports", `{"limit":1.5}`, []string{"limit '1.5' must be"}},
		{"search_reports", `{"limit":1e99}`, []string{"limit '1e99' must be"}},
		{"search_reports", `{"limit":"ten"}`, []string{"limit", "must be a whole number"}},
		{"search_reports", `{"limit":true}`, []string{"limit 'true' must be a whole number"}},
		{"search_reports", `{"page":-1}`, []string{"page '-1' must be"}},
		{"search_reports", `{"page":2147483648}`, []string{"page '2147483648' must be"}},
		{"search_reports", `{"from":"yesterday"}`, []string{"from 'yesterday' must be a date as YYYY-MM-DD"}},
		{"search_reports", `{"from":"2026-05-02","to":"2026-05-01"}`, []string{"from '2026-05-02' must not be later than to, 2026-05-01"}},
		{"search_reports", `{"search":5}`, []string{"search '5' must be a string"}},
		{"search_reports", `{"search":["a"]}`, []string{`search '["a"]' must be a string`}},
		{"search_reports", `{"search":"😀"}`, []string{"search '😀' does not have a word to search for"}},
		{"search_issuers", `{"search":"%"}`, []string{"search '%' does not have a word to search for"}},
		{"search_reports", `{"search":"` + strings.Repeat("de ", 30_000) + `"}`, []string{"may have 65536 bytes at most"}},
		{"search_reports", `{"issuer":"bodgeas"}`, []string{`Unknown issuer "bodgeas". Did you mean BODEGAS DE VALDEBRISA, S.A. (A69000016)?`}},
		{"search_reports", `{"category":"resultdos"}`, []string{`Unknown category "resultdos". Did you mean «Sobre resultados»?`}},
		{"propose_alert", `{"category":"resultdos"}`, []string{`Unknown category "resultdos". Did you mean «Sobre resultados»?`}},
		{"propose_alert", `{"market":"bme groth","limit":1}`, []string{"limit is not an argument", `Unknown market "bme groth". Did you mean «BME Growth» or «BME Scaleup»?`}},
		{"get_issuer", `{"id":"bodgeas"}`, []string{`Unknown issuer "bodgeas". Did you mean BODEGAS DE VALDEBRISA, S.A. (A69000016)? Find ids with search_issuers.`}},
		{"search_reports", `{"in":"title","search":"x"}`, []string{"in 'title' must be document"}},
		{"search_reports", `{"in":"document"}`, []string{"search is needed with in=document"}},
		{"search_reports", `{"query":"x"}`, []string{"query is not an argument of search_reports: use search, type, issuer, watchlist, from, to, category, kind, market, sector, without, fact, min_amount, currency, in, limit, page"}},
		{"search_reports", `{"type":"XX","limit":99,"kind":"bank","nope":1}`, []string{"unknown type 'XX'", "limit '99'", "unknown kind 'bank'", "nope is not an argument"}},
		{"search_reports", `{"type":"` + strings.Repeat("x", 5000) + `"}`, []string{"unknown type 'xxx", "x…'"}},
		{"get_report", `{}`, []string{"id is needed"}},
		{"get_report", `{"id":""}`, []string{"id is needed"}},
		{"get_report", `{"id":null}`, []string{"id is needed"}},
		{"get_report", `{"id":40374}`, []string{"id '40374' must be a string"}},
		{"get_report", `{"id":"40374"}`, []string{"An id is the type and the registration number, such as oir-40374"}},
		{"get_report", `{"id":"oir-1"}`, []string{"There is no report oir-1"}},
		{"get_issuer", `{"id":"nobody"}`, []string{"Find ids with search_issuers"}},
		{"get_issuer", `{"ID":"A69000016"}`, []string{"id is needed", "ID is not an argument"}},
		{"search_issuers", `{"limit":-3,"kind":5}`, []string{"limit '-3' must be", "unknown kind '5': use company"}},
		{"read_document", `{"id":"oir-40374","offset":-1,"max_chars":9000}`, []string{"offset '-1' must be", "max_chars '9000' must be a whole number from 1 to 8000"}},
		{"list_facts", `{"kind":"company"}`, []string{"unknown kind 'company': use dividend, meeting, results, "}},
		{"list_facts", `{"kind":"dividend","order":"amount"}`, []string{"order 'amount' needs kind=buyback_programme, buyback_trades or capital"}},
		{"list_facts", `{"order":"size"}`, []string{"unknown order 'size': use published or amount"}},
		{"list_facts", `{"kind":"dividend","min_amount":"1"}`, []string{"min_amount '1' needs kind=buyback_programme"}},
		{"list_facts", `{"kind":"capital","min_amount":"a lot"}`, []string{"min_amount 'a lot' must be a number"}},
		{"list_facts", `{"from":"last week"}`, []string{"from 'last week' must be a date as YYYY-MM-DD"}},
		{"list_facts", `{"from":"2026-05-02","to":"2026-05-01"}`, []string{"from '2026-05-02' must not be later"}},
		{"list_facts", `{"limit":51,"fact":"dividend"}`, []string{"limit '51' must be", "fact is not an argument of list_facts: use kind, issuer,"}},
		{"list_facts", `{"issuer":"bodgeas"}`, []string{`Unknown issuer "bodgeas".`}},
		{"calendar", `{"kind":"dividend"}`, []string{"unknown kind 'dividend': use ex_date, record_date, payment, meeting, second_call or programme_end"}},
		{"calendar", `{"from":"today"}`, []string{"from 'today' must be a date as YYYY-MM-DD"}},
		{"calendar", `{"limit":51}`, []string{"limit '51' must be a whole number from 1 to 50"}},
		{"calendar", `{"from":"2026-05-02","to":"2026-05-01"}`, []string{"from '2026-05-02' must not be later than to, 2026-05-01"}},
		{"search_reports", `{"fact":"merger"}`, []string{"fact 'merger' must be dividend, meeting, results, "}},
		{"get_analytics", `{"day":1}`, []string{"day is not an argument of get_analytics, which takes none"}},
		{"service_status", `[]`, []string{"arguments must be an object"}},
	} {
		out := s.call(test.tool, test.arguments, key...)
		if !out.IsError || out.StructuredContent != nil {
			t.Errorf("%s %.80s: got %s, want an error", test.tool, test.arguments, out.text())
		}
		for _, want := range test.want {
			if !strings.Contains(out.text(), want) {
				t.Errorf("%s %.80s: want %q in %q", test.tool, test.arguments, want, out.text())
			}
		}
		if len(out.text()) > 2000 || strings.Contains(out.text(), "/api/v1") {
			t.Errorf("%s %.80s: %q", test.tool, test.arguments, out.text())
		}
	}
	// Integers in other notations and empty values, which models send, are accepted.
	for _, arguments := range []string{`{"limit":10.0}`, `{"limit":1e1}`, `{"limit":10,"search":"","type":"","kind":"","from":"","issuer":null}`} {
		if out, _ := s.search(arguments); out.Limit != 10 || out.Total != 4 {
			t.Errorf("%s: %+v", arguments, out)
		}
	}
}

// Words of a heading are enough, and an issuer may be given by its full name.
func TestNamesInArguments(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	for _, arguments := range []string{`{"category":"negocio"}`, `{"issuer":"Bodegas de Valdebrisa, S.A."}`} {
		if out, text := s.search(arguments); out.Total != 1 || strings.Contains(text, "Warning") {
			t.Errorf("%s: %+v, %s", arguments, out, text)
		}
	}
	if out := s.call("get_issuer", `{"id":"bodegas de valdebrisa sa"}`); out.IsError {
		t.Errorf("an issuer by its name: %s", out.text())
	}
}

// Every tool refuses a value that it does not know and names the nearest, also while the
// history is being loaded: a model would take an empty list for the truth.
func TestUnknownValuesAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	nearest := map[string]struct{ given, want string }{
		"category": {"resultdos", "Did you mean «Sobre resultados»"},
		"market":   {"BME Growht", "Did you mean «BME Growth»"},
		"sector":   {"bankz", "Did you mean «"},
		"fact":     {"buybacks", "did you mean buyback_"},
		"type":     {"OIRS", "IP, HR or OIR"},
		"without":  {"routines", "routine"},
		"kind":     {"companies", "company, fund, manager or other"},
		"side":     {"bought", "buy, sell or other"},
		"order":    {"size", "published or amount"},
		"by":       {"week", "day, month"},
		"of":       {"colour", "use "},
		"in":       {"title", "document"},
		"position": {"longs", "short, holding"},
	}
	kinds := map[string]struct{ given, want string }{
		"list_facts": {"recompra", "(did you mean buyback_programme or buyback_trades?)"},
		"calendar":   {"payments", "(did you mean payment?)"},
	}
	checked := 0
	for _, partial := range []bool{false, true} {
		s.desk.Partial = func() bool { return partial }
		for _, tool := range s.tools().Tools {
			var schema struct {
				Required   []string
				Properties map[string]any
			}
			if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
				t.Fatal(err)
			}
			for argument := range schema.Properties {
				test, ok := nearest[argument]
				if kind, own := kinds[tool.Name]; own && argument == "kind" {
					test = kind
				}
				if !ok {
					continue
				}
				given := map[string]string{argument: test.given}
				for _, needed := range schema.Required {
					if needed != argument {
						given[needed] = "month"
					}
				}
				raw, err := json.Marshal(given)
				if err != nil {
					t.Fatal(err)
				}
				out := s.call(tool.Name, string(raw), s.key(access.AllScopes)...)
				if !out.IsError || !strings.Contains(out.text(), test.want) {
					t.Errorf("%s %s: %s, want %q", tool.Name, raw, out.text(), test.want)
				}
				checked++
			}
		}
	}
	if checked < 60 {
		t.Errorf("%d arguments were checked: the test needs more", checked)
	}
}
