// Package snapshots holds what makes and offers snapshots of all reports,
// issuers and positions.
package snapshots

import (
	"context"
	"log/slog"
	"time"

	"pregon/internal/document/bucket"
	"pregon/internal/rest"
	"pregon/internal/server/telemetry"
	"pregon/internal/service/lifecycle"
	"pregon/internal/source/coverage"
	"pregon/internal/source/ingest"
	"pregon/internal/store"
	"pregon/internal/transfer/bulk"
)

// Settings are the choices of the operator. Snapshots are kept in a bucket or in a
// directory.
type Settings struct {
	Off       bool            // none are made or offered
	Public    bool            // no key or token is needed
	Bucket    *bucket.Options // nil for none
	Workspace string          // private directory for what is written to the bucket
	Dir       string          // empty for none
}

// Options are the settings of Snapshots and what they need.
type Options struct {
	Settings
	Log         *store.Sourced
	Coverage    *coverage.Tracker
	Created     time.Time // of the store
	Makes       bool      // this process may make them
	ReadsSource bool      // this process or another one reads the source
	// Leads reports whether this process, of all, makes the next snapshot: the one that
	// holds the lease of the source; without a source, the first one.
	Leads func() bool
	// Requests returns how many requests were received. A snapshot is made while there
	// are few.
	Requests    func() int64
	Logger      *slog.Logger
	MakerLogger *slog.Logger
}

// Snapshots lists snapshots, and makes them.
type Snapshots struct {
	Offer rest.Bulk

	maker *bulk.Maker // nil if this process makes none
}

// New opens the place of the snapshots. It fails if it is a bucket that cannot be used.
func New(ctx context.Context, o Options) (*Snapshots, error) {
	place, absent, err := o.place(ctx)
	if err != nil {
		return nil, err
	}
	s := &Snapshots{Offer: rest.Bulk{Absent: absent, Public: o.Public}}
	if place == nil {
		return s, nil
	}
	s.Offer.Archive = bulk.New(place, o.Logger)
	if o.Makes {
		s.maker = &bulk.Maker{
			Archive:  s.Offer.Archive,
			Log:      o.Log,
			Holder:   ingest.ProcessName(),
			Source:   o.Log.KnownSource,
			Logger:   o.MakerLogger,
			Requests: o.Requests,
			Loading: func(ctx context.Context) (bulk.Load, error) {
				err := o.Coverage.Refresh(ctx)
				running := o.ReadsSource && ingest.Loading(o.Coverage)
				return bulk.Load{Running: running, EndedAt: o.Coverage.FilledAt()}, err
			},
			Created: o.Created,
			Leads:   o.Leads,
		}
	}
	return s, nil
}

// place returns where snapshots are kept, or why there are none.
func (o *Options) place(ctx context.Context) (place bulk.Place, absent string, err error) {
	switch {
	case o.Off:
		return nil, "This service offers no snapshots, because its --bulk is off.", nil
	case o.Bucket != nil:
		b, err := bucket.Open(ctx, *o.Bucket)
		return bulk.Bucket{Bucket: b, Workspace: o.Workspace}, "", err
	case o.Dir != "":
		return bulk.Dir(o.Dir), "", nil
	}
	return nil, "This service makes no snapshots: its operator has to give them a place with --bulk-dir or --bulk-s3.", nil
}

// Start makes snapshots, if this process does.
func (s *Snapshots) Start(g *lifecycle.Group) {
	if s.maker != nil {
		g.LoadedUntilStop(s.maker.Run)
	}
}

// Observe registers the metrics of making snapshots.
func (s *Snapshots) Observe(m *telemetry.Metrics) {
	if s.maker == nil {
		return
	}
	stats := s.maker.Stats
	const made = "Attempts to make a snapshot for /api/v1/bulk by outcome."
	m.CounterOf("pregon_bulk_snapshots_total", made, "outcome", "made", func() float64 { return float64(stats().Made) })
	m.CounterOf("pregon_bulk_snapshots_total", made, "outcome", "failed",
		func() float64 { return float64(stats().Failed) })
	newest := func(value func(*bulk.Snapshot) float64) func() float64 {
		return func() float64 {
			if s := stats().Newest; s != nil {
				return value(s)
			}
			return 0
		}
	}
	m.Gauge("pregon_bulk_newest_timestamp_seconds",
		"When the newest snapshot was made, in the process that makes them; 0 if it is not known.",
		newest(func(s *bulk.Snapshot) float64 { return telemetry.Timestamp(s.CreatedAt) }))
	m.Gauge("pregon_bulk_newest_size_bytes",
		"Size of all files of the newest snapshot, in the process that makes them; 0 if it is not known.",
		newest(func(s *bulk.Snapshot) float64 { return float64(s.Bytes()) }))
}
