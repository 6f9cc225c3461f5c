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

// Codes of JSON-RPC, of MCP, and of ours.
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

// rpcError is a message that cannot be answered.
type rpcError struct {
	code    int
	message string
	data    any
}

func (e *rpcError) Error() string { return e.message }

// httpError is a request that is no message at all: HTTP has a status for it.
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

// errNotEntitled refuses what the endpoint would have, had the message been
// plain. Nobody comes here by accident.
func errUnauthorized(need access.Requirement) error {
	return fault.New(fault.Unauthorized, "This needs a key or token with the scope %s.", need.Scope)
}

// entitled reports whether the caller may have what is needed.
func authorized(ctx context.Context, need access.Requirement) bool {
	p := access.FromContext(ctx)
	if p.Mode == access.Anonymous {
		return need.Public
	}
	return p.Scope.Has(need.Scope)
}

// wire is an error as JSON-RPC tells it.
type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// tell puts an error into the words of JSON-RPC, and says which status HTTP has
// for it: none for what is a matter of the message alone.
func toWire(err error) (status int, out wireError) {
	if e, ok := errors.AsType[*rpcError](err); ok {
		return 0, wireError{e.code, secret.Mask(e.message), e.data}
	}
	if e, ok := errors.AsType[*httpError](err); ok {
		return e.status, wireError{e.code, secret.Mask(e.message), nil}
	}
	kind := fault.KindOf(err)
	status, message := problem.Status(kind), "Something went wrong on our side. Try again; if it goes on, tell us the request id."
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

// reply is what is answered to one message. It lets streams pass; what has an
// end it holds until it is whole. Errors are told in JSON-RPC, and with the
// status that the caller's revision of the protocol wants.
type responseWriter struct {
	http.ResponseWriter
	request   *http.Request
	id        json.RawMessage
	code      int  // the status; 0 until something is said
	streaming bool // what was said is on its way
	body      []byte
	result    *encodedResult // of a tool that was called
	ours      bool           // the error is in our own words
}

// Unwrap lets http.ResponseController reach the connection.
func (p *responseWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader notes the status.
func (p *responseWriter) WriteHeader(status int) {
	if p.code == 0 {
		p.code = status
	}
}

func (p *responseWriter) Write(b []byte) (int, error) {
	if p.streaming { // the header is the queue's by now
		return p.ResponseWriter.Write(b)
	}
	p.WriteHeader(http.StatusOK)
	if p.code == http.StatusOK && strings.HasPrefix(p.Header().Get("Content-Type"), "text/event-stream") {
		p.streaming = true
		return p.ResponseWriter.Write(b)
	}
	p.body = append(p.body, b...) // a copy: the writer may use his again
	return len(b), nil
}

// failed reports whether the answer is an error of the protocol.
func (p *responseWriter) failed() bool { return p.code >= 400 }

// refuse answers with an error of ours.
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
	p.body, _ = query.Encode(struct { // texts and numbers, which always encode
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"` // null when there is none
		Error   wireError       `json:"error"`
	}{"2.0", p.id, out})
}

// finish says what was not said yet.
func (p *responseWriter) finish() {
	if p.streaming || p.code == 0 {
		return
	}
	h := p.Header()
	if p.failed() && !strings.HasPrefix(h.Get("Content-Type"), "application/json") { // the SDK says in plain text what it cannot read
		p.setError(fromPlainText(strings.TrimSpace(string(p.body))))
	}
	p.rewriteSDKError()
	parts := [][]byte{p.body}
	if p.result != nil && p.result.fields != nil {
		before, after, err := p.result.split(p.body)
		if err != nil {
			panic(err) // of another SDK than this was written for
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

// mend rewrites errors of the SDK that have no id, or tell of its insides.
func (p *responseWriter) rewriteSDKError() {
	tells := bytes.Contains(p.body, []byte("unmarshaling "))
	if p.ours || !tells && !p.failed() {
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
	case tells:
		m.Error.Message = "The params are not of the types that this method takes."
	case unknown:
		m.Error.Message = "There is no such method."
	}
	if tells || unknown || m.ID == nil {
		p.setError(*m.Error)
	}
}

// status is what an error is answered with. What is a matter of HTTP has its
// status always. What is a matter of the message has one since 2026-07-28; who
// speaks an older revision, or does not say which, is answered 200 as JSON-RPC
// over HTTP has it.
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

// translate puts what the SDK says in plain text into JSON-RPC.
func fromPlainText(text string) wireError {
	if strings.Contains(text, "not handled") {
		return wireError{Code: codeMethodNotFound, Message: "There is no such method."}
	}
	return wireError{Code: codeInvalidRequest, Message: text}
}

// wireError is an error for the SDK to tell.
func sdkError(err error) error {
	_, out := toWire(err)
	return &jsonrpc.Error{Code: int64(out.Code), Message: out.Message}
}
