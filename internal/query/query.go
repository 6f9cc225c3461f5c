// Package query answers what callers ask, whichever way they came.
//
// REST and MCP are two ways to put the same questions: find reports, show one,
// read its document, look up an issuer. What a parameter means, what is wrong
// with it, and what is told of a report stand here once, so that the surfaces
// cannot come to differ. A surface takes one snapshot of the catalogue, reads
// Params, asks, and encodes in its own language.
package query

import (
	"bytes"
	"encoding/json"
	"sync/atomic"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/store"
)

// Options are what the desk knows from.
type Options struct {
	Catalog  *catalog.Catalog
	Coverage *coverage.Tracker
	// Documents are the texts of reports' documents.
	Documents   store.Documents
	Version     string        // of the program
	ReadsSource bool          // this process reads the source, or stands by to
	Source      func() string // where the reports come from, as the store is marked: "demo" is the simulated market
	// Ready returns why the first data is not there yet, or nil. Without it what
	// the catalogue holds is enough, however little.
	Ready func() error
	// StoreFails returns why this process cannot use its store, and whether new
	// reports cannot be kept; nil for a store that is not watched.
	StoreStatus func() (reasons []health.Reason, blind bool)
	// StoreCreated is when the store was made, zero when that is not known.
	StoreCreated time.Time
	// Limit is what callers without a credential have to keep to, or nil.
	Limit *access.Limit
	// Shared reports whether all replicas count that limit together: "up", "down"
	// while what they share does not answer, "off" when each counts for itself.
	Shared func() string
}

// Desk answers.
type Service struct {
	Options
	texts    chan struct{} // a place for each question that holds texts of documents
	measured atomic.Pointer[measured]
}

// New returns the desk.
func New(o Options) *Service {
	return &Service{Options: o, texts: make(chan struct{}, maxTexts)}
}

// Snapshot returns the catalogue as it is now, for one whole question. Until
// the first data is there it fails: an empty list would be taken for the truth.
func (d *Service) Snapshot() (*catalog.Snapshot, error) {
	s, err := d.Loaded()
	if err == nil && d.Ready != nil {
		err = d.Ready()
	}
	return s, err
}

// Loaded returns the catalogue for questions about the service itself, which
// have an answer before the first data is there.
func (d *Service) Loaded() (*catalog.Snapshot, error) {
	s := d.Catalog.Snapshot()
	if s == nil {
		return nil, fault.New(fault.Unavailable, "The catalogue is still loading. Try again in a few seconds.")
	}
	return s, nil
}

// Encode writes a record as JSON, as lists write theirs: without escapes that
// only HTML needs.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// OrNull is a text that is null when there is none.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// TimeOrNull is a time that is null when there is none.
func TimeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = Madrid(t)
	return &t
}

// Madrid is a time as it is told.
func Madrid(t time.Time) time.Time { return t.In(disclosure.Madrid) }

// list never encodes as null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
