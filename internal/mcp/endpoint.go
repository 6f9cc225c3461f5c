package mcp

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/server/problem"
)

// maxUnread is the size of a body that is read when a request is refused, so that
// the connection can be used again.
const maxUnread = 16 << 10

// ServeHTTP handles one message: it reads the message, authorizes the caller
// for it, and answers it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.cors.Check(w, r); err != nil {
		s.writeError(w, r, message{}, err)
		return
	}
	if r.Method == http.MethodOptions {
		preflight(w)
		return
	}
	m, err := s.serve(w, r)
	if err != nil {
		s.writeError(w, r, m, err)
	}
	s.count(m, err != nil)
}

// serve answers a request. It returns the message as far as it was read, and an
// error that is not written yet.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) (message, error) {
	principal, err := s.identify(w, r)
	if err != nil {
		if r.ContentLength > maxUnread || r.ContentLength < 0 {
			w.Header().Set("Connection", "close")
		}
		return message{}, err
	}
	m, err := readMessage(r)
	need := m.need()
	need.SignIn = r.URL.Path == access.MCPSignInPath
	need.Operation = m.operation()
	if refusal := s.o.Guard.Authorize(w, principal, need); refusal != nil { // an invalid message is observed as well
		return m, refusal
	}
	if err != nil {
		return m, err
	}
	if !m.isRequest() {
		if err := m.check(r.Header); err != nil {
			return m, err
		}
		w.WriteHeader(http.StatusAccepted)
		return m, nil
	}
	found, err := m.find(r.Header)
	if err != nil {
		return m, err
	}
	r = r.WithContext(access.NewContext(r.Context(), principal))
	if m.method == listenMethod {
		return m, s.listen(w, r, m, principal)
	}
	slot, err := s.o.Guard.AcquireSlot(r, principal, !need.Public || m.mayReadDocuments(principal))
	if err != nil {
		return m, err
	}
	defer slot.Release()
	out, err := found.answer(s, r.Context(), m)
	if err != nil {
		return m, err
	}
	s.writeReply(w, m, r.Header.Get(versionHeader), out)
	return m, nil
}

// identify authenticates the caller. At the path for signing in, callers without a
// credential are refused before the message is read, whatever it is.
func (s *Server) identify(w http.ResponseWriter, r *http.Request) (access.Principal, error) {
	if r.URL.Path != access.MCPSignInPath {
		return s.o.Guard.Identify(w, r, public(0))
	}
	need := access.Requirement{MCP: true, SignIn: true}
	principal, err := s.o.Guard.Identify(w, r, need)
	if err == nil && principal.Mode == access.Anonymous {
		need.Scope = access.AllScopes
		err = s.o.Guard.Authorize(w, principal, need)
	}
	return principal, err
}

// readMessage reads the message of a request.
func readMessage(r *http.Request) (message, error) {
	if r.Method != http.MethodPost {
		return message{}, &protocolError{
			status:  http.StatusMethodNotAllowed,
			code:    codeInvalidRequest,
			message: "This server keeps no sessions: send each message with POST.",
		}
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return message{}, &protocolError{
			status:  http.StatusUnsupportedMediaType,
			code:    codeInvalidRequest,
			message: "Send the message as Content-Type: application/json.",
		}
	}
	body, err := io.ReadAll(r.Body)
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return message{}, errTooLarge
	case err != nil:
		return message{}, &protocolError{code: codeParse, message: "The body ended before the message did."}
	}
	m, err := parse(body)
	if v := r.Header.Get(versionHeader); v != "" && !slices.Contains(revisions, v) {
		return m, errVersion(v)
	}
	return m, err
}

// IsListen reports whether a request may be answered with a stream of events: only
// requests with this header are.
func IsListen(r *http.Request) bool {
	return (r.URL.Path == access.MCPPath || r.URL.Path == access.MCPSignInPath) &&
		r.Header.Get(methodHeader) == listenMethod
}

// WriteTooLarge writes the error for a body that is too large by its
// Content-Length.
func WriteTooLarge(w http.ResponseWriter, r *http.Request) { writeError(w, r, message{}, errTooLarge) }

// WriteInternalError writes the error for a panic.
func WriteInternalError(w http.ResponseWriter, r *http.Request) {
	writeError(w, r, message{}, fault.New(fault.Internal, ""))
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
