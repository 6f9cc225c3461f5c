package rest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
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
	if last := rows[len(rows)-1]; last[slices.Index(rows[0], "facts.kind")] != "buyback_trades" {
		t.Errorf("the changes as CSV: got %q, want the kind of the fact", last)
	}

	// Facts are in memory, and so they are returned while the store does not answer.
	s.must(s.store.Close())
	if body := string(s.get(http.StatusOK, "/api/v1/reports/oir-7").body); !strings.Contains(body, alone) {
		t.Errorf("without the store: got %s, want %s in it", body, alone)
	}
}

// addFacts adds reports with facts: three dividends, two programmes, a meeting.
func addFacts(t *testing.T, s *service) {
	t.Helper()
	fact := func(kind disclosure.FactKind, fields ...string) disclosure.Fact {
		f := disclosure.Fact{Kind: kind, Fields: map[string]string{}}
		for i := 0; i < len(fields); i += 2 {
			f.Fields[fields[i]] = fields[i+1]
		}
		return f
	}
	var reports []disclosure.Report
	add := func(number int64, title, summary string, facts ...disclosure.Fact) {
		r := newReport(disclosure.OIR, number, "2026-04-22T08:00:00Z")
		r.NIF = "A69001238"
		r.Title = title
		r.Summary = summary
		r.Facts = facts
		r.FactsRules = 1
		reports = append(reports, r)
	}
	add(701, "Pago de dividendo", "Lo anuncia Julia Arce.",
		fact(disclosure.Dividend, "gross_per_share", "0.25", "currency", "EUR", "ex_date", "2026-12-15", "payment_date", "2026-12-17"),
		fact(disclosure.Dividend, "gross_per_share", "0.1", "currency", "EUR", "payment_date", "2027-01-08"))
	add(702, "Programa de recompra", "",
		fact(disclosure.BuybackProgramme, "event", "start", "max_amount", "50000000", "currency", "EUR", "ends_on", "2027-06-30"))
	add(703, "Programa de recompra", "",
		fact(disclosure.BuybackProgramme, "event", "start", "max_amount", "900000000", "currency", "USD"))
	add(704, "Programa de recompra", "",
		fact(disclosure.BuybackProgramme, "event", "start", "max_amount", "120000000.5", "currency", "EUR"))
	add(705, "Convocatoria de junta", "",
		fact(disclosure.Meeting, "meeting_kind", "ordinary", "first_call", "2026-12-15T12:30", "second_call", "2026-12-16T12:30"))
	add(706, "Otra comunicación", "")
	s.append(store.Batch{Reports: reports})
}

// builder is the issuer of the facts.
func builder() store.Batch {
	return store.Batch{Issuers: []disclosure.Issuer{{
		ID:     "A69001238",
		Name:   "CONSTRUCCIONES FICTICIAS, S.A.",
		Market: "SIBE",
		Sector: "CONSTRUCCIÓN",
	}}}
}

func TestFacts(t *testing.T) {
	s := start(t, "demo", builder())
	addFacts(t, s)
	for query, want := range map[string]string{
		"":                          "meeting, buyback_programme, buyback_programme, buyback_programme, dividend, dividend of 6",
		"?kind=dividend":            "dividend, dividend of 2",
		"?kind=rating":              " of 0",
		"?kind=dividend&limit=1":    "dividend of 2",
		"?limit=2&page=3":           "dividend, dividend of 6",
		"?page=9":                   " of 6",
		"?search=recompra":          "buyback_programme, buyback_programme, buyback_programme of 3",
		"?search=buyback":           "buyback_programme, buyback_programme, buyback_programme of 3",
		"?search=arce":              " of 0", // a person in a summary
		"?from=2026-04-23":          " of 0",
		"?issuer=A69001238&limit=1": "meeting of 6",
		"?sector=builders&limit=1":  "meeting of 6",
		"?sector=banks":             " of 0",
		"?market=sibe&limit=1":      "meeting of 6",
		"?market=growth":            " of 0",
		"?kind=buyback_programme&min_amount=50000000.01":           "buyback_programme of 1",
		"?kind=buyback_programme&min_amount=50000000":              "buyback_programme, buyback_programme of 2",
		"?kind=buyback_programme&min_amount=50000000&currency=USD": "buyback_programme of 1",
		"?kind=buyback_programme&order=amount":                     "buyback_programme, buyback_programme of 2",
		"?kind=buyback_programme&order=amount&currency=USD":        "buyback_programme of 1",
		"?kind=buyback_programme&order=amount&limit=1&page=2":      "buyback_programme of 2",
	} {
		var got struct {
			Data []struct {
				Kind       string
				ReportID   string `json:"report_id"`
				HeadlineEN string `json:"headline_en"`
			}
			Total int
		}
		s.must(json.Unmarshal(s.get(200, "/api/v1/facts"+query).body, &got))
		var kinds []string
		for _, d := range got.Data {
			kinds = append(kinds, d.Kind)
			if d.HeadlineEN == "" {
				t.Errorf("%s: no headline", query)
			}
		}
		if text := fmt.Sprintf("%s of %d", strings.Join(kinds, ", "), got.Total); text != want {
			t.Errorf("%s: got %s, want %s", query, text, want)
		}
		if strings.Contains(query, "order=amount") && !strings.Contains(query, "USD") && !strings.Contains(query, "page") &&
			got.Data[0].ReportID != "oir-704" {
			t.Errorf("%s: the first is %s", query, got.Data[0].ReportID)
		}
	}
	for query, want := range map[string]string{
		"?kind=dividends":                "kind",
		"?order=amount":                  "order",
		"?kind=dividend&order=amount":    "order",
		"?order=size":                    "order",
		"?kind=dividend&min_amount=1":    "kind=buyback_programme",
		"?currency=USD":                  "min_amount",
		"?from=2026-05-01&to=2026-04-01": "from",
		"?limit=51":                      "limit",
	} {
		if body := string(s.get(http.StatusBadRequest, "/api/v1/facts"+query).body); !strings.Contains(body, want) {
			t.Errorf("%s: got %s", query, body)
		}
	}
}

func TestCalendar(t *testing.T) {
	s := start(t, "demo", builder())
	addFacts(t, s)
	type entry struct {
		UID, Date, Kind, Status string
	}
	for query, want := range map[string]string{
		"?from=2026-12-01&to=2026-12-31":                                 "2026-12-15 ex_date, 2026-12-15 meeting, 2026-12-16 second_call, 2026-12-17 payment",
		"?from=2026-12-16&to=2026-12-16":                                 "2026-12-16 second_call",
		"?from=2026-12-18&kind=payment":                                  "2027-01-08 payment",
		"?to=2026-12-15&kind=ex_date&issuer=A69001238":                   "2026-12-15 ex_date",
		"?from=2027-06-01&to=2027-06-30":                                 "2027-06-30 programme_end",
		"?from=2027-06-01&to=2027-06-30&sector=construction&market=sibe": "2027-06-30 programme_end",
		"?from=2027-06-01&to=2027-06-30&sector=banks":                    "",
		"?from=2027-06-01&to=2027-06-30&market=latibex":                  "",
		"?from=2027-07-01&to=2027-07-31":                                 "",
		"?from=2026-12-01&to=2026-12-31&limit=1&page=2":                  "2026-12-15 meeting",
		"?from=2026-12-01&to=2026-12-31&limit=2&page=9":                  "",
	} {
		var got struct {
			Data []entry
		}
		s.must(json.Unmarshal(s.get(200, "/api/v1/calendar"+query).body, &got))
		var days []string
		for _, e := range got.Data {
			days = append(days, e.Date+" "+e.Kind)
			if tentative := e.Kind == "second_call"; tentative != (e.Status == "tentative") {
				t.Errorf("%s: %s is %s", query, e.Kind, e.Status)
			}
		}
		if text := strings.Join(days, ", "); text != want {
			t.Errorf("%s:\ngot  %s\nwant %s", query, text, want)
		}
	}
	for query, want := range map[string]string{
		"?kind=dividend":                 "kind",
		"?from=2027-01-01&to=2026-01-01": "from",
		"?limit=2001":                    "limit",
		"?sector=zzz":                    "Unknown sector",
	} {
		if body := string(s.get(http.StatusBadRequest, "/api/v1/calendar"+query).body); !strings.Contains(body, want) {
			t.Errorf("%s: got %s", query, body)
		}
	}
}

// The feed has an address for an issuer and for a kind, and is not counted.
func TestCalendarFeed(t *testing.T) {
	s := start(t, "demo", builder())
	addFacts(t, s)
	all := s.get(200, "/api/v1/calendar.ics")
	body := string(all.body)
	if got := all.header.Get("Content-Type"); got != "text/calendar; charset=utf-8" {
		t.Errorf("the type is %s", got)
	}
	if got := all.header.Get("RateLimit"); got != "" {
		t.Errorf("the feed is counted: %s", got)
	}
	if got := strings.Count(body, "BEGIN:VEVENT"); got != 6 || !strings.Contains(body, "STATUS:TENTATIVE") {
		t.Errorf("got %d events:\n%s", got, body)
	}
	if !strings.Contains(string(s.get(200, "/api/v1/calendar.ics?language=en&kind=meeting").body), "general meeting") {
		t.Error("the titles are not in English")
	}
	for sector, want := range map[string]int{"construction": 6, "banks": 0} {
		got := strings.Count(string(s.get(200, "/api/v1/calendar.ics?sector="+sector).body), "BEGIN:VEVENT")
		if got != want {
			t.Errorf("%d events of %s, want %d", got, sector, want)
		}
	}
	s.getWith(http.StatusNotModified, "/api/v1/calendar.ics", http.Header{"If-None-Match": all.header["Etag"]})
	s.get(http.StatusBadRequest, "/api/v1/calendar.ics?language=de")
	s.get(http.StatusBadRequest, "/api/v1/calendar.ics?issuer=nobody-of-that-name")
}
