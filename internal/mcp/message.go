package mcp

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pregon/internal/auth/access"
)

// message is the part of a JSON-RPC message that the endpoint needs.
type message struct {
	body   []byte
	id     json.RawMessage // nil without an id
	method string
	params struct {
		Name      string          `json:"name"` // of a tool or prompt
		URI       string          `json:"uri"`  // of a resource
		Arguments json.RawMessage `json:"arguments"`

		Notifications struct {
			URIs []string `json:"resourceSubscriptions"`
		} `json:"notifications"` // of subscriptions/listen
	}
}

// parse reads a message. With an error it returns the parts that it could read,
// above all the id.
func parse(body []byte) (message, error) {
	m := message{body: body}
	if !utf8.Valid(body) {
		return m, &rpcError{codeParse, "The message is not UTF-8.", nil}
	}
	if text := bytes.TrimLeft(body, " \t\r\n"); len(text) > 0 && text[0] == '[' {
		return m, &rpcError{codeInvalidRequest, "Batches are not supported: send one message in a request.", nil}
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(body, &parts); err != nil || parts == nil {
		if json.Valid(body) {
			return m, &rpcError{codeInvalidRequest, "A message is a JSON object.", nil}
		}
		return m, &rpcError{codeParse, "The body is not valid JSON.", nil}
	}
	id, hasID := parts["id"]
	if hasID && !isID(id) {
		return m, &rpcError{codeInvalidRequest, "The id must be a text or a whole number.", nil}
	}
	m.id = id
	if string(parts["jsonrpc"]) != `"2.0"` {
		return m, &rpcError{codeInvalidRequest, `A message has "jsonrpc": "2.0".`, nil}
	}
	if _, isRequest := parts["method"]; !isRequest && hasID && (parts["result"] != nil || parts["error"] != nil) {
		return m, nil // a response, though we send no requests: it is ignored
	}
	if json.Unmarshal(parts["method"], &m.method) != nil || m.method == "" {
		return m, &rpcError{codeInvalidRequest, "The method must be a text, such as tools/list.", nil}
	}
	if len(m.method) > maxMethod {
		return m, &rpcError{codeMethodNotFound, "There is no such method.", nil}
	}
	params := parts["params"]
	if params != nil && params[0] != '{' {
		return m, &rpcError{codeInvalidParams, "params must be an object.", nil}
	}
	if params != nil {
		_ = json.Unmarshal(params, &m.params) // the SDK reports wrong types
	}
	if len(m.params.URI) > maxName || len(m.params.Name) > maxName {
		return m, &rpcError{codeInvalidParams, "There is nothing with a name of that length.", nil}
	}
	return m, nil
}

// Limits of the parts that are repeated in responses, in bytes.
const (
	maxID     = 1000
	maxMethod = 200
	maxName   = 4000
)

// isID reports whether a value can be the id of a request: a string, or a whole
// number that every client can represent.
func isID(raw json.RawMessage) bool {
	if len(raw) > maxID {
		return false
	}
	if raw[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil && n >= -1<<53 && n <= 1<<53
}

// needsCatalog reports whether the message needs the catalogue, which takes
// time to load.
func (m message) needsCatalog() bool {
	return slices.Contains([]string{"tools/call", "resources/read", "prompts/get", "completion/complete"}, m.method)
}

// need returns the requirement of a message.
func (m message) need() access.Requirement {
	switch m.method {
	case "tools/call":
		return needOfTool(m.params.Name, m.params.Arguments)
	case "resources/read":
		return needOfURI(m.params.URI)
	case "prompts/get":
		return needOfPrompt(m.params.Name)
	case "subscriptions/listen":
		if slices.ContainsFunc(m.params.Notifications.URIs, searchesInDocuments) {
			return authenticated(access.ReadReports)
		}
		return public(access.ReadReports)
	case "resources/subscribe":
		return public(access.ReadReports)
	}
	return public(0)
}

// needOf returns the requirement of a message that the SDK has read.
func needOf(method string, params sdk.Params) access.Requirement {
	m := message{method: method}
	switch p := params.(type) {
	case *sdk.CallToolParamsRaw:
		m.params.Name, m.params.Arguments = p.Name, p.Arguments
	case *sdk.ReadResourceParams:
		m.params.URI = p.URI
	case *sdk.GetPromptParams:
		m.params.Name = p.Name
	case *sdk.SubscriptionsListenParams:
		if p.Notifications != nil {
			m.params.Notifications.URIs = p.Notifications.ResourceSubscriptions
		}
	}
	return m.need()
}

func public(scope access.Scope) access.Requirement {
	return access.Requirement{Scope: scope, Public: true, MCP: true}
}

func authenticated(scope access.Scope) access.Requirement {
	return access.Requirement{Scope: scope, MCP: true}
}

func needOfTool(name string, arguments json.RawMessage) access.Requirement {
	t := toolNamed(name)
	if t == nil {
		return public(0)
	}
	if t.Credential || t.Name == "search_reports" && searchesDocuments(arguments) {
		return authenticated(access.ScopeOf(t.Scope))
	}
	return public(access.ScopeOf(t.Scope))
}

// searchesDocuments reports whether a search is in documents. An unknown value
// is rejected later.
func searchesDocuments(arguments json.RawMessage) bool {
	if !bytes.Contains(arguments, []byte(`"in"`)) && !bytes.ContainsRune(arguments, '\\') { // the name may be escaped
		return false
	}
	var a map[string]any
	_ = json.Unmarshal(arguments, &a)
	return a["in"] != nil && a["in"] != ""
}

// needOfURI returns the requirement of a resource.
func needOfURI(uri string) access.Requirement {
	switch {
	case strings.HasPrefix(uri, documentURI), searchesInDocuments(uri):
		return authenticated(access.ReadReports)
	case strings.HasPrefix(uri, reportURI):
		return public(access.ReadReports)
	case strings.HasPrefix(uri, issuerURI):
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
