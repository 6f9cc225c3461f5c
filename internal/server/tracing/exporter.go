package tracing

import (
	"context"
	"log/slog"
	"sync"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"pregon/internal/fault/outage"
	"pregon/internal/text"
)

// maxError is the length of a logged error in bytes. The collector's answer is a part
// of it.
const maxError = 500

// exporter logs the failures of another exporter.
type exporter struct {
	sdk.SpanExporter
	mu      sync.Mutex
	trouble outage.Log // guarded by mu
}

func newExporter(e sdk.SpanExporter, logger *slog.Logger) *exporter {
	return &exporter{SpanExporter: e, trouble: outage.Log{Logger: logger}}
}

// ExportSpans sends spans. A failure is logged, and the spans are lost.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	e.note(e.SpanExporter.ExportSpans(ctx, spans))
	return nil
}

// note logs an error, or that there is none any more.
func (e *exporter) note(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.trouble.Failed("traces cannot be sent: they are lost", "err", text.ClipBytes(err.Error(), maxError))
		return
	}
	e.trouble.Recovered("traces are sent again")
}
