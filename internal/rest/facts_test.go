package rest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// putDetails stores what proves facts, and returns its hash.
func putDetails(t *testing.T, s *service, details ...disclosure.FactDetail) string {
	t.Helper()
	body, err := json.Marshal(details)
	s.must(err)
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	s.must(s.store.PutOriginal(t.Context(), hash, body))
	return hash
}

// The detail of a report has its facts, with rows and evidence where they are stored.
func TestReportFacts(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	trades := disclosure.Fact{Kind: disclosure.BuybackTrades, Fields: map[string]string{"shares": "1000"}}
	detail := putDetails(t, s, disclosure.FactDetail{
		Rows:     []map[string]string{{"date": "2026-04-21", "shares": "1000"}},
		Evidence: map[string]disclosure.Quote{"shares": {Page: 2, Text: "1.000 acciones", Before: "Se compraron "}},
	})
	r := newReport(disclosure.OIR, 7, "2026-04-22T08:00:00Z")
	r.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: strings.Repeat("ab", 32)}
	unread := newReport(disclosure.OIR, 8, "2026-04-22T08:00:00Z")
	silent := newReport(disclosure.OIR, 9, "2026-04-22T08:00:00Z")
	silent.FactsRules = 1
	imported := newReport(disclosure.OIR, 10, "2026-04-22T08:00:00Z")
	imported.Facts = []disclosure.Fact{trades}
	imported.FactsRules = 1
	lost := newReport(disclosure.OIR, 11, "2026-04-22T08:00:00Z")
	lost.Facts = imported.Facts
	lost.FactsRules = 1
	lost.FactsDetail = strings.Repeat("0c", 32)
	s.append(store.Batch{Reports: []disclosure.Report{r, unread, silent, imported, lost}})
	before := s.catalog.Snapshot().Seq()
	s.append(store.Batch{Aside: []disclosure.Report{{
		ID:           "oir-7",
		Type:         disclosure.OIR,
		Number:       7,
		Facts:        []disclosure.Fact{trades},
		FactsRules:   1,
		FactsOf:      r.Document.SHA256,
		FactsDetail:  detail,
		FactsReadyAt: time.Date(2026, 4, 22, 8, 0, 5, 0, time.UTC),
	}}})
	now := s.catalog.Snapshot().Seq()

	const alone = `"facts":[{"kind":"buyback_trades","fields":{"shares":"1000"}}],`
	const proved = `"facts":[{"kind":"buyback_trades","fields":{"shares":"1000"},"rows":[{"date":"2026-04-21","shares":"1000"}],` +
		`"evidence":{"shares":{"page":2,"quote":"1.000 acciones","before":"Se compraron ","after":""}}}],` +
		`"facts_ready_at":"2026-04-22T10:00:05+02:00",`
	for target, want := range map[string]string{
		"oir-7":                               proved,
		"oir-8":                               `"facts":null,"facts_ready_at":null,`,
		"oir-9":                               `"facts":[],`,
		"oir-10":                              alone,
		"oir-11":                              alone,
		fmt.Sprintf("oir-7?as_of=%d", before): `"facts":null,"facts_ready_at":null,`,
		fmt.Sprintf("oir-7?as_of=%d", now):    proved,
	} {
		if body := string(s.get(http.StatusOK, "/api/v1/reports/"+target).body); !strings.Contains(body, want) {
			t.Errorf("%s: got %s, want %s in it", target, body, want)
		}
	}

	// The history and the changes have no rows and no evidence.
	history := string(s.get(http.StatusOK, "/api/v1/reports/oir-7/history").body)
	if want := `{"field":"facts","old":null,"new":[{"kind":"buyback_trades","fields":{"shares":"1000"}}]}`; !strings.Contains(history, want) {
		t.Errorf("history: got %s, want %s in it", history, want)
	}
	changes := string(s.getWith(http.StatusOK, fmt.Sprintf("/api/v1/changes?cursor=%d", before), s.key()).body)
	if !strings.Contains(changes, `"facts":[{"kind":"buyback_trades","fields":{"shares":"1000"}}]`) ||
		!strings.Contains(changes, `"changed":["facts","facts_ready_at"]`) || strings.Contains(changes, "1.000 acciones") {
		t.Errorf("changes: %s", changes)
	}
	rows := s.getWith(http.StatusOK, fmt.Sprintf("/api/v1/changes.csv?cursor=%d", before), s.key()).csv()
	if last := rows[len(rows)-1]; last[len(last)-1] != "buyback_trades" {
		t.Errorf("the changes as CSV: got %q, want the kind at the end", last)
	}

	// Facts are in memory, and so they are returned while the store does not answer.
	s.must(s.store.Close())
	if body := string(s.get(http.StatusOK, "/api/v1/reports/oir-7").body); !strings.Contains(body, alone) {
		t.Errorf("without the store: got %s, want %s in it", body, alone)
	}
}
