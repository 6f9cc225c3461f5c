package discovery

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"strings"
)

// page is the front page for people. It contains its style, so that it needs to
// load nothing.
var page = template.Must(template.ParseFS(templates, "templates/front.html"))

var style = func() template.CSS {
	text, err := templates.ReadFile("templates/front.css")
	if err != nil {
		panic(err) // it is embedded
	}
	return template.CSS(text)
}()

// writeFront adds the front page: JSON for programs, HTML for browsers,
// Markdown for agents.
func writeFront(f *facts, e edition) error {
	if err := f.addJSON(e, "application/json", "index.json", nil, frontPath); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := page.Execute(&b, struct {
		*facts
		Style template.CSS
	}{f, style}); err != nil {
		return err
	}
	forPeople := document{contentType: "text/html; charset=utf-8", body: b.Bytes(), header: pageHeader()}
	forAgents := document{contentType: markdownType, body: e[llmsPath][0].body}
	e[frontPath] = append(e[frontPath], forPeople, forAgents)
	for i := range e[frontPath] {
		e[frontPath][i].links = []string{
			link(aiCatalogPath, "ai-catalog"),
			link(openapiPath, "service-desc", "type", "application/json"),
			link(llmsFullPath, "service-doc", "type", "text/plain"),
			link(llmsPath, "alternate", "type", "text/plain"),
		}
	}
	return nil
}

// pageHeader returns headers that allow the page to load nothing and run no
// script.
func pageHeader() map[string]string {
	sum := sha256.Sum256([]byte(style))
	return map[string]string{
		"Content-Security-Policy": strings.Join([]string{
			"default-src 'none'", "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'", "img-src data:",
			"connect-src 'self'", // for browser extensions that fetch llms.txt
			"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
		}, "; "),
		"Referrer-Policy":            "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin",
		"Content-Language":           "es",
	}
}
