package tracing

import (
	"log/slog"

	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// NewWith returns a Tracer that sends with client.
func NewWith(client sdk.SpanExporter, logger *slog.Logger) *Tracer {
	return newTracer(client, resource.Empty(), logger)
}
