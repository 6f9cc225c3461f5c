package discovery

import (
	"slices"
	"strings"
)

const (
	cardType   = "application/mcp-server-card+json"
	serverName = "pregon"
)

// card describes how to connect to the MCP server. It does not list the tools,
// which the server returns itself.
type card struct {
	Schema      string   `json:"$schema"`
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Title       string   `json:"title"`
	Description string   `json:"description"` // at most 100 characters
	Website     string   `json:"websiteUrl"`
	Remotes     []remote `json:"remotes"`
}

type remote struct {
	Type     string       `json:"type"`
	URL      string       `json:"url"`
	Headers  []cardHeader `json:"headers"`
	Versions []string     `json:"supportedProtocolVersions"`
}

type cardHeader struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Placeholder string `json:"placeholder"`
	Required    bool   `json:"isRequired"`
	Secret      bool   `json:"isSecret"`
}

func writeCard(f *facts, e edition) error {
	header, err := f.KeyHeader()
	if err != nil {
		return err
	}
	labels := strings.Split(f.Publisher, ".")
	slices.Reverse(labels)
	description := "Official disclosures of the Spanish securities market (CNMV): search, read, follow, quote."
	if f.Demo {
		description = "A simulated securities market: fictional disclosures to search, read, follow and quote."
	}
	key := "A key, for the texts of documents and for a higher request limit. Optional."
	if f.AnonymousLimit == 0 {
		key = "A key, for the texts of documents. Optional."
	}
	doc, err := newJSON(cardType, card{
		Schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
		Name:   strings.Join(labels, ".") + "/" + serverName, Version: f.Version, Title: f.Title(), Description: description,
		Website: f.URL("/"),
		Remotes: []remote{{
			Type: "streamable-http", URL: f.URL(mcpPath), Versions: f.MCP.Versions,
			Headers: []cardHeader{{
				Name: header, Secret: true, Placeholder: "pregon_live_…",
				Description: key,
			}},
		}},
	})
	e[cardPath] = variants{doc}
	return err
}
