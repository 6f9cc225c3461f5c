package rest_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// pastService is the market, and then a correction of a title, a new report and
// another ticker of an issuer. It returns the newest seq of the market.
func pastService(t *testing.T) (*service, int64) {
	s := start(t, "demo", market())
	before := s.catalog.Snapshot().Seq()
	again := market().Reports[2] // oir-40374
	again.Title, again.PublishedAt = "[Simulación] Ampliación de capital", again.PublishedAt.Add(-48*time.Hour)
	another := querytest.Report(disclosure.IP, 3124, "2026-04-23T08:00:00Z")
	bodegas := market().Issuers[0]
	bodegas.Ticker, bodegas.Name = "NEW", "BODEGAS NUEVAS, S.A."
	s.append(store.Batch{Issuers: []disclosure.Issuer{bodegas}, Reports: []disclosure.Report{again, another}})
	return s, before
}

// pastLog records for which callers the past is read.
type pastLog struct {
	*sqlite.Store
	mu      sync.Mutex
	callers []access.Caller // guarded by mu
}

func (l *pastLog) Head(ctx context.Context) (disclosure.Head, error) {
	l.mu.Lock()
	l.callers = append(l.callers, access.CallerFrom(ctx))
	l.mu.Unlock()
	return l.Store.Head(ctx)
}

// TestCallersOfThePast: the queue for past states knows the callers: by their principal,
// or without a credential by their network.
func TestCallersOfThePast(t *testing.T) {
	s, before := pastService(t)
	s.get(200, fmt.Sprintf("/api/v1/reports?as_of=%d", before))
	s.getWith(200, fmt.Sprintf("/api/v1/reports?as_of=%d", before-1), s.key())
	s.past.mu.Lock()
	defer s.past.mu.Unlock()
	seen := slices.Compact(s.past.callers)
	if len(seen) != 2 || slices.Contains(seen, "") {
		t.Errorf("past states were built for the callers %q, want two", seen)
	}
}

func TestReportAsOf(t *testing.T) {
	s, before := pastService(t)
	target := "/api/v1/reports/oir-40374"
	var now, then query.Report
	s.get(200, target).decode(&now)
	a := s.get(200, fmt.Sprintf("%s?as_of=%d", target, before))
	a.decode(&then)
	if *now.Ticker != "NEW" || now.AsOfSeq != nil {
		t.Errorf("now: %+v", now)
	}
	if then.Title == now.Title || *then.Ticker != "BVB" || *then.AsOfSeq != before || *then.IssuerID != "A69000016" {
		t.Errorf("as of %d: %s", before, a.body)
	}
	if a.header.Get("Pregon-Seq") != fmt.Sprint(before) || a.header.Get("Cache-Control") != "public, max-age=3600" {
		t.Error(a.header)
	}
	for _, value := range []string{s.at(before), "000" + fmt.Sprint(before)} {
		if b := s.get(200, target+"?as_of="+value); string(b.body) != string(a.body) {
			t.Errorf("as_of=%s: %s", value, b.body)
		}
	}
	for _, late := range []string{"/api/v1/reports/ip-3124?as_of=" + s.at(before), target + "?as_of=0", "/api/v1/issuers/A69000016?as_of=0"} {
		if b := s.get(404, late); !strings.Contains(string(b.body), "problem:not-found") {
			t.Errorf("%s: %s", late, b.body)
		}
	}
}

func TestIssuerAsOf(t *testing.T) {
	s, before := pastService(t)
	var then query.Issuer
	s.get(200, fmt.Sprintf("/api/v1/issuers/BVB?as_of=%d", before)).decode(&then)
	if then.Name != "BODEGAS DE VALDEBRISA, S.A." || *then.Ticker != "BVB" || *then.ReportCount != 1 || len(then.Latest) != 1 || *then.AsOfSeq != before {
		t.Errorf("%+v", then)
	}
	if !strings.Contains(string(then.Latest[0]), `"ticker":"BVB"`) || !strings.Contains(string(then.Latest[0]), "dividendos") {
		t.Errorf("its report was %s", then.Latest[0])
	}
	s.get(404, "/api/v1/issuers/BVB")
}

func TestListAsOf(t *testing.T) {
	s, before := pastService(t)
	list := func(filter string) (ids []string, total int) {
		t.Helper()
		var out struct {
			Data    []struct{ ID string }
			Total   int
			AsOfSeq *int64 `json:"as_of_seq"`
		}
		a := s.get(200, fmt.Sprintf("/api/v1/reports?as_of=%d&%s", before, filter))
		a.decode(&out)
		if out.AsOfSeq == nil || *out.AsOfSeq != before || a.header.Get("Pregon-Seq") != fmt.Sprint(before) {
			t.Errorf("%s: %s", filter, a.body)
		}
		for _, r := range out.Data {
			ids = append(ids, r.ID)
		}
		return ids, out.Total
	}
	for filter, want := range map[string][]string{
		"limit=50":                      {"oir-40375", "oir-40374", "ip-3123", "hr-256057"},
		"limit=2&page=2":                {"ip-3123", "hr-256057"},
		"search=BVB":                    {"oir-40374"},
		"search=NEW":                    nil,
		"search=dividendos":             {"oir-40374"},
		"search=capital":                nil,
		"issuer=BVB&from=2026-04-22":    {"oir-40374"},
		"to=2026-04-21&type=IP":         {"ip-3123"},
		"type=IP&from=2026-04-23":       nil,
		"market=SIBE&category=recompra": nil,
		"category=financiera":           {"oir-40374"},
		"kind=fund":                     {"hr-256057"},
	} {
		got, total := list(strings.ReplaceAll(filter, " ", "+"))
		if diff := cmp.Diff(want, got); diff != "" || total < len(want) {
			t.Errorf("%s: %d in all (-want +got):\n%s", filter, total, diff)
		}
	}
	if rows := s.get(200, fmt.Sprintf("/api/v1/reports.csv?limit=2&as_of=%d", before)); len(rows.csv()) != 3 || rows.header.Get("Pregon-Seq") != fmt.Sprint(before) ||
		!strings.Contains(rows.header.Get("Link"), fmt.Sprintf("as_of=%d", before)) || rows.header.Get("Cache-Control") != "public, max-age=3600" {
		t.Errorf("%v\n%s", rows.header, rows.body)
	}
	s.get(400, fmt.Sprintf("/api/v1/reports?as_of=%d&issuer=NEW", before)).refused("issuer", "NEW")
	s.getWith(400, fmt.Sprintf("/api/v1/reports?as_of=%d&in=document&search=x", before), s.credentials(access.AllScopes)[0])
	if a, b := s.get(200, "/api/v1/reports?as_of=1"), s.get(200, "/api/v1/reports?as_of=0"); a.header.Get("ETag") == b.header.Get("ETag") {
		t.Error("two points have the same tag")
	}
}

// TestAsOfTime: a time means the seq before the first change that occurred after it,
// although clocks differ.
func TestAsOfTime(t *testing.T) {
	s, before := pastService(t)
	db, err := sql.Open("sqlite", s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	day := time.Date(2026, 4, 22, 21, 59, 59, 0, time.UTC) // the last second of the day in Madrid
	clocks := []time.Duration{0, 1, 2, 3, 9, 4, 5, 6, 7, 8, 10}
	newest := s.catalog.Snapshot().Seq()
	for seq := range newest {
		clock := day.Add(clocks[min(int(seq), len(clocks)-1)] * time.Second)
		if _, err := db.Exec(`UPDATE change SET occurred_at = $1 WHERE seq = $2`, clock.UnixMicro(), seq+1); err != nil {
			t.Fatal(err)
		}
	}
	if before < 6 || newest != int64(len(clocks)) {
		t.Fatalf("%d changes", newest)
	}
	for value, want := range map[string]int64{
		"2026-04-22T21:59:58.999999Z":    0,
		"2026-04-22T21:59:59Z":           1,
		"2026-04-22T23:59:59+02:00":      1,
		"2026-04-22T23:59:59 02:00":      1,
		"2026-04-22T22:00:01.999999999Z": 3,
		"2026-04-22T22:00:02Z":           4, // the next change has a clock that is ahead
		"2026-04-22T22:00:07Z":           4,
		"2026-04-22T22:00:08Z":           10,
		"2026-04-22T22:00:09Z":           11,
		"2026-06-01T00:00:00Z":           11,
		"2026-04-21":                     0,
		"2026-04-22":                     1,
		"2026-04-23":                     11,
		"1969-01-01T00:00:00Z":           0,
	} {
		a := s.get(200, "/api/v1/reports?as_of="+url.QueryEscape(value))
		if got := a.header.Get("Pregon-Seq"); got != fmt.Sprint(want) {
			t.Errorf("as of %s is %s, want %d", value, got, want)
		}
		if settled := a.header.Get("Cache-Control") == "public, max-age=3600"; settled != (want < newest) {
			t.Errorf("as of %s: %v", value, a.header)
		}
	}
}

// TestHostileAsOf: other values are refused with what is allowed.
func TestHostileAsOf(t *testing.T) {
	s, _ := pastService(t)
	newest := s.catalog.Snapshot().Seq()
	tomorrow := time.Now().Add(24 * time.Hour)
	for value, reason := range map[string]string{
		fmt.Sprint(newest + 1):         fmt.Sprintf("newest seq, %d", newest),
		s.at(newest + 1):               fmt.Sprintf("newest seq, %d", newest),
		"9223372036854775808":          "must be the seq",
		"nonsense-1":                   "another log",
		"-1":                           "must be the seq",
		"x\x00y":                       "must be the seq",
		"\xff\xfe":                     "must be the seq",
		"2026-04-22T10:00:00":          "with its zone",
		"2026-02-30":                   "must be the seq",
		tomorrow.Format(time.RFC3339):  "in the future",
		tomorrow.Format(time.DateOnly): "has ended in Madrid",
		"' OR 1=1 --":                  "must be the seq",
		strings.Repeat("9", 1000):      "64 bytes",
		"2026-04-22T10:00:00." + strings.Repeat("9", 100) + "Z": "64 bytes",
	} {
		for _, target := range []string{"/api/v1/reports", "/api/v1/reports/oir-40374", "/api/v1/issuers/A69000016"} {
			a := s.get(400, target+"?as_of="+url.QueryEscape(value))
			if !strings.Contains(string(a.body), reason) {
				t.Errorf("%s as of %q: %s", target, value, a.body)
			}
		}
	}
	s.get(400, "/api/v1/reports?as_of=1&as_of=2").refused("as_of", "1, 2")
	s.get(404, "/api/v1/reports/nonsense%00?as_of=1")
	s.get(404, "/api/v1/reports/nonsense%00/history")
	s.get(404, "/api/v1/issuers/nonsense%00%ff/history")
	s.get(200, "/api/v1/reports?as_of=")
	s.get(400, "/api/v1/issuers?as_of=1").refused("as_of", "1")
	s.get(400, "/api/v1/issuers?as_of=1&as_of=2").refused("as_of", "1, 2")
	s.get(200, "/api/v1/issuers?as_of=")
}

// TestAsOfAfterRestore: a cursor of an earlier epoch is accepted as far as the logs
// are the same.
func TestAsOfAfterRestore(t *testing.T) {
	s, before := pastService(t)
	old := s.catalog.Snapshot().Head()
	s.get(200, "/api/v1/reports?as_of="+s.at(before)) // the outline of the first epoch is in memory
	if _, err := s.store.RenewEpoch(t.Context(), old.Epoch, disclosure.Mark{}, disclosure.Cursor{Epoch: old.Epoch, Seq: before}); err != nil {
		t.Fatal(err)
	}
	if a := s.get(503, "/api/v1/reports/oir-40374?as_of=2"); !strings.Contains(string(a.body), "restored") {
		t.Errorf("%s", a.body)
	}
	if err := s.catalog.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	cursor := func(seq int64) string { return disclosure.Cursor{Epoch: old.Epoch, Seq: seq}.String() }
	a := s.get(200, "/api/v1/reports?as_of="+cursor(before))
	if a.header.Get("Pregon-Seq") != fmt.Sprint(before) {
		t.Error(a.header)
	}
	if a := s.get(400, "/api/v1/reports?as_of="+cursor(before+1)); !strings.Contains(string(a.body), fmt.Sprintf("up to seq %d", before)) {
		t.Errorf("%s", a.body)
	}
}

func TestHistory(t *testing.T) {
	s, before := pastService(t)
	var all query.History
	a := s.get(200, "/api/v1/reports/OIR-40374/history")
	a.decode(&all)
	if len(all.Data) != 2 || all.Next != nil || all.Data[0].Event != "report.updated" || all.Data[1].Event != "report.published" || all.Data[1].Seq > before {
		t.Fatalf("%s", a.body)
	}
	want := []query.FieldChange{
		{Field: "title", Old: json.RawMessage(`"[Simulación] Pago de \"dividendos\" & otros\tacuerdos de la Junta General"`), New: json.RawMessage(`"[Simulación] Ampliación de capital"`)},
		{Field: "published_at", Old: json.RawMessage(`"2026-04-22T10:00:33+02:00"`), New: json.RawMessage(`"2026-04-20T10:00:33+02:00"`)},
		{Field: "registered_at", Old: json.RawMessage(`"2026-04-22T10:00:33+02:00"`), New: json.RawMessage(`"2026-04-20T10:00:33+02:00"`)},
	}
	if diff := cmp.Diff(want, all.Data[0].Changed); diff != "" {
		t.Errorf("what changed (-want +got):\n%s", diff)
	}
	var pages []query.Version
	for target := "/api/v1/reports/oir-40374/history?limit=1"; ; {
		var page query.History
		s.get(200, target).decode(&page)
		pages = append(pages, page.Data...)
		if page.Next == nil {
			break
		}
		target = fmt.Sprintf("/api/v1/reports/oir-40374/history?limit=1&before=%d", *page.Next)
	}
	if diff := cmp.Diff(all.Data, pages); diff != "" {
		t.Errorf("one by one (-want +got):\n%s", diff)
	}
	// The first change shows every field of the report as of it.
	var then map[string]json.RawMessage
	s.get(200, "/api/v1/reports/oir-40374?as_of="+all.Data[1].Cursor).decode(&then)
	for _, c := range all.Data[1].Changed {
		if string(c.Old) != "null" || string(c.New) != string(then[c.Field]) {
			t.Errorf("%s was %s, and became %s, want %s", c.Field, c.Old, c.New, then[c.Field])
		}
	}
	var issuer query.History
	s.get(200, "/api/v1/issuers/NEW/history").decode(&issuer)
	if len(issuer.Data) != 2 || len(issuer.Data[0].Changed) != 3 || issuer.Data[0].Changed[1].Field != "ticker" {
		t.Errorf("%+v", issuer)
	}
	s.get(404, "/api/v1/reports/oir-1/history")
}
