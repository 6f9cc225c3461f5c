package history

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/store"
)

// outline is what is kept in memory of every change of a log: about 35 bytes for each
// report, 90 for each position, and 8 for each change. It is read when the past is first asked for, and then follows the log.
type outline struct {
	epoch   string
	seq     int64           // of the newest change in it
	latest  []int64         // the latest time in every block of changes, in microseconds
	keys    []uint64        // of the report of every change, that with seq 1 first; 0 for another subject
	reports map[uint64]span // by key: see search.KeyOf
	issuers []issuerChange  // in order of seq

	positions map[string]span // by id
}

// span is the seq of the first and of the newest change of a report or a position.
type span struct{ first, newest int64 }

type issuerChange struct {
	seq int64
	id  string
}

// block is the number of changes for which the outline has the latest time.
const block = 1024

func (o *outline) add(marks []disclosure.Mark) {
	for _, m := range marks {
		if n := int((m.Seq - 1) / block); n == len(o.latest) {
			o.latest = append(o.latest, m.At)
		} else {
			o.latest[n] = max(o.latest[n], m.At)
		}
		o.seq = m.Seq
		switch m.Event.Of() {
		case disclosure.OfIssuer:
			o.issuers = append(o.issuers, issuerChange{m.Seq, m.Subject})
			o.keys = append(o.keys, 0)
			continue
		case disclosure.OfPosition:
			o.addPosition(m)
			o.keys = append(o.keys, 0)
			continue
		}
		t, number, ok := disclosure.ParseReportID(m.Subject)
		if !ok || m.Event.Of() != disclosure.OfReport {
			o.keys = append(o.keys, 0)
			continue
		}
		key := search.KeyOf(t, number)
		o.keys = append(o.keys, key)
		known, ok := o.reports[key]
		if !ok {
			known.first = m.Seq
		}
		known.newest = m.Seq
		o.reports[key] = known
	}
}

// changedSince returns the keys of the reports that were known at a point and have
// changed since, in the order of their first changes: reports that are read together
// are then near each other in the store. It fails, Invalid, if they are too many.
func (o *outline) changedSince(seq int64) (keys []uint64, err error) {
	for key, at := range o.reports {
		if at.first > seq || at.newest <= seq {
			continue
		}
		keys = append(keys, key)
		if len(keys) > MaxChanged {
			return nil, fault.New(fault.Invalid,
				"More than %d reports that were known then have changed since, so they cannot be listed "+
					"as of that point. "+
					"Ask for a later point, or for one report.", MaxChanged)
		}
	}
	slices.SortFunc(keys, func(a, b uint64) int { return cmp.Compare(o.reports[a].first, o.reports[b].first) })
	return keys, nil
}

// changedBetween returns the keys of the reports of all changes after one point and up
// to another, in any order of the two. Some occur more than once, and some are 0.
func (o *outline) changedBetween(a, b int64) []uint64 { return o.keys[min(a, b):max(a, b)] }

// issuersSince returns the issuers that have changed since a point, and the seq of the
// last change of an issuer up to it.
func (o *outline) issuersSince(seq int64) (last int64, changed map[string]bool) {
	n := sort.Search(len(o.issuers), func(i int) bool { return o.issuers[i].seq > seq })
	if n > 0 {
		last = o.issuers[n-1].seq
	}
	changed = make(map[string]bool, len(o.issuers)-n)
	for _, c := range o.issuers[n:] {
		changed[c.id] = true
	}
	return last, changed
}

func (a *Archive) issuersSince(seq int64) (last int64, changed map[string]bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.outline.issuersSince(seq)
}

// covers reports whether the outline has all changes of a snapshot.
func (a *Archive) covers(s *catalog.Snapshot) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.outline.epoch == s.Head().Epoch && a.outline.seq >= s.Seq()
}

const growth = 5000 // changes read at once

// logKey is the key of a build of the outline.
type logKey struct{ epoch string }

// grow reads the changes that the outline lacks of a snapshot. What was read stays
// when nobody wants it any more.
func (a *Archive) grow(ctx context.Context, s *catalog.Snapshot) error {
	for !a.covers(s) { // a build for another request may have been for an older snapshot
		_, err := share(ctx, &a.queue, logKey{s.Head().Epoch}, func(ctx context.Context) (struct{}, error) {
			for !a.covers(s) {
				if err := a.growOnce(ctx, s); err != nil {
					return struct{}{}, err
				}
			}
			return struct{}{}, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *Archive) growOnce(ctx context.Context, s *catalog.Snapshot) error {
	after := a.outline.seq
	if a.outline.epoch != s.Head().Epoch {
		after = 0
	}
	marks, err := a.marks(ctx, s, after, growth)
	if err != nil {
		return err
	}
	if len(marks) == 0 || marks[0].Seq != after+1 { // it has fewer changes than the snapshot
		return errAnotherLog
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if after == 0 {
		a.outline = outline{
			epoch:     s.Head().Epoch,
			reports:   map[uint64]span{},
			positions: map[string]span{},
		}
	}
	a.outline.add(marks)
	return nil
}

// marks reads marks of the log of a snapshot.
func (a *Archive) marks(
	ctx context.Context,
	s *catalog.Snapshot,
	after int64,
	limit int,
) (marks []disclosure.Mark, err error) {
	err = store.Within(ctx, func(ctx context.Context) (err error) {
		if marks, err = a.log.Marks(ctx, after, limit); err != nil {
			return store.Unavailable(err)
		}
		return a.check(ctx, s)
	})
	return marks, err
}

// At returns the point of a time: the seq before the first change that occurred after
// it.
func (a *Archive) At(ctx context.Context, s *catalog.Snapshot, t time.Time) (int64, error) {
	if err := a.grow(ctx, s); err != nil {
		return 0, err
	}
	micros := t.UnixMicro()
	a.mu.RLock()
	n := slices.IndexFunc(a.outline.latest, func(latest int64) bool { return latest > micros })
	a.mu.RUnlock()
	if n < 0 {
		return s.Seq(), nil
	}
	marks, err := a.marks(ctx, s, int64(n)*block, block)
	if err != nil {
		return 0, err
	}
	for _, m := range marks {
		if m.At > micros {
			return min(m.Seq-1, s.Seq()), nil
		}
	}
	return 0, errAnotherLog
}
