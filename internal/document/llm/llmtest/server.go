// Package llmtest is a language model's endpoint for tests: a real server that
// speaks the protocol of OpenAI's chat completions, and says what it was told
// to say. It can also be slow, rude, wrong and easily led.
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

// Request is what the server was asked.
type Request struct {
	Header http.Header
	Body   Body
}

// Body is the part of a request that tests look at.
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

// System and User return what was said in a role.
func (b Body) System() string { return b.said("system") }

// User returns what was said by the user.
func (b Body) User() string { return b.said("user") }

func (b Body) said(role string) string {
	var all []string
	for _, m := range b.Messages {
		if m.Role == role {
			all = append(all, m.Content)
		}
	}
	return strings.Join(all, "\n")
}

// Server answers one request after another as its script says; the last answer
// of the script is given for ever.
type Server struct {
	URL string // with /v1

	http   *httptest.Server
	closed chan struct{} // ends answers that hang

	mu       sync.Mutex
	script   []Answer  // guarded by mu
	requests []Request // guarded by mu
}

// NewServer starts a server that ends with the test.
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

// Close ends the server, and the answers that hang.
func (s *Server) Close() {
	close(s.closed)
	s.http.Close()
}

// Script replaces the answers still to be given.
func (s *Server) Script(script ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// Requests returns what was asked so far.
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
