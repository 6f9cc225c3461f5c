package mcp

import (
	"slices"

	"pregon/internal/mcp/tools"
	"pregon/internal/mcp/view"
)

// Offer lists the tools, resources, prompts and views of the server.
type Offer struct {
	Versions     []string // of the protocol, newest first
	Instructions string   // sent to an agent when it connects
	Tools        []Entry
	Resources    []Entry // Name is the URI
	Templates    []Entry // Name is the URI template
	Prompts      []Entry
	Views        []Entry // Name is the URI
}

// Entry is an element of an offer.
type Entry struct {
	Name, Title, Description string
	NeedsCredential          bool // needs a key or token
	Arguments                []Argument
}

// Argument is an argument of a tool or prompt.
type Argument struct {
	Name, Description string
	Required          bool
}

// Offered returns the offer, which is the same for every server.
func Offered() Offer {
	o := Offer{Versions: slices.Clone(revisions), Instructions: instructions}
	for _, t := range tools.All {
		o.Tools = append(o.Tools, Entry{t.Name, t.Title, t.Description, t.Credential, argumentsOf(t)})
	}
	for _, r := range resources {
		o.Resources = append(o.Resources, Entry{Name: r.URI, Title: r.Title, Description: r.Description})
	}
	for _, t := range templates {
		o.Templates = append(o.Templates, Entry{
			Name:            t.URITemplate,
			Title:           t.Title,
			Description:     t.Description,
			NeedsCredential: !needOfURI(t.URITemplate).Public,
		})
	}
	for _, p := range prompts {
		e := Entry{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			e.Arguments = append(e.Arguments, Argument{a.Name, a.Description, a.Required})
		}
		o.Prompts = append(o.Prompts, e)
	}
	for _, v := range view.All() {
		o.Views = append(o.Views, Entry{Name: v.URI, Title: v.Title, Description: v.Description})
	}
	return o
}

func argumentsOf(t *tools.Tool) (out []Argument) {
	for _, a := range t.Arguments {
		out = append(out, Argument{a.Name, a.Description, a.Required})
	}
	return out
}
