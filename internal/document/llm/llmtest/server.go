// Package llmtest is an endpoint of a language model for tests: a server with the
// chat completions API of OpenAI that gives scripted answers, including slow,
// invalid and hostile ones.
package llmtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Request is a request to the server.
type Request struct {
	Header http.Header
	Body   Body
}

// Body is the part of a request that tests check.
type Body struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Temperature         *float64 `json:"temperature"`
	MaxTokens           int      `json:"max_tokens"`
	MaxCompletionTokens int      `json:"max_completion_tokens"`
	ResponseFormat      struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

// System returns the message of the system role.
func (b Body) System() string { return b.content("system") }

// User returns the message of the user role.
func (b Body) User() string { return b.content("user") }

func (b Body) content(role string) string {
	var all []string
	for _, m := range b.Messages {
		if m.Role == role {
			all = append(all, m.Content)
		}
	}
	return strings.Join(all, "\n")
}

// Server answers requests with the answers of its script, one after another. The
// last answer repeats.
type Server struct {
	URL string // with /v1

	http   *httptest.Server
	closed chan struct{} // ends answers that hang

	mu       sync.Mutex
	script   []Answer  // guarded by mu
	requests []Request // guarded by mu
}

// NewServer starts a server that is closed at the end of the test.
func NewServer(t testing.TB, script ...Answer) *Server {
	t.Helper()
	s := Start(script...)
	t.Cleanup(s.Close)
	return s
}

// Start starts a server that must be closed.
func Start(script ...Answer) *Server {
	s := &Server{closed: make(chan struct{}), script: script}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.serve)
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL + "/v1"
	return s
}

// Close closes the server and ends answers that hang.
func (s *Server) Close() {
	close(s.closed)
	s.http.Close()
}

// Script replaces the remaining answers.
func (s *Server) Script(script ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// Requests returns the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	req := Request{Header: r.Header.Clone()}
	text, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
	if err == nil {
		err = json.Unmarshal(text, &req.Body)
	}
	if err != nil || req.Body.Model == "" || len(req.Body.Messages) == 0 {
		http.Error(w, `{"error":{"code":"invalid_request_error"}}`, http.StatusBadRequest)
		return
	}
	answer := s.next(req)
	if answer == nil {
		http.Error(w, "the script is empty", http.StatusTeapot)
		return
	}
	answer(w, r, req.Body, s.closed)
}

func (s *Server) next(req Request) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	if len(s.script) == 0 {
		return nil
	}
	answer := s.script[0]
	if len(s.script) > 1 {
		s.script = s.script[1:]
	}
	return answer
}
