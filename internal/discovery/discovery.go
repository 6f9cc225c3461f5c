// Package discovery is how a program that knows nothing but the address of the
// service finds out what it offers, and how to use it well.
//
// Every document is made of what the program really has: the OpenAPI document,
// the offer of the MCP server, the scopes, the limit. The templates beside this
// file hold prose alone. What they name they name through functions that fail
// when there is no such thing, so that a program whose documents would tell
// something untrue does not start.
//
// The documents say whether the market is simulated, which a store may come to
// be marked with while it is served. So there are two editions of all of them,
// both made at the start.
package discovery

import (
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/mcp"
	"pregon/internal/server/content"
	"pregon/internal/server/problem"
)

// Paths of what others describe, or serve.
const (
	mcpPath         = access.MCPPath
	cardPath        = mcpPath + "/server-card"
	openapiPath     = "/openapi.json"
	openapiYAMLPath = "/openapi.yaml"
	resourcePath    = "/.well-known/oauth-protected-resource"
	serverPath      = "/.well-known/oauth-authorization-server"

	ardPath        = "/.well-known/ard.json"
	aiCatalogPath  = "/.well-known/ai-catalog.json"
	apiCatalogPath = "/.well-known/api-catalog"
	skillsPath     = "/.well-known/agent-skills/"
	llmsPath       = "/llms.txt"
	llmsFullPath   = "/llms-full.txt"
	robotsPath     = "/robots.txt"
	frontPath      = "/{$}"
)

// Options are what the documents are made of.
type Options struct {
	BaseURL string        // as clients see the service, without a slash at the end
	Version string        // of the program
	Updated time.Time     // when that version was made; when zero, what the build says
	Source  func() string // where the reports come from: "demo" is the simulated market
	OpenAPI []byte        // as JSON
	MCP     mcp.Offer
	// AnonymousLimit is how many requests in any minute an address may make
	// without a credential; 0 for any number.
	AnonymousLimit int
}

// Discovery answers with the documents.
type Discovery struct {
	source     func() string
	real, demo edition
}

// edition is every document by its path.
type edition map[string]variants

// variants are the forms in which a document can be had, of which the first is
// for those who do not mind.
type variants []document

// New makes the documents.
func New(o Options) (*Discovery, error) {
	if o.Updated.IsZero() {
		o.Updated = built()
	}
	api, err := parseReference(o.OpenAPI)
	if err != nil {
		return nil, err
	}
	d := &Discovery{source: o.Source}
	if d.real, err = newEdition(newFacts(o, api, "")); err != nil {
		return nil, err
	}
	d.demo, err = newEdition(newFacts(o, api, demoSource))
	return d, err
}

// built is when the program's sources were last changed, as far as it knows.
func built() time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return time.Time{}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			t, _ := time.Parse(time.RFC3339, s.Value)
			return t
		}
	}
	return time.Time{}
}

// newEdition makes every document of one kind of market.
func newEdition(f *facts) (edition, error) {
	e := edition{}
	for _, write := range []func(*facts, edition) error{
		writeSkills, // first: others tell of them
		writeCatalog, writeCard, writeLinkset, writeRobots, writeLLMs, writeFront,
	} {
		if err := write(f, e); err != nil {
			return nil, err
		}
	}
	for _, forms := range e {
		for i := range forms {
			forms[i].tag = content.Tag(content.Hash(forms[i].body))
		}
	}
	return e, nil
}

// Patterns returns the pattern of every route.
func (d *Discovery) Patterns() []string {
	patterns := make([]string, 0, len(d.real))
	for path := range d.real {
		patterns = append(patterns, "GET "+path)
	}
	slices.Sort(patterns)
	return patterns
}

// Register puts every document on the mux.
func (d *Discovery) Register(mux *http.ServeMux) {
	for path := range d.real {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			if err := access.RefuseInQuery(r.URL.RawQuery); err != nil {
				problem.Write(w, err)
				return
			}
			e := d.real
			if d.source() == demoSource {
				e = d.demo
			}
			e[path].serve(w, r)
		})
	}
}
