package discovery

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	textType     = "text/plain; charset=utf-8" // so that browsers show it
	markdownType = "text/markdown; charset=utf-8"
)

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

var placeholder = regexp.MustCompile(`\{[^}]*\}`)

// Uncrawled returns the paths without content for a crawler as rules of RFC
// 9309. Paths below another rule are left out.
func (f *facts) Uncrawled() []string {
	readable := map[string]bool{mcpPath: false, cardPath: true}
	for _, op := range f.API.operations {
		readable[op.Path] = readable[op.Path] || op.Method == "GET" && !op.NeedsCredential
	}
	var rules []string
	for _, path := range slices.Sorted(maps.Keys(readable)) {
		below := func(rule string) bool { return strings.HasPrefix(path, rule+"/") }
		if readable[path] || slices.ContainsFunc(rules, below) {
			continue
		}
		rule := placeholder.ReplaceAllString(path, "*")
		for other, yes := range readable {
			if yes && strings.HasPrefix(other, path+"/") {
				rule = strings.TrimSuffix(rule, "$") + "$" // only this path
			}
		}
		rules = append(rules, rule)
	}
	return rules
}
