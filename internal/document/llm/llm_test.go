package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pregon/internal/document/llm"
	"pregon/internal/document/llm/llmtest"
	"pregon/internal/fault"
)

const key = "sk-secret-0123456789"

var schema = json.RawMessage(`{"type":"object"}`)

// newClient returns a client of a server, and its log.
func newClient(t *testing.T, o llm.Options) (*llm.Client, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	o.Model, o.Key = "m-1", key
	o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c, err := llm.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, &log
}

func ask(t *testing.T, c *llm.Client) (string, error) {
	t.Helper()
	return c.Complete(t.Context(), "sistema", "usuario", schema)
}

func TestComplete(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Say(`{"a":1}`))
	c, _ := newClient(t, llm.Options{URL: server.URL})
	text, err := ask(t, c)
	if err != nil || text != `{"a":1}` {
		t.Fatalf(`got %q, %v, want {"a":1}`, text, err)
	}
	req := server.Requests()[0]
	if req.Header.Get("Authorization") != "Bearer "+key || req.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got headers %v, want the key and JSON", req.Header)
	}
	b := req.Body
	if b.Model != "m-1" || b.System() != "sistema" || b.User() != "usuario" || b.Temperature == nil || *b.Temperature != 0 ||
		b.MaxTokens != 2000 || b.ResponseFormat.Type != "json_schema" {
		t.Errorf("got body %+v, want both messages, temperature 0, 2000 tokens and a schema", b)
	}
	if s := c.Stats(); s.Requests != 1 || s.Failures != 0 || s.Tokens == 0 || s.Open {
		t.Errorf("got stats %+v, want one request without a failure", s)
	}
}

func TestAddresses(t *testing.T) {
	for given, path := range map[string]string{
		"":                     "/v1/chat/completions",
		"/":                    "/v1/chat/completions",
		"/v1":                  "/v1/chat/completions",
		"/v1/":                 "/v1/chat/completions",
		"/v1/chat/completions": "/v1/chat/completions",
		"/api/v3/":             "/api/v3/chat/completions",
		"/d/x?api-version=1":   "/d/x/chat/completions?api-version=1",
	} {
		var got atomic.Value
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got.Store(r.URL.String())
			llmtest.Say("x")(w, r, llmtest.Body{}, nil)
		}))
		c, _ := newClient(t, llm.Options{URL: server.URL + given})
		if _, err := ask(t, c); err != nil || got.Load() != path {
			t.Errorf("%q: got a request to %v, error %v, want %s", given, got.Load(), err, path)
		}
		server.Close()
	}
	for _, o := range []llm.Options{
		{URL: "", Model: "m"},
		{URL: "models.example/v1", Model: "m"},
		{URL: "ftp://models.example", Model: "m"},
		{URL: "https://user:pass@models.example", Model: "m"},
		{URL: "https://models.example", Model: " "},
		{URL: "https://models.example", Model: "m", Key: "two\nlines"},
	} {
		if _, err := llm.New(o); fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), "pass@") || strings.Contains(err.Error(), "two") {
			t.Errorf("New(%+v): got error %v, want Invalid", o, err)
		}
	}
}

// TestFailures checks that every failure of an endpoint is an error, and that no
// error and no log line contains the key.
func TestFailures(t *testing.T) {
	target := llmtest.NewServer(t, llmtest.Say("stolen"))
	for name, test := range map[string]struct {
		answer llmtest.Answer
		want   string
		times  int // requests; 0 is any
	}{
		"garbage":      {llmtest.Raw("<html>502</html>"), "not the JSON", 1},
		"nothing":      {llmtest.Raw(""), "not the JSON", 1},
		"wrong JSON":   {llmtest.Raw(`{"choices":"none"}`), "not the JSON", 1},
		"no choices":   {llmtest.Raw(`{"choices":[]}`), "empty", 1},
		"null content": {llmtest.Raw(`{"choices":[{"message":{"content":null}}]}`), "empty", 1},
		"huge":         {llmtest.Huge(2 << 20), "longer than 1 MiB", 1},
		"not found":    {llmtest.Status(404), "404 (scripted)", 1},
		"unauthorized": {llmtest.Raw(""), "", 0},
		"bad request":  {llmtest.Status(400), "400", 3}, // once for each format
		"redirect":     {llmtest.Redirect(target.URL + "/chat/completions"), "redirects are not followed", 1},
		"hangs":        {llmtest.Hang(), "no answer in time", 0},
		"drips":        {llmtest.Drip(10 * time.Millisecond), "no answer in time", 0},
		"500":          {llmtest.Status(500), "500", 0},
		"cut":          {llmtest.Cut(), "EOF", 0},
		"429 for long": {llmtest.Status(429, "Retry-After", "3600"), "429", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "unauthorized" { // some endpoints repeat the key in the error
				test.answer = func(w http.ResponseWriter, r *http.Request, _ llmtest.Body, _ <-chan struct{}) {
					w.WriteHeader(http.StatusUnauthorized)
					_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": "bad key " + r.Header.Get("Authorization"), "code": key}})
				}
				test.want, test.times = "401", 1
			}
			server := llmtest.NewServer(t, test.answer)
			o := llm.Options{URL: server.URL}
			if test.times == 0 { // these run until the timeout
				o.AttemptTimeout, o.Timeout = 500*time.Millisecond, 2*time.Second
			}
			if test.want != "no answer in time" { // these answer, possibly slowly
				o.AttemptTimeout = time.Minute
			}
			c, log := newClient(t, o)
			text, err := ask(t, c)
			if err == nil || text != "" || !strings.Contains(err.Error(), test.want) || fault.KindOf(err) != fault.Unavailable {
				t.Errorf("got %q, %v, want an Unavailable error with %q", text, err, test.want)
			}
			if n := len(server.Requests()); test.times > 0 && n != test.times || n == 0 {
				t.Errorf("got %d requests, want %d", n, test.times)
			}
			if strings.Contains(err.Error()+log.String(), key) {
				t.Errorf("got the key in error %v or log, want it in neither:\n%s", err, log)
			}
			if s := c.Stats(); s.Failures == 0 || s.Failures != s.Requests {
				t.Errorf("got stats %+v, want only failures", s)
			}
		})
	}
	t.Cleanup(func() {
		if n := len(target.Requests()); n > 0 {
			t.Errorf("got %d requests after a redirect, want none", n)
		}
	})
}

func TestRetries(t *testing.T) {
	for name, first := range map[string]llmtest.Answer{
		"500":         llmtest.Status(503),
		"429":         llmtest.Status(429, "Retry-After", "0"),
		"hangs":       llmtest.Hang(),
		"drips":       llmtest.Drip(10 * time.Millisecond),
		"cut":         llmtest.Cut(),
		"no schemas":  llmtest.RefuseFormats(nil, "json_schema"),
		"no formats":  llmtest.RefuseFormats(llmtest.RefuseFormats(nil, "json_object"), "json_schema"),
		"max_tokens":  refuse("max_tokens"),
		"temperature": refuse("temperature"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.NewServer(t, first, llmtest.Say("x"))
			c, _ := newClient(t, llm.Options{URL: server.URL, AttemptTimeout: time.Second})
			if text, err := ask(t, c); err != nil || text != "x" {
				t.Fatalf("got %q, %v, want x", text, err)
			}
		})
	}
}

// refuse answers like endpoints that reject a field of the request.
func refuse(param string) llmtest.Answer {
	return func(w http.ResponseWriter, _ *http.Request, _ llmtest.Body, _ <-chan struct{}) {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"param": param, "code": "unsupported_parameter"}})
	}
}

func TestDialectIsRemembered(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.RefuseFormats(llmtest.Say("x"), "json_schema", "json_object"))
	c, _ := newClient(t, llm.Options{URL: server.URL})
	for range 2 {
		if _, err := ask(t, c); err != nil {
			t.Fatal(err)
		}
	}
	var kinds []string
	for _, r := range server.Requests() {
		kinds = append(kinds, r.Body.ResponseFormat.Type)
	}
	if got := strings.Join(kinds, ","); got != "json_schema,json_object,," {
		t.Errorf("got requests for formats %s, want json_schema, json_object and two without", got)
	}
	if s := c.Stats(); s.Open || s.Failures != 2 {
		t.Errorf("got stats %+v, want a closed breaker and 2 failures", s)
	}
}

func TestCanceledRequests(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Hang())
	c, _ := newClient(t, llm.Options{URL: server.URL, AttemptTimeout: time.Minute, Timeout: time.Minute})
	for range 6 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := c.Complete(ctx, "s", "u", nil); !errors.Is(err, context.Canceled) {
			t.Fatalf("got error %v, want %v", err, context.Canceled)
		}
	}
	if c.Stats().Open {
		t.Error("got an open breaker after canceled requests, want it closed")
	}
}
