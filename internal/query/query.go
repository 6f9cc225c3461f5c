// Package query answers the questions of every surface: find reports, return
// one, read its document, look up an issuer.
//
// The meaning of each parameter, its validation and the content of the answer
// are defined here once, so that REST and MCP cannot differ. A surface takes one
// snapshot of the catalogue, reads Params, calls the Service, and encodes the
// result in its own format.
package query

import (
	"bytes"
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/catalog/history"
	"pregon/internal/disclosure"
	"pregon/internal/document/index"
	"pregon/internal/fault"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/store"
)

// Options are the collaborators of a Service.
type Options struct {
	Catalog  *catalog.Catalog
	Coverage *coverage.Tracker
	// Documents holds the texts of reports' documents, and the index of their words.
	Documents interface {
		store.Documents
		store.Index
	}
	// Lacks returns an Unavailable error if this process does not have the change of
	// a cursor yet, and nil if the log does not have it. It is nil without replicas.
	Lacks func(ctx context.Context, c disclosure.Cursor) error
	// Watchlists are those of accounts. Nil: there are none.
	Watchlists Watchlists
	// Log answers questions about the past.
	Log         history.Log
	Version     string        // of the program
	ReadsSource bool          // --source is not "none": this process reads the source, or another one does
	Source      func() string // the source that the store is marked with: "demo" is the simulated market
	// Ready returns why the first data is not loaded yet, or nil. Without it
	// any catalogue is enough, even an empty one.
	Ready func() error
	// Partial, if not nil, reports whether the history is not loaded yet, so that
	// categories and markets exist that are not known.
	Partial func() bool
	// StoreStatus returns why this process cannot use its store, and whether
	// new reports cannot be kept. It is nil for a store without a monitor.
	StoreStatus func() (reasons []health.Reason, blind bool)
	// StoreCreated is the creation time of the store, zero if unknown.
	StoreCreated time.Time
	// Limit is the rate limit of callers without a credential, or nil.
	Limit *access.Limit
	// Shared returns whether all replicas share that limit: "up", "down" while
	// the shared counter does not answer, "off" when each replica counts alone.
	Shared func() string
}

// Service answers the questions of all surfaces.
type Service struct {
	Options
	words    *index.Index  // in documents
	texts    *access.Turns // for requests that hold texts of documents
	measured atomic.Pointer[measured]
	proved   atomic.Pointer[proved]
	past     *history.Archive
	// calendars is the calendar of the newest snapshot
	calendars calendars
	openings  openings
}

// New returns a Service.
func New(o Options) *Service {
	q := &Service{
		Options: o,
		texts:   access.NewTurns(maxTexts, maxTextWait),
		past:    history.New(o.Log),
	}
	if o.Catalog != nil {
		q.words = index.New(o.Documents, o.Catalog.Documents())
	}
	return q
}

// Snapshot returns the current catalogue. It fails until the first data is
// loaded, since clients would take an empty list for the truth.
func (q *Service) Snapshot() (*catalog.Snapshot, error) {
	s, err := q.Loaded()
	if err == nil && q.Ready != nil {
		err = q.Ready()
	}
	return s, err
}

// Loaded returns the current catalogue, also before the first data is loaded.
// It is for questions about the service itself.
func (q *Service) Loaded() (*catalog.Snapshot, error) {
	s := q.Catalog.Snapshot()
	if s == nil {
		return nil, fault.New(fault.Unavailable, "The catalogue is still loading. Try again in a few seconds.")
	}
	return s, nil
}

// Encode returns v as JSON without HTML escapes.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// OrNull returns nil for an empty text.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// TimeOrNull returns nil for the zero time, and others in Madrid's zone.
func TimeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = Madrid(t)
	return &t
}

// Madrid returns a time in Madrid's zone.
func Madrid(t time.Time) time.Time { return t.In(disclosure.Madrid) }

// list replaces nil, which would be encoded as null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
