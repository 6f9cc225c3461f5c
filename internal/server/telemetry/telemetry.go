// Package telemetry holds the log, the metrics, and the debug handler with metrics and
// pprof.
package telemetry

import (
	"maps"
	"net/http"
	"net/http/pprof"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the metrics of the process.
type Metrics struct {
	registry  *prometheus.Registry
	described []Metric // guarded by no lock: metrics are registered before they are served
	requests  *prometheus.HistogramVec
	store     *prometheus.HistogramVec
	published *prometheus.HistogramVec
	ingested  *prometheus.HistogramVec
	reads     *prometheus.CounterVec
	// known are the histograms of requests by their labels, which is faster than
	// requests.WithLabelValues. A map is not changed.
	known atomic.Pointer[map[requestKey]prometheus.Observer]
}

// Metric describes a registered metric.
type Metric struct {
	Name, Type, Help string
	Labels           []Label
}

// Label is a label of a metric. Values is empty if they are not known in advance.
type Label struct {
	Name   string
	Values []string
}

// NewMetrics returns metrics of the runtime, the build and the requests.
func NewMetrics(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.known.Store(&map[requestKey]prometheus.Observer{})
	m.requests = m.histogram("pregon_http_request_duration_seconds", "Time from the head of a request to the "+
		"end of its response, by route, method and status code.",
		[]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}, "route",
		"method", "code")
	m.store = m.histogram("pregon_store_call_duration_seconds",
		"Duration of calls of the store, by part and outcome (ok or failed).",
		[]float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 10, 30}, "part", "outcome")
	delays := []float64{.05, .1, .25, .5, 1, 1.5, 2, 3, 5, 10, 15, 30, 60, 300, 3600}
	m.published = m.histogram("pregon_report_publication_delay_seconds",
		"Time from the publication of a new report by the regulator to its availability here, recorded by "+
			"every replica. Reports without seconds in their time are left out.", delays, "type")
	m.ingested = m.histogram("pregon_report_ingest_delay_seconds",
		"Time from the first observation of a new report to its availability here, for the same reports.",
		delays, "type")
	reads := prometheus.CounterOpts{
		Name: "pregon_source_reads_total",
		Help: "Reads of the source, by surface and outcome (ok, status, transport, markup, missing or failed).",
	}
	m.reads = prometheus.NewCounterVec(reads, []string{"surface", "outcome"})
	m.describe(reads.Name, "counter", reads.Help, Label{Name: "surface"}, Label{Name: "outcome"})
	info := prometheus.GaugeOpts{
		Name:        "pregon_build_info",
		Help:        "The build that runs; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}
	build := prometheus.NewGaugeFunc(info, func() float64 { return 1 })
	m.describe(info.Name, "gauge", info.Help, Label{Name: "version"}, Label{Name: "goversion"})
	m.registry.MustRegister(m.reads, build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// histogram registers a histogram.
func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(h)
	var described []Label
	for _, l := range labels {
		described = append(described, Label{Name: l})
	}
	m.describe(name, "histogram", help, described...)
	return h
}

// describe records a metric for Described. A metric with a constant label is
// registered once for each value of it.
func (m *Metrics) describe(name, kind, help string, labels ...Label) {
	for i := range m.described {
		if d := &m.described[i]; d.Name == name && len(labels) == 1 {
			d.Labels[0].Values = append(d.Labels[0].Values, labels[0].Values...)
			return
		}
	}
	m.described = append(m.described, Metric{name, kind, help, labels})
}

// Described returns all metrics of the service, without those of the runtime,
// sorted by name.
func (m *Metrics) Described() []Metric {
	out := slices.Clone(m.described)
	slices.SortFunc(out, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Gauge registers a gauge that is computed when read.
func (m *Metrics) Gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	m.describe(name, "gauge", help)
}

// GaugeOf registers a gauge with a constant label.
func (m *Metrics) GaugeOf(name, help, label, of string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        name,
		Help:        help,
		ConstLabels: prometheus.Labels{label: of},
	}, value))
	m.describe(name, "gauge", help, Label{label, []string{of}})
}

// Counter registers a counter that is computed when read.
func (m *Metrics) Counter(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
	m.describe(name, "counter", help)
}

// CounterOf registers a counter with a constant label.
func (m *Metrics) CounterOf(name, help, label, of string, value func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name:        name,
		Help:        help,
		ConstLabels: prometheus.Labels{label: of},
	}, value))
	m.describe(name, "counter", help, Label{label, []string{of}})
}

// Request records a request. Routes and methods come from closed sets.
func (m *Metrics) Request(route, method string, status int, duration time.Duration) {
	key := requestKey{route, method, status}
	known := m.known.Load()
	o, ok := (*known)[key]
	if !ok {
		o = m.requests.WithLabelValues(route, method, strconv.Itoa(status))
		next := maps.Clone(*known)
		next[key] = o
		m.known.CompareAndSwap(known, &next) // otherwise the next such request adds it
	}
	o.Observe(duration.Seconds())
}

// requestKey are the labels of a request.
type requestKey struct {
	route, method string
	status        int
}

// Store records a call of a part of the store.
func (m *Metrics) Store(part string, duration time.Duration, failed bool) {
	outcome := "ok"
	if failed {
		outcome = "failed"
	}
	m.store.WithLabelValues(part, outcome).Observe(duration.Seconds())
}

// Report records the delays of a new report.
func (m *Metrics) Report(series string, published, seen time.Duration) {
	m.published.WithLabelValues(series).Observe(max(0, published.Seconds()))
	m.ingested.WithLabelValues(series).Observe(max(0, seen.Seconds()))
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
