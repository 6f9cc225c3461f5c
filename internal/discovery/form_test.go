package discovery_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"pregon/internal/discovery"
	"pregon/internal/mcp"
)

// manifest follows the schema of the predecessor format, which allows no other
// fields, and the rules of the proposal.
type manifest struct {
	SpecVersion string
	Host        struct{ DisplayName, DocumentationURL string }
	Entries     []struct {
		Identifier, DisplayName, Type, URL, Description, Version string
		Tags, Capabilities, RepresentativeQueries                []string
		UpdatedAt                                                time.Time
	}
}

var urn = regexp.MustCompile(`^urn:air:([a-z0-9-]+(?:\.[a-z0-9-]+)+)(:[a-zA-Z0-9._-]+){2}$`)

func TestCatalog(t *testing.T) {
	w := newWorld(t, nil)
	var m manifest
	w.decode("/.well-known/ard.json", &m)
	if m.SpecVersion != "1.0" || m.Host.DisplayName != "Pregón" || m.Host.DocumentationURL != base+"/llms.txt" {
		t.Errorf("specVersion %s, host %+v", m.SpecVersion, m.Host)
	}
	var types, identifiers []string
	for _, e := range m.Entries {
		types, identifiers = append(types, e.Type), append(identifiers, e.Identifier)
		if match := urn.FindStringSubmatch(e.Identifier); match == nil || match[1] != "pregon.example" {
			t.Errorf("identifier %s", e.Identifier)
		}
		if n := len(e.RepresentativeQueries); n < 2 || n > 5 {
			t.Errorf("%s has %d representative queries", e.Identifier, n)
		}
		if e.DisplayName == "" || e.Description == "" || len(e.Tags) == 0 || e.Version != "1.2.3" || e.UpdatedAt != time.Date(2026, 4, 22, 10, 0, 0, 0, time.UTC) {
			t.Errorf("%+v lacks something", e)
		}
		if u, err := url.Parse(e.URL); err != nil || !strings.HasPrefix(u.String(), base+"/") {
			t.Errorf("url %s", e.URL)
		}
	}
	want := []string{"application/mcp-server-card+json", "application/vnd.oai.openapi+json;version=3.1", `text/markdown; profile="urn:air:agent-skills"`}
	if !slices.Equal(types, want) {
		t.Errorf("types %q", types)
	}
	if slices.Sort(identifiers); len(slices.Compact(identifiers)) != len(want) {
		t.Errorf("identifiers %q", identifiers)
	}
	var tools []string
	for _, tool := range mcp.Offered().Tools {
		tools = append(tools, tool.Name)
	}
	if got := m.Entries[0].Capabilities; !slices.Equal(got, tools) {
		t.Errorf("capabilities %q, want %q", got, tools)
	}
	one, h := w.get("/.well-known/ard.json")
	other, _ := w.get("/.well-known/ai-catalog.json")
	if one != other || h.Get("Content-Type") != "application/json" {
		t.Error("the two names of the manifest differ")
	}
}

// The publisher is a domain name, whatever the address is.
func TestPublisher(t *testing.T) {
	for address, want := range map[string]string{
		"https://pregon.example":      "pregon.example",
		"https://Pregon.Example:8443": "pregon.example",
		"https://pregon.example.":     "pregon.example",
		"http://localhost:8080":       "pregon.localhost",
		"http://127.0.0.1:8080":       "pregon.localhost",
		"http://[::1]:8080":           "pregon.localhost",
		"http://pregon:8080":          "pregon.internal",
		"http://my_host":              "my-host.internal",
		"http://my_host.lan":          "my-host.lan.invalid", // my-host.lan may belong to another host
		"https://pregón.es":           "preg-n.es.invalid",
		"https://xn--pregn-3ta.es":    "xn--pregn-3ta.es",
		"http://":                     "pregon.invalid",
		"http://%":                    "pregon.invalid",
		"http://192.0.2.7":            "192.0.2.7.invalid",
		"http://[2001:db8::1]":        "2001-db8--1.invalid",
	} {
		w := newWorld(t, func(o *discovery.Options) { o.BaseURL = address })
		var m manifest
		w.decode("/.well-known/ard.json", &m)
		if match := urn.FindStringSubmatch(m.Entries[0].Identifier); match == nil || match[1] != want {
			t.Errorf("%s: %s, want of %s", address, m.Entries[0].Identifier, want)
		}
	}
}

func TestServerCard(t *testing.T) {
	w := newWorld(t, nil)
	for _, source := range []string{"cnmv", "demo"} {
		w.source = source
		var card struct {
			Schema                            string `json:"$schema"`
			Name, Version, Title, Description string
			WebsiteURL                        string
			Remotes                           []struct {
				Type, URL                 string
				SupportedProtocolVersions []string
				Headers                   []struct {
					Name, Description, Placeholder string
					IsRequired, IsSecret           bool
				}
			}
		}
		w.decode("/api/mcp/server-card", &card)
		if card.Schema != "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json" || card.Name != "example.pregon/pregon" ||
			!regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(card.Name) || card.Version != "1.2.3" || card.WebsiteURL != base+"/" {
			t.Errorf("%+v", card)
		}
		for _, text := range []string{card.Title, card.Description} {
			if n := utf8.RuneCountInString(text); n < 1 || n > 100 {
				t.Errorf("%q has %d characters", text, n)
			}
		}
		r := card.Remotes[0]
		if len(card.Remotes) != 1 || r.Type != "streamable-http" || r.URL != base+"/api/mcp" ||
			!slices.Equal(r.SupportedProtocolVersions, mcp.Offered().Versions) {
			t.Errorf("remotes %+v", card.Remotes)
		}
		if h := r.Headers[0]; len(r.Headers) != 1 || h.Name != "X-API-Key" || h.IsRequired || !h.IsSecret || h.Description == "" {
			t.Errorf("headers %+v", r.Headers)
		}
	}
	if _, h := w.get("/api/mcp/server-card"); h.Get("Content-Type") != "application/mcp-server-card+json" {
		t.Errorf("Content-Type: %s", h.Get("Content-Type"))
	}
}

var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func TestSkills(t *testing.T) {
	w := newWorld(t, nil)
	for _, source := range []string{"cnmv", "demo"} {
		w.source = source
		var index struct {
			Schema string `json:"$schema"`
			Skills []struct{ Name, Type, Description, URL, Digest string }
		}
		w.decode("/.well-known/agent-skills/index.json", &index)
		if index.Schema != "https://schemas.agentskills.io/discovery/0.2.0/schema.json" || len(index.Skills) == 0 {
			t.Fatalf("%+v", index)
		}
		for _, s := range index.Skills {
			if !skillName.MatchString(s.Name) || len(s.Name) > 64 || s.Type != "skill-md" || s.URL != base+"/.well-known/agent-skills/"+s.Name+"/SKILL.md" {
				t.Errorf("%+v", s)
			}
			text, h := w.get(strings.TrimPrefix(s.URL, base))
			sum := sha256.Sum256([]byte(text))
			if s.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
				t.Errorf("%s: the digest does not match the content", s.Name)
			}
			if h.Get("Content-Type") != `text/markdown; profile="urn:air:agent-skills"; charset=utf-8` {
				t.Errorf("Content-Type: %s", h.Get("Content-Type"))
			}
			front, body, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
			var about struct {
				Name, Description string
				Metadata          map[string]string
			}
			dec := yaml.NewDecoder(strings.NewReader(front))
			dec.KnownFields(true)
			if err := dec.Decode(&about); err != nil || !strings.HasPrefix(text, "---\n") {
				t.Fatalf("%s: %v", s.Name, err)
			}
			if n := utf8.RuneCountInString(about.Description); about.Name != s.Name || about.Description != s.Description || n < 50 || n > 1024 {
				t.Errorf("%s: %+v, with a description of %d characters", s.Name, about, n)
			}
			if lines := strings.Count(body, "\n"); lines < 50 || lines > 500 || len(body) > 20000 { // as the format advises
				t.Errorf("%s has %d lines, %d bytes", s.Name, lines, len(body))
			}
		}
	}
}

func TestAPICatalog(t *testing.T) {
	w := newWorld(t, nil)
	type target struct{ Href, Type, Title string }
	type context struct {
		Anchor       string
		Item, Status []target
		ServiceDesc  []target `json:"service-desc"`
		ServiceDoc   []target `json:"service-doc"`
		ServiceMeta  []target `json:"service-meta"`
	}
	var set struct{ Linkset []context }
	w.decode("/.well-known/api-catalog", &set)
	var anchors, items []string
	for _, c := range set.Linkset {
		anchors = append(anchors, c.Anchor)
		for _, i := range c.Item {
			items = append(items, i.Href)
		}
	}
	want := []string{base + "/", base + "/api/mcp", base + "/api/auth/token"}
	if !slices.Equal(items, want) || !slices.Equal(anchors, append([]string{base + "/.well-known/api-catalog"}, want...)) {
		t.Errorf("items %q, anchors %q", items, anchors)
	}
	rest, mcp, token := set.Linkset[1], set.Linkset[2], set.Linkset[3]
	if rest.ServiceDesc[0].Href != base+"/openapi.json" || rest.ServiceDoc[0].Href != base+"/llms-full.txt" || rest.Status[0].Href != base+"/api/v1/status" {
		t.Errorf("REST: %+v", rest)
	}
	if mcp.ServiceDesc[0] != (target{base + "/api/mcp/server-card", "application/mcp-server-card+json", "MCP server card"}) {
		t.Errorf("MCP: %+v", mcp)
	}
	if token.ServiceMeta[0].Href != base+"/.well-known/oauth-authorization-server" {
		t.Errorf("token: %+v", token)
	}
	for _, method := range []string{"GET", "HEAD"} {
		h := w.ask(method, "/.well-known/api-catalog").Header
		if h.Get("Content-Type") != `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"` {
			t.Errorf("Content-Type: %s", h.Get("Content-Type"))
		}
		for _, link := range []string{`</.well-known/api-catalog>; rel="api-catalog"`, `</>; rel="item"`, `</api/mcp>; rel="item"`} {
			if !strings.Contains(h.Get("Link"), link) {
				t.Errorf("%s: Link: %s, want %s", method, h.Get("Link"), link)
			}
		}
	}
}

// robots.txt excludes only paths that crawlers cannot use.
func TestRobots(t *testing.T) {
	w := newWorld(t, nil)
	text, h := w.get("/robots.txt")
	want := `User-agent: *
Allow: /
Disallow: /api/auth/token
Disallow: /api/mcp$
Disallow: /api/v1/account
Disallow: /api/v1/bulk
Disallow: /api/v1/changes
Disallow: /api/v1/reports/*/document
Disallow: /api/v1/search/documents
Disallow: /api/v1/stream
Disallow: /api/v1/webhooks
Disallow: /oauth/register
Disallow: /oauth/revoke
Disallow: /live
Disallow: /suggest

Sitemap: https://pregon.example/sitemap.xml
Agentmap: https://pregon.example/.well-known/ard.json
`
	if text != want || h.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%s\n%s", h.Get("Content-Type"), text)
	}
}

// llms.txt has the format of llmstxt.org: a title, a quote, text without headings,
// and then sections with only links.
func TestLLMs(t *testing.T) {
	w := newWorld(t, nil)
	item := regexp.MustCompile(`^- \[[^\]]+\]\(https://[^)\s]+\)(: \S.*)?$`)
	for _, source := range []string{"cnmv", "demo"} {
		w.source = source
		text, h := w.get("/llms.txt")
		if h.Get("Content-Type") != "text/plain; charset=utf-8" || len(text) > 8000 {
			t.Errorf("%s, %d bytes", h.Get("Content-Type"), len(text))
		}
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if !strings.HasPrefix(lines[0], "# Pregón") || lines[1] != "" || !strings.HasPrefix(lines[2], "> ") {
			t.Errorf("llms.txt begins with %q", lines[:3])
		}
		section, items := "", 0
		for i, line := range lines[3:] {
			switch {
			case strings.HasPrefix(line, "## "):
				if section != "" && items == 0 {
					t.Errorf("%q has no links", section)
				}
				section, items = line, 0
			case strings.HasPrefix(line, "#"):
				t.Errorf("line %d: %q is not a valid heading", i+4, line)
			case section != "" && line != "":
				if items++; !item.MatchString(line) {
					t.Errorf("line %d: %q is not a link with a note", i+4, line)
				}
			}
		}
		if section != "## Optional" || items == 0 {
			t.Errorf("llms.txt ends with %q and %d links", section, items)
		}
	}
	full, _ := w.get("/llms-full.txt")
	if strings.Count(full, "\n# ") != 0 || !strings.HasPrefix(full, "# Pregón") {
		t.Error("llms-full.txt does not have exactly one title")
	}
}
