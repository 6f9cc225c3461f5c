// Package history answers what was known at an earlier point of the log.
//
// A point is a seq: what was known then is the newest change with seq <= it of every
// report, issuer and position. A time means the point before the first change that occurred
// after it. Clocks of replicas differ, so that times need not rise with seq; then
// some changes at or before the time are left out, but no later change is included,
// and the point stays the same as the log grows.
//
// One report is read from the log. A list of reports is answered by a past state of the
// catalogue (catalog.Snapshot.Past): the present one without the reports that have
// changed since, and with their former states. A list of positions is answered by a past
// book, which is made in the same way.
package history

import (
	"context"
	"sync"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/store"
)

// Log is the part of the store that is read.
type Log interface {
	Head(ctx context.Context) (disclosure.Head, error)
	Marks(ctx context.Context, after int64, limit int) ([]disclosure.Mark, error)
	ChangesOf(ctx context.Context, of disclosure.Subject, id string, upTo int64, limit int) ([]disclosure.Change, error)
	AsOf(ctx context.Context, of disclosure.Subject, upTo int64, ids ...string) ([]disclosure.Change, error)
}

// Archive reads the past of a log. All methods take the present snapshot of the
// catalogue, and fail, Unavailable, while the log is not the one that it was loaded
// from.
type Archive struct {
	log   Log
	queue queue // of everything that is built from the log

	mu      sync.RWMutex
	outline outline // written under mu by the build that runs, which reads it without
	dirs    recent[*search.Directory]
	states  recent[*catalog.Snapshot]
	books   recent[*position.Book]
}

// New returns an archive.
func New(log Log) *Archive {
	return &Archive{
		log:    log,
		dirs:   recent[*search.Directory]{most: maxDirectories},
		states: recent[*catalog.Snapshot]{most: maxStates, size: catalog.PastBytes, bound: maxStateBytes},
		books:  recent[*position.Book]{most: maxBooks},
	}
}

// Limits of past states, which use memory and time.
const (
	// MaxChanged is the largest number of reports, or of positions, that may have changed
	// since a point, not counting those that are newer, for a list as of it.
	MaxChanged = 20_000

	maxStates      = 8         // that are kept
	maxStateBytes  = 128 << 20 // of the states that are kept, by the estimate of catalog.PastBytes
	maxDirectories = 4
	maxBooks       = 4               // of which each has at most MaxChanged positions of its own
	keptFor        = 2 * time.Minute // after the last use
	chunk          = 1000            // subjects read at once
)

// Changes returns up to limit changes of a report, an issuer or a position up to a point,
// the newest first.
func (a *Archive) Changes(
	ctx context.Context, s *catalog.Snapshot, of disclosure.Subject, id string, upTo int64, limit int,
) (found []disclosure.Change, err error) {
	err = store.Within(ctx, func(ctx context.Context) (err error) {
		if found, err = a.log.ChangesOf(ctx, of, id, upTo, limit); err != nil {
			return store.Unavailable(err)
		}
		return a.check(ctx, s)
	})
	return found, err
}

// check fails if the log is no longer the one that a snapshot was loaded from.
func (a *Archive) check(ctx context.Context, s *catalog.Snapshot) error {
	head, err := a.log.Head(ctx)
	if err != nil {
		return store.Unavailable(err)
	}
	if head.Epoch != s.Head().Epoch {
		return errAnotherLog
	}
	return nil
}

var errAnotherLog = fault.New(fault.Unavailable,
	"A backup of the store was restored just now. Try again in a few seconds.")

// Report returns a report as of a point and the directory of that time. The report is
// nil if it was not known.
func (a *Archive) Report(
	ctx context.Context,
	s *catalog.Snapshot,
	id string,
	seq int64,
) (*disclosure.Report, *search.Directory, error) {
	found, err := a.Changes(ctx, s, disclosure.OfReport, id, seq, 1)
	if err != nil || len(found) == 0 {
		return nil, nil, err
	}
	dir, err := a.Directory(ctx, s, seq)
	return found[0].Report, dir, err
}

// Directory returns the directory as of a point.
func (a *Archive) Directory(ctx context.Context, s *catalog.Snapshot, seq int64) (*search.Directory, error) {
	if err := a.grow(ctx, s); err != nil {
		return nil, err
	}
	at, changed := a.issuersSince(seq)
	if len(changed) == 0 {
		return s.Directory(), nil
	}
	key := point{s.Head().Epoch, at}
	if dir, ok := a.dirs.get(key); ok {
		return dir, nil
	}
	return share(ctx, &a.queue, directoryKey(key), func(ctx context.Context) (*search.Directory, error) {
		return a.directory(ctx, s, key, changed)
	})
}

// The keys of builds.
type (
	directoryKey point
	stateKey     point
	bookKey      point
)

// directory builds the directory as of a point, from the present one and the former
// states of the issuers that have changed since. It is a build, or part of one.
func (a *Archive) directory(
	ctx context.Context,
	s *catalog.Snapshot,
	at point,
	changed map[string]bool,
) (*search.Directory, error) {
	if dir, ok := a.dirs.get(at); ok {
		return dir, nil
	}
	var issuers []*search.Issuer
	for _, e := range s.Directory().Issuers() {
		if !changed[e.Issuer.ID] {
			issuers = append(issuers, e)
		}
	}
	ids := make([]string, 0, len(changed))
	for id := range changed {
		ids = append(ids, id)
	}
	err := a.each(ctx, s, disclosure.OfIssuer, at.seq, ids,
		func(c disclosure.Change) { issuers = append(issuers, search.NewIssuer(c.Issuer)) })
	if err != nil {
		return nil, err
	}
	dir := search.NewDirectory(issuers)
	a.dirs.put(at, dir)
	return dir, nil
}

// State returns the catalogue as of a point.
func (a *Archive) State(ctx context.Context, s *catalog.Snapshot, seq int64) (*catalog.Snapshot, error) {
	if seq == s.Seq() {
		return s, nil
	}
	at := point{s.Head().Epoch, seq}
	if past, ok := a.states.get(at); ok && s.Shares(past) {
		return past, nil
	}
	if err := a.grow(ctx, s); err != nil {
		return nil, err
	}
	return share(ctx, &a.queue, stateKey(at), func(ctx context.Context) (*catalog.Snapshot, error) {
		if past, ok := a.states.get(at); ok && s.Shares(past) {
			return past, nil
		}
		past, err := a.state(ctx, s, at)
		if err == nil {
			a.states.put(at, past)
		}
		return past, err
	})
}

// state builds the catalogue as of a point, from the present one and the former states of
// the reports that have changed since. Of these it takes those that the state of a near
// point has, and reads the others. It is a build, so that the outline does not change.
func (a *Archive) state(ctx context.Context, s *catalog.Snapshot, at point) (*catalog.Snapshot, error) {
	if a.outline.epoch != at.epoch || a.outline.seq < s.Seq() {
		return nil, errAnotherLog
	}
	keys, err := a.outline.changedSince(at.seq)
	if err != nil {
		return nil, err
	}
	dir := s.Directory()
	if last, changed := a.outline.issuersSince(at.seq); len(changed) > 0 {
		if dir, err = a.directory(ctx, s, point{at.epoch, last}, changed); err != nil {
			return nil, err
		}
	}
	near, same := a.near(s, at, keys)
	ids := make([]string, 0, len(keys)-len(same))
	for _, key := range keys {
		if !same[key] {
			ids = append(ids, disclosure.ReportID(search.TypeOf(key), int64(key>>2)))
		}
	}
	reports := make([]*disclosure.Report, 0, len(ids))
	err = a.each(ctx, s, disclosure.OfReport, at.seq, ids,
		func(c disclosure.Change) { reports = append(reports, c.Report) })
	if err != nil {
		return nil, err
	}
	return s.Past(catalog.PastState{
		Seq:       at.seq,
		Directory: dir,
		Drop:      func(key uint64) bool { return a.outline.reports[key].newest > at.seq },
		Changed:   reports,
		Near:      near,
		Same:      func(key uint64) bool { return same[key] },
	}), nil
}

// near returns the kept state of the nearest point, or nil, and which of the reports it
// has as they were at the point: those that did not change between the two. A state from
// before the catalogue was built again is not used: its file may be damaged.
func (a *Archive) near(s *catalog.Snapshot, at point, keys []uint64) (near *catalog.Snapshot, same map[uint64]bool) {
	near, seq, ok := a.states.nearest(at)
	if !ok || !s.Shares(near) {
		return nil, nil
	}
	same = make(map[uint64]bool, len(keys))
	for _, key := range keys {
		if near.HasFormer(key) {
			same[key] = true
		}
	}
	for _, key := range a.outline.changedBetween(seq, at.seq) {
		delete(same, key)
	}
	return near, same
}

// each passes the newest change up to a point of each subject to fn.
func (a *Archive) each(
	ctx context.Context, s *catalog.Snapshot, of disclosure.Subject, upTo int64, ids []string,
	fn func(disclosure.Change),
) error {
	for len(ids) > 0 {
		n := min(chunk, len(ids))
		var changes []disclosure.Change
		err := store.Within(ctx, func(ctx context.Context) (err error) {
			changes, err = a.log.AsOf(ctx, of, upTo, ids[:n]...)
			return store.Unavailable(err)
		})
		if err != nil {
			return err
		}
		for _, c := range changes {
			fn(c)
		}
		ids = ids[n:]
	}
	return store.Within(ctx, func(ctx context.Context) error { return a.check(ctx, s) })
}
