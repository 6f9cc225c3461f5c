package mcp_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pregon/internal/auth/access"
)

// once is a connection that closes as soon as a stream has begun.
type once struct {
	*httptest.ResponseRecorder
	cancel func()
}

func (o once) Write(b []byte) (int, error) {
	if strings.HasPrefix(o.Header().Get("Content-Type"), "text/event-stream") {
		o.cancel()
	}
	return o.ResponseRecorder.Write(b)
}

// FuzzEndpoint sends arbitrary bodies. Every response must be JSON-RPC, and none
// may contain text of a document.
func FuzzEndpoint(f *testing.F) {
	s := startWithDocument(f, start(f, market()))
	for _, c := range conversations(f) {
		for _, version := range []string{"none", "2025-06-18", newest} {
			body, header := inVersion(c.message, version)
			header = append(header, "", "", "", "", "", "")
			f.Add([]byte(body), header[1], header[3], header[5], "application/json", "")
		}
	}
	for _, body := range smuggled {
		f.Add([]byte(body), "", "", "", "application/json", "")
	}
	for _, uri := range addresses {
		f.Add([]byte(legacy("resources/read", `{"uri":"`+uri+`"}`)), "", "", "", "application/json; charset=utf-8", "https://pregon.example")
	}
	for _, n := range needs {
		body, header := modern(n.method, n.params)
		f.Add([]byte(body), newest, header[3], strings.Join(header[4:], ""), "application/json", "")
	}
	listen, _ := modern("subscriptions/listen", listenParams([]string{latest, "pregon://reports/search?type=IP"}))
	f.Add([]byte(listen), newest, "subscriptions/listen", "", "application/json", "null")
	f.Add([]byte("\xff\x00"), "9999-99-99", "x", "y", "text/plain", "https://evil.example")
	f.Fuzz(func(t *testing.T, body []byte, version, method, name, kind, origin string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, access.MCPPath, bytes.NewReader(body))
		r.Host = "localhost"
		for header, value := range map[string]string{"MCP-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name, "Content-Type": kind, "Origin": origin} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		w := once{httptest.NewRecorder(), cancel}
		s.front.ServeHTTP(w, r)
		a := answer{t: t, status: w.Code, header: w.Header(), body: w.Body.Bytes()}
		if strings.Contains(w.Body.String(), "reestructuración") && !strings.Contains(string(body), "reestructuración") {
			t.Errorf("the response contains the document: %s", w.Body)
		}
		if w.Header().Get("Content-Type") == "text/event-stream" {
			return // other tests check streams
		}
		if err := a.check(http.MethodPost); err != nil && !strings.Contains(err.Error(), "internal error") { // the caller may have sent the internal words
			t.Errorf("%v\n%d %v\n%s", err, w.Code, w.Header(), w.Body)
		}
	})
}
