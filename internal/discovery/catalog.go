package discovery

import (
	"slices"
	"strings"
	"time"
)

// catalog is the manifest of Agentic Resource Discovery. The version and the
// host are of its predecessor, whose readers require them. Newer readers ignore
// them.
type catalog struct {
	SpecVersion string         `json:"specVersion"`
	Host        catalogHost    `json:"host"`
	Entries     []catalogEntry `json:"entries"`
}

type catalogHost struct {
	DisplayName   string `json:"displayName"`
	Documentation string `json:"documentationUrl"`
}

type catalogEntry struct {
	Identifier   string     `json:"identifier"`
	DisplayName  string     `json:"displayName"`
	Type         string     `json:"type"`
	URL          string     `json:"url"`
	Description  string     `json:"description"`
	Tags         []string   `json:"tags"`
	Capabilities []string   `json:"capabilities,omitempty"`
	Queries      []string   `json:"representativeQueries"`
	Version      string     `json:"version"`
	Updated      *time.Time `json:"updatedAt,omitempty"`
}

// tags are the tags of all entries.
var tags = []string{"cnmv", "spain", "securities", "regulatory-filings", "inside-information", "issuers"}

// writeCatalog adds the manifest under its current and its former name.
func writeCatalog(f *facts, e edition) error {
	c := catalog{
		SpecVersion: "1.0",
		Host:        catalogHost{f.Title(), f.URL(llmsPath)},
		Entries:     append([]catalogEntry{f.serverEntry(), f.restEntry()}, f.skillEntries()...),
	}
	for i := range c.Entries {
		entry := &c.Entries[i]
		entry.Tags, entry.Version = tags, f.Version
		if !f.Updated.IsZero() {
			at := f.Updated.UTC()
			entry.Updated = &at
		}
		if f.Demo {
			entry.Tags = slices.Concat(tags, []string{"simulated"})
		}
		if f.Demo && entry.Type != skillType { // the skill says so itself
			entry.Description = f.Attribution.Notice + " " + entry.Description
		}
	}
	doc, err := newJSON("application/json", c)
	e[ardPath], e[aiCatalogPath] = variants{doc}, variants{doc}
	return err
}

// Title is the name of the service.
func (f *facts) Title() string {
	if f.Demo {
		return f.API.Info.Title + " (mercado simulado)"
	}
	return f.API.Info.Title
}

// identifier returns a permanent name, independent of the address.
func (f *facts) identifier(parts ...string) string {
	return "urn:air:" + f.Publisher + ":" + strings.Join(parts, ":")
}

func (f *facts) serverEntry() catalogEntry {
	entry := catalogEntry{
		Identifier: f.identifier("mcp", serverName), DisplayName: f.Title() + ": MCP", Type: cardType, URL: f.URL(cardPath),
		Description: "Search, read and explain the official disclosures of the Spanish securities market (CNMV), and the directory of " +
			"issuers, over the Model Context Protocol. No credential is needed to begin.",
		Queries: []string{
			"What did this Spanish company announce today?",
			"¿Qué información privilegiada se ha comunicado hoy a la CNMV?",
			"Explain this report and show where the document says so",
			"Morning briefing of the Spanish stock market's disclosures",
			"Which reports mention an interim dividend this month?",
		},
	}
	for _, tool := range f.MCP.Tools {
		entry.Capabilities = append(entry.Capabilities, tool.Name)
	}
	return entry
}

func (f *facts) restEntry() catalogEntry {
	entry := catalogEntry{
		Identifier: f.identifier("api", "rest"), DisplayName: f.Title() + ": HTTP API",
		Type: "application/vnd.oai.openapi+json;version=3.1", URL: f.URL(openapiPath),
		Description: f.API.Info.Summary + " Lists, search, documents, figures, streams and webhooks, as JSON over HTTP.",
		Queries: []string{
			"Download CNMV reports as JSON",
			"Get a webhook for new inside information of an issuer",
			"Stream the disclosures of the Spanish market as they are filed",
			"Find the tax number, ISIN or ticker of a Spanish issuer",
		},
	}
	for _, op := range f.API.operations {
		if strings.HasPrefix(op.Path, "/api/v1/") {
			entry.Capabilities = append(entry.Capabilities, op.ID)
		}
	}
	return entry
}

func (f *facts) skillEntries() []catalogEntry {
	var out []catalogEntry
	for _, s := range f.Skills {
		out = append(out, catalogEntry{
			Identifier: f.identifier("skill", s.Name), DisplayName: s.Name, Type: skillType, URL: s.URL, Description: s.Description,
			Queries: []string{
				"How do I follow CNMV reports without missing any?",
				"How do I quote a Spanish regulatory report with its source?",
				"How do I read the document of a report piece by piece?",
			},
		})
	}
	return out
}
