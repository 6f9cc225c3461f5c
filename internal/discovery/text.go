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

// writeLLMs makes the two texts for language models.
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

// writeRobots lets crawlers read everything but what only members may, or what
// is not for reading at all.
func writeRobots(f *facts, e edition) error {
	body, err := f.render("robots.txt")
	e[robotsPath] = variants{{contentType: textType, body: body}}
	return err
}

var placeholder = regexp.MustCompile(`\{[^}]*\}`)

// Uncrawled lists the paths that have nothing for a crawler, each as a rule of
// RFC 9309. What lies below another is not named again.
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
				rule = strings.TrimSuffix(rule, "$") + "$" // this one alone
			}
		}
		rules = append(rules, rule)
	}
	return rules
}
