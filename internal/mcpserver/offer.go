package mcpserver

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Offer is what the server offers, for whoever describes the service.
type Offer struct {
	Versions     []string // of the protocol, newest first
	Instructions string   // what an agent is told when it connects
	Tools        []Entry
	Resources    []Entry // Name is the URI
	Templates    []Entry // Name is the URI template
	Prompts      []Entry
	Views        []Entry // Name is the URI
}

// Entry is one thing of an offer.
type Entry struct {
	Name, Title, Description string
	Members                  bool // needs a key or token
	Arguments                []Argument
}

// Argument is what a tool or prompt takes.
type Argument struct {
	Name, Description string
	Required          bool
}

// Offered tells what every server offers.
func Offered() Offer {
	o := Offer{Versions: mcp.SupportedProtocolVersions(), Instructions: instructions}
	for _, t := range tools {
		o.Tools = append(o.Tools, Entry{t.Name, t.Title, t.Description, t.Members, t.arguments()})
	}
	for _, r := range resources {
		o.Resources = append(o.Resources, Entry{Name: r.URI, Title: r.Title, Description: r.Description})
	}
	for _, t := range templates {
		o.Templates = append(o.Templates, Entry{Name: t.URITemplate, Title: t.Title, Description: t.Description, Members: !needOfURI(t.URITemplate).Public})
	}
	for _, p := range prompts {
		e := Entry{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			e.Arguments = append(e.Arguments, Argument{a.Name, a.Description, a.Required})
		}
		o.Prompts = append(o.Prompts, e)
	}
	for _, v := range views() {
		o.Views = append(o.Views, Entry{Name: v.URI, Title: v.Title, Description: v.Description})
	}
	return o
}

// arguments reads the schema's properties, in the order in which it has them.
func (t *tool) arguments() []Argument {
	var schema struct {
		Required   []string        `json:"required"`
		Properties json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(t.InputSchema, &schema) // which was read once before
	var out []Argument
	for _, p := range propertiesOf(schema.Properties) {
		a := Argument{Name: p.name, Description: p.Description}
		for _, name := range schema.Required {
			a.Required = a.Required || name == p.name
		}
		out = append(out, a)
	}
	return out
}
