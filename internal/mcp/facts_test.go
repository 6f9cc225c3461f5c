package mcp_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/store"
)

// stating returns a report whose document states a fact. Its company is known to the
// directory of the market.
func stating(number int64, at time.Time, kind disclosure.FactKind, fields ...string) disclosure.Report {
	r := newReport(disclosure.OIR, number, at.UTC().Format(time.RFC3339))
	r.NIF = "A69000024"
	r.FactsRules = 1
	f := disclosure.Fact{Kind: kind, Fields: map[string]string{}}
	for i := 0; i < len(fields); i += 2 {
		f.Fields[fields[i]] = fields[i+1]
	}
	r.Facts = []disclosure.Fact{f}
	return r
}

// prove stores what proves the only fact of a report.
func (s *service) prove(r *disclosure.Report, detail disclosure.FactDetail) {
	s.t.Helper()
	body, err := json.Marshal([]disclosure.FactDetail{detail})
	if err != nil {
		s.t.Fatal(err)
	}
	sum := sha256.Sum256(body)
	r.FactsDetail = hex.EncodeToString(sum[:])
	if err := s.store.PutOriginal(s.t.Context(), r.FactsDetail, body); err != nil {
		s.t.Fatal(err)
	}
}

// facts is the result of list_facts and of calendar.
type facts struct {
	Data []struct {
		ReportID    string    `json:"report_id"`
		IssuerID    string    `json:"issuer_id"`
		CompanyName string    `json:"company_name"`
		Title       string    `json:"title"`
		PublishedAt time.Time `json:"published_at"`
		Date        string    `json:"date"`
		Kind        string    `json:"kind"`
		Status      string    `json:"status"`
		Fields      map[string]string
		HeadlineEN  string `json:"headline_en"`
		Evidence    map[string]struct {
			Page  int
			Quote string
		}
	}
	Total, Page, Limit int
	From, To           string
	Widened            []json.RawMessage
	Next               *struct{ Page, Limit int }
}

func (f facts) ids() string {
	var ids []string
	for _, row := range f.Data {
		ids = append(ids, row.ReportID)
	}
	return strings.Join(ids, " ")
}

func (s *service) facts(tool, arguments string) (out facts, text string) {
	s.t.Helper()
	got := s.call(tool, arguments)
	if got.IsError {
		s.t.Fatalf("%s %s: %s", tool, arguments, got.text())
	}
	if err := json.Unmarshal(got.StructuredContent, &out); err != nil {
		s.t.Fatal(err)
	}
	return out, got.text()
}

// day returns the day in Madrid some days after a time.
func day(at time.Time, days int) string {
	return query.Madrid(at).AddDate(0, 0, days).Format(time.DateOnly)
}

// Each of these questions is answered by one call, in the data and in the text.
func TestQuestionsAboutFacts(t *testing.T) {
	t.Parallel()
	now := time.Now()
	days := func(n int) time.Time { return now.AddDate(0, 0, n) }
	s := start(t, market())
	valdebrisa := stating(801, days(-8), disclosure.BuybackProgramme,
		"event", "start", "max_amount", "90000000", "currency", "EUR", "ends_on", day(now, 100))
	valdebrisa.NIF = "A69000016"
	valdebrisa.CompanyName = "BODEGAS DE VALDEBRISA, S.A."
	valdebrisa.Title = "[Simulación] Programa de recompra"
	s.prove(&valdebrisa, disclosure.FactDetail{Evidence: map[string]disclosure.Quote{
		"max_amount": {Page: 2, Text: "90 millones de euros", Before: "por un importe máximo de ", After: ", y"},
	}})
	s.append(store.Batch{Reports: []disclosure.Report{
		stating(800, days(-40), disclosure.BuybackProgramme, "event", "start", "max_amount", "900000000", "currency", "EUR"),
		valdebrisa,
		stating(802, days(-9), disclosure.BuybackProgramme, "event", "start", "max_amount", "250000000", "currency", "EUR"),
		stating(807, days(-3), disclosure.BuybackProgramme, "event", "end", "max_amount", "700000000", "currency", "EUR"),
		stating(803, days(-9), disclosure.Dividend, "gross_per_share", "0.5", "currency", "EUR", "payment_date", day(now, -5)),
		stating(804, days(-2), disclosure.BuybackProgramme, "event", "start", "max_amount", "20000000", "currency", "EUR"),
		stating(805, days(-1), disclosure.Dividend,
			"gross_per_share", "0.25", "currency", "EUR", "ex_date", day(now, 10), "payment_date", day(now, 12)),
		stating(806, days(-1), disclosure.Meeting, "meeting_kind", "ordinary", "first_call", day(now, 11)),
	}})

	// Which companies announced buy-backs last week?
	got, text := s.facts("list_facts", fmt.Sprintf(`{"kind":"buyback_programme","from":%q,"to":%q}`, day(now, -10), day(now, -7)))
	if got.ids() != "oir-801 oir-802" || got.Total != 2 || got.Next != nil {
		t.Errorf("last week: %+v", got)
	}
	first := got.Data[0]
	if first.CompanyName != valdebrisa.CompanyName || first.IssuerID != "A69000016" || first.Title != valdebrisa.Title ||
		first.Kind != "buyback_programme" || first.Fields["max_amount"] != "90000000" || first.HeadlineEN == "" ||
		first.PublishedAt.Unix() != valdebrisa.PublishedAt.Unix() {
		t.Errorf("last week: %+v", first)
	}
	if e := first.Evidence["max_amount"]; e.Page != 2 || e.Quote != "90 millones de euros" {
		t.Errorf("the evidence is %+v", first.Evidence)
	}
	for _, want := range []string{
		"Facts 1 to 2 of 2, newest first. It is ", "«BODEGAS DE VALDEBRISA, S.A.»", "«ACEROS DE NAVALBRUMA, S.A.»",
		"max_amount 90000000 (page 2: «90 millones de euros»)", "oir-802, ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("last week: want %q in %s", want, text)
		}
	}

	// Largest buy-back this month? The largest one ended; the next is new.
	got, text = s.facts("list_facts", fmt.Sprintf(`{"kind":"buyback_programme","order":"amount","from":%q}`, day(now, -10)))
	if got.ids() != "oir-807 oir-802 oir-801 oir-804" || got.Data[0].Fields["event"] != "end" || got.Data[1].Fields["event"] != "start" {
		t.Errorf("largest: %+v", got)
	}
	if !strings.Contains(text, "Facts 1 to 4 of 4, largest first, in EUR.") || !strings.Contains(text, "event start") {
		t.Errorf("largest: %s", text)
	}
	got, text = s.facts("list_facts", fmt.Sprintf(`{"kind":"buyback_programme","order":"amount","from":%q,"limit":1}`, day(now, -10)))
	if got.ids() != "oir-807" || got.Total != 4 || got.Next == nil || got.Next.Page != 2 || !strings.Contains(text, "More: page 2 with limit 1.") {
		t.Errorf("the first of the largest: %+v, %s", got, text)
	}

	// Upcoming dividends?
	got, text = s.facts("calendar", `{"kind":"payment"}`)
	if got.ids() != "oir-805" || got.Total != 1 || got.Data[0].Date != day(now, 12) || got.From != day(now, 0) {
		t.Errorf("dividends: %+v", got)
	}
	entry := got.Data[0]
	if !strings.Contains(entry.HeadlineEN, "0.25") || entry.CompanyName != "ACEROS DE NAVALBRUMA, S.A." || entry.Status != "confirmed" {
		t.Errorf("dividends: %+v", entry)
	}
	if want := "- " + day(now, 12) + ", payment, «ACEROS DE NAVALBRUMA, S.A.» (A69000024): «"; !strings.Contains(text, want) {
		t.Errorf("dividends: want %q in %s", want, text)
	}

	// The whole calendar is by day, and an issuer has its own.
	if got, _ := s.facts("calendar", `{}`); got.ids() != "oir-805 oir-806 oir-805 oir-801" || got.Limit != 50 {
		t.Errorf("the calendar: %+v", got)
	}
	if got, _ := s.facts("calendar", `{"issuer":"BVB"}`); got.ids() != "oir-801" {
		t.Errorf("the calendar of an issuer: %+v", got)
	}
	if got, _ := s.facts("calendar", `{"limit":1,"page":2}`); got.ids() != "oir-806" || got.Next == nil || got.Next.Page != 3 {
		t.Errorf("a page of the calendar: %+v", got)
	}
	if got, _ := s.facts("calendar", fmt.Sprintf(`{"to":%q,"from":%[1]q}`, day(now, 11))); got.ids() != "oir-806" {
		t.Errorf("a day of the calendar: %+v", got)
	}
}

// A list of facts has the arguments of REST, and says what was added to a search.
func TestListFacts(t *testing.T) {
	t.Parallel()
	at := instant("2026-05-04T08:00:00Z")
	dollars := stating(703, at, disclosure.BuybackProgramme, "event", "start", "max_amount", "900", "currency", "USD")
	dollars.Title = "[Simulación] Programa de recompra"
	s := start(t, market())
	s.append(store.Batch{Reports: []disclosure.Report{
		stating(701, at, disclosure.Dividend, "gross_per_share", "0.25", "currency", "EUR"),
		stating(702, at, disclosure.BuybackProgramme, "event", "start", "max_amount", "100", "currency", "EUR"),
		dollars,
	}})
	for arguments, want := range map[string]string{
		`{}`:                                 "oir-703 oir-702 oir-701",
		`{"kind":"dividend"}`:                "oir-701",
		`{"kind":"rating"}`:                  "",
		`{"issuer":"BVB"}`:                   "",
		`{"issuer":"ANB","kind":"dividend"}`: "oir-701",
		`{"kind":"buyback_programme","min_amount":"100"}`:                  "oir-702",
		`{"kind":"buyback_programme","min_amount":"101"}`:                  "",
		`{"kind":"buyback_programme","min_amount":"101","currency":"USD"}`: "oir-703",
		`{"kind":"buyback_programme","order":"amount"}`:                    "oir-702",
		`{"order":"published","limit":1,"page":2}`:                         "oir-702",
		`{"page":7}`:           "",
		`{"search":"buyback"}`: "oir-703",
		`{"search":"recompra","from":"2026-05-04","to":"2026-05-04","kind":""}`: "oir-703",
	} {
		got, text := s.facts("list_facts", arguments)
		if got.ids() != want {
			t.Errorf("%s finds %q, want %q", arguments, got.ids(), want)
		}
		if strings.Contains(arguments, "buyback\"}") != (len(got.Widened) > 0) {
			t.Errorf("%s was widened by %s", arguments, got.Widened)
		}
		if want == "" && !strings.HasPrefix(text, fmt.Sprintf("No facts here (%d found in all). It is ", got.Total)) {
			t.Errorf("%s: %s", arguments, text)
		}
	}
	if _, text := s.facts("calendar", `{"from":"2001-01-01","to":"2001-01-02"}`); !strings.Contains(text, "from 2001-01-01 to 2001-01-02") {
		t.Errorf("an empty calendar: %s", text)
	}
}

// get_report has the facts with the words that prove them, and only the first rows.
func TestFactsOfReport(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	r := stating(701, instant("2026-05-04T08:00:00Z"), disclosure.BuybackTrades, "shares", "60", "amount", "600.5", "currency", "EUR")
	detail := disclosure.FactDetail{Evidence: map[string]disclosure.Quote{
		"shares": {Page: 3, Text: "60 acciones", Before: strings.Repeat("antes ", 50), After: "después"},
		"amount": {Page: 3, Text: strings.Repeat("palabra ", 100)},
	}}
	for range 60 {
		detail.Rows = append(detail.Rows, map[string]string{"date": "2026-05-02", "shares": "1"})
	}
	s.prove(&r, detail)
	silent := newReport(disclosure.OIR, 702, "2026-05-04T08:00:00Z")
	silent.FactsRules = 1
	s.append(store.Batch{Reports: []disclosure.Report{r, silent}})
	out := s.call("get_report", `{"id":"oir-701"}`)
	got := object(t, out.StructuredContent)
	fact := got["facts"].([]any)[0].(map[string]any)
	evidence := fact["evidence"].(map[string]any)
	shares := evidence["shares"].(map[string]any)
	amount := evidence["amount"].(map[string]any)["quote"].(string)
	if len(fact["rows"].([]any)) != 10 || fact["more_rows"] != 50.0 || len(shares) != 2 || shares["quote"] != "60 acciones" || len(amount) > 250 {
		t.Errorf("the facts are %v", fact)
	}
	if got["headline_en"] == nil {
		t.Error("there is no headline")
	}
	for _, want := range []string{
		"Headline: «" + got["headline_en"].(string) + "»\n", "Fact: buyback_trades amount 600.5 (page 3: «palabra ",
		"; shares 60 (page 3: «60 acciones»)\n",
	} {
		if !strings.Contains(out.text(), want) {
			t.Errorf("want %q in %s", want, out.text())
		}
	}
	if text := s.fetched("oir-701"); !strings.Contains(text, "Fact: buyback_trades") {
		t.Errorf("fetch: %s", text)
	}
	for id, want := range map[string]int{"oir-702": 0, "oir-40374": -1} {
		switch list, known := object(t, s.call("get_report", `{"id":"`+id+`"}`).StructuredContent)["facts"].([]any); {
		case want < 0 && known, want >= 0 && (!known || len(list) != want):
			t.Errorf("%s has the facts %v", id, list)
		}
	}
}

// Quotes, names and values are words of documents.
func TestFactsAreQuoted(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	var b store.Batch
	for i, attack := range attacks {
		r := stating(int64(1000+i), time.Now().Add(-time.Hour), disclosure.Board, "action", "appointed", "person", attack, "role", attack)
		r.CompanyName = attack
		r.Title = attack
		r.Facts[0].Fields["effective"] = "2026-05-01"
		s.prove(&r, disclosure.FactDetail{Evidence: map[string]disclosure.Quote{"person": {Page: 1, Text: attack, Before: attack}}})
		dividend := stating(int64(2000+i), time.Now().Add(-time.Hour), disclosure.Dividend, "gross_per_share", attack,
			"payment_date", day(time.Now(), 3))
		dividend.NIF = fmt.Sprintf("A690010%02d", i)
		b.Reports = append(b.Reports, r, dividend)
		b.Issuers = append(b.Issuers, disclosure.Issuer{ID: fmt.Sprintf("a%d", i), NIF: dividend.NIF, Name: attack, Kind: disclosure.Company})
	}
	s.append(b)
	stated := 0
	for page := 1; page <= 2; page++ {
		got, text := s.facts("list_facts", fmt.Sprintf(`{"kind":"board","limit":5,"page":%d}`, page))
		checkQuoted(t, text)
		if len(got.Data) != strings.Count(text, "\n- ") {
			t.Errorf("%d facts and %d lines", len(got.Data), strings.Count(text, "\n- "))
		}
		stated += len(got.Data)
		for _, row := range got.Data { // the data has the words as they are
			if !slices.Contains(attacks, row.Fields["person"]) || row.Evidence["person"].Quote != row.Fields["person"] {
				t.Errorf("got %+v", row)
			}
		}
	}
	if stated != len(attacks) {
		t.Errorf("%d facts, want %d", stated, len(attacks))
	}
	got, text := s.facts("calendar", `{}`)
	checkQuoted(t, text)
	if len(got.Data) != len(attacks) || strings.Count(text, "\n- ") != len(attacks) {
		t.Errorf("%d dates and %d lines", len(got.Data), strings.Count(text, "\n- "))
	}
	for i := range attacks {
		checkQuoted(t, s.call("get_report", fmt.Sprintf(`{"id":"oir-%d"}`, 1000+i)).text())
	}
}

// Long lists are cut to what a model can read, and following next finds everything once.
func TestFactsAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	var b store.Batch
	for i := range 130 {
		r := stating(int64(1000+i), time.Now().Add(-time.Hour), disclosure.Meeting, "meeting_kind", "ordinary",
			"first_call", day(time.Now(), 1+i)+"T12:30", "second_call", day(time.Now(), 200+i))
		r.Title = strings.Repeat("título ", 1+i)
		r.CompanyName = strings.Repeat("Compañía ", 1+i%20)
		long := disclosure.Quote{Page: 1, Text: strings.Repeat("palabra ", i), Before: strings.Repeat("antes ", 60)}
		s.prove(&r, disclosure.FactDetail{Evidence: map[string]disclosure.Quote{"first_call": long, "second_call": long, "meeting_kind": long}})
		b.Reports = append(b.Reports, r)
	}
	s.append(b)
	all := map[string]int{"list_facts": len(b.Reports), "calendar": 2 * len(b.Reports)}
	for tool, limits := range map[string][]int{"list_facts": {50, 10, 7}, "calendar": {50, 9}} {
		for _, limit := range limits {
			seen := map[string]int{}
			cut := false
			rounds := 0
			for page, size := 1, limit; ; rounds++ {
				arguments := fmt.Sprintf(`{"page":%d,"limit":%d}`, page, size)
				out := s.call(tool, arguments)
				if tokens := float64(len(out.StructuredContent)+len(out.text())) / 3.3; tokens >= 6000 || out.IsError {
					t.Fatalf("%s %s has %.0f tokens: %.200s", tool, arguments, tokens, out.text())
				}
				got, _ := s.facts(tool, arguments)
				for _, row := range got.Data {
					seen[row.ReportID+row.Date+row.Kind]++
				}
				cut = cut || got.Next != nil && len(got.Data) < size
				if got.Next == nil || rounds > 300 {
					break
				}
				page, size = got.Next.Page, got.Next.Limit
			}
			for what, times := range seen {
				if times != 1 {
					t.Errorf("%s, limit %d: %s is there %d times", tool, limit, what, times)
				}
			}
			if len(seen) != all[tool] || limit == 50 && !cut {
				t.Errorf("%s, limit %d: %d rows, cut: %t", tool, limit, len(seen), cut)
			}
		}
	}
}

// A list of what documents state says that it has no reports without one.
func TestOnlyDocuments(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	s.append(store.Batch{Reports: []disclosure.Report{
		stating(904, time.Now().Add(-time.Hour), disclosure.Dividend, "gross_per_share", "0.25"),
	}})
	for call, want := range map[[2]string]bool{
		{"list_facts", `{"kind":"dividend"}`}:                    true,
		{"list_facts", `{"kind":"takeover"}`}:                    true,
		{"count_reports", `{"by":"issuer","fact":"dividend"}`}:   true,
		{"search_reports", `{"fact":"dividend"}`}:                true,
		{"search_reports", `{"fact":"takeover"}`}:                true,
		{"count_reports", `{"by":"issuer","search":"dividend"}`}: false,
		{"search_reports", `{}`}:                                 false,
	} {
		got := s.call(call[0], call[1]).text()
		if strings.Contains(got, "Reports without a document that states it clearly are not here") != want {
			t.Errorf("%s: got %s", call, got)
		}
	}
}
