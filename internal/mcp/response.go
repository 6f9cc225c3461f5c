package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/server/problem"
	"pregon/internal/text"
)

// Error codes of JSON-RPC, of MCP, and of this server.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeUnsupported    = -32022 // a version of the protocol

	codeUnauthorized = -32001
	codeForbidden    = -32003
	codeRateLimited  = -32005
	codeUnavailable  = -32006
)

// rpcError is an error about a message.
type rpcError struct {
	code    int
	message string
	data    any
}

func (e *rpcError) Error() string { return e.message }

// httpError is an error about a request that is not a message, with its HTTP
// status.
type httpError struct {
	status, code int
	message      string
}

func (e *httpError) Error() string { return e.message }

var errTooLarge = &httpError{http.StatusRequestEntityTooLarge, codeInvalidRequest, "The body may have 1 MiB at most."}

func errVersion(v string) error {
	supported := sdk.SupportedProtocolVersions()
	return &rpcError{
		codeUnsupported, "This server does not speak that version of the protocol: use " + strings.Join(supported, ", ") + ".",
		map[string]any{"requested": text.Clip(secret.Mask(v), 100), "supported": supported},
	}
}

// errUnauthorized is returned if the SDK read a message otherwise than the
// endpoint did, which happens only with crafted messages.
func errUnauthorized(need access.Requirement) error {
	return fault.New(fault.Unauthorized, "This needs a key or token with the scope %s.", need.Scope)
}

// authorized reports whether the caller meets a requirement.
func authorized(ctx context.Context, need access.Requirement) bool {
	p := access.FromContext(ctx)
	if p.Mode == access.Anonymous {
		return need.Public
	}
	return p.Scope.Has(need.Scope)
}

// wireError is an error as JSON-RPC encodes it.
type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// toWire converts an error to JSON-RPC and returns its HTTP status, 0 for an
// error about the message alone.
func toWire(err error) (status int, out wireError) {
	if e, ok := errors.AsType[*rpcError](err); ok {
		return 0, wireError{e.code, secret.Mask(e.message), e.data}
	}
	if e, ok := errors.AsType[*httpError](err); ok {
		return e.status, wireError{e.code, secret.Mask(e.message), nil}
	}
	kind := fault.KindOf(err)
	status, message := problem.Status(kind), "Something went wrong on our side. Try again; if it persists, report the request id."
	if e, ok := errors.AsType[*fault.Error](err); ok && kind != fault.Internal {
		message = secret.Mask(e.Message)
	}
	codes := map[fault.Kind]int{
		fault.Invalid: codeInvalidParams, fault.NotFound: codeInvalidParams, fault.Unauthorized: codeUnauthorized, fault.Forbidden: codeForbidden,
		fault.RateLimited: codeRateLimited, fault.Unavailable: codeUnavailable,
	}
	code, known := codes[kind]
	if !known {
		code = codeInternal
	}
	return status, wireError{code, message, map[string]int{"status": status}}
}

// responseWriter writes the response to one message. It passes streams through
// and buffers all else. Errors are written in JSON-RPC, with the status that
// the client's revision of the protocol expects.
type responseWriter struct {
	http.ResponseWriter
	request   *http.Request
	id        json.RawMessage
	code      int  // the status; 0 until it is set
	streaming bool // writes are passed through
	body      []byte
	result    *encodedResult // of a tool call
	ours      bool           // the error was not written by the SDK
}

// Unwrap lets http.ResponseController reach the connection.
func (p *responseWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader records the status.
func (p *responseWriter) WriteHeader(status int) {
	if p.code == 0 {
		p.code = status
	}
}

func (p *responseWriter) Write(b []byte) (int, error) {
	if p.streaming { // the header is sent
		return p.ResponseWriter.Write(b)
	}
	p.WriteHeader(http.StatusOK)
	if p.code == http.StatusOK && strings.HasPrefix(p.Header().Get("Content-Type"), "text/event-stream") {
		p.streaming = true
		return p.ResponseWriter.Write(b)
	}
	p.body = append(p.body, b...) // a copy, since the caller may reuse b
	return len(b), nil
}

// failed reports whether the response is an error of the protocol.
func (p *responseWriter) failed() bool { return p.code >= 400 }

// writeError sets the response to an error.
func (p *responseWriter) writeError(err error) {
	status, out := toWire(err)
	p.code, p.ours = cmp.Or(status, http.StatusBadRequest), true
	switch h := p.Header(); {
	case status == http.StatusMethodNotAllowed:
		h.Set("Allow", "POST, OPTIONS")
	case (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) && h.Get("Retry-After") == "":
		h.Set("Retry-After", "2") // as over REST
	}
	p.setError(out)
}

func (p *responseWriter) setError(out wireError) {
	p.Header().Set("Content-Type", "application/json")
	p.body, _ = query.Encode(struct { // strings and numbers always encode
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"` // null when there is none
		Error   wireError       `json:"error"`
	}{"2.0", p.id, out})
}

// finish sends the buffered response.
func (p *responseWriter) finish() {
	if p.streaming || p.code == 0 {
		return
	}
	h := p.Header()
	if p.failed() && !strings.HasPrefix(h.Get("Content-Type"), "application/json") { // the SDK reports unreadable messages in plain text
		p.setError(fromPlainText(strings.TrimSpace(string(p.body))))
	}
	p.rewriteSDKError()
	parts := [][]byte{p.body}
	if p.result != nil && p.result.fields != nil {
		before, after, err := p.result.split(p.body)
		if err != nil {
			panic(err) // the SDK changed its encoding
		}
		parts = [][]byte{before, p.result.fields, after}
	}
	h.Set("Cache-Control", "no-store")
	p.send(parts)
}

func (p *responseWriter) send(parts [][]byte) {
	size := 0
	for _, b := range parts {
		size += len(b)
	}
	if size > 0 {
		p.Header().Set("Content-Length", strconv.Itoa(size))
	}
	p.ResponseWriter.WriteHeader(p.status())
	for _, b := range parts {
		_, _ = p.ResponseWriter.Write(b)
	}
}

// rewriteSDKError replaces errors of the SDK that lack an id or name Go types.
func (p *responseWriter) rewriteSDKError() {
	goTypes := bytes.Contains(p.body, []byte("unmarshaling "))
	if p.ours || !goTypes && !p.failed() {
		return
	}
	var m struct {
		ID    json.RawMessage
		Error *wireError
	}
	if json.Unmarshal(p.body, &m) != nil || m.Error == nil {
		return
	}
	unknown := m.Error.Code == codeMethodNotFound
	switch {
	case goTypes:
		m.Error.Message = "The params are not of the types that this method takes."
	case unknown:
		m.Error.Message = "There is no such method."
	}
	if goTypes || unknown || m.ID == nil {
		p.setError(*m.Error)
	}
}

// status returns the status of an error. An error of HTTP always has its own.
// An error about the message has one since 2026-07-28; a client with an older
// or no revision gets 200, as JSON-RPC over HTTP requires.
func (p *responseWriter) status() int {
	if p.code >= http.StatusInternalServerError && p.request.Context().Err() != nil {
		return problem.StatusClientClosed
	}
	version := p.request.Header.Get(versionHeader)
	ofMessage := p.code == http.StatusBadRequest || p.code == http.StatusNotFound
	if ofMessage && (version == "" || version < firstStateless && p.id != nil && slices.Contains(sdk.SupportedProtocolVersions(), version)) {
		return http.StatusOK
	}
	return p.code
}

// fromPlainText converts a plain text error of the SDK to JSON-RPC.
func fromPlainText(text string) wireError {
	if strings.Contains(text, "not handled") {
		return wireError{Code: codeMethodNotFound, Message: "There is no such method."}
	}
	return wireError{Code: codeInvalidRequest, Message: text}
}

// sdkError converts an error for the SDK.
func sdkError(err error) error {
	_, out := toWire(err)
	return &jsonrpc.Error{Code: int64(out.Code), Message: out.Message}
}
