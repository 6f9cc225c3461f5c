// Package tracing sends spans to an OpenTelemetry collector. It is the only
// importer of OpenTelemetry: other packages call functions when something has
// ended, and a span is made from its start, its end and its attributes.
package tracing

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// flushTimeout bounds how long Close waits for the collector.
const flushTimeout = 5 * time.Second

// Tracer makes spans and sends them in batches. It never waits for the collector:
// spans are dropped while its queue of 2,048 is full.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// New returns a Tracer that sends to the collector at endpoint, over HTTP in
// protobuf. The variables OTEL_* of the SDK apply.
func New(ctx context.Context, endpoint, version string, logger *slog.Logger) (*Tracer, error) {
	address, err := url.JoinPath(endpoint, "v1/traces")
	if err != nil {
		return nil, err
	}
	client, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(address),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled:         true,
			InitialInterval: time.Second,
			MaxInterval:     5 * time.Second,
			MaxElapsedTime:  10 * time.Second,
		}))
	if err != nil {
		return nil, err
	}
	service, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "pregon"),
			attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	return newTracer(client, service, logger), nil
}

func newTracer(client sdk.SpanExporter, service *resource.Resource, logger *slog.Logger) *Tracer {
	log := newExporter(client, logger)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(log.note)) // the default one prints
	provider := sdk.NewTracerProvider(sdk.WithBatcher(log), sdk.WithResource(service))
	return &Tracer{provider: provider, tracer: provider.Tracer("pregon")}
}

// Close sends the spans that are left, for five seconds at most.
func (t *Tracer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	return t.provider.Shutdown(ctx)
}

// Request is a finished HTTP request.
type Request struct {
	ID          string
	Route       string // pattern, or "none"
	Method      string
	Status      int
	Failed      bool
	Traceparent string // header of the caller, or ""
	End         time.Time
	Duration    time.Duration
}

// Request makes the span of a request. Its parent is the span of the caller, if
// the caller sent one.
func (t *Tracer) Request(r Request) {
	name, attrs := r.Method, []attribute.KeyValue{
		attribute.String("http.request.method", r.Method), attribute.Int("http.response.status_code",
			r.Status), attribute.String("pregon.request_id", r.ID),
	}
	if r.Route != "none" {
		_, path, found := strings.Cut(r.Route, " ")
		if !found {
			path = r.Route // a pattern of all methods
		}
		name += " " + path
		attrs = append(attrs, attribute.String("http.route", path))
	}
	ctx := context.Background()
	if r.Traceparent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": r.Traceparent})
	}
	t.span(ctx, span{trace.SpanKindServer, name, r.End.Add(-r.Duration), r.End, r.Failed}, attrs...)
}

// Read makes the span of a read of a surface of the source, which ends now.
func (t *Tracer) Read(surface, outcome string, start time.Time) {
	t.span(context.Background(), span{trace.SpanKindClient, "read " + surface, start, time.Now(), outcome != "ok"},
		attribute.String("pregon.surface", surface), attribute.String("pregon.outcome", outcome))
}

// Document makes the span of a try to fetch, extract and summarise the document of
// a report, which ends now.
func (t *Tracer) Document(report, outcome string, start time.Time) {
	t.span(context.Background(), span{trace.SpanKindInternal, "document", start, time.Now(), outcome != "ready"},
		attribute.String("pregon.report", report), attribute.String("pregon.outcome", outcome))
}

// Model makes the span of a request to a language model, which ends now. The status is
// 0 if there was no answer.
func (t *Tracer) Model(name string, status int, start time.Time) {
	t.span(context.Background(), span{
		trace.SpanKindClient, "chat " + name, start, time.Now(),
		status != http.StatusOK,
	}, withStatus(status,
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.request.model", name))...)
}

// Delivery makes the span of an attempt to deliver to a webhook. The status is 0 if
// there was no answer.
func (t *Tracer) Delivery(host string, status int, delivered bool, start time.Time, took time.Duration) {
	t.span(context.Background(), span{
		trace.SpanKindClient, "deliver to webhook", start, start.Add(took),
		!delivered,
	}, withStatus(status,
		attribute.String("http.request.method", "POST"), attribute.String("server.address", host))...)
}

// withStatus adds the status of an answer, unless it is 0.
func withStatus(status int, attrs ...attribute.KeyValue) []attribute.KeyValue {
	if status == 0 {
		return attrs
	}
	return append(attrs, attribute.Int("http.response.status_code", status))
}

// span is what all spans have.
type span struct {
	kind       trace.SpanKind
	name       string
	start, end time.Time
	failed     bool
}

func (t *Tracer) span(parent context.Context, s span, attrs ...attribute.KeyValue) {
	_, made := t.tracer.Start(parent, s.name, trace.WithSpanKind(s.kind), trace.WithTimestamp(s.start),
		trace.WithAttributes(attrs...))
	if s.failed {
		made.SetStatus(codes.Error, "")
	}
	made.End(trace.WithTimestamp(s.end))
}
