package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"
)

// idsIn returns the ids of one kind in the addresses of the forms of the page of alerts.
func (b *browser) idsIn(kind string) (ids []string) {
	b.t.Helper()
	page := b.get(http.StatusOK, "/account/alerts").Body.String()
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`action="/account/`+kind+`/([^"/]+)"`).FindAllStringSubmatch(page, -1) {
		if !seen[m[1]] {
			seen[m[1]] = true
			ids = append(ids, m[1])
		}
	}
	return ids
}

// A person makes an alert with its channel, changes when it is sent, and deletes both.
func TestAlerts(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	has(t, b.get(http.StatusOK, "/account/alerts"), "Cree una lista primero", "Slack", "no lo ha configurado")
	w := b.get(http.StatusOK, "/account/alerts?type=IP")
	has(t, w, "Información privilegiada", `name="filter" value="type=IP"`, `value="ana@example.com"`)

	form := url.Values{"filter": {"type=IP"}, "kind": {"email"}, "to": {"nowhere"}, "rhythm": {"weekly"}, "at": {"09:30"}, "weekday": {"monday"}}
	has(t, b.post(http.StatusBadRequest, "/account/alerts", form), `class="notice refusal"`, `value="nowhere"`, `value="09:30"`)
	form.Set("to", "ana@example.com")
	location(t, b.post(http.StatusSeeOther, "/account/alerts?lang=en", form), "/account/alerts?done=alert-confirm&lang=en")
	w = b.get(http.StatusOK, "/account/alerts")
	checkPage(t, w, "/account/alerts")
	has(t, w, "…@example.com", "Cada semana, lunes, 09:30", "sin confirmar", "pendiente del canal")
	channels, alerts := b.idsIn("channels"), b.idsIn("alerts")
	if len(channels) != 1 || len(alerts) != 1 {
		t.Fatalf("%d channels and %d alerts", len(channels), len(alerts))
	}
	channel, alert := "/account/channels/"+channels[0], "/account/alerts/"+alerts[0]

	b.post(http.StatusSeeOther, alert, url.Values{"rhythm": {"daily"}, "at": {"07:15"}})
	has(t, b.get(http.StatusOK, "/account/alerts"), "Cada día, 07:15")
	has(t, b.post(http.StatusBadRequest, alert, url.Values{"rhythm": {"daily"}, "at": {"late"}}), `class="notice refusal"`)
	b.post(http.StatusSeeOther, alert, url.Values{"enabled": {"false"}})
	has(t, b.get(http.StatusOK, "/account/alerts"), "apagado")

	b.post(http.StatusSeeOther, channel, url.Values{"name": {hostile[:80]}, "language": {"en"}, "from": {"22:00"}, "until": {"07:00"}})
	w = b.get(http.StatusOK, "/account/alerts")
	checkPage(t, w, "/account/alerts")
	has(t, w, `value="22:00"`, `value="07:00"`, `value="en" lang="en" selected`)
	b.post(http.StatusSeeOther, channel, url.Values{"name": {"Casa"}, "language": {"en"}, "from": {""}, "until": {""}})
	lacks(t, b.get(http.StatusOK, "/account/alerts"), `value="22:00"`)
	location(t, b.post(http.StatusSeeOther, channel+"/confirm", nil), "/account/alerts?done=channel-asked")
	has(t, b.post(http.StatusOK, channel+"/test", nil), "Este canal no está activo")

	b.person("bea", false)
	b.post(http.StatusNotFound, channel+"/delete", nil)
	b.post(http.StatusNotFound, alert+"/delete", nil)
	b.person("ana", false)
	b.post(http.StatusSeeOther, alert+"/delete", nil)
	b.post(http.StatusSeeOther, channel+"/delete", nil)
	if left := len(b.idsIn("alerts")) + len(b.idsIn("channels")); left != 0 {
		t.Errorf("%d are left", left)
	}
}

// An alert of a list names it, and a channel that is confirmed by a link shows the link.
func TestAlertOfList(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	list := b.newList("Bodegas")
	id := list[len("/account/watchlists/"):]
	has(t, b.get(http.StatusOK, "/account/alerts?watchlist="+id), `<option value="`+id+`" selected>Bodegas`)
	w := b.post(http.StatusOK, "/account/alerts", url.Values{"watchlist": {id}, "kind": {"telegram"}, "rhythm": {"at_once"}})
	checkPage(t, w, "/account/alerts")
	has(t, w, "https://chat.invalid/bot?start=", `<a href="`+list+`">Bodegas</a>`, "Al momento")
	lacks(t, b.get(http.StatusOK, "/account/alerts"), "https://chat.invalid")
	b.post(http.StatusSeeOther, list+"/delete", nil)
	has(t, b.get(http.StatusOK, "/account/alerts"), "una lista borrada")
}

// Without the demo there is no outbox. The worker of alerts is a script of this site, with
// an address that stays.
func TestOutbox(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	b.get(http.StatusNotFound, "/account/outbox")
	w := b.get(http.StatusOK, "/account/push-worker.js")
	has(t, w, "showNotification")
	if got := w.Header().Get("Content-Type"); got != "text/javascript; charset=utf-8" {
		t.Errorf("the worker has the type %q", got)
	}
}
