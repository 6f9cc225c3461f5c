// Package stored answers from the store alone what ingest needs to know, for a
// back-fill that builds no search index.
package stored

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/store"
)

// Known implements ingest.Known. It holds the issuers in memory, as of the last
// CatchUp, and reads reports from the store when asked.
type Known struct {
	search.Lookups
	log       store.Log
	directory atomic.Pointer[search.Directory]

	mu      sync.Mutex
	loaded  bool                      // guarded by mu
	seq     int64                     // guarded by mu: of the last change that was read
	issuers map[string]*search.Issuer // guarded by mu: by id
}

// New returns a Known without issuers until CatchUp.
func New(log store.Log) *Known {
	k := &Known{log: log, issuers: map[string]*search.Issuer{}}
	k.Lookups = k.directory.Load
	return k
}

// CatchUp reads the issuers that changed since the last call.
func (k *Known) CatchUp(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	apply := func(c disclosure.Change) error {
		if c.Issuer != nil {
			k.issuers[c.Issuer.ID] = search.NewIssuer(c.Issuer)
		}
		k.seq = max(k.seq, c.Seq)
		return nil
	}
	if !k.loaded {
		head, err := k.log.Current(ctx, apply)
		if err != nil {
			return err
		}
		k.loaded, k.seq = true, head.Seq
	}
	const batch = 1000
	for {
		changes, err := k.log.Changes(ctx, k.seq, batch)
		if err != nil {
			return err
		}
		for _, c := range changes {
			_ = apply(c)
		}
		if len(changes) < batch {
			break
		}
	}
	k.directory.Store(search.NewDirectory(slices.Collect(maps.Values(k.issuers))))
	return nil
}

// Published calls fn for the reports of a range of Madrid days, both included.
func (k *Known) Published(ctx context.Context, from, to disclosure.Day, fn func(*disclosure.Report)) error {
	_, err := k.log.Current(ctx, func(c disclosure.Change) error {
		if c.Report == nil {
			return nil
		}
		if day := disclosure.DayOf(c.Report.PublishedAt); day >= from && day <= to {
			fn(c.Report)
		}
		return nil
	})
	return err
}

// Unresolved returns the reports published since an instant that refer to a report
// which was not known.
func (k *Known) Unresolved(ctx context.Context, since time.Time) (out []disclosure.Report, err error) {
	_, err = k.log.Current(ctx, func(c disclosure.Change) error {
		r := c.Report
		if r != nil && !r.PublishedAt.Before(since) &&
			slices.ContainsFunc(r.Related, func(o disclosure.Relation) bool { return o.ID == "" }) {
			out = append(out, *r)
		}
		return nil
	})
	return out, err
}
