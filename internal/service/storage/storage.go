// Package storage holds what is durable and what follows it: the store, the catalogue
// that answers every read, and the coverage of the source.
package storage

import (
	"context"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/fault/outage"
	"pregon/internal/retry"
	"pregon/internal/server/telemetry"
	"pregon/internal/service/lifecycle"
	"pregon/internal/sim/demo"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/source/ingest"
	"pregon/internal/store"
	"pregon/internal/store/engine"
	"pregon/internal/store/monitor"
)

// Settings are the choices of the operator.
type Settings struct {
	Address engine.Address
	Standby *engine.Address // server from which reports and documents are read; nil for none
	Wait    time.Duration   // for a server that does not answer at the start
}

// Options are the settings of a Storage and what it needs.
type Options struct {
	Settings
	Engine  engine.Store // the opened store of Settings.Address
	Logger  *slog.Logger
	Metrics *telemetry.Metrics
	// SimulatedAt is the base URL to which the links of a simulated market lead; empty
	// if the market is not simulated.
	SimulatedAt string
	CacheDir    string // empty for none
}

// Storage is the store and what follows it.
type Storage struct {
	Engine   engine.Store   // the store itself: not a standby, which may be behind
	Store    *monitor.Store // the store that components use, perhaps with a standby
	Log      *store.Sourced // Store, with the source of its reports
	Catalog  *catalog.Catalog
	Coverage *coverage.Tracker

	logger       *slog.Logger
	metrics      *telemetry.Metrics
	size         atomic.Int64 // of the store in bytes, -1 while it is not known
	suspectTimes atomic.Int64 // new reports with a time of publication that cannot be true
	closeStandby func() error
}

// New connects to the standby, if there is one. Nothing is read before Start.
func New(ctx context.Context, o Options) (*Storage, error) {
	s := &Storage{
		Engine:       o.Engine,
		logger:       o.Logger,
		metrics:      o.Metrics,
		closeStandby: func() error { return nil },
	}
	s.size.Store(-1)
	var used store.Store = o.Engine
	if o.Standby != nil {
		var err error
		if used, s.closeStandby, err = o.Standby.WithStandby(ctx, o.Engine, o.Wait, o.Logger); err != nil {
			return nil, err
		}
	}
	s.Store = monitor.New(used, monitor.Options{Logger: o.Logger, Observe: o.Metrics.Store})
	s.Log = &store.Sourced{Store: s.Store}
	if o.SimulatedAt != "" {
		s.Log.Store = demo.WithLinks(s.Store, o.SimulatedAt)
	}
	s.Catalog = catalog.New(s.Log, o.Logger)
	s.Catalog.SaveTo(o.Address.Catalogue(o.CacheDir), o.SimulatedAt)
	s.Coverage = coverage.New(s.Log)
	s.Coverage.Epoch(s.Catalog.Epoch)
	s.Coverage.Lease(s.Log, ingest.LeaseName)
	return s, nil
}

// Close closes the standby. The store itself is closed by who opened it.
func (s *Storage) Close() error { return s.closeStandby() }

// Start loads the catalogue, and follows the store.
func (s *Storage) Start(g *lifecycle.Group) {
	g.UntilServed(func(ctx context.Context) error { return s.follow(ctx, g.SetLoaded) })
	g.LoadedUntilServed(s.Catalog.KeepSaved)
	g.UntilServed(s.Coverage.Follow)
	g.LoadedUntilStop(s.Store.RunChecks) // which would slow down loading
	g.UntilStop(func(ctx context.Context) error { s.measure(ctx); return nil })
}

// follow loads the catalogue and then follows the store. Most of the heap is the
// catalogue, which is long-lived: with the default GOGC the heap would grow to
// twice its size before each collection.
func (s *Storage) follow(ctx context.Context, loaded func()) error {
	trouble := outage.Log{Logger: s.logger}
	for failures := 0; ; failures++ {
		err := s.Catalog.Load(ctx)
		if err == nil {
			break
		}
		if fault.KindOf(err) != fault.Unavailable {
			return err
		}
		trouble.Failed("the catalogue cannot be loaded: trying again", "err", err)
		if err := retry.Sleep(ctx, retry.Jitter(retry.Backoff(failures, time.Second, 10*time.Second))); err != nil {
			return err
		}
	}
	trouble.Recovered("the catalogue is loaded")
	loaded()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(30)
	}
	debug.FreeOSMemory() // garbage of loading
	return s.Catalog.Follow(ctx)
}

// measure measures the size of the store every minute, until the context ends.
func (s *Storage) measure(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		limited, cancel := context.WithTimeout(ctx, 10*time.Second)
		n, err := s.Engine.Size(limited)
		cancel()
		if err != nil {
			n = -1
		}
		s.size.Store(n)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Records returns the store for those who follow records of it. They read everything
// again when the log has another epoch: see follow.Options.
func (s *Storage) Records() store.Store { return epochStore{s.Log, s.Catalog.Epoch} }

type epochStore struct {
	store.Store
	epoch func() string
}

// Epoch returns the epoch of the log.
func (s epochStore) Epoch() string { return s.epoch() }

// blindAfter is how long writes may fail before the status is blind.
const blindAfter = 15 * time.Second

// Status returns what fails in the store, and whether new reports are not stored.
func (s *Storage) Status() (reasons []health.Reason, blind bool) {
	for _, f := range s.Store.Failures() {
		reasons = append(reasons, health.Reason{
			Surface: health.Store,
			Code:    health.StoreFailed,
			Params:  health.Params{Part: f.Part, Detail: f.Reason},
			Since:   f.Since,
		})
		blind = blind || f.Writes && time.Since(f.Since) > blindAfter
	}
	return reasons, blind
}

// Observe registers the metrics of the catalogue and the store.
func (s *Storage) Observe() {
	m := s.metrics
	figure := func(value func(*catalog.Snapshot) float64) func() float64 {
		return func() float64 {
			if snapshot := s.Catalog.Snapshot(); snapshot != nil {
				return value(snapshot)
			}
			return 0
		}
	}
	m.Gauge("pregon_catalog_seq", "Number of the newest change in the catalogue.",
		figure(func(c *catalog.Snapshot) float64 { return float64(c.Seq()) }))
	m.Gauge("pregon_catalog_last_sync_timestamp_seconds",
		"When the catalogue last had all changes of the store; 0 while it is loading. Up to ten "+
			"seconds ago is normal in a quiet market.",
		figure(func(*catalog.Snapshot) float64 { return telemetry.Timestamp(time.Now().Add(-s.Catalog.Behind())) }))
	m.Gauge("pregon_catalog_reports", "Reports in the catalogue.",
		figure(func(c *catalog.Snapshot) float64 { return float64(c.Len()) }))
	s.Catalog.Notify(s.observeReports)
	m.Counter("pregon_report_suspect_times_total",
		"New reports that were seen more than 24 hours before the time at which they say they were published.",
		func() float64 {
			return float64(s.suspectTimes.Load())
		})
	for _, part := range monitor.Parts {
		m.GaugeOf("pregon_store_failing",
			"1 while a part of the store fails or is damaged, else 0.", "part", part, func() float64 {
				return telemetry.Bool(slices.ContainsFunc(s.Store.Failures(),
					func(f monitor.Failure) bool { return f.Part == part }))
			})
	}
	if s.Store.CanCheck() {
		m.Gauge("pregon_store_last_check_timestamp_seconds",
			"When the last check for damage that read the whole file began; 0 for never. Only with SQLite.",
			func() float64 {
				return telemetry.Timestamp(s.Store.Checked())
			})
	}
	m.Gauge("pregon_store_size_bytes",
		"Size of the file and its -wal, or of the whole database, measured once a minute; NaN while it is not known.",
		func() float64 {
			if n := s.size.Load(); n >= 0 {
				return float64(n)
			}
			return math.NaN()
		})
	m.Gauge("pregon_store_connections_in_use", "Connections to the store that are in use.", func() float64 {
		inUse, _ := s.Engine.Connections()
		return float64(inUse)
	})
	m.Gauge("pregon_store_connections_max", "Limit of connections to the store.", func() float64 {
		_, most := s.Engine.Connections()
		return float64(most)
	})
}

// observeReports measures the latency of new reports. Times from a list are left
// out, since they have no seconds. A time that cannot be true is logged instead.
func (s *Storage) observeReports(changes []disclosure.Change) {
	for _, c := range changes {
		r := c.Report
		if r == nil || c.Event != disclosure.Published {
			continue
		}
		switch {
		case r.SuspectTime():
			s.suspectTimes.Add(1)
			s.logger.Warn("the publication time of a report cannot be true: lists use the time at which it was "+
				"first seen",
				"report", r.ID, "published_at", r.PublishedAt, "first_seen_at", r.FirstSeenAt)
		case r.TimeFrom != disclosure.FromList:
			s.metrics.Report(string(r.Type), r.AvailableAt.Sub(r.PublishedAt), r.AvailableAt.Sub(r.FirstSeenAt))
		}
	}
}
