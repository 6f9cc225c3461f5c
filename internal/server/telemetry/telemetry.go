// Package telemetry holds the log, the metrics, and the debug handler with metrics and
// pprof.
package telemetry

import (
	"net/http"
	"net/http/pprof"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the metrics of the process.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	store    *prometheus.HistogramVec
	reports  *prometheus.HistogramVec
	reads    *prometheus.CounterVec
}

// NewMetrics returns metrics of the runtime, the build and the requests.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "pregon_http_request_seconds",
			Help:    "How long requests took, by route, method and status.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route", "method", "status"}),
		store: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "pregon_store_seconds",
			Help:    "How long calls of the store took, by the part of it and whether they failed.",
			Buckets: []float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 10, 30},
		}, []string{"part", "outcome"}),
		reports: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "pregon_report_seconds",
			Help:    "How long new reports took to be available, by series, since their publication and since the source first showed them.",
			Buckets: []float64{.05, .1, .25, .5, 1, 1.5, 2, 3, 5, 10, 15, 30, 60, 300, 3600},
		}, []string{"type", "since"}),
		reads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "pregon_source_reads_total",
			Help: "Reads of the source, by surface and how they ended.",
		}, []string{"surface", "outcome"}),
	}
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "pregon_build_info", Help: "The build that runs; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	}, func() float64 { return 1 })
	m.registry.MustRegister(m.requests, m.store, m.reports, m.reads, build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Gauge registers a gauge that is computed when read.
func (m *Metrics) Gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// GaugeOf registers a gauge with a constant label.
func (m *Metrics) GaugeOf(name, help, label, of string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: prometheus.Labels{label: of}}, value))
}

// CounterOf registers a counter with a constant label.
func (m *Metrics) CounterOf(name, help, label, of string, value func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: prometheus.Labels{label: of}}, value))
}

// Request records a request. Routes and methods come from closed sets.
func (m *Metrics) Request(route, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
}

// Store records a call of a part of the store.
func (m *Metrics) Store(part string, took time.Duration, failed bool) {
	outcome := "ok"
	if failed {
		outcome = "failed"
	}
	m.store.WithLabelValues(part, outcome).Observe(took.Seconds())
}

// Report records the delays of a new report.
func (m *Metrics) Report(series string, published, seen time.Duration) {
	m.reports.WithLabelValues(series, "published").Observe(max(0, published.Seconds()))
	m.reports.WithLabelValues(series, "seen").Observe(max(0, seen.Seconds()))
}

// Read counts a read of a surface of the source. Labels come from closed sets.
func (m *Metrics) Read(surface, outcome string) { m.reads.WithLabelValues(surface, outcome).Inc() }

// Handler serves the metrics and pprof. It must not be public.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	// Not cmdline, which would show the password in the address of a store.
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
