package main_test

import (
	"bytes"
	"context"
	"errors"
	"html"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"pregon/internal/rest/resttest"
)

// newcomer is a client that knows only the address of a service and its documents.
type newcomer struct {
	t              *testing.T
	url, key       string
	store          string            // of the service
	report, issuer string            // that exist
	watchlist      string            // of the key
	documents      map[string]string // by path
}

// TestDiscovery follows the documents for agents: it requests every address of the
// service in them, calls every operation, tool, resource and prompt that they name,
// and runs their examples. The documents must name exactly those that exist.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	store := engines["sqlite"](t)
	s := startReplica(t, store, "--source", "demo", "--rate", "60/min", "--webhook-allow-private",
		"--registers", "shorts,dealings,holdings")
	n := &newcomer{
		t:         t,
		url:       s.url,
		key:       pregon(t, store, "keys", "create", "--plan", "operator"),
		store:     store,
		documents: map[string]string{},
	}
	n.settle()
	n.follow()
	n.crawl()
	t.Run("operations", func(t *testing.T) { n.in(t).callOperations() })
	t.Run("mcp", func(t *testing.T) { n.in(t).callServer() })
	t.Run("examples", func(t *testing.T) { n.in(t).runExamples() })
}

func (n newcomer) in(t *testing.T) *newcomer { n.t = t; return &n }

// settle waits until the text of a document and the directory are available.
func (n *newcomer) settle() {
	n.t.Helper()
	eventually(n.t, func() error {
		for path, id := range map[string]*string{"/api/v1/reports?search=sociedad&in=document": &n.report, "/api/v1/issuers": &n.issuer} {
			var list struct{ Data []struct{ ID string } }
			if _, err := call(n.t.Context(), n.url, n.key, http.MethodGet, path, nil, &list); err != nil {
				return err
			}
			if len(list.Data) == 0 {
				return errors.New(path + " finds nothing")
			}
			*id = list.Data[0].ID
		}
		return nil
	})
}

// follow makes a watchlist with an issuer.
func (n *newcomer) follow() {
	n.t.Helper()
	header := http.Header{"X-API-Key": {n.key}}
	answer := n.ask(http.MethodPost, "/api/v1/account/watchlists", []byte(`{"name":"mine","issuers":["`+n.issuer+`"]}`), header)
	if n.watchlist = field(n.t, answer.Body, "id"); n.watchlist == "" {
		n.t.Fatalf("%d %s", answer.Status, answer.Body)
	}
}

// ask sends a request, with the key unless the header sets another, and reads the
// answer. It does not read the body of a stream.
func (n *newcomer) ask(method, path string, body []byte, header http.Header) resttest.Answer {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), patient)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, n.url+path, bytes.NewReader(body))
	if err != nil {
		n.t.Fatal(err)
	}
	req.Header = maps.Clone(header)
	if req.Header == nil {
		req.Header = http.Header{"X-Api-Key": {n.key}}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return resttest.Answer{Status: resp.StatusCode, Header: resp.Header}
	}
	answer, err := resttest.Read(resp)
	if err != nil {
		n.t.Fatal(err)
	}
	if (path == "/api/mcp" || path == "/api/mcp/signin") && method != http.MethodPost {
		return answer // an error in the format of that endpoint
	}
	if err := resttest.Check(req, answer); err != nil {
		n.t.Errorf("%s %s is not answered as documented: %v\n%.500s", method, path, err, answer.Body)
	}
	return answer
}

var rooted = regexp.MustCompile(`(?:href="(/[^"]*)"|<(/[^>]*)>; rel)`)

// links finds the addresses of the service in a text.
func (n *newcomer) links(text string) (paths []string) {
	text = html.UnescapeString(text)
	for _, m := range regexp.MustCompile(regexp.QuoteMeta(n.url)+`(/[^\s"'<>()\\`+"`"+`]*)`).FindAllStringSubmatch(text, -1) {
		paths = append(paths, strings.TrimRight(m[1], ".,:;"))
	}
	for _, m := range rooted.FindAllStringSubmatch(text, -1) {
		paths = append(paths, m[1]+m[2])
	}
	return paths
}

// crawl follows every address of the service from document to document. Every
// document must be reachable from the front page.
func (n *newcomer) crawl() {
	page := n.ask(http.MethodGet, "/", nil, http.Header{"Accept": {"text/html"}})
	queue := append(n.links(page.Header.Get("Link")), "/", "/robots.txt")
	seen := map[string]bool{}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		if seen[path] || strings.ContainsAny(path, "{$") { // an example, which is run
			continue
		}
		if path == "/sitemap.xml" || path == "/oauth/authorize" { // of the pages for people
			continue
		}
		seen[path] = true
		answer := n.ask(http.MethodGet, path, nil, nil)
		post := answer.Status == http.StatusMethodNotAllowed && strings.Contains(answer.Header.Get("Allow"), http.MethodPost)
		if asks := answer.Status == http.StatusBadRequest && needsParameters(path); post || asks {
			continue // it is called below
		}
		if answer.Status != http.StatusOK {
			n.t.Errorf("documented address %s: got status %d", path, answer.Status)
		}
		if !strings.HasPrefix(path, "/api/v1/") {
			n.documents[path] = string(answer.Body)
			queue = append(queue, n.links(string(answer.Body)+answer.Header.Get("Link"))...)
		}
	}
	for _, path := range []string{
		"/.well-known/ard.json", "/.well-known/ai-catalog.json", "/.well-known/api-catalog", "/.well-known/agent-skills/index.json",
		"/.well-known/agent-skills/use-pregon/SKILL.md", "/api/mcp/server-card", "/api/mcp/server.json", "/llms.txt", "/llms-full.txt", "/openapi.json", "/openapi.yaml",
		"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/api/mcp", "/.well-known/oauth-authorization-server",
	} {
		if n.documents[path] == "" {
			n.t.Errorf("%s is not reachable from the front page", path)
		}
	}
}

// needsParameters reports whether an operation has required parameters.
func needsParameters(path string) bool {
	item := resttest.Document().Paths.Value(path)
	return item != nil && item.Get != nil && slices.ContainsFunc(item.Get.Parameters, func(p *openapi3.ParameterRef) bool { return p.Value.Required })
}
