package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
)

// Lists and changes select reports by the facts of their documents.
func TestReportsByFacts(t *testing.T) {
	m := categorized()
	facts := map[string][]disclosure.Fact{
		"oir-1": {{Kind: disclosure.Dividend, Fields: map[string]string{"gross_per_share": "0.25", "currency": "EUR"}}},
		"oir-2": {{Kind: disclosure.BuybackProgramme, Fields: map[string]string{"max_amount": "50000000", "currency": "EUR"}}},
		"oir-3": {{Kind: disclosure.BuybackProgramme, Fields: map[string]string{"max_amount": "49999999.99", "currency": "EUR"}}},
		"oir-6": {
			{Kind: disclosure.BuybackProgramme, Fields: map[string]string{"max_amount": "90000000", "currency": "USD"}},
			{Kind: disclosure.Dividend, Fields: map[string]string{}},
		},
	}
	for i := range m.Reports {
		r := &m.Reports[i]
		r.Facts = facts[disclosure.ReportID(r.Type, r.Number)]
		r.FactsRules = 1
	}
	s := start(t, "demo", m)
	key := s.credentials(access.ReadReports)[0]
	for target, want := range map[string]string{
		encode("fact", "dividend"):                                                     "oir-6 oir-1",
		encode("fact", "buyback_programme"):                                            "oir-6 oir-3 oir-2",
		encode("fact", "buyback_programme", "min_amount", "50000000.0"):                "oir-2",
		encode("fact", "buyback_programme", "min_amount", "1"):                         "oir-3 oir-2",
		encode("fact", "buyback_programme", "min_amount", "1", "currency", "USD"):      "oir-6",
		encode("fact", "buyback_programme", "min_amount", "1", "market", "bme growth"): "oir-2",
		encode("fact", "capital", "min_amount", "1"):                                   "",
		encode("fact", "dividend", "currency", "EUR"):                                  "oir-6 oir-1",
		encode("fact", "rating"):                                                       "",
	} {
		if got := s.get(http.StatusOK, "/api/v1/reports"+target).ids(); got != want {
			t.Errorf("%s finds %q, want %q", target, got, want)
		}
	}
	for target, want := range map[string]string{
		encode("fact", "nothing"): "fact must be dividend, meeting, results, buyback_programme, buyback_trades, " +
			"voting_rights, capital, suspension, board, rating, takeover, liquidity_contract or securitisation_payment",
		encode("fact", "dividend", "min_amount", "1"):                   "needs fact=buyback_programme, buyback_trades or capital",
		encode("min_amount", "1"):                                       "needs fact=",
		encode("fact", "capital", "min_amount", "-1"):                   "not negative",
		encode("fact", "capital", "min_amount", "1", "currency", "eur"): "three capital letters",
		encode("fact", "capital", "currency", "USD"):                    "which is missing",
	} {
		for _, path := range []string{"/api/v1/reports", "/api/v1/changes", "/api/v1/stream"} {
			if doc := s.getWith(http.StatusBadRequest, path+target, key).problem(); !strings.Contains(doc.Detail, want) {
				t.Errorf("%s%s: %q, want %q", path, target, doc.Detail, want)
			}
		}
	}
	var made struct{ Filter map[string]string }
	s.call("POST", "/api/v1/webhooks", key,
		`{"url":"https://127.0.0.1/","events":["report.published"],"filter":{"fact":"capital","min_amount":"10"}}`, http.StatusCreated, &made)
	if made.Filter["fact"] != "capital" || made.Filter["min_amount"] != "10" || made.Filter["currency"] != "EUR" {
		t.Errorf("a webhook has the filter %v", made.Filter)
	}
}
