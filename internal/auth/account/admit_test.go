package account_test

import (
	"net/http/httptest"

	"pregon/internal/auth/access"
)

// admit returns the caller that a guard sees in a key.
func admit(g *access.Guard, key string) (access.Principal, error) {
	r := httptest.NewRequest("GET", "/api/v1/account", nil)
	r.Header.Set("X-API-Key", key)
	return g.Admit(httptest.NewRecorder(), r, access.Requirement{Account: true})
}
