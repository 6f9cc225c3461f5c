package discovery

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"pregon/internal/auth/access"
	"pregon/internal/mcp"
	"pregon/internal/query"
	"pregon/internal/rest/openapi"
)

// demoSource marks a store that holds the simulated market.
const demoSource = "demo"

//go:embed templates
var templates embed.FS

// texts are the templates of all but the front page.
var texts = template.Must(template.New("").Funcs(template.FuncMap{"line": oneLine, "json": encode}).
	ParseFS(templates, "templates/*.txt", "templates/*.json", "templates/skills/*.md"))

// encode returns a value as JSON.
func encode(v any) (string, error) {
	b, err := query.Encode(v)
	return string(b), err
}

// facts are the data of all documents. The templates call its methods.
type facts struct {
	Options
	API         *openapi.Document
	Demo        bool
	Attribution query.Attribution
	Regulator   query.Attribution // also for the simulated market
	Scopes      []string
	Publisher   string // the host as a domain name
	Skills      []skill
	SkillTexts  []mcp.Skill
}

func newFacts(o Options, api *openapi.Document, source string) *facts {
	attribution := func(source string) query.Attribution {
		return query.New(query.Options{Source: func() string { return source }}).Attribution()
	}
	return &facts{
		Options:     o,
		API:         api,
		Demo:        source == demoSource,
		Attribution: attribution(source),
		Regulator:   attribution(""),
		Scopes:      access.AllScopes.Names(),
		Publisher:   publisher(o.BaseURL),
	}
}

// publisher returns a domain name for the host of a URL, since identifiers
// begin with one. Addresses, local names and names that are not valid in an
// identifier get a reserved top-level domain, so that the result is never the
// domain of another party.
func publisher(base string) string {
	var host string
	if u, err := url.Parse(base); err == nil {
		host = strings.Trim(strings.ToLower(u.Hostname()), ".")
	}
	plain := notInDomain.ReplaceAllString(host, "-")
	switch ip, err := netip.ParseAddr(host); {
	case host == "":
		return "pregon.invalid"
	case host == "localhost" || err == nil && ip.IsLoopback():
		return "pregon.localhost"
	case err != nil && !strings.Contains(plain, "."):
		return plain + ".internal"
	case err == nil || plain != host:
		return plain + ".invalid"
	}
	return host
}

var notInDomain = regexp.MustCompile(`[^a-z0-9.-]`)

// ReverseName returns the publisher with its labels in reverse order.
func (f *facts) ReverseName() string {
	labels := strings.Split(f.Publisher, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}

// Title is the name of the service.
func (f *facts) Title() string {
	if f.Demo {
		return f.API.Info.Title + " (mercado simulado)"
	}
	return f.API.Info.Title
}

// blankLines matches surplus blank lines of templates.
var blankLines = regexp.MustCompile(`\n{3,}`)

// render executes a template.
func (f *facts) render(name string) ([]byte, error) {
	var b bytes.Buffer
	err := texts.ExecuteTemplate(&b, name, f)
	return blankLines.ReplaceAll(b.Bytes(), []byte("\n\n")), err
}

// addJSON adds a document in JSON under some paths.
func (f *facts) addJSON(e edition, contentType, name string, links []string, paths ...string) error {
	body, err := f.render(name)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil { // people read these too
		return fmt.Errorf("the template %s: %w", name, err)
	}
	for _, path := range paths {
		e[path] = variants{{contentType: contentType, body: b.Bytes(), links: links}}
	}
	return nil
}

// URL returns the address of a path.
func (f *facts) URL(path string) string { return f.BaseURL + path }

// Operations returns the operations with a tag.
func (f *facts) Operations(tag string) []*openapi.Operation { return f.API.Tagged(tag) }

// OperationIDs returns the ids of the operations under /api/v1.
func (f *facts) OperationIDs() (ids []string) {
	for _, op := range f.API.Operations {
		if strings.HasPrefix(op.Path, "/api/v1/") {
			ids = append(ids, op.ID)
		}
	}
	return ids
}

// Op returns the operation with an id, whose parameters it must have.
func (f *facts) Op(id string, parameters ...string) (*openapi.Operation, error) {
	for _, op := range f.API.Operations {
		if op.ID != id {
			continue
		}
		for _, name := range parameters {
			if !op.Takes(name) {
				return nil, fmt.Errorf("%s has no parameter %s", id, name)
			}
		}
		return op, nil
	}
	return nil, fmt.Errorf("there is no operation %s", id)
}

// Tool returns the name of a tool. It fails if the tool lacks one of the
// arguments.
func (f *facts) Tool(name string, arguments ...string) (string, error) {
	return named("tool", f.MCP.Tools, name, arguments)
}

// Resource returns the URI of a resource or template. It fails if there is
// none.
func (f *facts) Resource(uri string) (string, error) {
	return named("resource", slices.Concat(f.MCP.Resources, f.MCP.Templates), uri, nil)
}

func named(kind string, entries []mcp.Entry, name string, arguments []string) (string, error) {
	i := slices.IndexFunc(entries, func(e mcp.Entry) bool { return e.Name == name })
	if i < 0 {
		return "", fmt.Errorf("there is no %s %s", kind, name)
	}
	for _, argument := range arguments {
		if !slices.ContainsFunc(entries[i].Arguments, func(a mcp.Argument) bool { return a.Name == argument }) {
			return "", fmt.Errorf("the %s %s has no argument %s", kind, name, argument)
		}
	}
	return name, nil
}

// Fields returns the fields of a schema.
func (f *facts) Fields(name string) ([]openapi.Field, error) {
	if _, ok := f.API.Components.Schemas[name]; !ok {
		return nil, fmt.Errorf("there is no schema %s", name)
	}
	return f.API.Fields(openapi.Schema{Ref: "#/components/schemas/" + name}), nil
}

// Values returns the enumerated values of a field.
func (f *facts) Values(name, member string) ([]string, error) { return f.API.Values(name, member) }

// Kind describes the type of a parameter.
func (f *facts) Kind(p openapi.Parameter) string { return f.API.Kind(p.Schema) }

// KeyHeader returns the name of the header for keys.
func (f *facts) KeyHeader() (string, error) {
	name := f.API.Components.SecuritySchemes["apiKey"].Name
	if name == "" {
		return "", fmt.Errorf("the OpenAPI document has no header for keys")
	}
	return name, nil
}

// LimitPhrase describes the limit of requests without a credential.
func (f *facts) LimitPhrase() string { return openapi.LimitPhrase(f.AnonymousLimit) }

// Guide returns the introduction of the OpenAPI document with headings two
// levels deeper, and with the limit of this service.
func (f *facts) Guide() (string, error) {
	text, err := f.API.Introduction(f.AnonymousLimit)
	return strings.TrimSpace(strings.ReplaceAll("\n"+text, "\n## ", "\n### ")), err
}

// Describe returns a description on one line, without the limit if there is
// none.
func (f *facts) Describe(description string) string {
	text := oneLine(description)
	if f.AnonymousLimit == 0 {
		text = strings.ReplaceAll(text, ", within the limit", "")
	}
	return text
}

// oneLine joins the lines of a text.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
