package rest_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/rest"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

// need is the authorization that an operation requires.
type need struct {
	scope  access.Scope
	public bool
	body   string // request body
	found  int    // status for an authorized caller
}

// needs has every operation that counts against the rate limit.
var needs = map[string]need{
	"GET /api/v1/reports":                             {access.ReadReports, true, "", 200},
	"GET /api/v1/reports/counts":                      {access.ReadReports, true, "", 400}, // needs by
	"GET /api/v1/values":                              {access.ReadReports, true, "", 400}, // needs of
	"GET /api/v1/reports/{id}":                        {access.ReadReports, true, "", 404},
	"GET /api/v1/reports/{id}/history":                {access.ReadReports, true, "", 404},
	"GET /api/v1/reports/{id}/document":               {access.ReadReports, false, "", 404},
	"GET /api/v1/reports/{id}/proof":                  {access.ReadReports, true, "", 404},
	"GET /api/v1/changes/{seq}/proof":                 {access.ReadReports, false, "", 400},
	"GET /log/checkpoint":                             {0, true, "", 200},
	"GET /log/vkey":                                   {0, true, "", 200},
	"GET /log/tile/{path...}":                         {access.ReadReports, true, "", 404},
	"GET /api/v1/search/documents":                    {access.ReadReports, false, "", 400},
	"GET /api/v1/issuers":                             {access.ReadIssuers, true, "", 200},
	"GET /api/v1/issuers/{id}":                        {access.ReadIssuers, true, "", 404},
	"GET /api/v1/issuers/{id}/history":                {access.ReadIssuers, true, "", 404},
	"GET /api/v1/issuers/{id}/ownership":              {access.ReadIssuers, true, "", 404},
	"GET /api/v1/shorts":                              {access.ReadIssuers, true, "", 200},
	"GET /api/v1/shorts/totals":                       {access.ReadIssuers, true, "", 200},
	"GET /api/v1/shorts/series":                       {access.ReadIssuers, true, "", 400}, // needs an issuer
	"GET /api/v1/dealings":                            {access.ReadIssuers, true, "", 200},
	"GET /api/v1/holdings":                            {access.ReadIssuers, true, "", 200},
	"GET /api/v1/own-shares":                          {access.ReadIssuers, true, "", 200},
	"GET /api/v1/positions/{id}":                      {access.ReadIssuers, true, "", 404},
	"GET /api/v1/positions/{id}/history":              {access.ReadIssuers, true, "", 404},
	"GET /api/v1/positions/{id}/proof":                {access.ReadIssuers, true, "", 404},
	"GET /api/v1/analytics":                           {access.ReadAnalytics, true, "", 200},
	"GET /api/v1/facts":                               {access.ReadReports, true, "", 200},
	"GET /api/v1/calendar":                            {access.ReadReports, true, "", 200},
	"GET /api/v1/calendar.ics":                        {access.ReadReports, true, "", 200},
	"GET /api/v1/suggest":                             {0, true, "", 200},
	"GET /api/v1/status":                              {0, true, "", 200},
	"GET /api/v1/completeness":                        {0, true, "", 200},
	"GET /api/v1/stream":                              {access.ReadReports, false, "", 0}, // does not end: see TestStreamIsLive
	"POST /api/v1/stream/tickets":                     {access.ReadReports, false, `{}`, 201},
	"GET /api/v1/changes":                             {access.ReadReports, false, "", 200},
	"GET /api/v1/bulk":                                {access.ReadReports, false, "", 200},
	"GET /api/v1/bulk/{snapshot}/{file}":              {access.ReadReports, false, "", 404},
	"GET /api/v1/webhooks":                            {access.ReadReports, false, "", 200},
	"POST /api/v1/webhooks":                           {access.ReadReports, false, `{"url":"nonsense"}`, 400},
	"POST /api/v1/webhooks/preview":                   {access.ReadReports, false, `{}`, 200},
	"GET /api/v1/webhooks/{id}":                       {access.ReadReports, false, "", 404},
	"PATCH /api/v1/webhooks/{id}":                     {access.ReadReports, false, `{}`, 404},
	"DELETE /api/v1/webhooks/{id}":                    {access.ReadReports, false, "", 404},
	"POST /api/v1/webhooks/{id}/test":                 {access.ReadReports, false, "", 404},
	"POST /api/v1/webhooks/{id}/rotate":               {access.ReadReports, false, "", 404},
	"POST /api/v1/webhooks/{id}/adopt":                {access.ReadReports, false, "", 404},
	"GET /api/v1/webhooks/{id}/deliveries":            {access.ReadReports, false, "", 404},
	"POST /api/v1/webhooks/{id}/redeliver":            {access.ReadReports, false, `{"seq":1}`, 404},
	"GET /api/v1/account/channels":                    {access.ReadReports, false, "", 200},
	"POST /api/v1/account/channels":                   {access.ReadReports, false, `{}`, 400},
	"GET /api/v1/account/channels/{id}":               {access.ReadReports, false, "", 404},
	"PATCH /api/v1/account/channels/{id}":             {access.ReadReports, false, `{}`, 404},
	"DELETE /api/v1/account/channels/{id}":            {access.ReadReports, false, "", 404},
	"POST /api/v1/account/channels/{id}/confirmation": {access.ReadReports, false, "", 404},
	"POST /api/v1/account/channels/{id}/test":         {access.ReadReports, false, "", 404},
	"GET /api/v1/account/alerts":                      {access.ReadReports, false, "", 200},
	"POST /api/v1/account/alerts":                     {access.ReadReports, false, `{}`, 400},
	"GET /api/v1/account/alerts/{id}":                 {access.ReadReports, false, "", 404},
	"PATCH /api/v1/account/alerts/{id}":               {access.ReadReports, false, `{}`, 404},
	"DELETE /api/v1/account/alerts/{id}":              {access.ReadReports, false, "", 404},
	"GET /api/v1/account":                             {0, false, "", 200},
	"GET /api/v1/account/keys":                        {0, false, "", 200},
	"POST /api/v1/account/keys":                       {0, false, `{}`, 400},
	"PATCH /api/v1/account/keys/{id}":                 {0, false, `{}`, 404},
	"DELETE /api/v1/account/keys/{id}":                {0, false, "", 404},
	"POST /api/v1/account/keys/{id}/rotate":           {0, false, "", 404},
	"GET /api/v1/account/usage":                       {0, false, "", 200},
	"GET /api/v1/account/sessions":                    {0, false, "", 200},
	"DELETE /api/v1/account/sessions":                 {0, false, "", 204},
	"DELETE /api/v1/account/sessions/{id}":            {0, false, "", 404},
	"GET /api/v1/account/apps":                        {0, false, "", 200},
	"DELETE /api/v1/account/apps/{id}":                {0, false, "", 404},
	"GET /api/v1/account/owners":                      {0, false, "", 403},
	"POST /api/v1/account/owners/block":               {0, false, `{}`, 403},
	"DELETE /api/v1/account":                          {0, false, `{}`, 400},
	"GET /api/v1/account/export":                      {0, false, "", 200},
	"GET /api/v1/account/watchlists":                  {access.ReadReports, false, "", 200},
	"POST /api/v1/account/watchlists":                 {access.ReadReports, false, `{}`, 400},
	"GET /api/v1/account/watchlists/{id}":             {access.ReadReports, false, "", 404},
	"PATCH /api/v1/account/watchlists/{id}":           {access.ReadReports, false, `{}`, 404},
	"DELETE /api/v1/account/watchlists/{id}":          {access.ReadReports, false, "", 404},
	"POST /api/v1/account/watchlists/{id}/entries":    {access.ReadReports, false, `{}`, 404},
	"DELETE /api/v1/account/watchlists/{id}/entries":  {access.ReadReports, false, "", 400},
	"POST /api/v1/account/watchlists/{id}/import":     {access.ReadReports, false, "x", 404},
	"POST /api/v1/account/watchlists/{id}/share":      {access.ReadReports, false, "", 404},
	"DELETE /api/v1/account/watchlists/{id}/share":    {access.ReadReports, false, "", 404},
	"POST /api/v1/account/watchlists/{id}/feed":       {access.ReadReports, false, "", 404},
	"DELETE /api/v1/account/watchlists/{id}/feed":     {access.ReadReports, false, "", 404},
}

// public returns the operations that need no authorization.
func public() []string {
	return slices.DeleteFunc(rest.Patterns(true), func(pattern string) bool {
		n, counted := needs[pattern]
		return counted && !n.public
	})
}

// TestScopes calls every operation with every kind of credential.
func TestScopes(t *testing.T) {
	s := start(t, "demo", market())
	credentials := map[access.Scope][]http.Header{}
	for has := access.Scope(1); has <= access.AllScopes; has++ {
		credentials[has] = s.credentials(has)
	}
	seen := 0
	for _, pattern := range rest.Patterns(true) {
		method, path, _ := strings.Cut(pattern, " ")
		if !access.Counted(path) && !strings.HasPrefix(path, rest.LogPath+"/") {
			continue
		}
		seen++
		n, ok := needs[pattern]
		if !ok {
			t.Errorf("needs has no entry for %s", pattern)
		}
		target := strings.NewReplacer("{id}", "nothing", "{path...}", "nothing").Replace(path)
		try := func(status int, header http.Header) answer {
			t.Helper()
			a := s.send(method, target, header, n.body)
			if a.status != status {
				t.Fatalf("%s: %d, want %d\n%s", pattern, a.status, status, a.body)
			}
			return a
		}
		if n.public {
			try(n.found, nil)
		} else if a := try(http.StatusUnauthorized, nil); strings.Contains(a.header.Get("WWW-Authenticate"), "error=") {
			t.Errorf("%s: a request without credentials got an error code in the challenge, want none", pattern)
		}
		try(http.StatusUnauthorized, http.Header{"Authorization": {"Bearer nonsense"}}).challenged("invalid_token", n.scope)
		try(http.StatusUnauthorized, http.Header{"X-Api-Key": {"pregon_live_nonsense"}}).challenged("invalid_token", n.scope)
		try(http.StatusBadRequest, http.Header{"Authorization": {"Bearer read:reports"}, "X-Api-Key": {"another"}})
		for has, headers := range credentials {
			for i, header := range headers {
				if i == 2 && managesAccount(path) { // tokens cannot
					try(http.StatusForbidden, header)
				} else if !has.Has(n.scope) {
					try(http.StatusForbidden, header).challenged("insufficient_scope", n.scope)
				} else if n.found != 0 {
					try(n.found, header)
				}
			}
		}
	}
	if seen != len(needs) {
		t.Errorf("tried %d operations, want %d", seen, len(needs))
	}
}

// managesAccount reports whether an operation manages an account: those on watchlists and
// alerts are also for tokens.
func managesAccount(path string) bool {
	kept := regexp.MustCompile("^/api/v1/account/(watchlists|channels|alerts)")
	return strings.HasPrefix(path, "/api/v1/account") && !kept.MatchString(path)
}

// credentials returns headers for every kind of credential with the given scopes.
func (s *service) credentials(has access.Scope) []http.Header {
	s.t.Helper()
	_, raw, err := s.keys.Create(s.t.Context(), access.Key{Plan: "pro", Scopes: has})
	if err != nil {
		s.t.Fatal(err)
	}
	return []http.Header{
		{"X-Api-Key": {raw}},
		{"Authorization": {"Bearer " + raw}},
		{"Authorization": {"Bearer " + strings.ReplaceAll(has.String(), " ", "+")}},
	}
}

// challenged checks that the answer has what a client needs to authenticate.
func (a answer) challenged(code string, need access.Scope) {
	a.t.Helper()
	challenge := a.header.Get("WWW-Authenticate")
	for _, want := range []string{fmt.Sprintf("error=%q", code), fmt.Sprintf("resource_metadata=%q", baseURL+"/.well-known/oauth-protected-resource")} {
		if !strings.Contains(challenge, want) {
			a.t.Errorf("the challenge lacks %s: %s", want, challenge)
		}
	}
	if need != 0 && !strings.Contains(challenge, fmt.Sprintf("scope=%q", need)) {
		a.t.Errorf("the challenge lacks scope %s: %s", need, challenge)
	}
	var problem struct{ Code string }
	a.decode(&problem)
	if problem.Code != code {
		a.t.Errorf("the code is %q", problem.Code)
	}
}

// Public documents ignore credentials, except those in the URL, which are leaked.
func TestPublicDocuments(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	for _, target := range []string{"/openapi.json", "/openapi.yaml"} {
		s.getWith(http.StatusOK, target, http.Header{"Authorization": {"Bearer nonsense"}})
		s.get(http.StatusBadRequest, target+"?api_key=x")
	}
}

// A caller at its limit of concurrent requests is refused, with a lower limit
// for expensive operations. Other callers are not affected.
func TestConcurrencyLimitPerCaller(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	s := start(t, "demo", market())
	s.document("oir-40374", "El dividendo se pagará en mayo.")
	key, raw, err := s.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	mine, others := http.Header{"X-Api-Key": {raw}}, s.credentials(access.AllScopes)[0]
	take := func(p *access.SlotLimiter, n int) {
		for range n {
			place, err := p.Acquire(t.Context(), key.ID)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(place.Release)
		}
	}
	expensive := []string{"/api/v1/reports/oir-40374/document", "/api/v1/search/documents?search=dividendo", "/api/v1/reports?search=dividendo&in=document", "/api/v1/changes"}
	take(s.expensive, 8)
	for _, path := range expensive {
		if a := s.getWith(http.StatusTooManyRequests, path, mine); a.header.Get("Retry-After") == "" {
			t.Errorf("%s: got no Retry-After", path)
		}
		s.getWith(http.StatusOK, path, others)
	}
	var log struct {
		Newest int64 `json:"newest"`
	}
	s.getWith(http.StatusOK, "/api/v1/changes", others).decode(&log)
	for _, path := range []string{"/api/v1/reports", fmt.Sprintf("/api/v1/changes?after=%d", log.Newest)} { // the latter from memory
		s.getWith(http.StatusOK, path, mine)
	}
	take(s.places, 64)
	s.getWith(http.StatusTooManyRequests, "/api/v1/reports", mine)
	s.getWith(http.StatusOK, "/api/v1/reports", others)
}

// The use of callers with a credential is counted by operation, in any format.
func TestUse(t *testing.T) {
	s := start(t, "cnmv", store.Batch{})
	ana := http.Header{"Authorization": {"Bearer read:reports"}}
	s.getWith(http.StatusOK, "/api/v1/reports", ana)
	s.getWith(http.StatusOK, "/api/v1/reports.csv", ana)
	s.getWith(http.StatusNotFound, "/api/v1/reports/oir-1", ana)
	s.getWith(http.StatusForbidden, "/api/v1/issuers", ana)
	s.get(http.StatusOK, "/api/v1/reports")
	const owner = "https://idp.example#ana "
	if want := []string{owner + "getReports", owner + "getReports", owner + "getReport"}; !slices.Equal(s.used.all, want) {
		t.Errorf("counted %q, want %q", s.used.all, want)
	}
}
