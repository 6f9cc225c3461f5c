package mcp

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"pregon/internal/mcp/tools"
	"pregon/internal/query"
)

// Revisions of the protocol, newest first.
var revisions = []string{stateless, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// stateless is the first revision without sessions. Its requests state the revision
// and the capabilities of the client, and repeat the method in a header.
const stateless = "2026-07-28"

const (
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"

	metaPrefix     = "io.modelcontextprotocol/"
	subscriptionID = metaPrefix + "subscriptionId"

	listenMethod = "subscriptions/listen"
)

// method is a method of the protocol.
type method struct {
	answer  answer
	removed bool // by the revision stateless
	added   bool // by the revision stateless
}

// answer answers the requests of a method. That of subscriptions/listen is nil: see
// Server.listen.
type answer func(*Server, context.Context, message) (reply, error)

// reply is the result of a request.
type reply struct {
	object  []byte        // JSON
	tool    *tools.Result // instead of object: the result of a tool
	ttl     int           // milliseconds for which a client may keep it; 0 if it may not
	private bool          // only the client of this caller may keep it
}

var methods = map[string]method{
	"initialize":               {answer: (*Server).initialize, removed: true},
	"ping":                     {answer: empty, removed: true},
	"logging/setLevel":         {answer: empty, removed: true},
	"resources/subscribe":      {answer: empty, removed: true}, // belongs to a session, of which there are none
	"resources/unsubscribe":    {answer: empty, removed: true},
	"server/discover":          {answer: (*Server).discover, added: true},
	"tools/list":               {answer: list(object{"tools": offeredTools()})},
	"tools/call":               {answer: (*Server).callTool},
	"resources/list":           {answer: (*Server).listResources},
	"resources/templates/list": {answer: list(object{"resourceTemplates": templates})},
	"resources/read":           {answer: (*Server).readResource},
	"prompts/list":             {answer: list(object{"prompts": prompts})},
	"prompts/get":              {answer: (*Server).getPrompt},
	"completion/complete":      {answer: (*Server).complete},
	"skills/list":              {answer: (*Server).listSkills},
	"skills/get":               {answer: (*Server).getSkill},
	listenMethod:               {added: true},
}

var errNoMethod = &protocolError{code: codeMethodNotFound, message: "There is no such method."}

// isRequest reports whether a message has to be answered. The others are
// notifications, for which there is nothing to do, and responses to requests that
// were never sent.
func (m message) isRequest() bool {
	_, known := methods[m.method]
	return m.method != "" && (m.id != nil || known)
}

// find returns the method of a request, and checks that the request is of the
// revision that its headers state.
func (m message) find(h http.Header) (method, error) {
	found, ok := methods[m.method]
	modern := h.Get(versionHeader) >= stateless
	switch {
	case !ok || found.removed && modern:
		return method{}, errNoMethod
	case found.added && !modern:
		return method{}, &protocolError{code: codeMethodNotFound, message: m.method +
			" came with the revision " + stateless + ": name it in MCP-Protocol-Version."}
	case m.id == nil:
		return method{}, &protocolError{code: codeInvalidRequest, message: "The id is missing: " + m.method +
			" is a request."}
	}
	return found, m.check(h)
}

// check checks that a message is of the revision that its headers state.
func (m message) check(h http.Header) error {
	revision := h.Get(versionHeader)
	meta, _ := m.params["_meta"].(object)
	stated, _ := meta[metaPrefix+"protocolVersion"].(string)
	if m.method == "" || revision < stateless && (m.id == nil || stated == "") {
		return nil
	}
	if m.id != nil {
		switch {
		case revision == "":
			return mismatch("The header MCP-Protocol-Version is needed, as the message states a revision.")
		case stated == "":
			return wrongType("_meta", "an object with "+metaPrefix+"protocolVersion")
		case stated != revision:
			return mismatch("The header MCP-Protocol-Version and the revision in _meta differ.")
		}
	}
	if revision < stateless {
		return nil
	}
	if h.Get(methodHeader) != m.method {
		return mismatch("The header Mcp-Method must be the method of the message.")
	}
	if m.id == nil {
		return nil
	}
	named := map[string]string{"tools/call": m.name, "prompts/get": m.name, "resources/read": m.uri}
	if name, needed := named[m.method]; needed {
		if got := h.Get(nameHeader); got == "" || decodeHeader(got) != name {
			return mismatch("The header Mcp-Name must be the name or URI in the message.")
		}
	}
	if _, ok := meta[metaPrefix+"clientCapabilities"].(object); !ok {
		return wrongType("_meta", "an object with "+metaPrefix+"clientCapabilities")
	}
	if info, given := meta[metaPrefix+"clientInfo"]; given {
		if _, ok := info.(object); !ok {
			return wrongType(metaPrefix+"clientInfo", "an object")
		}
	}
	return nil
}

func mismatch(message string) error { return &protocolError{code: codeMismatch, message: message} }

// decodeHeader returns the value of a header, decoded if it is encoded because it has
// letters which a header may not have.
func decodeHeader(value string) string {
	inner, begins := strings.CutPrefix(value, "=?base64?")
	inner, ends := strings.CutSuffix(inner, "?=")
	if b, err := base64.StdEncoding.DecodeString(inner); begins && ends && err == nil {
		return string(b)
	}
	return value
}

// implementation describes the server.
type implementation struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Version     string `json:"version"`
	WebsiteURL  string `json:"websiteUrl"`
	Description string `json:"description"`
}

// capabilities are those of the server. The lists do not change while the program
// runs.
var capabilities = object{
	"tools": object{}, "prompts": object{}, "resources": object{"subscribe": true}, "completions": object{},
	"extensions": object{metaPrefix + "ui": object{"mimeTypes": []string{viewType}}, metaPrefix + "skills": object{}},
}

// initialize begins a session of the older revisions. Nothing is kept: any replica
// answers the next request.
func (s *Server) initialize(_ context.Context, m message) (reply, error) {
	var wanted string
	if err := m.text("protocolVersion", &wanted); err != nil {
		return reply{}, err
	}
	if wanted >= stateless || !slices.Contains(revisions, wanted) {
		wanted = revisions[1] // the newest with sessions
	}
	b, err := query.Encode(object{
		"protocolVersion": wanted, "capabilities": capabilities,
		"serverInfo": s.implementation, "instructions": instructions,
	})
	return reply{object: b}, err
}

func (s *Server) discover(context.Context, message) (reply, error) {
	return encodeOffer(object{
		"supportedVersions": revisions, "capabilities": capabilities,
		"instructions": instructions,
	})
}

func empty(*Server, context.Context, message) (reply, error) { return reply{object: []byte("{}")}, nil }

// list returns the answer with a constant list.
func list(result object) answer {
	encoded := mustEncode(result)
	return func(_ *Server, _ context.Context, m message) (reply, error) {
		return reply{object: encoded, ttl: offerTTL}, m.checkCursor()
	}
}

// checkCursor refuses a request for another page of a list, which has one.
func (m message) checkCursor() error {
	if cursor := m.params["cursor"]; cursor != nil && cursor != "" {
		return &protocolError{
			code:    codeInvalidParams,
			message: "There is no page with that cursor: the list has one page.",
		}
	}
	return nil
}

// encodeOffer returns a result that is part of the offer of the server.
func encodeOffer(result object) (reply, error) {
	b, err := query.Encode(result)
	return reply{object: b, ttl: offerTTL}, err
}

// mustEncode encodes a part of the program.
func mustEncode(v any) []byte {
	b, err := query.Encode(v)
	if err != nil {
		panic("mcp: " + err.Error())
	}
	return b
}
