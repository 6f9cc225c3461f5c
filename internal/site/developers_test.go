package site_test

import (
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pregon/internal/query/querytest"
	"pregon/internal/rest"
	"pregon/internal/rest/openapi"
	"pregon/internal/store"
)

// The guide names every operation, and the reference describes it: its parameters,
// fields, examples and responses.
func TestReference(t *testing.T) {
	t.Parallel()
	s := start(t, "", store.Batch{})
	text, err := rest.OpenAPIJSON(baseURL, true)
	if err != nil {
		t.Fatal(err)
	}
	document, err := openapi.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	guide := s.get(http.StatusOK, "/developers?lang=en").Body.String()
	for _, op := range document.Operations {
		address := "/developers/" + op.Tags[0]
		if !strings.Contains(guide, `<li id="`+op.ID+`"><a href="`+address+`?lang=en#`+op.ID+`">`) {
			t.Errorf("the guide does not link to %s", op.ID)
		}
		_, part, found := strings.Cut(s.get(http.StatusOK, address).Body.String(), `<section class="operation" id="`+op.ID+`">`)
		part, _, _ = strings.Cut(part, "</section>")
		part = html.UnescapeString(part)
		if !found {
			t.Errorf("%s lacks %s", address, op.ID)
			continue
		}
		want := []string{">" + op.Method + "<", "<code>" + op.Path + "</code>", "curl"}
		for _, p := range op.Parameters {
			want = append(want, "<dt><code>"+p.Name+"</code>", p.In+" · "+document.Kind(p.Schema))
		}
		for _, f := range op.Body {
			want = append(want, "<dt><code>"+f.Name+"</code>")
		}
		for _, r := range op.Answers() {
			want = append(want, "<dt>"+r.Status+"</dt>")
			if !r.Failed() {
				want = append(want, r.Example)
			} else if r.Name != "" {
				want = append(want, "#error-"+r.Name)
			}
		}
		for _, text := range want {
			if !strings.Contains(part, text) {
				t.Errorf("%s lacks %q", op.ID, text)
			}
		}
		if op.NeedsCredential && !strings.Contains(part, `-H "X-API-Key: $PREGON_KEY"`) {
			t.Errorf("the example of %s sends no key", op.ID)
		}
	}
	s.get(http.StatusNotFound, "/developers/nothing")
}

// Anchors of the pages exist, and no id is used twice.
func TestReferenceAnchors(t *testing.T) {
	t.Parallel()
	s := start(t, "", store.Batch{})
	ids, links := map[string][]string{}, map[string][]string{}
	addresses := []string{"/developers", "/developers/conventions"}
	for _, tag := range []string{"reports", "documents", "facts", "positions", "issuers", "analytics", "proofs", "push", "account", "watchlists", "agents", "access", "service"} {
		addresses = append(addresses, "/developers/"+tag)
	}
	for _, address := range addresses {
		body := s.get(http.StatusOK, address).Body.String()
		for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(body, -1) {
			if slices.Contains(ids[address], m[1]) {
				t.Errorf("%s has the id %s twice", address, m[1])
			}
			ids[address] = append(ids[address], m[1])
		}
		for _, m := range regexp.MustCompile(`href="(/developers[^"#]*)?#([^"]*)"|data-copy="#([^"]*)"`).FindAllStringSubmatch(body, -1) {
			to := m[1]
			if to == "" {
				to = address
			}
			links[to] = append(links[to], m[2]+m[3])
		}
	}
	for address, anchors := range links {
		for _, anchor := range anchors {
			if !slices.Contains(ids[address], anchor) {
				t.Errorf("there is no %s#%s", address, anchor)
			}
		}
	}
	if len(links) < len(addresses) {
		t.Errorf("links lead to %d pages, want %d", len(links), len(addresses))
	}
}

func TestDevelopers(t *testing.T) {
	t.Parallel()
	s := start(t, "demo", querytest.Market())
	has(t, s.get(http.StatusOK, "/developers"), "Inicio rápido", "curl &#39;"+baseURL+"/api/v1/reports?type=IP&amp;limit=5&#39;", "X-API-Key", "read:analytics",
		"ninguno", "mercado simulado", "claude mcp add --transport http pregon "+baseURL+"/api/mcp", "hmac.compare_digest", "timingSafeEqual", "hmac.Equal")
	has(t, s.get(http.StatusOK, "/developers/conventions?lang=en"), "Conventions", `<h2 id="searching">Searching</h2>`, "as often as you like",
		"<td><code>banco dividendo</code></td>", `id="error-Invalid"`, "urn:pregon:problem:invalid")
	var settings any
	body := html.UnescapeString(s.get(http.StatusOK, "/developers").Body.String())
	for _, id := range []string{"mcp-vscode", "mcp-cursor"} {
		_, code, _ := strings.Cut(body, `<pre id="`+id+`" tabindex="0" translate="no"><code>`)
		code, _, _ = strings.Cut(code, "</code>")
		if err := json.Unmarshal([]byte(code), &settings); err != nil {
			t.Errorf("%s: %v\n%s", id, err, code)
		}
	}
}

// The pages are there before the first data is loaded.
func TestEarlyPages(t *testing.T) {
	t.Parallel()
	s := startEmpty(t, "demo")
	has(t, s.get(http.StatusOK, "/developers"), "Inicio rápido")
	has(t, s.get(http.StatusOK, "/developers/reports"), "getReports")
	has(t, s.get(http.StatusOK, "/status"), "Cargando", "Ninguna registrada")
	has(t, s.get(http.StatusOK, "/status?lang=en"), "Loading")
	s.append(querytest.Market())
	if body := s.get(http.StatusOK, "/status").Body.String(); strings.Contains(body, "Cargando") || !strings.Contains(body, "Completitud por día") {
		t.Error("the status still says that the data is loading")
	}
}
