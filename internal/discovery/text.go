package discovery

import (
	"maps"
	"slices"
	"strings"

	"pregon/internal/rest/openapi"
)

const (
	textType     = "text/plain; charset=utf-8" // so that browsers show it
	markdownType = "text/markdown; charset=utf-8"
)

const (
	cardType    = "application/mcp-server-card+json"
	linksetType = `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`
)

// writeCard adds the description of how to connect to the MCP server. It does not
// list the tools, which the server returns itself.
func writeCard(f *facts, e edition) error { return f.addJSON(e, cardType, "card.json", nil, cardPath) }

// writeCatalog adds the manifest of Agentic Resource Discovery under its current
// and its former name. The version and the host are of its predecessor, whose
// readers require them. Newer readers ignore them.
func writeCatalog(f *facts, e edition) error {
	return f.addJSON(e, "application/json", "catalog.json", nil, ardPath, aiCatalogPath)
}

// writeLinkset adds the API catalog (RFC 9727, RFC 9264).
func writeLinkset(f *facts, e edition) error {
	token, err := f.Op("exchangeToken")
	if err != nil {
		return err
	}
	items := []string{link("/", "item"), link(mcpPath, "item"), link(token.Path, "item")}
	return f.addJSON(e, linksetType, "linkset.json", items, apiCatalogPath)
}

// writeLLMs adds the two texts for language models.
func writeLLMs(f *facts, e edition) error {
	for path, name := range map[string]string{llmsPath: "llms.txt", llmsFullPath: "llms-full.txt"} {
		body, err := f.render(name)
		if err != nil {
			return err
		}
		e[path] = variants{{contentType: textType, body: body, links: []string{
			link(openapiPath, "service-desc", "type", "application/json"),
		}}}
	}
	return nil
}

// writeRobots allows crawlers all paths except those that need a credential or
// have no content.
func writeRobots(f *facts, e edition) error {
	body, err := f.render("robots.txt")
	e[robotsPath] = variants{{contentType: textType, body: body}}
	return err
}

// Uncrawled returns the paths without content for a crawler as rules of RFC
// 9309. Paths below another rule are left out.
func (f *facts) Uncrawled() []string {
	readable := map[string]bool{mcpPath: false, cardPath: true}
	for _, op := range f.API.Operations {
		readable[op.Path] = readable[op.Path] || op.Method == "GET" && !op.NeedsCredential
	}
	var rules []string
	for _, path := range slices.Sorted(maps.Keys(readable)) {
		below := func(rule string) bool { return strings.HasPrefix(path, rule+"/") }
		if readable[path] || slices.ContainsFunc(rules, below) {
			continue
		}
		rule := openapi.Placeholder.ReplaceAllString(path, "*")
		for other, yes := range readable {
			if yes && strings.HasPrefix(other, path+"/") {
				rule = strings.TrimSuffix(rule, "$") + "$" // only this path
			}
		}
		rules = append(rules, rule)
	}
	return rules
}
