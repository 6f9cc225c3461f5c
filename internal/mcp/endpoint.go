package mcp

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/server/problem"
)

const (
	versionHeader    = "Mcp-Protocol-Version"
	firstStateless   = "2026-07-28" // the first revision without sessions
	listenMethod     = "subscriptions/listen"
	maxUncheckedBody = 16 << 10 // a shorter body is read before the caller is checked
)

// ServeHTTP handles one message: it reads the message, authorizes the caller
// for it, and passes it to the SDK.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &responseWriter{ResponseWriter: w, request: r}
	defer out.finish()
	if err := s.cors.Check(w, r); err != nil {
		out.writeError(err)
		return
	}
	if r.Method == http.MethodOptions {
		preflight(out)
		return
	}
	if r.ContentLength > maxUncheckedBody || r.ContentLength < 0 {
		if err := s.o.Guard.Precheck(w, r, public(0)); err != nil {
			w.Header().Set("Connection", "close") // the body is not read
			out.writeError(err)
			s.count(message{}, true)
			return
		}
	}
	m, err := s.readMessage(r)
	out.id = m.id
	principal, refusal := s.o.Guard.Admit(w, r, m.need()) // an invalid message counts as well
	if refusal == nil {
		refusal = err
	}
	if refusal == nil && m.needsCatalog() {
		_, refusal = s.snapshot(m.params.Name)
	}
	var slot access.Slot
	defer func() { slot.Release() }()
	if refusal == nil && m.method != listenMethod {
		slot, refusal = s.o.Guard.AcquireSlot(r, principal, !m.need().Public) // messages that need a credential read documents
	}
	if refusal != nil {
		out.writeError(refusal)
		s.count(m, true)
		return
	}
	ctx := access.NewContext(r.Context(), principal)
	ctx, out.result = newEncodedResult(ctx)
	r = r.WithContext(ctx)
	r.Body = io.NopCloser(bytes.NewReader(m.body))
	// The SDK requires both types and chooses by the method. A client that
	// resumes a stream or has a session is handled without one.
	r.Header = r.Header.Clone()
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Del("Last-Event-ID")
	r.Header.Del("Mcp-Session-Id")
	if m.method == listenMethod {
		s.listen(out, r, principal)
	} else {
		s.protocol.ServeHTTP(out, r)
	}
	s.count(m, out.failed())
}

// readMessage reads the message of a request.
func (s *Server) readMessage(r *http.Request) (message, error) {
	if r.Method != http.MethodPost {
		return message{}, &httpError{http.StatusMethodNotAllowed, codeInvalidRequest, "This server keeps no sessions: send each message with POST."}
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return message{}, &httpError{http.StatusUnsupportedMediaType, codeInvalidRequest, "Send the message as Content-Type: application/json."}
	}
	body, err := io.ReadAll(r.Body)
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return message{}, errTooLarge
	case err != nil:
		return message{}, &rpcError{codeParse, "The body ended before the message did.", nil}
	}
	if v := r.Header.Get(versionHeader); v != "" && !slices.Contains(sdk.SupportedProtocolVersions(), v) {
		m, _ := parse(body)
		return m, errVersion(v)
	}
	m, err := parse(body)
	if err == nil && m.method == listenMethod && r.Header.Get(versionHeader) < firstStateless {
		err = &rpcError{codeMethodNotFound, listenMethod + " came with the revision " + firstStateless + ": name it in MCP-Protocol-Version.", nil}
	}
	return m, err
}

// WriteTooLarge writes the error for a body that is too large by its
// Content-Length.
func WriteTooLarge(w http.ResponseWriter, r *http.Request) { writeError(w, r, errTooLarge) }

// WriteInternalError writes the error for a panic.
func WriteInternalError(w http.ResponseWriter, r *http.Request) {
	writeError(w, r, fault.New(fault.Internal, ""))
}

func writeError(w http.ResponseWriter, r *http.Request, err error) {
	out := &responseWriter{ResponseWriter: w, request: r}
	out.writeError(err)
	out.finish()
}

// preflight answers a CORS preflight request.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Allow", "POST, OPTIONS")
	h.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
	h.Set("Access-Control-Allow-Headers", strings.Join([]string{
		"Accept", "Authorization", "Content-Type", "Last-Event-ID", "Mcp-Method", "Mcp-Name", "MCP-Protocol-Version", "Mcp-Session-Id", "X-API-Key", problem.RequestIDHeader,
	}, ", "))
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}
