// Package view has the interactive views that MCP hosts show beside the
// results of tools (MCP Apps, revision 2026-01-26).
//
// A view is one HTML document that needs nothing else: hosts let it load
// nothing, and what it asks of the service goes through them as a tool call.
// Here its sources lie side by side as they are read best, and are put
// together once, without their comments. They are written by hand, so that
// nobody needs a build step to change them, or a tool to read what is served.
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

// All returns the views.
func All() []View { return slices.Clone(all()) }

var all = sync.OnceValue(func() []View {
	return []View{
		assemble(View{
			Name:        "filings-feed",
			Title:       "Reports",
			Description: "The reports that a search found, to be searched on, opened with their evidence, and kept up to date.",
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

// shared is what every view begins with. The order counts: a script uses what
// those before it declare.
var shared = []string{"base.css", "words.js", "bridge.js", "dom.js", "pane.js", "filing.js"}

// assemble puts the document together. All sources are ours, so that nothing
// but the title has to be escaped; a test sees to it that none of them ends
// the element that it is put into.
func assemble(v View, own ...string) View {
	var style, script strings.Builder
	for _, name := range slices.Concat(shared, own) {
		if strings.HasSuffix(name, ".css") {
			style.WriteString(read(name))
		} else {
			script.WriteString(read(name))
		}
	}
	v.URI = "ui://pregon/" + v.Name
	page := read("page.html")
	before, after, _ := strings.Cut(page[strings.Index(page, "<script>")+len("<script>"):strings.Index(page, "</script>")], "{{script}}")
	v.HTML = strings.NewReplacer(
		"{{policy}}", policy(before+script.String()+after),
		"{{title}}", html.EscapeString("Pregón · "+v.Title),
		"{{style}}", style.String(),
		"{{script}}", script.String(),
	).Replace(page)
	return v
}

// policy lets the document load nothing and run its one script, whatever the
// host that shows it would allow.
func policy(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " +
		"script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// comment is one that has lines of its own.
var comment = regexp.MustCompile(`(?m)^ *//.*\n|^/\*[^*]*\*/\n|^\n`)

// read returns a source without its comments: they are for who reads it here,
// while a host is sent the document again and again.
func read(name string) string {
	b, err := sources.ReadFile(name)
	if err != nil {
		panic(err) // a name above is wrong
	}
	return comment.ReplaceAllString(string(b), "")
}
