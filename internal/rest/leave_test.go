package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"pregon/internal/auth/access"
)

// An export has everything of the account, and nothing of another.
func TestExportAccount(t *testing.T) {
	s := start(t, "demo", market())
	ana, luis := s.person("Ana", false), s.person("Luis", false)
	child, _ := ana.make(`{"name":"child"}`)
	ana.grant("desk")
	hook := webhookOf(ana)
	luis.call("POST", "/watchlists", `{"name":"of Luis"}`, 201, nil)
	var list watchlistDoc
	child.call("POST", "/watchlists", `{"name":"of the child","issuers":["BVB"]}`, 201, &list)
	var channel channelDoc
	ana.call("POST", "/channels", `{"kind":"email","to":"ana@example.com"}`, 201, &channel)
	ana.call("POST", "/alerts", `{"filter":{"search":"x"},"channel":{"id":"`+channel.ID+`"}}`, 201, nil)
	var got struct {
		Account    struct{ ID string }
		Keys       []keyDoc
		Sessions   []struct{ ID string }
		Apps       []struct{ Name string }
		Webhooks   []webhookDoc
		Watchlists []watchlistDoc
		Alerts     []alertDoc
		Channels   []channelDoc
	}
	a := ana.call("GET", "/export", "", 200, &got)
	if got.Account.ID != ana.id || len(got.Keys) != 2 || len(got.Sessions) != 1 || len(got.Apps) != 1 ||
		len(got.Webhooks) != 1 || got.Webhooks[0].ID != hook.ID || len(got.Watchlists) != 1 || got.Watchlists[0].ID != list.ID {
		t.Errorf("%+v", got)
	}
	if len(got.Alerts) != 1 || len(got.Channels) != 1 || got.Channels[0].ID != channel.ID {
		t.Errorf("%+v, %+v", got.Alerts, got.Channels)
	}
	for _, secret := range []string{"pregon_live_", "whsec_", "of Luis"} {
		if strings.Contains(string(a.body), secret) {
			t.Errorf("the export has %s", secret)
		}
	}
	if got := a.header.Get("Content-Disposition"); got != `attachment; filename="pregon-account.json"` {
		t.Error(got)
	}
	child.call("GET", "/export", "", 403, nil)
}

// webhookOf makes a webhook.
func webhookOf(c caller) (made webhookDoc) {
	c.s.t.Helper()
	c.send("POST", "/api/v1/webhooks", `{"url":"http://127.0.0.1:1/hook"}`, 201, &made)
	return made
}

// An account that is deleted leaves no access, and others keep theirs.
func TestDeleteAccount(t *testing.T) {
	s := start(t, "demo", market())
	ana, luis := s.person("Ana", false), s.person("Luis", false)
	child, _ := ana.make(`{"name":"child"}`)
	ana.grant("desk")
	webhookOf(ana)
	ana.call("POST", "/channels", `{"kind":"email","to":"ana@example.com"}`, 201, nil)
	var list watchlistDoc
	child.call("POST", "/watchlists", `{"name":"of the child"}`, 201, &list)
	child.call("POST", "/watchlists/"+list.ID+"/share", "", 200, &list)
	luis.call("POST", "/watchlists", `{"name":"of Luis"}`, 201, nil)

	for _, body := range []string{`{}`, `{"confirm":""}`, `{"confirm":"yes"}`, `{"confirm":"` + luis.id + `"}`} {
		ana.call("DELETE", "", body, 400, nil)
	}
	confirmed := `{"confirm":"` + ana.id + `"}`
	child.call("DELETE", "", confirmed, 403, nil)
	ana.call("GET", "", "", 200, nil)
	ana.call("DELETE", "", confirmed, 204, nil)

	for _, c := range []caller{ana, child} {
		c.call("GET", "", "", 401, nil)
	}
	if one, known := s.accounts.Account(ana.id); known {
		t.Errorf("%+v is left", one)
	}
	for _, kind := range []string{"webhook", "watchlist", "alert", "channel"} {
		records, err := s.store.RecordsSince(t.Context(), kind, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if strings.Contains(r.Body, ana.id) {
				t.Errorf("the %s %s is left", kind, r.ID)
			}
		}
	}
	var lists struct{ Data []watchlistDoc }
	luis.call("GET", "/watchlists", "", 200, &lists)
	if len(lists.Data) != 1 {
		t.Errorf("%+v", lists)
	}
	s.call("DELETE", "/api/v1/account", nil, confirmed, 401, nil)
	for _, token := range s.credentials(access.ReadReports)[2:] { // of an assertion
		s.call("DELETE", "/api/v1/account", token, confirmed, http.StatusForbidden, nil)
		s.call("GET", "/api/v1/account/export", token, "", http.StatusForbidden, nil)
	}
}
