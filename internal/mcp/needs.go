package mcp

import (
	"net/url"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/mcp/tools"
)

// need returns the requirement of a message.
func (m message) need() access.Requirement {
	switch m.method {
	case "tools/call":
		return m.needOfTool()
	case "resources/read":
		return needOfURI(m.uri)
	case "prompts/get":
		return needOfPrompt(m.name)
	case listenMethod:
		return needOfSubscriptions(m.subscribed())
	case "resources/subscribe":
		return public(access.ReadReports)
	}
	return public(0)
}

// needOfSubscriptions returns the requirement of subscriptions to resources.
func needOfSubscriptions(uris []string) access.Requirement {
	scope := access.ReadReports
	inDocuments := false
	for _, uri := range uris {
		if strings.HasPrefix(uri, positionURI) {
			scope |= access.ReadIssuers
		}
		inDocuments = inDocuments || searchesInDocuments(uri)
	}
	if inDocuments {
		return authenticated(scope)
	}
	return public(scope)
}

// mayReadDocuments reports whether the answer to a public message has more for a
// caller with a credential, which is read from the store.
func (m message) mayReadDocuments(by access.Principal) bool {
	return by.Mode != access.Anonymous && (m.name == "search" || m.name == "fetch")
}

func public(scope access.Scope) access.Requirement {
	return access.Requirement{Scope: scope, Public: true, MCP: true}
}

func authenticated(scope access.Scope) access.Requirement {
	return access.Requirement{Scope: scope, MCP: true}
}

// ownListPrefix begins the id of a watchlist, which only its account can name. The secret of
// a link begins otherwise.
const ownListPrefix = "wl_"

func (m message) needOfTool() access.Requirement {
	t, err := tools.Named(m.name)
	if err != nil {
		return public(0)
	}
	arguments, _ := m.params["arguments"].(object)
	in := arguments["in"]
	inDocuments := in != nil && in != "" // an unknown value is rejected later
	list, _ := arguments["watchlist"].(string)
	if t.Credential || inDocuments || strings.HasPrefix(list, ownListPrefix) {
		return authenticated(access.ScopeOf(t.Scope))
	}
	return public(access.ScopeOf(t.Scope))
}

// needOfURI returns the requirement of a resource.
func needOfURI(uri string) access.Requirement {
	switch {
	case strings.HasPrefix(uri, documentURI), searchesInDocuments(uri):
		return authenticated(access.ReadReports)
	case strings.HasPrefix(uri, reportURI):
		return public(access.ReadReports)
	case strings.HasPrefix(uri, issuerURI), strings.HasPrefix(uri, positionURI):
		return public(access.ReadIssuers)
	}
	return public(0)
}

// searchesInDocuments reports whether a resource is a search in documents, as by the
// tool. An unknown value is rejected later.
func searchesInDocuments(uri string) bool {
	_, raw, _ := strings.Cut(uri, "?")
	query, _ := url.ParseQuery(raw)
	return strings.HasPrefix(uri, reportURI) && strings.Join(query["in"], "") != ""
}

func needOfPrompt(name string) access.Requirement {
	if name == issuerBrief {
		return public(access.ReadReports | access.ReadIssuers)
	}
	return public(access.ReadReports)
}
