package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"pregon/internal/fault"
	"pregon/internal/mcp/tools"
	"pregon/internal/query"
	"pregon/internal/server/problem"
	"pregon/internal/text"
	"pregon/internal/text/mask"
)

// Error codes of JSON-RPC, of MCP, and of this server.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeMismatch       = -32020 // of the headers and the message
	codeUnsupported    = -32022 // a revision of the protocol

	codeUnauthorized = -32001
	codeForbidden    = -32003
	codeRateLimited  = -32005
	codeUnavailable  = -32006
)

// protocolError is an error of the protocol.
type protocolError struct {
	status  int // of HTTP; 0 for an error about the message
	code    int
	message string
	data    any
}

func (e *protocolError) Error() string { return e.message }

var errTooLarge = &protocolError{
	status:  http.StatusRequestEntityTooLarge,
	code:    codeInvalidRequest,
	message: "The body may have 1 MiB at most.",
}

func errVersion(v string) error {
	return &protocolError{
		status:  http.StatusBadRequest,
		code:    codeUnsupported,
		message: "This server does not speak that version of the protocol: use " + strings.Join(revisions, ", ") + ".",
		data:    object{"requested": text.Clip(mask.Credentials(v), 100), "supported": revisions},
	}
}

// wireError is an error as JSON-RPC encodes it.
type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

var codes = map[fault.Kind]int{
	fault.Internal: codeInternal, fault.Conflict: codeInternal, fault.Invalid: codeInvalidParams, fault.NotFound: codeInvalidParams,
	fault.Unauthorized: codeUnauthorized, fault.Forbidden: codeForbidden, fault.RateLimited: codeRateLimited, fault.Unavailable: codeUnavailable,
}

// toWire converts an error to JSON-RPC and returns its HTTP status, 0 for an
// error about the message alone.
func toWire(err error) (status int, out wireError) {
	if e, ok := errors.AsType[*protocolError](err); ok {
		return e.status, wireError{e.code, mask.Credentials(e.message), e.data}
	}
	kind := fault.KindOf(err)
	status = problem.Status(kind)
	out = wireError{codes[kind], tools.ErrorText(err), map[string]int{"status": status}}
	if out.Code == codeInvalidParams {
		status = 0
	}
	return status, out
}

// writeError writes an error. Internal errors are logged.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, m message, err error) {
	s.logInternal(r.Context(), m.label(), err)
	writeError(w, r, m, err)
}

func (s *Server) logInternal(ctx context.Context, what string, err error) {
	_, ours := errors.AsType[*protocolError](err)
	if !ours && fault.KindOf(err) == fault.Internal && ctx.Err() == nil {
		s.o.Logger.ErrorContext(ctx, "a request failed", "call", what, "err", err)
	}
}

func writeError(w http.ResponseWriter, r *http.Request, m message, err error) {
	if problem.ClientClosed(r, err) {
		w.WriteHeader(problem.StatusClientClosed)
		return
	}
	status, out := toWire(err)
	if status == 0 {
		status = messageStatus(r.Header.Get(versionHeader), m.id, out.Code)
	}
	switch h := w.Header(); {
	case status == http.StatusMethodNotAllowed:
		h.Set("Allow", "POST, OPTIONS")
	case (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) &&
		h.Get("Retry-After") == "":
		h.Set("Retry-After", "2") // as over REST
	}
	encoded, _ := query.Encode(out) // strings and numbers always encode
	_ = send(w, status, append(append(appendStart(nil, m.id, "error"), encoded...), '}'))
}

// messageStatus returns the status of an error about a message. It has one since the
// revision stateless; a client with an older or no revision gets 200, as JSON-RPC
// over HTTP requires.
func messageStatus(revision string, id json.RawMessage, code int) int {
	switch {
	case revision == "" || revision < stateless && id != nil:
		return http.StatusOK
	case code == codeMethodNotFound && revision >= stateless:
		return http.StatusNotFound
	}
	return http.StatusBadRequest
}

// writeReply writes a result, with the members that all results of the newer
// revisions have.
func (s *Server) writeReply(w http.ResponseWriter, m message, revision string, out reply) {
	buffer := buffers.Get().(*[]byte)
	b := appendStart((*buffer)[:0], m.id, "result")
	if out.tool != nil {
		b = appendResult(b, out.tool)
	} else {
		b = append(b, out.object...)
	}
	if revision >= stateless {
		b = b[:len(b)-1]
		if out.ttl > 0 {
			scope := "public"
			if out.private {
				scope = "private"
			}
			b = fmt.Appendf(b, `,"ttlMs":%d,"cacheScope":"%s"`, out.ttl, scope)
		}
		b = append(append(b, ','), s.resultEnd...)
	}
	b = append(b, '}')
	if send(w, http.StatusOK, b) != nil {
		return // over HTTP/2 the connection may still be reading b
	}
	*buffer = b
	buffers.Put(buffer)
}

// buffers hold responses, the largest allocation of a request.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// appendStart appends a response up to its result or error.
func appendStart(b []byte, id json.RawMessage, member string) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), id...)
	return append(append(append(b, `,"`...), member...), `":`...)
}

func send(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h["Content-Type"] = jsonHeader
	h["Cache-Control"] = noStore
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

var jsonHeader, noStore = []string{jsonType}, []string{"no-store"}
