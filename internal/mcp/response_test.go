package mcp_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pregon/internal/auth/access"
)

// goneWriter fails to write and keeps what it was given, as the server of HTTP/2 does
// for a moment when the client resets the stream.
type goneWriter struct {
	*httptest.ResponseRecorder
	kept []byte
}

func (w *goneWriter) Write(b []byte) (int, error) {
	w.kept = b
	return 0, errors.New("the client is gone")
}

// A response that could not be written is never overwritten by the next one, which
// may be for another caller.
func TestFailedWriteKeepsItsBuffer(t *testing.T) {
	s := start(t, market())
	post := func(w http.ResponseWriter, method string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, access.MCPPath, strings.NewReader(legacy(method, "{}")))
		r.Host = strings.TrimPrefix(baseURL, "https://")
		r.Header.Set("Content-Type", "application/json")
		s.mcp.ServeHTTP(w, r)
	}
	for range 20 { // the pool may drop a buffer
		gone := &goneWriter{ResponseRecorder: httptest.NewRecorder()}
		post(gone, "tools/list")
		before := bytes.Clone(gone.kept)
		if !bytes.Contains(before, []byte(`"result"`)) {
			t.Fatalf("%s", before)
		}
		post(httptest.NewRecorder(), "resources/list")
		if !bytes.Equal(before, gone.kept) {
			t.Fatalf("the response became %.200s", gone.kept)
		}
	}
}
