package tracing_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/goleak"

	"pregon/internal/server/tracing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client keeps the spans that it sends.
type client struct {
	send  func() error // called for each batch; nil means success
	spans []sdk.ReadOnlySpan
}

func (c *client) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	c.spans = append(c.spans, spans...)
	if c.send == nil {
		return nil
	}
	return c.send()
}

func (c *client) Shutdown(context.Context) error { return nil }

// made returns the spans that use makes.
func made(t *testing.T, use func(*tracing.Tracer)) []sdk.ReadOnlySpan {
	t.Helper()
	var c client
	tracer := tracing.NewWith(&c, slog.New(slog.DiscardHandler))
	use(tracer)
	if err := tracer.Close(); err != nil { // which sends what is left
		t.Fatal(err)
	}
	return c.spans
}

var ended = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)

// TestSpans lists the name, the kind and all attributes of each span, so that
// nothing private is added unnoticed.
func TestSpans(t *testing.T) {
	began := ended.Add(-time.Second)
	for want, use := range map[string]func(*tracing.Tracer){
		"server GET /api/v1/reports Unset: http.request.method=GET http.response.status_code=200 http.route=/api/v1/reports pregon.request_id=A": func(s *tracing.Tracer) {
			s.Request(tracing.Request{ID: "A", Route: "GET /api/v1/reports", Method: "GET", Status: 200, End: ended, Duration: time.Second})
		},
		"server POST /mcp Error: http.request.method=POST http.response.status_code=500 http.route=/mcp pregon.request_id=A": func(s *tracing.Tracer) {
			s.Request(tracing.Request{ID: "A", Route: "/mcp", Method: "POST", Status: 500, Failed: true, End: ended, Duration: time.Second})
		},
		"server GET Unset: http.request.method=GET http.response.status_code=404 pregon.request_id=A": func(s *tracing.Tracer) {
			s.Request(tracing.Request{ID: "A", Route: "none", Method: "GET", Status: 404, End: ended, Duration: time.Second})
		},
		"client read feed-ip Unset: pregon.outcome=ok pregon.surface=feed-ip":                                      func(s *tracing.Tracer) { s.Read("feed-ip", "ok", began) },
		"client read feed-ip Error: pregon.outcome=failed pregon.surface=feed-ip":                                  func(s *tracing.Tracer) { s.Read("feed-ip", "failed", began) },
		"internal document Unset: pregon.outcome=ready pregon.report=oir-1":                                        func(s *tracing.Tracer) { s.Document("oir-1", "ready", began) },
		"internal document Error: pregon.outcome=failed pregon.report=oir-1":                                       func(s *tracing.Tracer) { s.Document("oir-1", "failed", began) },
		"client chat m-1 Error: gen_ai.operation.name=chat gen_ai.request.model=m-1 http.response.status_code=429": func(s *tracing.Tracer) { s.Model("m-1", 429, began) },
		"client chat m-1 Unset: gen_ai.operation.name=chat gen_ai.request.model=m-1 http.response.status_code=200": func(s *tracing.Tracer) { s.Model("m-1", 200, began) },
		"client deliver to webhook Error: http.request.method=POST server.address=x.com":                           func(s *tracing.Tracer) { s.Delivery("x.com", 0, false, began, time.Second) },
		"client deliver to webhook Unset: http.request.method=POST http.response.status_code=204 server.address=x.com": func(s *tracing.Tracer) {
			s.Delivery("x.com", 204, true, began, time.Second)
		},
	} {
		spans := made(t, use)
		if len(spans) != 1 {
			t.Fatalf("%d spans, want one: %s", len(spans), want)
		}
		s := spans[0]
		if got := describe(s); got != want {
			t.Errorf("the span is %s, want %s", got, want)
		}
		if !s.StartTime().Equal(began) || s.EndTime().Before(ended) || s.Parent().IsValid() || len(s.Events())+len(s.Links()) != 0 {
			t.Errorf("%s: from %v to %v, want from %v; parent %v, %d events, %d links", want, s.StartTime(), s.EndTime(), began, s.Parent(), len(s.Events()), len(s.Links()))
		}
	}
}

func describe(s sdk.ReadOnlySpan) string {
	var attrs []string
	set := s.Attributes()
	for _, a := range set {
		attrs = append(attrs, string(a.Key)+"="+a.Value.String())
	}
	slices.Sort(attrs)
	return fmt.Sprintf("%s %s %s: %s", s.SpanKind(), s.Name(), s.Status().Code, strings.Join(attrs, " "))
}

// TestParent: the traceparent of a caller is the parent if it is valid, and
// suppresses the span if it is not sampled.
func TestParent(t *testing.T) {
	const trace1, span1 = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for traceparent, want := range map[string][]string{
		"": {""}, "00-" + trace1 + "-" + span1 + "-01": {trace1 + " " + span1},
		"00-" + trace1 + "-" + span1 + "-00":                   nil, // not sampled
		"cc-" + trace1 + "-" + span1 + "-01-of-the-future":     {trace1 + " " + span1},
		"00-" + trace1 + "-" + span1 + "-01-more":              {""},
		"ff-" + trace1 + "-" + span1 + "-01":                   {""},
		"00-" + strings.ToUpper(trace1) + "-" + span1 + "-01":  {""},
		"00-" + strings.Repeat("0", 32) + "-" + span1 + "-01":  {""},
		"00-" + trace1 + "-" + strings.Repeat("0", 16) + "-01": {""},
		"00-" + trace1[1:] + "-" + span1 + "-01":               {""},
		"00-" + trace1 + "-" + span1:                           {""},
		"\x00\n' OR 1=1 --":                                    {""},
		strings.Repeat("00-", 20_000):                          {""},
	} {
		var got []string
		for _, s := range made(t, func(s *tracing.Tracer) {
			s.Request(tracing.Request{Route: "none", Method: "GET", Traceparent: traceparent, End: ended})
		}) {
			if !s.SpanContext().IsValid() || !s.SpanContext().IsSampled() {
				t.Errorf("%.80q: the span has the context %v", traceparent, s.SpanContext())
			}
			parent := ""
			if s.Parent().IsValid() {
				parent = s.SpanContext().TraceID().String() + " " + s.Parent().SpanID().String()
			}
			got = append(got, parent)
		}
		if !cmp.Equal(got, want) {
			t.Errorf("%.80q: the parents are %q, want %q", traceparent, got, want)
		}
	}
}

// TestSampler: the variables of the SDK select how many requests are traced.
func TestSampler(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
	t.Setenv("OTEL_TRACES_SAMPLER_ARG", "0")
	if spans := made(t, func(s *tracing.Tracer) { s.Read("feed-ip", "ok", ended) }); len(spans) != 0 {
		t.Errorf("a ratio of 0 made %d spans", len(spans))
	}
}

func BenchmarkRequest(b *testing.B) {
	tracer := tracing.NewWith(&client{}, slog.New(slog.DiscardHandler))
	b.ReportAllocs()
	for b.Loop() {
		tracer.Request(tracing.Request{ID: "A", Route: "GET /api/v1/reports", Method: "GET", Status: 200, End: ended, Duration: time.Millisecond})
	}
	if err := tracer.Close(); err != nil {
		b.Fatal(err)
	}
}
