package sources

import (
	"log/slog"
	"time"

	"pregon/internal/document"
	"pregon/internal/source/coverage"
	"pregon/internal/source/ingest"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// ReaderOptions are what a Reader needs.
type ReaderOptions struct {
	Site      Site
	Store     store.Store
	Coverage  *coverage.Tracker
	Known     ingest.Known
	Recent    ingest.Recent // nil for a back-fill
	Documents *document.Keeper
	Registers ingest.Registers
	Poll      time.Duration // between two polls of a feed
	Logger    *slog.Logger
	// Observe and ObserveDocument may be nil.
	Observe         func(surface, outcome string, start time.Time)
	ObserveDocument func(report string, outcome document.Outcome, start time.Time)
}

// Reader reads the source, and has the queue of its requests.
type Reader struct {
	*ingest.Ingest
	queue *throttle.Queue
}

// NewReader returns a reader of a site. It sends no request before it runs.
func NewReader(o ReaderOptions) (*Reader, error) {
	if o.Site.IsPublic() && o.Site.Contact == "" {
		o.Logger.Warn("the regulator does not have a contact for this service: set --contact to an address or a page",
			"user_agent", o.Site.UserAgent())
	}
	queue := throttle.New(o.Site.Pace)
	source, listed, err := o.Site.clients(queue, transports{})
	if err != nil {
		return nil, err
	}
	return &Reader{queue: queue, Ingest: ingest.New(ingest.Options{
		Store:           o.Store,
		Coverage:        o.Coverage,
		Known:           o.Known,
		Recent:          o.Recent,
		Regulator:       source,
		Exchange:        listed,
		Documents:       o.Documents,
		Registers:       o.Registers,
		Poll:            o.Poll,
		Holder:          ingest.ProcessName(),
		Logger:          o.Logger,
		Observe:         o.Observe,
		ObserveDocument: o.ObserveDocument,
	})}, nil
}
