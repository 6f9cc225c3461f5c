// Package stored answers from the store alone what ingest needs to know, for a
// back-fill that builds no search index.
package stored

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/text"
)

// Known implements ingest.Known. It holds the issuers in memory, as of the last
// CatchUp, and reads reports from the store when asked.
type Known struct {
	log store.Log

	mu      sync.Mutex
	loaded  bool                          // guarded by mu
	seq     int64                         // guarded by mu: of the last change that was read
	issuers map[string]*disclosure.Issuer // guarded by mu: by id
	byKey   map[string]*disclosure.Issuer // guarded by mu: by every identifier
	byName  map[string]*disclosure.Issuer // guarded by mu: by folded name; nil for a name that two have
}

// New returns a Known without issuers until CatchUp.
func New(log store.Log) *Known {
	return &Known{log: log, issuers: map[string]*disclosure.Issuer{}}
}

// CatchUp reads the issuers that changed since the last call.
func (k *Known) CatchUp(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	apply := func(c disclosure.Change) error {
		if c.Issuer != nil {
			i := *c.Issuer
			k.issuers[i.ID] = &i
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
	k.index()
	return nil
}

// index fills byKey and byName. The id of an issuer is never the alias of another.
// k.mu is held.
func (k *Known) index() {
	k.byKey, k.byName = map[string]*disclosure.Issuer{}, map[string]*disclosure.Issuer{}
	var all []*disclosure.Issuer
	for _, i := range k.issuers {
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b *disclosure.Issuer) int { return cmp.Compare(a.ID, b.ID) })
	for _, i := range all {
		k.byKey[i.ID] = i
	}
	for _, i := range all {
		for _, key := range i.Keys() {
			if k.byKey[key] == nil {
				k.byKey[key] = i
			}
		}
		name := text.Fold(i.Name)
		if _, taken := k.byName[name]; taken || name == "" {
			i = nil
		}
		k.byName[name] = i
	}
}

// Issuer returns an issuer by any of its identifiers.
func (k *Known) Issuer(key string) (disclosure.Issuer, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := k.byKey[disclosure.IssuerKey(key)]; i != nil {
		return *i, true
	}
	return disclosure.Issuer{}, false
}

// Named returns the only issuer of a name, in any spelling.
func (k *Known) Named(name string) (disclosure.Issuer, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := k.byName[text.Fold(name)]; i != nil {
		return *i, true
	}
	return disclosure.Issuer{}, false
}

// Issuers returns the issuers of some kinds, or all issuers.
func (k *Known) Issuers(kinds ...disclosure.Kind) (out []disclosure.Issuer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, i := range k.issuers {
		if len(kinds) == 0 || slices.Contains(kinds, i.Kind) {
			out = append(out, *i)
		}
	}
	return out
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
		if r != nil && !r.PublishedAt.Before(since) && slices.ContainsFunc(r.Related, func(o disclosure.Relation) bool { return o.ID == "" }) {
			out = append(out, *r)
		}
		return nil
	})
	return out, err
}
