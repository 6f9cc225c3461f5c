package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	accounts "pregon/internal/auth/account"
	"pregon/internal/disclosure"
)

var readingPages = []string{"/account/reports/oir-40374", "/account/search?search=dividendo&lang=en"}

// Documents are read and searched by people who are signed in. Others sign in first, and
// come back to the same address.
func TestReadDocuments(t *testing.T) {
	t.Parallel()
	b := start(t)
	toSignIn := func(state string) {
		t.Helper()
		for _, target := range readingPages {
			w := b.get(http.StatusSeeOther, target)
			to, err := url.Parse(w.Header().Get("Location"))
			if err != nil || to.Path != "/signin" || to.Host != "" || to.Query().Get("next") != target {
				t.Errorf("%s: %s leads to %v", state, target, to)
			}
			if got := w.Header().Get("Cache-Control"); got != "private, no-store" {
				t.Errorf("%s: Cache-Control is %q", state, got)
			}
		}
	}
	toSignIn("signed out")

	b.person("ana", false)
	ana, id := b.cookies, b.by.ID
	for _, target := range readingPages {
		if got := b.get(http.StatusOK, target).Body.String(); got != "reports for "+b.by.ID {
			t.Errorf("%s: %s", target, got)
		}
	}
	b.person("eva", false)
	if got := b.get(http.StatusOK, readingPages[0]).Body.String(); !strings.HasSuffix(got, "#eva") {
		t.Errorf("the page of another person: %s", got)
	}

	b.cookies = map[string]string{"__Host-pregon-session": ana["__Host-pregon-session"] + "x"}
	toSignIn("with a changed cookie")
	b.cookies = ana
	if err := b.Auth.Accounts.EndSessions(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	toSignIn("after the end of the session")
}

// Reading with a session has the scope, the limit and the count of the API.
func TestReadDocumentsAsAPI(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.use(b.SignIn(accounts.Account{
		ID:       "https://idp.example#narrow",
		Provider: "corp",
		Plan:     "pro",
		Scopes:   access.ReadIssuers,
	}, ""))
	for _, target := range readingPages {
		b.get(http.StatusForbidden, target)
	}
	b.use(b.SignIn(accounts.Account{
		ID:       "https://idp.example#busy",
		Provider: "corp",
		Plan:     "enterprise", // two requests a minute
		Scopes:   access.ReadReports,
	}, ""))
	for _, target := range readingPages {
		b.get(http.StatusOK, target)
	}
	if w := b.get(http.StatusTooManyRequests, readingPages[0]); w.Header().Get("Retry-After") == "" {
		t.Error("a page over the limit does not say when to try again")
	}
	counted := map[string]int64{}
	today := disclosure.DayOf(time.Now())
	counts, err := b.Auth.Usage.Counts(t.Context(), b.by.ID, today-1, today+1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counts {
		counted[c.Operation] += c.N
	}
	if len(counted) != 2 || counted["getReportDocument"] != 1 || counted["searchDocuments"] != 1 {
		t.Errorf("counted %v", counted)
	}
}
