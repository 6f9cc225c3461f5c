package private_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pregon/internal/server/private"
)

// A refused request does not reach the handler behind the guard, and the refusal is not
// cached.
func TestRefusal(t *testing.T) {
	reached := false
	h := private.Guard{}.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Host = "evil.example"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if reached || w.Code != http.StatusForbidden || w.Header().Get("Cache-Control") != "no-store" || !strings.Contains(w.Body.String(), "evil.example") {
		t.Errorf("reached: %v, status %d, %v: %s", reached, w.Code, w.Header(), w.Body)
	}
	r.Host = "localhost"
	w = httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if !reached || w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "" {
		t.Errorf("reached: %v, status %d, %v", reached, w.Code, w.Header())
	}
}

// Serve ends without an error when its context does, and returns the error of a
// listener that fails.
func TestServe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- private.Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "served") }))
	}()
	answer, err := http.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || string(body) != "served" {
		t.Errorf("%q, %v", body, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("after its context ended: %v", err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := private.Serve(t.Context(), closed, http.NotFoundHandler()); err == nil {
		t.Error("a listener that is closed is served")
	}
}
