// Package observe holds what an operator observes the service with: the log, the
// metrics, the traces, and the address on which metrics and profiles are served.
package observe

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"pregon/internal/document"
	"pregon/internal/fault"
	"pregon/internal/server/httpserver"
	"pregon/internal/server/listen"
	"pregon/internal/server/private"
	"pregon/internal/server/telemetry"
	"pregon/internal/server/tracing"
	"pregon/internal/service/lifecycle"
)

// Settings are the choices of the operator.
type Settings struct {
	OTLPEndpoint string   // collector that receives traces; empty for none
	DebugListen  string   // address for metrics and profiles; empty for none
	DebugHosts   []string // host names by which DebugListen may be called
	// QuietSource means that of what reads the source only warnings are logged. A
	// simulated market publishes all the time, and the address of the service, which is
	// printed last, must stay in sight.
	QuietSource bool
}

// Observation is the log, the metrics and the traces of a process.
type Observation struct {
	Log     *telemetry.Log
	Metrics *telemetry.Metrics

	settings Settings
	traces   *tracing.Tracer // nil unless they are sent
}

// New connects to the collector of traces, if there is one.
func New(ctx context.Context, settings Settings, version string, log *telemetry.Log) (*Observation, error) {
	o := &Observation{
		Log:      log,
		Metrics:  telemetry.NewMetrics(version),
		settings: settings,
	}
	if settings.OTLPEndpoint == "" {
		return o, nil
	}
	var err error
	if o.traces, err = tracing.New(ctx, settings.OTLPEndpoint, version, log.Logger); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "cannot send traces: check --otlp-endpoint and the variables OTEL_*")
	}
	return o, nil
}

// Close sends the last traces. It is called after the end of all that makes spans.
func (o *Observation) Close() error {
	if o.traces == nil {
		return nil
	}
	return o.traces.Close()
}

// Start writes the log, and serves metrics and profiles on their own address.
func (o *Observation) Start(g *lifecycle.Group) {
	g.UntilServed(func(ctx context.Context) error { o.Log.Run(ctx); return nil })
	if o.settings.DebugListen != "" {
		g.UntilServed(o.serveDebug)
	}
}

func (o *Observation) serveDebug(ctx context.Context) error {
	l, err := listen.TCP("--debug-listen", o.settings.DebugListen)
	if err != nil {
		return err
	}
	o.Log.Info("listening for debug", "address", "http://"+l.Addr().String())
	return private.Serve(ctx, l, private.Guard{Names: o.settings.DebugHosts}.Handler(o.Metrics.Handler()))
}

// SourceLogger returns the logger of what reads the source, and of what follows from it.
func (o *Observation) SourceLogger() *slog.Logger {
	if o.settings.QuietSource {
		return telemetry.Warnings(o.Log.Logger)
	}
	return o.Log.Logger
}

// Read counts and traces a read of the source.
func (o *Observation) Read(surface, outcome string, start time.Time) {
	o.Metrics.Read(surface, outcome)
	if o.traces != nil {
		o.traces.Read(surface, outcome, start)
	}
}

// The following return functions that trace, nil unless traces are sent.

// Requests traces requests of clients.
func (o *Observation) Requests() func(httpserver.Observation, string) {
	if o.traces == nil {
		return nil
	}
	return func(observed httpserver.Observation, traceparent string) {
		o.traces.Request(tracing.Request{
			ID:          observed.ID,
			Route:       observed.Route,
			Method:      observed.Method,
			Status:      observed.Status,
			Failed:      observed.Status >= http.StatusInternalServerError && !observed.Expected,
			Traceparent: traceparent,
			End:         observed.Time,
			Duration:    observed.Duration,
		})
	}
}

// Documents traces the reading of documents.
func (o *Observation) Documents() func(report string, outcome document.Outcome, start time.Time) {
	if o.traces == nil {
		return nil
	}
	return func(report string, outcome document.Outcome, start time.Time) {
		o.traces.Document(report, outcome.String(), start)
	}
}

// Model traces the calls of the language model.
func (o *Observation) Model() func(name string, status int, start time.Time) {
	if o.traces == nil {
		return nil
	}
	return o.traces.Model
}

// Deliveries traces the attempts to deliver to webhooks.
func (o *Observation) Deliveries() func(host string, status int, delivered bool, start time.Time, took time.Duration) {
	if o.traces == nil {
		return nil
	}
	return o.traces.Delivery
}
