package main_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"syscall"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"pregon/internal/document/llm/llmtest"
	"pregon/internal/test/longtest"
)

// traceCollector keeps the spans that it receives.
type traceCollector struct {
	*httptest.Server
	mu       sync.Mutex
	spans    []*traces.Span    // guarded by mu
	resource map[string]string // guarded by mu
	received bytes.Buffer      // guarded by mu
	wrong    error             // guarded by mu
}

func newTraceCollector(t *testing.T) *traceCollector {
	t.Helper()
	c := &traceCollector{}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *traceCollector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.URL.Path != "/v1/traces" {
		c.wrong = fmt.Errorf("a request for %s", r.URL.Path)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // its sender ended
	}
	c.received.Write(body)
	var sent collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &sent); err != nil {
		c.wrong = err
	}
	for _, of := range sent.ResourceSpans {
		c.resource = attributes(of.Resource.Attributes)
		for _, scope := range of.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

func attributes(all []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range all {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			out[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			out[a.Key] = strconv.FormatInt(v.IntValue, 10)
		}
	}
	return out
}

// find waits for a span with a name, a kind and attributes.
func (c *traceCollector) find(t *testing.T, kind traces.Span_SpanKind, name string, want map[string]string) (found *traces.Span) {
	t.Helper()
	eventually(t, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.wrong != nil {
			t.Fatal(c.wrong)
		}
		for _, s := range c.spans {
			has, same := attributes(s.Attributes), s.Name == name && s.Kind == kind
			for k, v := range want {
				same = same && has[k] == v
			}
			if same {
				found = s
				return nil
			}
		}
		return fmt.Errorf("none of %d spans is %q with %v", len(c.spans), name, want)
	})
	if found.EndTimeUnixNano < found.StartTimeUnixNano || found.StartTimeUnixNano == 0 {
		t.Errorf("%s lasts from %d to %d", name, found.StartTimeUnixNano, found.EndTimeUnixNano)
	}
	return found
}

func TestTraces(t *testing.T) {
	longtest.Skip(t, "it collects traces for a while")
	t.Parallel()
	c := newTraceCollector(t)
	r := newReader(t, startSource(t), engines["sqlite"](t))
	model := llmtest.NewServer(t, llmtest.Say("{}"))
	r.env = []string{"OTEL_BSP_SCHEDULE_DELAY=100", "PREGON_LLM_KEY=secret-of-the-model"}
	r.serve = r.startServe(t, "--otlp-endpoint", c.URL, "--webhook-allow-private", "--drain", "0s", "--llm-url", model.URL+"?key=secret-query", "--llm-model", "m-1")
	key := pregon(t, r.spec, "keys", "create", "--plan", "pro")
	headers := make(chan http.Header, 1000)
	hooked := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { headers <- r.Header }))
	t.Cleanup(hooked.Close)
	r.started(t)
	createHook(t, r.serve.url, key, hooked.URL+"/secret-path?token=secret-query")
	id := r.source.publish(t, `{"type":"oir","title":"Dividendo a cuenta del ejercicio","text":%q}`, dividend)
	r.settles(t, id)

	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	if got := r.serve.status(t, "/api/v1/reports?q=secret", "Traceparent", "00-"+trace+"-"+parent+"-01"); got != http.StatusOK {
		t.Fatalf("the list is answered with %d", got)
	}
	r.serve.status(t, "/api/v1/reports", "X-Request-Id", "of-the-test")
	r.serve.status(t, "/secret-path/"+key+"?key="+key, "X-API-Key", key)
	r.serve.status(t, "/healthz", "X-Request-Id", key)
	own := c.find(t, traces.Span_SPAN_KIND_SERVER, "GET /api/v1/reports", map[string]string{
		"http.request.method": "GET", "http.route": "/api/v1/reports", "http.response.status_code": "200", "pregon.request_id": "of-the-test",
	})
	if len(own.ParentSpanId) != 0 {
		t.Errorf("a request without a caller has the parent %x", own.ParentSpanId)
	}
	eventually(t, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, s := range c.spans {
			if fmt.Sprintf("%x %x", s.TraceId, s.ParentSpanId) == trace+" "+parent {
				return nil
			}
		}
		return fmt.Errorf("no span has the parent of the caller")
	})
	c.find(t, traces.Span_SPAN_KIND_CLIENT, "read feed-oir", map[string]string{"pregon.surface": "feed-oir", "pregon.outcome": "ok"})
	c.find(t, traces.Span_SPAN_KIND_INTERNAL, "document", map[string]string{"pregon.report": id, "pregon.outcome": "ready"})
	c.find(t, traces.Span_SPAN_KIND_CLIENT, "deliver to webhook", map[string]string{"server.address": "127.0.0.1", "http.response.status_code": "200"})
	c.find(t, traces.Span_SPAN_KIND_CLIENT, "chat m-1", map[string]string{"gen_ai.request.model": "m-1", "http.response.status_code": "200"})
	c.find(t, traces.Span_SPAN_KIND_SERVER, "GET", map[string]string{"http.response.status_code": "404"})
	c.find(t, traces.Span_SPAN_KIND_SERVER, "GET /healthz", nil)
	if h := <-headers; h.Get("Traceparent") != "" {
		t.Errorf("a receiver gets the traceparent %s", h.Get("Traceparent"))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resource["service.name"] != "pregon" || c.resource["service.version"] == "" {
		t.Errorf("the resource is %v", c.resource)
	}
	for _, private := range []string{"secret", key} {
		if bytes.Contains(c.received.Bytes(), []byte(private)) {
			t.Errorf("the collector received %q", private)
		}
	}
}

// TestHangingCollector checks that neither requests nor the end wait for a collector
// that does not answer.
func TestHangingCollector(t *testing.T) {
	longtest.Skip(t, "a collector of traces hangs")
	t.Parallel()
	asked, end := make(chan struct{}, 100), make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-end
	}))
	t.Cleanup(hanging.Close)
	t.Cleanup(func() { close(end) })
	s, err := startService([]string{"PREGON_STORE=" + engines["sqlite"](t), "OTEL_BSP_SCHEDULE_DELAY=10", "OTEL_EXPORTER_OTLP_TIMEOUT=600000", "OTEL_BSP_EXPORT_TIMEOUT=600000"},
		t.TempDir(), "--source", "none", "--drain", "0s", "--otlp-endpoint", hanging.URL, "--anonymous-limit", "100000")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	for range 3000 { // more than the queue holds
		if got := s.status(t, "/healthz", "Accept", "*/*"); got != http.StatusOK {
			t.Fatalf("answered with %d", got)
		}
	}
	<-asked
	if err := s.end(syscall.SIGTERM); err != nil { // which waits a bounded time
		t.Errorf("the service did not end well: %v", err)
	}
}
