package rest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"pregon/internal/auth/access"
)

type webhookDoc struct {
	ID, URL, Description, Secret string
	Events                       []string
	Filter                       map[string]string
	Enabled                      bool
	StartsAfter                  int64  `json:"starts_after"`
	Key                          string `json:"key"`
	PausedReason                 string `json:"paused_reason"`
}

// call sends a body, expects the status and decodes the response.
func (s *service) call(method, target string, header http.Header, body string, status int, into any) answer {
	s.t.Helper()
	a := s.send(method, target, header, body)
	if a.status != status {
		s.t.Fatalf("%s %s %s: %d, want %d\n%s", method, target, body, a.status, status, a.body)
	}
	if into != nil {
		a.decode(into)
	}
	return a
}

func TestWebhooks(t *testing.T) {
	s := start(t, "demo", market())
	var got []string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Header.Get("Webhook-Id")+" "+string(body))
		_, _ = io.WriteString(w, "thanks")
	}))
	defer receiver.Close()
	mine, others := s.credentials(access.ReadReports)[0], s.credentials(access.ReadReports)[0]

	var made webhookDoc
	a := s.call("POST", "/api/v1/webhooks", mine, `{"url":"`+receiver.URL+`/hook","description":"for Ana","filter":{"type":"IP","search":"dividendo"}}`, 201, &made)
	path := "/api/v1/webhooks/" + made.ID
	if a.header.Get("Location") != path || !strings.HasPrefix(made.Secret, "whsec_") || !made.Enabled || len(made.Events) != 3 || made.Filter["type"] != "IP" {
		t.Errorf("%v %+v", a.header, made)
	}
	var read webhookDoc
	s.call("GET", path, mine, "", 200, &read)
	if read.Secret != "" || read.Description != "for Ana" || read.Filter["search"] != "dividendo" {
		t.Errorf("%+v", read)
	}
	var list struct{ Data []webhookDoc }
	s.call("GET", "/api/v1/webhooks", mine, "", 200, &list)
	if len(list.Data) != 1 || list.Data[0].ID != made.ID || list.Data[0].Secret != "" {
		t.Errorf("%+v", list)
	}
	for _, what := range []string{"GET ", "DELETE ", "PATCH ", "POST /test", "POST /rotate", "GET /deliveries"} { // of another owner
		method, rest, _ := strings.Cut(what, " ")
		s.call(method, path+rest, others, `{}`, 404, nil)
	}
	s.call("GET", "/api/v1/webhooks", others, "", 200, &list)
	if len(list.Data) != 0 {
		t.Errorf("%+v", list)
	}

	s.call("PATCH", path, mine, `{"enabled":false,"events":["report.published"]}`, 200, &read)
	if read.Enabled || len(read.Events) != 1 || read.Filter["type"] != "IP" || read.Description != "for Ana" {
		t.Errorf("%+v", read)
	}
	var rotated webhookDoc
	s.call("POST", path+"/rotate", mine, "", 200, &rotated)
	if !strings.HasPrefix(rotated.Secret, "whsec_") || rotated.Secret == made.Secret {
		t.Errorf("%+v", rotated)
	}
	var attempt struct {
		OK      bool
		Status  int
		Excerpt string
	}
	s.call("POST", path+"/test", mine, "", 200, &attempt)
	if !attempt.OK || attempt.Status != 200 || attempt.Excerpt != "thanks" || len(got) != 1 {
		t.Errorf("%+v %q", attempt, got)
	}
	for range 4 {
		s.call("POST", path+"/test", mine, "", 200, &attempt)
	}
	if a := s.call("POST", path+"/test", mine, "", 429, nil); a.header.Get("Retry-After") == "2" || len(got) != 5 {
		t.Errorf("a sixth test within a minute: Retry-After %q, %d sent", a.header.Get("Retry-After"), len(got))
	}
	s.call("POST", path+"/redeliver", mine, `{"since":0}`, 409, nil) // it is disabled
	s.call("PATCH", path, mine, `{"enabled":true,"filter":{}}`, 200, &read)
	var queued struct{ Queued int }
	s.call("POST", path+"/redeliver", mine, `{"since":0}`, 202, &queued)
	s.call("GET", path+"/deliveries?state=pending", mine, "", 200, &list)
	if len(list.Data) != queued.Queued || queued.Queued == 0 {
		t.Errorf("%d queued, %d listed", queued.Queued, len(list.Data))
	}
	s.call("DELETE", path, mine, "", 204, nil)
	s.call("GET", path, mine, "", 404, nil)
}

func TestWebhookMistakes(t *testing.T) {
	s := start(t, "demo", market())
	header := s.credentials(access.ReadReports)[0]
	for body, parameter := range map[string]string{
		`{"url":"ftp://x.example/"}`: "url",
		`{}`:                         "url",
		`{"url":"https://x.example/","events":["nonsense"]}`:                                  "events",
		`{"url":"https://x.example/","filter":{"type":"XX"}}`:                                 "type",
		`{"url":"https://x.example/","filter":{"from":"2026-02-02","to":"2026"}}`:             "to",
		`{"url":"https://x.example/","filter":{"search":"` + strings.Repeat("x", 501) + `"}}`: "filter",
		`{"url":"https://x.example/","description":"` + strings.Repeat("x", 501) + `"}`:       "description",
	} {
		a := s.call("POST", "/api/v1/webhooks", header, body, 400, nil)
		if !strings.Contains(string(a.body), `"parameter":"`+parameter+`"`) {
			t.Errorf("%s: %s", body, a.body)
		}
	}
	for _, body := range []string{"", "null", "[]", `{"url":5}`, `{"secret":"x"}`, `{"url":"https://x.example/"} more`, "\xff"} {
		s.call("POST", "/api/v1/webhooks", header, body, 400, nil)
	}
	for _, body := range []string{`{}`, `{"seq":1,"since":1}`, `{"since":-1}`} {
		if a := s.send("POST", "/api/v1/webhooks/wh_x/redeliver", header, body); a.status != 400 && a.status != 404 {
			t.Errorf("%s: %d", body, a.status)
		}
	}
}

// Changes of issuers need the scope to read issuers on every path.
func TestScopesOfEvents(t *testing.T) {
	s := start(t, "demo", market())
	reports, all := s.credentials(access.ReadReports)[0], s.credentials(access.ReadReports | access.ReadIssuers)[0]
	var changes struct{ Data []struct{ Event string } }
	count := func(header http.Header) (n int) {
		t.Helper()
		s.call("GET", "/api/v1/changes?limit=1000", header, "", 200, &changes)
		for _, c := range changes.Data {
			if c.Event == "issuer.updated" {
				n++
			}
		}
		return n
	}
	if with, without := count(all), count(reports); with == 0 || without != 0 || len(changes.Data) == 0 {
		t.Errorf("got %d changes of issuers with the scope and %d without it, of %d", with, without, len(changes.Data))
	}
	for _, target := range []string{"/api/v1/changes?events=issuer.updated", "/api/v1/stream?events=issuer.updated"} {
		s.call("GET", target, reports, "", 403, nil)
	}
	var made webhookDoc
	s.call("POST", "/api/v1/webhooks", reports, `{"url":"https://192.0.9.1/"}`, 201, &made)
	if slices.Contains(made.Events, "issuer.updated") || len(made.Events) == 0 {
		t.Errorf("without events: %v", made.Events)
	}
	path := "/api/v1/webhooks/" + made.ID
	s.call("POST", "/api/v1/webhooks", reports, `{"url":"https://192.0.9.1/","events":["issuer.updated"]}`, 403, nil)
	s.call("PATCH", path, reports, `{"events":["report.published","issuer.updated"]}`, 403, nil)
	s.call("PATCH", path, reports, `{"enabled":false,"events":["issuer.updated"]}`, 200, nil)
	for _, body := range []string{`{"enabled":true}`, `{"url":"https://192.0.9.2/","enabled":true}`, `{"filter":{"type":"IP"},"enabled":true}`} {
		s.call("PATCH", path, reports, body, 403, nil)
	}
	s.call("PATCH", path, reports, `{"enabled":true,"events":["report.published"]}`, 200, nil)
}

func TestLatestReportsNeedTheirScope(t *testing.T) {
	s := start(t, "demo", market())
	var list struct{ Data []struct{ ID string } }
	s.call("GET", "/api/v1/issuers", nil, "", 200, &list)
	latest := func(header http.Header) (n int) {
		t.Helper()
		for _, i := range list.Data {
			var got struct {
				Latest []struct{ ID string } `json:"latest_reports"`
			}
			s.call("GET", "/api/v1/issuers/"+i.ID, header, "", 200, &got)
			n += len(got.Latest)
		}
		return n
	}
	if n := latest(nil); n == 0 {
		t.Error("no issuer has a report")
	}
	if n := latest(s.credentials(access.ReadIssuers | access.ReadReports)[0]); n == 0 {
		t.Error("a caller with the scope for reports gets none")
	}
	if n := latest(s.credentials(access.ReadIssuers)[0]); n != 0 {
		t.Errorf("a caller without the scope for reports gets %d, want 0", n)
	}
}

// A filter is evaluated for every change, so it must be shorter than the query
// of a search.
func TestFilterOfChangesIsBounded(t *testing.T) {
	s := start(t, "demo", market())
	header := s.credentials(access.ReadReports)[0]
	long := strings.Repeat("de+", 33)
	for _, target := range []string{"/api/v1/changes?search=" + long, "/api/v1/stream?search=" + long} {
		if a := s.call("GET", target, header, "", 400, nil); !strings.Contains(string(a.body), "33 words") {
			t.Errorf("%s", a.body)
		}
	}
	s.call("POST", "/api/v1/webhooks/preview", header, `{"filter":{"search":"`+strings.ReplaceAll(long, "+", " ")+`"}}`, 400, nil)
}

func TestWebhookPreview(t *testing.T) {
	s := start(t, "demo", market())
	header := s.credentials(access.ReadReports)[0]
	var preview struct {
		Total int
		Days  []struct {
			Date  string
			Count int
		}
		Samples []struct{ ID string }
	}
	s.call("POST", "/api/v1/webhooks/preview", header, `{"filter":{"from":"2020-01-01"}}`, 200, &preview)
	sum := 0
	for _, d := range preview.Days {
		sum += d.Count
	}
	if len(preview.Days) != 30 || sum != preview.Total || len(preview.Samples) != min(5, preview.Total) {
		t.Errorf("%+v", preview)
	}
	s.call("POST", "/api/v1/webhooks/preview", header, `{"filter":{"to":"2020-01-01"}}`, 200, &preview)
	if preview.Total != 0 || len(preview.Samples) != 0 {
		t.Errorf("%+v", preview)
	}
	for _, body := range []string{`{"events":["x"]}`, `{"filter":{"kind":"x"}}`, `x`} {
		s.call("POST", "/api/v1/webhooks/preview", header, body, 400, nil)
	}
}

// A caller may have at most fifty webhooks.
func TestTooManyWebhooks(t *testing.T) {
	s := start(t, "demo", market())
	header := s.credentials(access.ReadReports)[0]
	for i := range 50 {
		s.call("POST", "/api/v1/webhooks", header, fmt.Sprintf(`{"url":"http://127.0.0.1:1/%d"}`, i), 201, nil)
	}
	s.call("POST", "/api/v1/webhooks", header, `{"url":"http://127.0.0.1:1/x"}`, 409, nil)
}

// Errors in a body are described in terms of JSON, not of Go.
func TestBodiesOfTheWrongTypes(t *testing.T) {
	s := start(t, "demo", market())
	mine := s.credentials(access.ReadReports)[0]
	for body, want := range map[string]string{
		`{"url":7}`:                "a number is not allowed in url",
		`{"filter":{"type":[]}}`:   "an array is not allowed in filter.type",
		`{"events":"all"}`:         "a string is not allowed in events",
		`"text"`:                   "a string is not allowed in its place",
		`{"url":"x","surprise":1}`: `unknown field "surprise"`,
	} {
		a := s.call("POST", "/api/v1/webhooks", mine, body, 400, nil)
		if text := string(a.body); !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), want) || strings.Contains(text, "Go ") || strings.Contains(text, "webhookBody") {
			t.Errorf("%s: %s", body, text)
		}
	}
}

// A key manages the webhooks that were made with
// it or with a key below. For others there are no other webhooks. A webhook pauses with
// its key, and the owner adopts it.
func TestWebhooksOfKeys(t *testing.T) {
	s := start(t, "demo", market())
	const root = "/api/v1/webhooks"
	ana := s.person("ana", false)
	desk, deskKey := ana.make(`{"name":"desk"}`)
	export, exportKey := desk.make(`{"name":"export"}`)
	sibling, _ := ana.make(`{"name":"sibling"}`)
	made := map[string]webhookDoc{}
	for name, c := range map[string]caller{"ana": ana, "desk": desk, "export": export, "sibling": sibling} {
		var h webhookDoc
		c.send("POST", root, `{"url":"http://127.0.0.1:1/`+name+`"}`, 201, &h)
		made[name] = h
	}
	if made["ana"].Key != "" || made["desk"].Key != deskKey.ID || made["export"].Key != exportKey.ID {
		t.Errorf("%+v", made)
	}
	operations := []struct{ method, path, body string }{
		{"GET", "", ""},
		{"PATCH", "", `{}`},
		{"DELETE", "", ""},
		{"POST", "/test", ""},
		{"POST", "/rotate", ""},
		{"POST", "/adopt", ""},
		{"GET", "/deliveries", ""},
		{"POST", "/redeliver", `{"seq":1}`},
	}
	for _, c := range []struct {
		caller
		sees []string
	}{
		{ana, []string{"ana", "desk", "export", "sibling"}},
		{desk, []string{"desk", "export"}},
		{export, []string{"export"}},
		{sibling, []string{"sibling"}},
	} {
		var list struct{ Data []webhookDoc }
		c.send("GET", root, "", 200, &list)
		var got []string
		for _, h := range list.Data {
			got = append(got, h.URL[strings.LastIndex(h.URL, "/")+1:])
		}
		slices.Sort(got)
		if !slices.Equal(got, c.sees) {
			t.Errorf("the list has %v, want %v", got, c.sees)
		}
		for name, h := range made {
			if slices.Contains(c.sees, name) {
				c.send("GET", root+"/"+h.ID, "", 200, nil)
				continue
			}
			for _, o := range operations {
				const unknown = "wh_0000000000000000"
				hidden := c.send(o.method, root+"/"+h.ID+o.path, o.body, 404, nil).problem().Detail
				missing := c.send(o.method, root+"/"+unknown+o.path, o.body, 404, nil).problem().Detail
				if strings.ReplaceAll(hidden, h.ID, unknown) != missing {
					t.Errorf("%s %s: %q, want %q", o.method, o.path, hidden, missing)
				}
			}
		}
	}

	path, read := root+"/"+made["export"].ID, webhookDoc{}
	ana.call("DELETE", "/keys/"+deskKey.ID, "", 204, nil) // the key above
	ana.send("GET", path, "", 200, &read)
	if !strings.Contains(read.PausedReason, exportKey.ID) || !read.Enabled {
		t.Errorf("after the key was revoked: %+v", read)
	}
	export.send("POST", path+"/adopt", "", 401, nil)
	sibling.send("POST", path+"/adopt", "", 404, nil)
	for _, body := range []string{`{"url":"http://127.0.0.1:1/before"}`, `{"url":""}`} {
		if detail := ana.send("POST", path+"/adopt", body, 409, nil).problem().Detail; detail != "The webhook was changed meanwhile: check its address again." {
			t.Errorf("%s: %s", body, detail)
		}
	}
	for _, body := range []string{`{"address":"x"}`, `{"url":1}`, `[]`} {
		ana.send("POST", path+"/adopt", body, 400, nil)
	}
	if ana.send("GET", path, "", 200, &read); read.Key != exportKey.ID {
		t.Errorf("after refused adoptions: %+v", read)
	}
	for _, body := range []string{`{"url":"` + read.URL + `"}`, "", "{}"} {
		read = webhookDoc{}
		ana.send("POST", path+"/adopt", body, 200, &read)
		if read.ID != made["export"].ID || read.Key != "" || read.PausedReason != "" || !read.Enabled || read.Secret != "" {
			t.Errorf("adopted: %+v", read)
		}
	}
	if csv := ana.send("GET", root+".csv", "", 200, nil); !strings.Contains(string(csv.body), deskKey.ID) || !strings.Contains(string(csv.body), "is not valid") {
		t.Errorf("%s", csv.body)
	}
}

// The first key of an account sees all of it, and adopts for the account.
func TestFirstKeyAdopts(t *testing.T) {
	s := start(t, "demo", market())
	root, _ := s.holder(access.Key{Plan: "pro", Scopes: access.AllScopes})
	child, childKey := root.make(`{"name":"child"}`)
	var made, read webhookDoc
	child.send("POST", "/api/v1/webhooks", `{"url":"http://127.0.0.1:1/"}`, 201, &made)
	root.call("DELETE", "/keys/"+childKey.ID, "", 204, nil)
	root.send("GET", "/api/v1/webhooks/"+made.ID, "", 200, &read)
	if read.Key != childKey.ID || read.PausedReason == "" {
		t.Errorf("%+v", read)
	}
	read = webhookDoc{}
	root.send("POST", "/api/v1/webhooks/"+made.ID+"/adopt", "", 200, &read)
	if read.Key != "" || read.PausedReason != "" {
		t.Errorf("%+v", read)
	}
}
