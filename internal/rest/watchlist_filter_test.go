package rest_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// listTargets are the lists that a watchlist filters.
var listTargets = []string{
	"/api/v1/reports", "/api/v1/reports.csv", "/api/v1/facts", "/api/v1/facts.csv", "/api/v1/calendar", "/api/v1/calendar.csv",
	"/api/v1/calendar.ics", "/api/v1/shorts", "/api/v1/shorts.csv", "/api/v1/shorts/totals", "/api/v1/dealings",
	"/api/v1/holdings", "/api/v1/own-shares",
}

// A list with a watchlist is for those who may read the list, and nothing keeps it. Errors do
// not repeat a secret.
func TestWatchlistOfLists(t *testing.T) {
	s := startRegisters(t)
	mine, others := s.credentials(access.AllScopes)[0], s.credentials(access.AllScopes)[0]
	made, path := s.listOf(mine, `{"name":"Mine","issuers":["BVB"],"filters":[{"name":"Shorts","filter":{"min_percent":"1.5"}}]}`)
	s.call("POST", path+"/share", mine, "{}", 200, &made)
	s.call("POST", path+"/feed", mine, "{}", 200, &made)
	for _, target := range append(listTargets, "/api/v1/search/documents?search=x", "/api/v1/changes") {
		mark := "?"
		if strings.Contains(target, "?") {
			mark = "&"
		}
		with := target + mark + "watchlist="
		a := s.getWith(200, with+made.ID, mine)
		if got := a.header.Get("Cache-Control"); got != "private, no-store" {
			t.Errorf("%s: Cache-Control: %s", with, got)
		}
		s.getWith(404, with+made.ID, others)
		s.get(401, with+made.ID)
		if !slices.Contains(listTargets, target) {
			continue
		}
		for _, secret := range []string{made.Share.Secret, made.Feed.Secret} {
			a := s.get(200, with+secret)
			if got := a.header.Get("Cache-Control"); got != "private, no-store" {
				t.Errorf("%s with a link: Cache-Control: %s", with, got)
			}
			if refused := s.get(404, with+secret+"x"); strings.Contains(string(refused.body), secret) {
				t.Errorf("%s repeats the secret: %s", with, refused.body)
			}
			if twice := s.get(400, with+secret+"&watchlist="+secret); strings.Contains(string(twice.body), secret) {
				t.Errorf("%s repeats the secret: %s", with, twice.body)
			}
		}
	}
	if got := s.get(200, "/api/v1/calendar.ics?watchlist="+made.Feed.Secret); !strings.Contains(string(got.body), "X-WR-CALNAME:Pregón · Mine") {
		t.Errorf("the calendar is\n%s", got.body)
	}
	ids := func(target string) (ids []string) {
		var list struct{ Data []struct{ ID string } }
		s.getWith(200, target, mine).decode(&list)
		for _, one := range list.Data {
			ids = append(ids, one.ID)
		}
		return ids
	}
	if got, want := ids("/api/v1/reports?watchlist="+made.ID), ids("/api/v1/reports?issuer=A69000016"); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the reports are %v, want %v", got, want)
	}
	if got, want := ids("/api/v1/shorts?watchlist="+made.ID), ids("/api/v1/shorts"); len(want) < 4 || !slices.Equal(got, want) {
		t.Errorf("the short positions are %v, want %v", got, want)
	}
	if got, want := ids("/api/v1/shorts?watchlist="+made.ID+"&issuer="+querytest.UnknownISIN), ids("/api/v1/shorts?min_percent=x&issuer="+querytest.UnknownISIN); len(want) != 1 || !slices.Equal(got, want) {
		t.Errorf("the short positions in the other issuer are %v, want %v", got, want)
	}
	if all := s.get(200, "/api/v1/reports"); all.header.Get("Cache-Control") != "public, max-age=1" {
		t.Errorf("without a watchlist: %v", all.header)
	}
	s.call("DELETE", path+"/share", mine, "", 200, nil)
	s.get(404, "/api/v1/reports?watchlist="+made.Share.Secret)
	s.get(200, "/api/v1/reports?watchlist="+made.Feed.Secret)
	if strings.Contains(s.log.String(), made.Share.Secret) || strings.Contains(s.log.String(), made.Feed.Secret) {
		t.Errorf("the log has a secret:\n%s", s.log.String())
	}
}

// A stream, the change list and a webhook have the id of a list, and what the list names when
// something changes.
func TestWatchlistIsFollowed(t *testing.T) {
	s, header := startLive(t)
	made, path := s.listOf(header, `{"name":"Mine","issuers":[]}`)
	live := s.listen("/api/v1/stream?watchlist="+made.ID, header)
	live.want("hello", nil)
	plain := s.listen("/api/v1/stream", header)
	plain.want("hello", nil)
	publish := func(number int64) string {
		s.fileNow(number)
		var got change
		plain.want("report.published", &got)
		return got.ID
	}
	s.call("PATCH", path, header, `{"issuers":["ANB"]}`, 200, nil)
	received := func(want string) {
		t.Helper()
		var got change
		if live.want("report.published", &got); got.ID != want {
			t.Errorf("got %s, want %s", got.ID, want)
		}
	}
	received(publish(90001))
	s.call("PATCH", path, header, `{"issuers":[],"filters":[{"name":"None","filter":{"type":"OIR"}}]}`, 200, nil)
	publish(90002)
	s.call("PATCH", path, header, `{"filters":[{"name":"One","filter":{"search":"90003"}}]}`, 200, nil)
	third := publish(90003)
	received(third)
	if got, _ := s.changesOf("/api/v1/changes?events=report.published&watchlist="+made.ID, header); !slices.Equal(got, []string{third}) {
		t.Errorf("the change list has %v, want %s", got, third)
	}
	var hook struct {
		ID     string
		Filter map[string]string
	}
	s.call("POST", "/api/v1/webhooks", header, `{"url":"http://127.0.0.1:1/hook","filter":{"watchlist":"`+made.ID+`","type":"OIR"}}`, 201, &hook)
	if hook.Filter["watchlist"] != made.ID || hook.Filter["type"] != "OIR" {
		t.Errorf("the webhook has the filter %v", hook.Filter)
	}
	s.call("PATCH", "/api/v1/webhooks/"+hook.ID, header, `{"filter":{"watchlist":"`+made.ID+`","type":"IP"}}`, 200, &hook)
	other := s.credentials(access.AllScopes)[0]
	s.call("POST", "/api/v1/webhooks", other, `{"url":"http://127.0.0.1:1/hook","filter":{"watchlist":"`+made.ID+`"}}`, 400, nil)
	s.call("POST", path+"/share", header, "{}", 200, &made)
	a := s.send("POST", "/api/v1/webhooks", header, `{"url":"http://127.0.0.1:1/hook","filter":{"watchlist":"`+made.Share.Secret+`"}}`)
	if a.status != http.StatusBadRequest || strings.Contains(string(a.body), made.Share.Secret) {
		t.Errorf("a link is stored: %d %s", a.status, a.body)
	}
	shared := s.getWith(200, "/api/v1/changes?events=report.published&watchlist="+made.Share.Secret, other)
	if !strings.Contains(string(shared.body), third) {
		t.Errorf("by a link, the change list is %s", shared.body)
	}
}

// A saved search of a list may search in documents, and for facts. The calendar has the dates of
// the facts that a search selects, and those of issuers.
func TestSearchesOfWatchlists(t *testing.T) {
	s := start(t, "demo", market())
	s.document("oir-40374", "La Junta General aprobó los dividendos.")
	s.document("ip-3123", "El dividendo se paga.")
	s.document("hr-256057", "El depositario del fondo.")
	stated := newReport(disclosure.OIR, 501, "2026-04-22T08:00:00Z")
	stated.CompanyName, stated.NIF = "BODEGAS DE VALDEBRISA, S.A.", "A69000016"
	stated.FactsRules = 1
	stated.Facts = []disclosure.Fact{
		{Kind: disclosure.Dividend, Fields: map[string]string{"gross_per_share": "0.25", "currency": "EUR", "payment_date": "2026-12-17"}},
		{Kind: disclosure.Meeting, Fields: map[string]string{"meeting_kind": "ordinary", "first_call": "2026-12-18T12:00"}},
	}
	s.append(store.Batch{Reports: []disclosure.Report{stated}})
	key := s.credentials(access.AllScopes)[0]
	made, path := s.listOf(key, `{"name":"Mine"}`)
	for _, test := range []struct{ list, target, want string }{
		{`"filters":[{"name":"D","filter":{"search":"dividendos","in":"document"}}]`, "/api/v1/reports?", "oir-40374 ip-3123"},
		{`"filters":[{"name":"D","filter":{"search":"dividendos","in":"document"}}]`, "/api/v1/reports?type=IP&", "ip-3123"},
		{`"filters":[{"name":"D","filter":{"search":"dividendos","in":"document","type":"IP"}}]`, "/api/v1/reports?", "ip-3123"},
		{`"filters":[{"name":"D","filter":{"search":"nada","in":"document"}},{"name":"F","filter":{"search":"depositari","in":"document"}}]`, "/api/v1/reports?", "hr-256057"},
		{`"filters":[{"name":"D","filter":{"search":"dividendos","in":"document"}}]`, "/api/v1/reports?in=document&search=junta&", "oir-40374"},
		{`"filters":[{"name":"D","filter":{"search":"dividendos","in":"document"}}]`, "/api/v1/search/documents?search=paga&", "ip-3123"},
		{`"filters":[{"name":"D","filter":{"search":"dividendos","in":"document"}}]`, "/api/v1/facts?", ""},
		{`"filters":[{"name":"D","filter":{"fact":"dividend"}}]`, "/api/v1/reports?", "oir-501"},
		{`"filters":[{"name":"D","filter":{"fact":"dividend"}}]`, "/api/v1/facts?kind=dividend&", "oir-501"},
		{`"filters":[{"name":"D","filter":{"fact":"dividend"}}]`, "/api/v1/calendar?from=2026-01-01&to=2026-12-31&", "payment"},
		{`"filters":[{"name":"D","filter":{"fact":"meeting"}}]`, "/api/v1/calendar?from=2026-01-01&to=2026-12-31&", "meeting"},
		{`"filters":[{"name":"D","filter":{"search":"vendimia"}}]`, "/api/v1/calendar?from=2026-01-01&to=2026-12-31&", ""},
		{`"filters":[{"name":"D","filter":{"type":"OIR"}}]`, "/api/v1/calendar?from=2026-01-01&to=2026-12-31&", "payment meeting"},
		{`"filters":[],"issuers":["BVB"]`, "/api/v1/calendar?from=2026-01-01&to=2026-12-31&", "payment meeting"},
		{`"filters":[],"issuers":["BVB"]`, "/api/v1/calendar?from=2026-01-01&to=2026-12-31&kind=meeting&", "meeting"},
		{`"filters":[],"issuers":["ANB"]`, "/api/v1/calendar?from=2026-01-01&to=2026-12-31&", ""},
	} {
		s.call("PATCH", path, key, "{"+test.list+"}", 200, nil)
		var list struct {
			Data []struct {
				ID       string
				ReportID string `json:"report_id"`
				Kind     string
				Report   struct{ ID string }
			}
		}
		s.getWith(200, test.target+"watchlist="+made.ID, key).decode(&list)
		var got []string
		for _, one := range list.Data {
			id := cmp.Or(one.ID, one.Report.ID, one.ReportID)
			if strings.Contains(test.target, "calendar") {
				id = one.Kind
			}
			got = append(got, id)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s of %s has %v, want %s", test.target, test.list, got, test.want)
		}
	}
	var many []string
	for i := range 11 {
		many = append(many, fmt.Sprintf(`{"name":"D","filter":{"search":"dividendo%d","in":"document"}}`, i))
	}
	refused := s.send("PATCH", path, key, `{"filters":[`+strings.Join(many, ",")+`]}`)
	if refused.status != http.StatusBadRequest || !strings.Contains(string(refused.body), "at most 10 searches of this kind") {
		t.Errorf("eleven searches in documents: %d %s", refused.status, refused.body)
	}
}
