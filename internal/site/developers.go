package site

import (
	"embed"
	"net/url"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/rest/openapi"
	"pregon/internal/site/render"
)

// samples are programs that pages show. Tests run them.
//
//go:embed samples
var samples embed.FS

// snippet is a text to copy.
type snippet struct{ ID, Name, Text string }

// sample returns an embedded program for a service at an address.
func (s *Site) sample(id, name, file string) snippet {
	text, err := samples.ReadFile("samples/" + file)
	if err != nil {
		panic(err) // a name here is wrong
	}
	return snippet{ID: id, Name: name, Text: strings.TrimSpace(strings.ReplaceAll(string(text), "BASE", s.BaseURL))}
}

// developersPage is the guide for developers.
type developersPage struct {
	developersMenu
	Base      string
	Curl      snippet
	Quick     []snippet
	Stream    snippet
	Resume    snippet
	Browser   snippet
	Changes   snippet
	Webhook   snippet
	Receivers []snippet
	Clients   []mcpClient
	Limit     *limit
	Scopes    []string
	Source    query.Attribution
	Demo      bool
}

// limit is the limit of callers without a credential.
type limit struct{ Requests, Seconds int }

// mcpClient is a client of the MCP server, and how it is set up.
type mcpClient struct {
	Name, Help string // Help is the key of a text
	Snippets   []snippet
}

// developersMenu leads to the pages of the reference.
type developersMenu struct {
	Groups []operationGroup
	Tag    string // of this page
}

// operationGroup are the operations with a tag.
type operationGroup struct {
	Tag, Name, URL string
	About          string // in English
	Operations     []operationLink
	Selected       bool
}

// operationLink is a line of the list of operations.
type operationLink struct {
	*openapi.Operation
	URL string
}

func (s *Site) developersMenu(q *request, selected string) developersMenu {
	out := developersMenu{Tag: selected}
	for _, tag := range s.api.Tags {
		g := operationGroup{
			Tag:      tag.Name,
			Name:     q.edition.tagName(tag.Name),
			About:    tag.Description,
			Selected: tag.Name == selected,
			URL:      q.edition.Link("/developers/" + url.PathEscape(tag.Name)),
		}
		for _, op := range s.api.Tagged(tag.Name) {
			g.Operations = append(g.Operations, operationLink{op, g.URL + "#" + url.PathEscape(op.ID)})
		}
		if len(g.Operations) > 0 {
			out.Groups = append(out.Groups, g)
		}
	}
	return out
}

// tagName returns the name of a group of operations.
func (e edition) tagName(tag string) string {
	if key := "dev.tag." + tag; e.Known(key) {
		return e.Text(key)
	}
	return tag
}

// anonymousLimit returns the limit of callers without a credential, or nil.
func (s *Site) anonymousLimit() *limit {
	if l := s.Query.Limit; l != nil {
		return &limit{l.Policy.Limit, int(l.Window.Seconds())}
	}
	return nil
}

// developers is the guide.
func (s *Site) developers(q *request) (*render.Page, error) {
	data := &developersPage{
		developersMenu: s.developersMenu(q, ""),
		Base:           s.BaseURL,
		Curl:           s.sample("quick-curl", "curl", "reports.sh"),
		Quick: []snippet{
			s.sample("quick-python", "Python", "reports.py"), s.sample("quick-js", "JavaScript",
				"reports.mjs"), s.sample("quick-go", "Go", "reports.go.txt"),
		},
		Stream:  s.sample("stream", "curl", "stream.sh"),
		Resume:  s.sample("resume", "curl", "resume.sh"),
		Browser: s.sample("eventsource", "JavaScript", "eventsource.mjs"),
		Changes: s.sample("changes", "Python", "changes.py"),
		Webhook: s.sample("webhook", "curl", "webhook.sh"),
		Receivers: []snippet{
			s.sample("receiver-go", "Go", "receiver.go.txt"), s.sample("receiver-python", "Python",
				"receiver.py"), s.sample("receiver-js", "JavaScript", "receiver.mjs"),
		},
		Clients: s.mcpClients(),
		Limit:   s.anonymousLimit(),
		Scopes:  access.AllScopes.Names(),
		Source:  s.Query.Attribution(),
		Demo:    s.Query.Simulated(),
	}
	return &render.Page{
		Template:    "developers",
		Style:       "developers.css",
		Title:       q.edition.Text("dev.title"),
		Description: q.edition.Text("dev.description"),
		Data:        data,
	}, nil
}

// mcpClients returns the usual clients; the same as docs/mcp.md.
func (s *Site) mcpClients() []mcpClient {
	return []mcpClient{
		{
			Name:     "Claude",
			Help:     "dev.mcp.claude",
			Snippets: []snippet{{ID: "mcp-url", Name: "URL", Text: s.BaseURL + access.MCPPath}},
		},
		{
			Name:     "Claude Code",
			Help:     "dev.mcp.code",
			Snippets: []snippet{s.sample("mcp-claude-code", "sh", "mcp-claude-code.sh")},
		},
		{Name: "ChatGPT", Help: "dev.mcp.chatgpt"},
		{
			Name:     "VS Code",
			Help:     "dev.mcp.vscode",
			Snippets: []snippet{s.sample("mcp-vscode", ".vscode/mcp.json", "mcp-vscode.json")},
		},
		{
			Name:     "Cursor",
			Help:     "dev.mcp.cursor",
			Snippets: []snippet{s.sample("mcp-cursor", ".cursor/mcp.json", "mcp-cursor.json")},
		},
		{
			Name:     "Gemini CLI",
			Help:     "dev.mcp.gemini",
			Snippets: []snippet{s.sample("mcp-gemini", "sh", "mcp-gemini.sh")},
		},
		{
			Name:     "Goose",
			Help:     "dev.mcp.goose",
			Snippets: []snippet{s.sample("mcp-goose", "config.yaml", "mcp-goose.yaml")},
		},
	}
}

// referencePage is the reference of the operations with a tag.
type referencePage struct {
	developersMenu
	Group      operationGroup
	Operations []operationDetail
}

// operationDetail is an operation in the reference.
type operationDetail struct {
	*openapi.Operation
	api  *openapi.Document
	Curl snippet
}

// Kind describes the values of a parameter.
func (o operationDetail) Kind(p openapi.Parameter) string { return o.api.Kind(p.Schema) }

// Example returns an example as a text to copy.
func (o operationDetail) Example(r openapi.Response) snippet {
	return snippet{ID: o.ID + "-" + r.Status, Name: strings.Join(r.Types, ", "), Text: r.Example}
}

// conventionsTag is the name of the page of the introduction. No tag has it.
const conventionsTag = "conventions"

// reference is the reference of one tag.
func (s *Site) reference(q *request) (*render.Page, error) {
	tag := q.PathValue("tag")
	if tag == conventionsTag {
		return s.conventions(q)
	}
	data := &referencePage{developersMenu: s.developersMenu(q, tag)}
	for _, g := range data.Groups {
		if g.Selected {
			data.Group = g
		}
	}
	if data.Group.Tag == "" {
		return nil, fault.New(fault.NotFound, "There is no page of the reference with this name.")
	}
	for _, op := range s.api.Tagged(tag) {
		data.Operations = append(data.Operations, operationDetail{op, s.api, s.curl(op)})
	}
	return &render.Page{
		Template:    "reference",
		Style:       "developers.css",
		Title:       q.edition.Text("dev.reference.title", data.Group.Name),
		Description: data.Group.About,
		Data:        data,
	}, nil
}

// curl returns a command that calls an operation.
func (s *Site) curl(op *openapi.Operation) snippet {
	path := op.Path
	values := url.Values{}
	optional := 1 // all examples at once would find nothing
	for _, p := range op.Parameters {
		examples := p.Samples()
		switch {
		case len(examples) == 0:
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(examples[0]))
		case p.In == "query" && (p.Required || optional > 0):
			values.Set(p.Name, examples[0])
			if !p.Required {
				optional--
			}
		}
	}
	command := "curl"
	if op.Method != "GET" && op.BodyExample == "" {
		command += " -X " + op.Method
	}
	if len(values) > 0 {
		path += "?" + values.Encode()
	}
	command += " '" + s.BaseURL + path + "'"
	if op.NeedsCredential {
		command += " \\\n  -H \"X-API-Key: $PREGON_KEY\""
	}
	if op.BodyExample != "" {
		if op.Method != "POST" {
			command += " -X " + op.Method
		}
		command += " \\\n  -H 'Content-Type: " + op.BodyType + "' \\\n  -d '" +
			strings.ReplaceAll(op.BodyExample, "'", `'\''`) + "'"
	}
	return snippet{ID: op.ID + "-curl", Name: "curl", Text: command}
}

// conventionsPage is the introduction of the reference.
type conventionsPage struct {
	developersMenu
	Blocks []block
	Errors []openapi.Response
}

func (s *Site) conventions(q *request) (*render.Page, error) {
	requests := 0
	if l := s.anonymousLimit(); l != nil {
		requests = l.Requests
	}
	text, err := s.api.Introduction(requests)
	if err != nil {
		return nil, err
	}
	data := &conventionsPage{
		developersMenu: s.developersMenu(q, conventionsTag),
		Blocks:         prose(text),
		Errors:         s.api.Errors(),
	}
	title := q.edition.Text("dev.conventions")
	return &render.Page{
		Template:    "conventions",
		Style:       "developers.css",
		Title:       q.edition.Text("dev.reference.title", title),
		Description: s.api.Info.Summary,
		Data:        data,
	}, nil
}
