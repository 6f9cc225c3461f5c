package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"pregon/internal/account"
	"pregon/internal/push/alert"
)

// linked sends the form of a link in a message, as programs do: without an origin.
func (b *browser) linked(status int, target string, form url.Values) {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodPost, target, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	b.mux.ServeHTTP(w, r)
	if w.Code != status {
		b.t.Fatalf("POST %s: got %d, want %d\n%s", target, w.Code, status, w.Body)
	}
}

// TestAlertLinks: a link in a message does nothing until its button is pressed, needs no
// account, and works for programs of mail services, which send no origin.
func TestAlertLinks(t *testing.T) {
	t.Parallel()
	b, _, _ := full(t)
	kind, to := "email", "reader@example.com"
	made, err := b.Account.CreateChannel(t.Context(), b.by, account.ChannelDraft{Kind: &kind, To: &to})
	if err != nil {
		t.Fatal(err)
	}
	state := func() alert.State {
		t.Helper()
		if err := b.Alerts.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		return b.Alerts.Known().Channels[made.ID].State
	}
	b.cookies = map[string]string{}
	code := b.Senders.Code(t)
	for _, language := range []string{"es", "en"} {
		page := b.get(http.StatusOK, "/alerts/confirm?code="+code+"&lang="+language).Body.String()
		if !strings.Contains(page, code) || !strings.Contains(page, "…@example.com") || strings.Contains(page, to) {
			t.Errorf("%s: the page does not have what it should:\n%s", language, page)
		}
	}
	if got := state(); got != alert.Unconfirmed {
		t.Fatalf("opening the link made the channel %s", got)
	}
	b.linked(http.StatusOK, "/alerts/confirm", url.Values{"code": {code}})
	if got := state(); got != alert.Active {
		t.Fatalf("got %s after the button", got)
	}
	b.linked(http.StatusNotFound, "/alerts/confirm", url.Values{"code": {code}})

	end := "/alerts/end?code=" + b.Alerts.Known().Channels[made.ID].EndToken
	b.get(http.StatusOK, end)
	if got := state(); got != alert.Active {
		t.Fatalf("opening the link made the channel %s", got)
	}
	b.linked(http.StatusOK, end, url.Values{"List-Unsubscribe": {"One-Click"}})
	if got := state(); got != alert.Ended {
		t.Fatalf("got %s after one click", got)
	}
	for _, address := range []string{"/alerts/confirm", "/alerts/end?code=ale_x", "/alerts/end?code="} {
		b.get(http.StatusNotFound, address)
		b.linked(http.StatusNotFound, address, nil)
	}
}
