// Package sources holds what reads the source: the regulator and the exchange, or a
// simulated market in their place.
package sources

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract/xls"
	"pregon/internal/server/telemetry"
	"pregon/internal/service/lifecycle"
	"pregon/internal/sim/demo"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/source/ingest"
	"pregon/internal/source/registers"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// Kind is where reports come from.
type Kind string

const (
	Regulator Kind = "cnmv" // the regulator
	Simulated Kind = "demo" // a simulated market, inside the process
	None      Kind = "none" // the store holds what is served
)

// Settings are the choices of the operator.
type Settings struct {
	Kind Kind
	Site Site
	Poll time.Duration // between two polls of a feed
	// MarketFile holds the published reports of the simulated market, which publishes
	// MarketRate reports a minute.
	MarketFile string
	MarketRate float64
	// Registers are the registers of positions that are read. Whether the source need not be
	// spared is added to them.
	Registers registers.Settings
}

// Owner returns the source that the store must belong to, or "" if only the answers of
// the source show what it is.
func (s *Settings) Owner() string {
	if s.Kind == Simulated || s.Kind == Regulator && s.Site.IsPublic() {
		return string(s.Kind)
	}
	return ""
}

// Claim marks a store as belonging to the source where the settings decide what the
// source is.
func (s *Settings) Claim(ctx context.Context, db store.Store) error {
	if s.Owner() == "" {
		return nil
	}
	return store.BindSource(ctx, db, s.Kind == Simulated)
}

// Options are the settings of Sources and what they need.
type Options struct {
	Settings
	Store        store.Store
	Coverage     *coverage.Tracker
	Catalog      *catalog.Catalog
	Documents    *document.Keeper
	Workbook     func(ctx context.Context, body []byte) (xls.Book, error)
	Logger       *slog.Logger
	MarketLogger *slog.Logger // of the simulated market
	// ObserveRead is called after every read of the source, and ObserveDocument, if it
	// is not nil, after every document.
	ObserveRead     func(surface, outcome string, start time.Time)
	ObserveDocument func(report string, outcome document.Outcome, start time.Time)
}

// Sources read the source.
type Sources struct {
	Demo *demo.Demo // nil unless the market is simulated
	*Reader

	coverage *coverage.Tracker
}

// New starts the simulated market, if that is the source, and returns its reader.
func New(ctx context.Context, o Options) (*Sources, error) {
	s := &Sources{coverage: o.Coverage}
	if o.Kind == Simulated {
		var err error
		if s.Demo, err = demo.Start(ctx, o.Coverage, o.MarketFile, o.MarketRate, o.MarketLogger); err != nil {
			return nil, err
		}
		o.Site.Regulator = s.Demo.URL()
		o.Site.Exchange = s.Demo.URL()
		o.Site.Pace = 0
	}
	o.Registers.Often = o.Site.Pace == 0
	var err error
	s.Reader, err = NewReader(ReaderOptions{
		Site:      o.Site,
		Store:     o.Store,
		Coverage:  o.Coverage,
		Known:     o.Catalog.Known(),
		Recent:    o.Catalog.Known(),
		Documents: o.Documents,
		Registers: ingest.Registers{
			Settings: o.Registers,
			Known:    o.Catalog.Known(),
			Workbook: o.Workbook,
		},
		Poll:            o.Poll,
		Logger:          o.Logger,
		Observe:         o.ObserveRead,
		ObserveDocument: o.ObserveDocument,
	})
	return s, err
}

// Start reads the source, once it is known what the store has.
func (s *Sources) Start(g *lifecycle.Group) {
	if s.Demo != nil {
		g.UntilServed(s.Demo.Run)
	}
	g.LoadedUntilStop(s.Run)
}

// Observe registers the metrics of reading the source. The state is that of the source,
// as clients see it.
func (s *Sources) Observe(m *telemetry.Metrics, state func() health.State) {
	m.Gauge("pregon_ingest_lease_held",
		"1 in the process that reads the source, else 0. The sum over all replicas should be 1.", func() float64 {
			return telemetry.Bool(s.Holding())
		})
	for name, of := range map[string]func(ingest.LeaseChanges) uint64{
		"taken":   func(c ingest.LeaseChanges) uint64 { return c.Taken },
		"lost":    func(c ingest.LeaseChanges) uint64 { return c.Lost },
		"yielded": func(c ingest.LeaseChanges) uint64 { return c.Yielded },
	} {
		m.CounterOf("pregon_ingest_lease_changes_total",
			"Lease changes in this process: taken, lost, or yielded to a process that sees the source.",
			"change", name, func() float64 {
				return float64(of(s.LeaseChanges()))
			})
	}
	m.Gauge("pregon_ingest_pending_pages", "Reports with a page at the regulator that is not read yet.",
		func() float64 {
			return float64(s.Waiting())
		})
	m.Gauge("pregon_document_pending", "Reports with a document that is not read yet. Should be near zero.",
		func() float64 {
			return float64(s.Unread())
		})
	for _, known := range health.States {
		m.GaugeOf("pregon_source_state",
			"1 for the present state of the source, 0 for the others.", "state", string(known), func() float64 {
				return telemetry.Bool(state() == known)
			})
	}
	for _, surface := range slices.Concat(health.Surfaces, registers.Surfaces(s.Registers.Read)) {
		m.GaugeOf("pregon_source_last_success_timestamp_seconds",
			"When a surface of the source was last read successfully, by the process that reads it; 0 for never.",
			"surface", surface, func() float64 {
				return telemetry.Timestamp(s.surface(surface).SuccessAt)
			})
	}
	for _, t := range disclosure.Types {
		m.GaugeOf("pregon_source_stale",
			"1 for a feed that can be read but hides reports that the list shows, else 0.",
			"surface", health.Feed(t), func() float64 {
				return telemetry.Bool(s.surface(health.Feed(t)).Stale)
			})
	}
	for _, p := range throttle.Priorities {
		m.GaugeOf("pregon_source_queue_length",
			"Requests to the regulator that wait in the queue.", "priority", p.String(), func() float64 {
				return float64(s.queue.Waiting(p))
			})
		m.CounterOf("pregon_source_requests_total", "Requests to the regulator.", "priority", p.String(),
			func() float64 {
				return float64(s.queue.Granted(p))
			})
	}
}

// surface returns the state of a surface, as reported by the process that reads the
// source.
func (s *Sources) surface(name string) health.Surface {
	status, _ := s.coverage.Status()
	for _, surface := range status.Surfaces {
		if surface.Name == name {
			return surface
		}
	}
	return health.Surface{}
}
