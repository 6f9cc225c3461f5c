package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"pregon/internal/auth/access"
	"pregon/internal/auth/oauth"
	"pregon/internal/auth/token"
	"pregon/internal/discovery"
	"pregon/internal/mcp"
	"pregon/internal/rest"
	"pregon/internal/rest/resttest"
	"pregon/internal/store"
)

// Both forms of the document are valid, and only one of them has the account. The lines
// around that part are in neither.
func TestDocumentWithoutSignIn(t *testing.T) {
	for _, signIn := range []bool{false, true} {
		text := rest.OpenAPI(baseURL, signIn)
		asJSON, err := rest.OpenAPIJSON(baseURL, signIn)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{text, asJSON} {
			doc, err := openapi3.NewLoader().LoadFromData(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := doc.Validate(t.Context(), openapi3.EnableMultiError()); err != nil {
				t.Error(err)
			}
			if has := doc.Paths.Value("/api/v1/account") != nil; has != signIn {
				t.Errorf("with sign-in %t the document has the account: %t", signIn, has)
			}
			if bytes.Contains(text, []byte("begin sign-in")) || bytes.Contains(text, []byte("end sign-in")) {
				t.Errorf("with sign-in %t the document has the marker lines", signIn)
			}
			if !signIn && bytes.Contains(text, []byte("/api/v1/account")) {
				t.Error("without sign-in the document names the account")
			}
			var patterns []string
			for path, item := range doc.Paths.Map() {
				for method := range item.Operations() {
					if strings.HasPrefix(path, "/api/v1/") {
						patterns = append(patterns, method+" "+path)
					}
				}
			}
			served := slices.DeleteFunc(rest.Patterns(signIn), func(p string) bool { return !strings.Contains(p, " /api/v1/") })
			slices.Sort(patterns)
			slices.Sort(served)
			if diff := cmp.Diff(served, patterns); diff != "" {
				t.Errorf("with sign-in %t, served (-) and documented (+):\n%s", signIn, diff)
			}
		}
	}
}

func TestDocumentIsValid(t *testing.T) {
	doc := resttest.Document()
	if err := doc.Validate(t.Context(), openapi3.EnableMultiError()); err != nil {
		t.Error(err)
	}
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.0.0" || doc.Info.Title != "Pregón" {
		t.Errorf("OpenAPI %s, %s %s", doc.OpenAPI, doc.Info.Title, doc.Info.Version)
	}
	// The library checks the examples of responses, not those of schemas.
	for name, schema := range doc.Components.Schemas {
		for i, example := range schema.Value.Examples {
			if err := schema.Value.VisitJSON(example, openapi3.EnableJSONSchema2020()); err != nil {
				t.Errorf("example %d of %s: %v", i, name, err)
			}
		}
	}
}

// operationIDs are the method names of generated clients. They must not change.
var operationIDs = map[string]string{
	"GET /api/v1/facts":                    "getFacts",
	"GET /api/v1/calendar":                 "getCalendar",
	"GET /api/v1/calendar.ics":             "getCalendarFeed",
	"GET /api/v1/reports":                  "getReports",
	"GET /api/v1/reports/counts":           "getReportCounts",
	"GET /api/v1/values":                   "getValues",
	"GET /api/v1/reports/{id}":             "getReport",
	"GET /api/v1/reports/{id}/history":     "getReportHistory",
	"GET /api/v1/reports/{id}/document":    "getReportDocument",
	"GET /api/v1/reports/{id}/proof":       "getReportProof",
	"GET /api/v1/changes/{seq}/proof":      "getChangeProof",
	"GET /log/checkpoint":                  "getCheckpoint",
	"GET /log/vkey":                        "getVerifierKey",
	"GET /log/tile/{path}":                 "getTile",
	"GET /api/v1/search/documents":         "searchDocuments",
	"GET /api/v1/issuers":                  "getIssuers",
	"GET /api/v1/issuers/{id}":             "getIssuer",
	"GET /api/v1/issuers/{id}/history":     "getIssuerHistory",
	"GET /api/v1/issuers/{id}/ownership":   "getOwnership",
	"GET /api/v1/shorts":                   "getShorts",
	"GET /api/v1/shorts/totals":            "getShortTotals",
	"GET /api/v1/shorts/series":            "getShortSeries",
	"GET /api/v1/dealings":                 "getDealings",
	"GET /api/v1/holdings":                 "getHoldings",
	"GET /api/v1/own-shares":               "getOwnShares",
	"GET /api/v1/positions/{id}":           "getPosition",
	"GET /api/v1/positions/{id}/history":   "getPositionHistory",
	"GET /api/v1/positions/{id}/proof":     "getPositionProof",
	"GET /api/v1/analytics":                "getAnalytics",
	"GET /api/v1/suggest":                  "getSuggestions",
	"GET /api/v1/status":                   "getStatus",
	"GET /api/v1/completeness":             "getCompleteness",
	"GET /api/v1/stream":                   "streamEvents",
	"GET /api/v1/changes":                  "getChanges",
	"GET /api/v1/bulk":                     "getBulk",
	"GET /api/v1/bulk/{snapshot}/{file}":   "getBulkFile",
	"GET /api/v1/webhooks":                 "getWebhooks",
	"POST /api/v1/webhooks":                "createWebhook",
	"POST /api/v1/stream/tickets":          "createStreamTicket",
	"POST /api/v1/webhooks/preview":        "previewWebhook",
	"GET /api/v1/webhooks/{id}":            "getWebhook",
	"PATCH /api/v1/webhooks/{id}":          "changeWebhook",
	"DELETE /api/v1/webhooks/{id}":         "deleteWebhook",
	"POST /api/v1/webhooks/{id}/test":      "testWebhook",
	"POST /api/v1/webhooks/{id}/rotate":    "rotateWebhook",
	"POST /api/v1/webhooks/{id}/adopt":     "adoptWebhook",
	"GET /api/v1/webhooks/{id}/deliveries": "getDeliveries",
	"POST /api/v1/webhooks/{id}/redeliver": "redeliver",

	"GET /api/v1/account":                             "getAccount",
	"DELETE /api/v1/account":                          "deleteAccount",
	"GET /api/v1/account/export":                      "exportAccount",
	"GET /api/v1/account/keys":                        "getKeys",
	"POST /api/v1/account/keys":                       "createKey",
	"PATCH /api/v1/account/keys/{id}":                 "changeKey",
	"DELETE /api/v1/account/keys/{id}":                "revokeKey",
	"POST /api/v1/account/keys/{id}/rotate":           "rotateKey",
	"GET /api/v1/account/usage":                       "getUsage",
	"GET /api/v1/account/sessions":                    "getSessions",
	"DELETE /api/v1/account/sessions":                 "endSessions",
	"DELETE /api/v1/account/sessions/{id}":            "endSession",
	"GET /api/v1/account/apps":                        "getApps",
	"GET /api/v1/account/channels":                    "getChannels",
	"POST /api/v1/account/channels":                   "createChannel",
	"GET /api/v1/account/channels/{id}":               "getChannel",
	"PATCH /api/v1/account/channels/{id}":             "changeChannel",
	"DELETE /api/v1/account/channels/{id}":            "deleteChannel",
	"POST /api/v1/account/channels/{id}/confirmation": "confirmChannel",
	"POST /api/v1/account/channels/{id}/test":         "testChannel",
	"GET /api/v1/account/alerts":                      "getAlerts",
	"POST /api/v1/account/alerts":                     "createAlert",
	"GET /api/v1/account/alerts/{id}":                 "getAlert",
	"PATCH /api/v1/account/alerts/{id}":               "changeAlert",
	"DELETE /api/v1/account/alerts/{id}":              "deleteAlert",
	"DELETE /api/v1/account/apps/{id}":                "revokeApp",
	"GET /api/v1/account/owners":                      "getOwners",
	"POST /api/v1/account/owners/block":               "blockOwner",

	"GET /api/v1/account/watchlists":                 "getWatchlists",
	"POST /api/v1/account/watchlists":                "createWatchlist",
	"GET /api/v1/account/watchlists/{id}":            "getWatchlist",
	"PATCH /api/v1/account/watchlists/{id}":          "changeWatchlist",
	"DELETE /api/v1/account/watchlists/{id}":         "deleteWatchlist",
	"POST /api/v1/account/watchlists/{id}/entries":   "addToWatchlist",
	"DELETE /api/v1/account/watchlists/{id}/entries": "removeFromWatchlist",
	"POST /api/v1/account/watchlists/{id}/import":    "importWatchlist",
	"POST /api/v1/account/watchlists/{id}/share":     "shareWatchlist",
	"DELETE /api/v1/account/watchlists/{id}/share":   "endWatchlistShare",
	"POST /api/v1/account/watchlists/{id}/feed":      "renewWatchlistFeed",
	"DELETE /api/v1/account/watchlists/{id}/feed":    "endWatchlistFeed",

	"POST /api/mcp":                                     "mcpJsonRpc",
	"GET /api/mcp/server-card":                          "getServerCard",
	"GET /api/mcp/server.json":                          "getServerJson",
	"GET /.well-known/ard.json":                         "getAgentCatalog",
	"GET /.well-known/ai-catalog.json":                  "getAiCatalog",
	"GET /.well-known/agent-skills/index.json":          "getSkills",
	"GET /.well-known/agent-skills/use-pregon/SKILL.md": "getSkill",
	"GET /.well-known/api-catalog":                      "getApiCatalog",
	"GET /llms.txt":                                     "getLlmsTxt",
	"GET /llms-full.txt":                                "getLlmsFullTxt",
	"GET /robots.txt":                                   "getRobots",

	"POST /api/auth/token":                              "exchangeToken",
	"GET /.well-known/oauth-protected-resource":         "getProtectedResource",
	"GET /.well-known/oauth-protected-resource/api/mcp": "getProtectedMcp",
	"GET /.well-known/oauth-authorization-server":       "getAuthorizationServer",
	"GET /.well-known/jwks.json":                        "getSigningKeys",

	"POST /oauth/register": "registerClient",
	"POST /oauth/revoke":   "revokeToken",
	"GET /.well-known/oauth-protected-resource/api/mcp/signin": "getProtectedMcpSignIn",

	"GET /openapi.json": "getOpenapiJson",
	"GET /openapi.yaml": "getOpenapiYaml",
	"GET /":             "getIndex",
	"GET /healthz":      "getHealth",
	"GET /readyz":       "getReadiness",
}

// openapiJSON is the document as the service serves it.
func openapiJSON(t *testing.T) []byte {
	t.Helper()
	a, err := rest.New(rest.Options{BaseURL: baseURL, SignIn: true})
	if err != nil {
		t.Fatal(err)
	}
	return a.OpenAPIJSON()
}

func TestEveryRouteIsDocumentedAndNothingElse(t *testing.T) {
	served := []string{"GET /healthz", "GET /readyz", "POST " + access.MCPPath} // by the HTTP server itself, and by a surface of its own
	found, err := discovery.New(discovery.Options{BaseURL: baseURL, OpenAPI: openapiJSON(t), MCP: mcp.Offered()})
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range slices.Concat(rest.Patterns(true), token.Patterns(), oauth.Patterns(), found.Patterns()) {
		method, _, _ := strings.Cut(pattern, " ")
		served = append(served, method+" "+resttest.PathOf(pattern))
	}
	ids := map[string]string{}
	for path, item := range resttest.Document().Paths.Map() {
		for method, operation := range item.Operations() {
			ids[method+" "+path] = operation.OperationID
		}
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(served)), slices.Sorted(maps.Keys(ids))); diff != "" {
		t.Errorf("served (-) and documented (+):\n%s", diff)
	}
	if diff := cmp.Diff(operationIDs, ids); diff != "" {
		t.Error(diff)
	}
}

// Every operation accepts the three kinds of credentials of the contract, except
// those that are the same for every caller.
func TestSecurityAlternatives(t *testing.T) {
	doc := resttest.Document()
	want := openapi3.SecurityRequirements{{}, {"apiKey": {}}, {"bearer": {}}}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			requirements := doc.Security
			if operation.Security != nil {
				requirements = *operation.Security
			}
			open := path == "/healthz" || path == "/readyz" || strings.HasPrefix(path, "/.well-known/") || strings.HasSuffix(path, ".txt") || path == "/api/auth/token" || strings.HasPrefix(path, "/oauth/") || strings.HasPrefix(path, access.MCPPath+"/")
			want := want
			if n, counted := needs[method+" "+path]; open {
				want = nil
			} else if counted && !n.public {
				want = want[1:]
			}
			if path == rest.StreamPath {
				want = append(slices.Clone(want), openapi3.SecurityRequirement{"ticket": {}})
			}
			if len(want)+len(requirements) > 0 && !cmp.Equal(want, requirements) {
				t.Errorf("%s %s: %v", method, path, requirements)
			}
		}
	}
	key, bearer := doc.Components.SecuritySchemes["apiKey"].Value, doc.Components.SecuritySchemes["bearer"].Value
	if key.Type != "apiKey" || key.In != "header" || key.Name != "X-API-Key" {
		t.Errorf("apiKey is %+v", key)
	}
	if bearer.Type != "http" || bearer.Scheme != "bearer" || bearer.BearerFormat != "JWT" {
		t.Errorf("bearer is %+v", bearer)
	}
}

// The fields of the contract's objects, in its words.
func TestSchemasAreTheContract(t *testing.T) {
	nullable, text := []string{"string", "null"}, []string{"string"}
	contract := map[string]map[string][]string{
		"Report": {
			"id": text, "company_name": text, "ticker": nullable, "type": text, "title": text, "summary": nullable,
			"published_at": text, "cnmv_registration_number": text, "pdf_url": nullable,
		},
		"Issuer":     {"id": text, "name": text, "cif": nullable, "ticker": nullable, "market": nullable},
		"ReportList": {"data": {"array"}, "total": {"integer"}, "page": {"integer"}, "limit": {"integer"}},
		"IssuerList": {"data": {"array"}},
	}
	for name, want := range contract {
		schema := resttest.Document().Components.Schemas[name].Value
		got := map[string][]string{}
		for field, property := range schema.Properties {
			if field != "as_of_seq" { // only in answers to as_of, which the contract does not have
				got[field] = property.Value.Type.Slice()
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(slices.Values(schema.Required))); diff != "" {
			t.Errorf("what %s requires: %s", name, diff)
		}
		if more := schema.AdditionalProperties.Has; more != nil && !*more {
			t.Errorf("%s may have no further fields, though the text says that some may be added", name)
		}
	}
}

// Everything in the document has a description.
func TestEveryFieldIsDescribed(t *testing.T) {
	var visit func(name string, ref *openapi3.SchemaRef)
	visit = func(name string, ref *openapi3.SchemaRef) {
		for field, property := range ref.Value.Properties {
			if property.Value.Description == "" {
				t.Errorf("%s.%s has no description", name, field)
			}
			visit(name+"."+field, property)
		}
		if ref.Value.Items != nil {
			visit(name+"[]", ref.Value.Items)
		}
	}
	for name, ref := range resttest.Document().Components.Schemas {
		visit(name, ref)
	}
	for path, item := range resttest.Document().Paths.Map() {
		for _, p := range parameters(item) {
			if p.Value.Description == "" || p.Value.Example == nil && len(p.Value.Examples) == 0 {
				t.Errorf("%s: the parameter %s has no description or no example", path, p.Value.Name)
			}
		}
	}
}

// parameters returns the parameters of all methods of a path.
func parameters(item *openapi3.PathItem) (all openapi3.Parameters) {
	for _, operation := range item.Operations() {
		all = append(all, operation.Parameters...)
	}
	return all
}

// The YAML and JSON documents are equal and have the address of the service
// instead of the placeholder.
func TestServedDocuments(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	yaml, asJSON := s.get(http.StatusOK, "/openapi.yaml"), s.get(http.StatusOK, "/openapi.json")
	if yaml.header.Get("Content-Type") != "application/yaml" || asJSON.header.Get("Content-Type") != "application/json" {
		t.Errorf("served as %s and %s", yaml.header.Get("Content-Type"), asJSON.header.Get("Content-Type"))
	}
	// The library has its own YAML parser. This detects dates or numeric keys that
	// the parser of the program would change.
	fromYAML, fromJSON := loaded(t, yaml.body), loaded(t, asJSON.body)
	if diff := cmp.Diff(fromYAML, fromJSON); diff != "" {
		t.Errorf("YAML (-) and JSON (+): %s", diff)
	}
	for _, body := range [][]byte{yaml.body, asJSON.body} {
		if bytes.Count(body, []byte(baseURL)) != 1 || bytes.Contains(body, []byte("127.0.0.1:8080")) {
			t.Errorf("the address is in the document %d times", bytes.Count(body, []byte(baseURL)))
		}
	}
}

func loaded(t *testing.T, data []byte) (doc map[string]any) {
	t.Helper()
	parsed, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		t.Fatal(err)
	}
	data, err = parsed.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// The document is valid with any address of the service.
func TestDocumentWithAnyAddress(t *testing.T) {
	for _, address := range []string{"http://[::1]:8080", "https://pregon.example/under/a-path", "http://127.0.0.1:8080"} {
		doc, err := openapi3.NewLoader().LoadFromData(rest.OpenAPI(address, true))
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if len(doc.Servers) != 1 || doc.Servers[0].URL != address {
			t.Errorf("%s: the document says %s", address, doc.Servers[0].URL)
		}
	}
}

// withFact returns the other parameters that a parameter needs, as one for amounts does.
func withFact(path, name string) string {
	if path == "/api/v1/dealings" {
		switch name {
		case "person":
			return "&issuer=A69000016"
		case "currency":
			return "&min_amount=5"
		}
		return ""
	}
	if path == "/api/v1/shorts/series" && name != "issuer" {
		return "&issuer=A69000016"
	}
	kind := "&fact=capital"
	if path == "/api/v1/reports/counts" && name != "by" {
		return "&by=type" + withFact("/api/v1/reports", name)
	}
	if path == "/api/v1/values" && name != "of" {
		return "&of=type"
	}
	if path == "/api/v1/facts" {
		kind = "&kind=capital"
	}
	switch name {
	case "min_amount":
		return kind
	case "currency":
		return kind + "&min_amount=5"
	case "order":
		return kind
	}
	return ""
}

// sampleOf returns a path with the id of a report, an issuer or a position.
func sampleOf(path string) string {
	if strings.HasPrefix(path, "/api/v1/positions") {
		return strings.ReplaceAll(path, "{id}", "dealing-2026000122")
	}
	if strings.HasPrefix(path, "/api/v1/issuers") {
		return strings.ReplaceAll(path, "{id}", "A69000016")
	}
	return strings.ReplaceAll(path, "{id}", "oir-40374")
}

// The service validates parameters as documented. It accepts the bounds of every
// integer, every listed value and valid dates. It refuses values out of bounds,
// other values and invalid dates.
func TestParametersAreAsDocumented(t *testing.T) {
	s := startRegisters(t)
	s.document("oir-40374", "El dividendo se pagará en mayo.")
	integers := 0
	header := s.credentials(access.AllScopes)[0]
	for path, item := range resttest.Document().Paths.Map() {
		if path == rest.StreamPath || strings.Contains(path, "webhooks") || strings.Contains(path, "account") {
			continue // tested separately
		}
		for _, ref := range parameters(item) {
			p := ref.Value
			if p.In != "query" {
				continue
			}
			var yes, no []string
			switch schema := p.Schema.Value; {
			case schema.Type.Is("integer"):
				integers++
				least, most := int64(*schema.Min), int64(*schema.Max)
				yes = []string{fmt.Sprint(least), fmt.Sprint(most), fmt.Sprint(schema.Default)}
				no = []string{fmt.Sprint(least - 1), fmt.Sprint(most + 1)}
			case len(schema.Enum) > 0:
				for _, value := range schema.Enum {
					yes = append(yes, fmt.Sprint(value))
					no = append(no, strings.ToUpper(fmt.Sprint(value))+"x", " "+fmt.Sprint(value))
				}
			case schema.Type.Is("boolean"):
				yes, no = []string{"true", "false"}, []string{"yes", "TRUE", "1"}
			case schema.Pattern == "^[0-9]*$":
				yes, no = []string{"0", "7"}, []string{"x", "-1", "+1", "1.5"}
			case schema.Pattern == "^(([a-z0-9]+-)?[0-9]+)?$":
				yes, no = []string{"0", "7", s.at(1)}, []string{"x", "-1", "+1", "1.5", "X-1", "x-"}
			case p.Name == "min_amount":
				yes, no = []string{"0", "50000000", "0.25"}, []string{"-1", "1,5", "x", "1e3"}
			case p.Name == "currency":
				yes, no = []string{"EUR", "USD"}, []string{"eur", "EURO", "€"}
			case p.Name == "as_of":
				newest := s.catalog.Snapshot().Head()
				yes = []string{fmt.Sprint(newest.Seq), newest.String()}
				no = []string{"x", "-1", fmt.Sprint(newest.Seq + 1), "other-1", "2026-02-29", "2026-02-28T10:00:00", "9999-12-31", "9999-12-31T00:00:00Z"}
			case p.Name == "events":
				yes = []string{"report.published", "report.updated,issuer.updated", "position.published,position.withdrawn"}
				no = []string{"nonsense", "report.published,", "position.closed"}
			case p.Name == "position":
				yes = []string{"short", "short,holding,own_shares,dealing"}
				no = []string{"Short", "short,", "own-shares", "short;holding"}
			case p.Name == "min_percent":
				yes = []string{"0", "0.5", "100"}
				no = []string{"-1", "0,5", "x", "100.01", "5%"}
			case p.Name == "issuer":
				yes, no = []string{"A69000016", "es0sim000010"}, []string{"anything"}
			case p.Name == "watchlist": // see TestWatchlistOfLists
				no = []string{"anything", "wl"}
			case p.Name == "category":
				yes, no = []string{"Sobre resultados", "recompra"}, []string{"anything"}
			case p.Name == "market":
				yes, no = []string{"SIBE", "growth"}, []string{"anything"}
			case p.Name == "fields":
				yes, no = []string{"id", "url,facts,title"}, []string{"x", "id,id", "id,", "ID", "id, title"}
			case p.Name == "sector":
				yes, no = []string{"METÁLICAS BÁSICAS", "metalicas", "food"}, []string{"anything"}
			case schema.Format == "date":
				yes, no = []string{"2026-02-28", "1900-01-01", "9999-12-31"}, []string{"2026-02-29", "2026-13-01", "1899-12-31", "2026-2-8"}
			default:
				yes = []string{"anything"}
			}
			for _, value := range yes {
				target := sampleOf(path) + encode(p.Name, value)
				if p.Name == "in" || path == "/api/v1/search/documents" && p.Name != "search" {
					target += "&search=dividendo"
				}
				target += withFact(path, p.Name)
				if path == "/api/v1/completeness" && p.Name == "from" {
					target += "&to=" + value // else it would be too far from today
				}
				s.getWith(http.StatusOK, target, header)
			}
			for _, value := range no {
				target := sampleOf(path) + encode(p.Name, value) + withFact(path, p.Name)
				if path == "/api/v1/search/documents" {
					target += "&search=dividendo"
				}
				s.getWith(http.StatusBadRequest, target, header).refused(p.Name, value)
			}
		}
	}
	if integers != 29 {
		t.Errorf("%d whole numbers seen, want limit and page of reports, of counts, of documents, of facts, of the calendar, of four "+
			"registers and of totals, limit of issuers, of suggestions and of three histories, limit and wait of changes, "+
			"offset and max_chars of a text", integers)
	}
}
