package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pregon/internal/access"
	"pregon/internal/api"
	"pregon/internal/api/apitest"
	"pregon/internal/store"
)

// scopes are what each operation asks of whoever shows a credential. All of
// these may be called without one.
var scopes = map[string]access.Scope{
	"/api/v1/reports":      access.ReadReports,
	"/api/v1/reports/{id}": access.ReadReports,
	"/api/v1/issuers":      access.ReadIssuers,
	"/api/v1/issuers/{id}": access.ReadIssuers,
	"/api/v1/analytics":    access.ReadAnalytics,
	"/api/v1/suggest":      0,
	"/api/v1/status":       0,
	"/api/v1/completeness": 0,
}

// Every operation is tried with every credential that there can be.
func TestScopes(t *testing.T) {
	s := start(t, "demo", market())
	seen := 0
	for _, pattern := range api.Patterns() {
		path := apitest.PathOf(pattern)
		if !access.Counted(path) {
			continue
		}
		seen++
		need, ok := scopes[path]
		if !ok {
			t.Errorf("nothing is said of who may call %s", path)
		}
		target := strings.ReplaceAll(path, "{id}", "nothing")
		found := http.StatusOK
		if target != path {
			found = http.StatusNotFound
		}
		s.get(found, target)
		s.getWith(http.StatusUnauthorized, target, http.Header{"Authorization": {"Bearer nonsense"}}).challenged("invalid_token", need)
		s.getWith(http.StatusUnauthorized, target, http.Header{"X-Api-Key": {"pregon_live_nonsense"}}).challenged("invalid_token", need)
		s.getWith(http.StatusBadRequest, target, http.Header{"Authorization": {"Bearer read:reports"}, "X-Api-Key": {"another"}})
		for has := access.Scope(0); has <= access.AllScopes; has++ {
			for _, credential := range s.credentials(has) {
				status := found
				if !has.Has(need) {
					status = http.StatusForbidden
				}
				a := s.getWith(status, target, credential)
				if status == http.StatusForbidden {
					a.challenged("insufficient_scope", need)
				}
			}
		}
	}
	if seen != len(scopes) {
		t.Errorf("%d operations were tried, of %d", seen, len(scopes))
	}
}

// credentials are all ways to show a set of rights.
func (s *service) credentials(has access.Scope) []http.Header {
	s.t.Helper()
	all := []http.Header{}
	if has != 0 { // a key has one at least
		_, raw, err := s.keys.Create(s.t.Context(), access.Key{Plan: "pro", Scopes: has})
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, http.Header{"X-Api-Key": {raw}}, http.Header{"Authorization": {"Bearer " + raw}})
	}
	if has != 0 {
		all = append(all, http.Header{"Authorization": {"Bearer " + strings.ReplaceAll(has.String(), " ", "+")}})
	}
	return all
}

// challenged checks what a client needs to go on.
func (a answer) challenged(code string, need access.Scope) {
	a.t.Helper()
	challenge := a.header.Get("WWW-Authenticate")
	for _, want := range []string{fmt.Sprintf("error=%q", code), fmt.Sprintf("resource_metadata=%q", baseURL+"/.well-known/oauth-protected-resource")} {
		if !strings.Contains(challenge, want) {
			a.t.Errorf("%s is not in %s", want, challenge)
		}
	}
	if need != 0 && !strings.Contains(challenge, fmt.Sprintf("scope=%q", need)) {
		a.t.Errorf("the scope %s is not in %s", need, challenge)
	}
	var problem struct{ Code string }
	a.decode(&problem)
	if problem.Code != code {
		a.t.Errorf("the code is %q", problem.Code)
	}
}

// Documents for everybody take no notice of credentials, but for those in the
// address, which are leaked.
func TestDocumentsAreForEverybody(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	for _, target := range []string{"/", "/openapi.json", "/openapi.yaml"} {
		s.getWith(http.StatusOK, target, http.Header{"Authorization": {"Bearer nonsense"}})
		s.get(http.StatusBadRequest, target+"?api_key=x")
	}
}
