// Package view provides the interactive views that MCP hosts show next to the
// results of tools (MCP Apps, revision 2026-01-26).
//
// A view is one HTML document without external resources: hosts do not
// allow it to load any. It queries the service through the host, with tool calls.
// Its sources are separate files, joined once without their comments and
// indentation. They are written by hand, so that no build step is needed.
package view

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pregon/internal/text/look"
)

// View is one view, as an MCP server offers it.
type View struct {
	Name        string
	URI         string
	Title       string
	Description string
	HTML        string
}

//go:embed page.html *.css *.js
var sources embed.FS

// All returns all views.
func All() []View { return slices.Clone(all()) }

var all = sync.OnceValue(func() []View {
	return []View{
		assemble(View{
			Name:  "filings-feed",
			Title: "Reports",
			Description: "The reports that a search found, to be searched on, opened with their evidence, and " +
				"kept up to date.",
		}, "chips.css", "feed.css", "chips.js", "words-feed.js", "feed.js"),
		assemble(View{
			Name:        "analytics",
			Title:       "The market in figures",
			Description: "Reports by day, weekday and hour, and the most active issuers, with their newest reports.",
		}, "analytics.css", "words-analytics.js", "analytics.js"),
		assemble(View{
			Name:        "issuer",
			Title:       "Issuer",
			Description: "Who an issuer is, and its reports along time.",
		}, "chips.css", "issuer.css", "chips.js", "words-issuer.js", "issuer.js"),
	}
})

// shared are the first sources of every view. The order counts: a script uses the
// declarations of those before it.
var shared = []string{"base.css", "words.js", "bridge.js", "dom.js", "pane.js", "report.js"}

// assemble joins the sources of a view. Only the title needs escaping, since
// all sources are embedded. A test checks that none of them ends its element.
func assemble(v View, own ...string) View {
	var style, script strings.Builder
	style.WriteString(unneeded.ReplaceAllString(look.Style, ""))
	for _, name := range slices.Concat(shared, own) {
		if strings.HasSuffix(name, ".css") {
			style.WriteString(read(name))
		} else {
			script.WriteString(read(name))
		}
	}
	v.URI = "ui://pregon/" + v.Name
	page := read("page.html")
	before, after, _ := strings.Cut(page[strings.Index(page, "<script>")+len("<script>"):strings.Index(page,
		"</script>")], "{{script}}")
	v.HTML = strings.NewReplacer(
		"{{policy}}", policy(before+script.String()+after),
		"{{title}}", html.EscapeString("Pregón · "+v.Title),
		"{{style}}", style.String(),
		"{{script}}", script.String(),
	).Replace(page)
	return v
}

// policy allows the document to run its one script and to load nothing.
func policy(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " +
		"script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// unneeded matches a comment on lines of its own, empty lines and indentation. No
// text in the sources spans lines.
var unneeded = regexp.MustCompile(`(?m)^ *//.*\n|^/\*[^*]*\*/\n|^\n|^ +`)

// read returns a source without its comments and indentation.
func read(name string) string {
	b, err := sources.ReadFile(name)
	if err != nil {
		panic(err) // a name above is wrong
	}
	return unneeded.ReplaceAllString(string(b), "")
}
