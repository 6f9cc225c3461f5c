package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The page of an account offers everything of it as a file, and its deletion, which signs
// out.
func TestLeave(t *testing.T) {
	t.Parallel()
	b := start(t)
	key := b.person("ana", false).key("of ana")
	page := b.get(http.StatusOK, "/account?lang=en")
	has(t, page, "Download everything", `action="/account/delete?lang=en"`, `name="confirm" value="`+b.by.ID+`" required`)

	file := b.get(http.StatusOK, "/account/export")
	has(t, file, `"id":"`+key.ID+`"`, `"watchlists":[]`)
	if got := file.Header(); got.Get("Content-Type") != "application/json" || got.Get("Cache-Control") != "private, no-store" ||
		!strings.HasPrefix(got.Get("Content-Disposition"), "attachment") {
		t.Errorf("%v", got)
	}

	b.post(http.StatusBadRequest, "/account/delete", nil)
	b.post(http.StatusBadRequest, "/account/delete", url.Values{"confirm": {"on"}})
	old := b.cookies
	location(t, b.post(http.StatusSeeOther, "/account/delete", url.Values{"confirm": {b.by.ID}}), "/signin?done=account-deleted")
	has(t, b.get(http.StatusOK, "/signin?done=account-deleted&lang=en"), "The account was deleted.")
	if len(b.cookies) != 0 {
		t.Errorf("cookies %v are left", b.cookies)
	}
	if _, known := b.Auth.Accounts.Account(b.by.ID); known || b.Auth.Keys.Valid(key.ID) {
		t.Error("the account or its key is left")
	}
	b.cookies = old
	location(t, b.get(http.StatusSeeOther, "/account"), "/signin?next=%2Faccount")

	b.person("ana", false) // it begins anew
	if strings.Contains(b.get(http.StatusOK, "/account/export").Body.String(), `"state":"active"`) {
		t.Error("the new account has a key")
	}
}

// An operator can neither export nor delete the account of another there.
func TestLeaveAnother(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.SignInAs("bea", false)
	b.person("ana", true)
	page := b.get(http.StatusOK, "/account?owner="+url.QueryEscape("https://idp.example#bea"))
	if strings.Contains(page.Body.String(), "/account/delete") || strings.Contains(page.Body.String(), "/account/export") {
		t.Error("the page offers what it cannot do")
	}
}

// A session of a key for a part of the account does not have the file, nor the deletion.
func TestLeaveWithPartOfAccount(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	b.use(b.SignInWith(b.key("part")))
	if strings.Contains(b.get(http.StatusOK, "/account").Body.String(), "/account/delete") {
		t.Error("the page offers what it cannot do")
	}
	b.get(http.StatusForbidden, "/account/export")
	b.post(http.StatusForbidden, "/account/delete", url.Values{"confirm": {b.by.ID}})
}
