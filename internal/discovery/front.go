package discovery

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"strings"

	"pregon/internal/query"
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

// index is the front page for programs.
type index struct {
	Service     string            `json:"service"`
	Version     string            `json:"version"`
	Attribution query.Attribution `json:"attribution"`
	Links       map[string]string `json:"links"`
}

// operationLinks are the operations that the index links, by name.
var operationLinks = map[string]string{
	"reports": "getReports", "issuers": "getIssuers", "analytics": "getAnalytics", "suggest": "getSuggestions",
	"status": "getStatus", "completeness": "getCompleteness", "token": "exchangeToken",
}

// otherLinks are the other paths that the index links, by name.
var otherLinks = map[string]string{
	"openapi": openapiPath, "mcp": mcpPath, "mcp_server_card": cardPath, "ard": ardPath, "api_catalog": apiCatalogPath,
	"agent_skills": skillsPath + "index.json", "llms": llmsPath, "llms_full": llmsFullPath,
	"oauth_protected_resource": resourcePath, "oauth_authorization_server": serverPath,
}

// writeFront adds the front page: JSON for programs, HTML for browsers,
// Markdown for agents.
func writeFront(f *facts, e edition) error {
	links := map[string]string{}
	for name, id := range operationLinks {
		op, err := f.Op(id)
		if err != nil {
			return err
		}
		links[name] = f.URL(op.Path)
	}
	for name, path := range otherLinks {
		links[name] = f.URL(path)
	}
	forPrograms, err := newJSON("application/json", index{f.API.Info.Title, f.Version, f.Attribution, links})
	if err != nil {
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
	e[frontPath] = variants{forPrograms, forPeople, forAgents}
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
