// Package discovery serves the documents from which a program that knows only
// the address of the service learns what it offers and how to use it.
//
// Every document is generated from the OpenAPI document, the offer of the MCP
// server, the scopes and the limit. The templates contain only prose. They refer
// to operations, tools and fields through functions that fail for unknown names,
// so that a program with a wrong document does not start.
//
// The documents say whether the market is simulated. A store may be marked as
// simulated while it is served, so both editions are rendered at the start.
package discovery

import (
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/mcp"
	"pregon/internal/rest/openapi"
	"pregon/internal/server/content"
	"pregon/internal/server/problem"
)

// Paths of other packages, and of the documents.
const (
	mcpPath        = access.MCPPath
	cardPath       = mcpPath + "/server-card"
	openapiPath    = "/openapi.json"
	ardPath        = "/.well-known/ard.json"
	aiCatalogPath  = "/.well-known/ai-catalog.json"
	apiCatalogPath = "/.well-known/api-catalog"
	skillsPath     = "/.well-known/agent-skills/"
	llmsPath       = "/llms.txt"
	llmsFullPath   = "/llms-full.txt"
	robotsPath     = "/robots.txt"
	frontPath      = "/{$}"
)

// Options are the facts in the documents.
type Options struct {
	BaseURL string        // of the service, without a slash at the end
	Version string        // of the program
	Updated time.Time     // release time of the version; if zero, of the build
	Source  func() string // the source of the reports: "demo" is the simulated market
	OpenAPI []byte        // as JSON
	MCP     mcp.Offer
	// AnonymousLimit is the number of requests per minute that an address may
	// make without a credential; 0 is unlimited.
	AnonymousLimit int
	RegistryProof  string // of the domain, for the MCP registry; see CheckProof
}

// Discovery serves the documents.
type Discovery struct {
	source                 func() string
	real, demo             edition
	realSkills, demoSkills []mcp.Skill
}

// Skills returns the skills, which MCP offers too.
func (d *Discovery) Skills() []mcp.Skill {
	if d.source() == demoSource {
		return d.demoSkills
	}
	return d.realSkills
}

// edition holds every document by its path.
type edition map[string]variants

// variants are the formats of a document. The first is the default.
type variants []document

// New renders the documents.
func New(o Options) (*Discovery, error) {
	if o.Updated.IsZero() {
		o.Updated = built()
	}
	api, err := openapi.Parse(o.OpenAPI)
	if err != nil {
		return nil, err
	}
	market, simulated := newFacts(o, api, ""), newFacts(o, api, demoSource)
	d := &Discovery{source: o.Source}
	if d.real, err = newEdition(market); err != nil {
		return nil, err
	}
	d.demo, err = newEdition(simulated)
	d.realSkills, d.demoSkills = market.SkillTexts, simulated.SkillTexts
	return d, err
}

// built returns the commit time of the program, zero if unknown.
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

// newEdition renders every document for the real or the simulated market.
func newEdition(f *facts) (edition, error) {
	e := edition{}
	for _, write := range []func(*facts, edition) error{
		writeSkills, // first: other documents list them
		writeCatalog, writeCard, writeServerJSON, writeProof, writeLinkset, writeRobots, writeLLMs, writeFront,
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

// Patterns returns the pattern of every route, with that of the front page.
func (d *Discovery) Patterns() []string {
	patterns := make([]string, 0, len(d.real))
	for path := range d.real {
		patterns = append(patterns, "GET "+path)
	}
	slices.Sort(patterns)
	return patterns
}

// Register adds every document to the mux, except for the front page.
func (d *Discovery) Register(mux *http.ServeMux) {
	for path := range d.real {
		if path != frontPath {
			mux.Handle("GET "+path, d.handler(path))
		}
	}
}

// FrontLinks returns the header Link of the front page in every format.
func (d *Discovery) FrontLinks() string { return d.real[frontPath][0].linkHeader() }

// Front returns the handler of what programs get at the front page.
func (d *Discovery) Front() http.Handler { return d.handler(frontPath) }

// handler serves the document of a path.
func (d *Discovery) handler(path string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
