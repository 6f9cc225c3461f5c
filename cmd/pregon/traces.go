package main

import (
	"context"
	"net/http"
	"time"

	"pregon/internal/document"
	"pregon/internal/fault"
	"pregon/internal/server/httpserver"
	"pregon/internal/server/tracing"
)

func (c *serveConfig) validateTraces() error {
	if c.OTLPEndpoint == "" {
		return nil
	}
	if u, ok := parseHTTP(c.OTLPEndpoint); !ok || u.RawQuery != "" || u.Fragment != "" {
		return fault.New(fault.Invalid, "--otlp-endpoint must be http:// or https:// and a host, perhaps with a path; a key belongs into OTEL_EXPORTER_OTLP_HEADERS")
	}
	return nil
}

// wireTraces creates the tracer, if traces are sent. It is closed after all that makes
// spans.
func (c *serveConfig) wireTraces(ctx context.Context, s *service) (err error) {
	if c.OTLPEndpoint == "" {
		return nil
	}
	if s.traces, err = tracing.New(ctx, c.OTLPEndpoint, version, s.log.Logger); err != nil {
		return fault.Wrap(fault.Invalid, err, "cannot send traces: check --otlp-endpoint and the variables OTEL_*")
	}
	s.closers = append(s.closers, s.traces.Close)
	return nil
}

// observeRead counts and traces a read of the source.
func (s *service) observeRead(surface, outcome string, start time.Time) {
	s.metrics.Read(surface, outcome)
	if s.traces != nil {
		s.traces.Read(surface, outcome, start)
	}
}

// The following return hooks, nil unless traces are sent.

func (s *service) traceRequests() func(httpserver.Observation, string) {
	if s.traces == nil {
		return nil
	}
	return func(o httpserver.Observation, traceparent string) {
		s.traces.Request(tracing.Request{
			ID:          o.ID,
			Route:       o.Route,
			Method:      o.Method,
			Status:      o.Status,
			Failed:      o.Status >= http.StatusInternalServerError && !o.Expected,
			Traceparent: traceparent,
			End:         o.Time,
			Duration:    o.Duration,
		})
	}
}

func (s *service) traceDocuments() func(string, document.Outcome, time.Time) {
	if s.traces == nil {
		return nil
	}
	return func(report string, outcome document.Outcome, start time.Time) {
		s.traces.Document(report, outcome.String(), start)
	}
}

func (s *service) traceModel() func(name string, status int, start time.Time) {
	if s.traces == nil {
		return nil
	}
	return s.traces.Model
}

func (s *service) traceDeliveries() func(host string, status int, delivered bool, start time.Time, took time.Duration) {
	if s.traces == nil {
		return nil
	}
	return s.traces.Delivery
}
