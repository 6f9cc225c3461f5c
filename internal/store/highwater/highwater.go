// Package highwater records, outside the store, up to which change the log was
// served. At the next start it detects whether a backup of the store was restored.
// Then it renews the log's epoch, so that no client and no receiver of webhooks
// mistakes a new change for one that it has seen.
package highwater

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

const (
	saveEvery  = time.Second
	saveTime   = 5 * time.Second // for one save
	mostEpochs = 32              // that a record keeps
	mostTrails = 2               // of the newest epochs, since they are long
	mostBytes  = 64 << 10        // of the text in a place
)

// Place stores a text outside the store.
type Place interface {
	// Load returns the text, empty when there is none.
	Load(ctx context.Context) ([]byte, error)
	Save(ctx context.Context, text []byte) error
	String() string // for logs
}

// Log is the part of the store that a Keeper uses.
type Log interface {
	ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)
	Marks(ctx context.Context, after int64, limit int) ([]disclosure.Mark, error)
	Head(ctx context.Context) (disclosure.Head, error)
	RenewEpoch(ctx context.Context, replaced string, lost disclosure.Mark,
		shared ...disclosure.Cursor) (disclosure.Head, error)
}

// record is the content of a place.
type record struct {
	Epochs []served `json:"epochs"`
}

// served is how far the log of an epoch was served.
type served struct {
	Epoch string          `json:"epoch"`
	First disclosure.Mark `json:"first"` // of the log's first change, which every backup has
	Last  disclosure.Mark `json:"last"`
	Past  string          `json:"past,omitempty"` // disclosure.Head.Past of the epoch, as FormatPast has it
	Tree  Tree            `json:"tree"`
	// Trail identifies the changes up to Last, as store.Trail prints it. Records of
	// earlier versions have none.
	Trail string `json:"trail,omitempty"`
}

// Tree is the root of the Merkle tree over a log when it had a size, as it was
// published. A log with another root at that size was rewritten.
type Tree struct {
	Size int64     `json:"size,omitempty"`
	Root tlog.Hash `json:"root"`
}

// valid reports whether s may have been written by Save.
func (s served) valid() bool {
	c, ok := disclosure.ParseCursor(disclosure.Cursor{Epoch: s.Epoch, Seq: s.Last.Seq}.String())
	_, err := disclosure.ParsePast(s.Past)
	return ok && c.Epoch != "" && err == nil
}

// bound returns the highest seq that a log of another epoch can share with the
// served one, by their common past epochs. Times do not give it when the log
// continued after the seq where the two diverge.
func (s served) bound(head disclosure.Head) int64 {
	past, _ := disclosure.ParsePast(s.Past) // checked by valid
	was := disclosure.Head{Cursor: disclosure.Cursor{Epoch: s.Epoch, Seq: s.Last.Seq}, Past: past}
	if was.Had(head.Epoch) {
		seq, _ := was.Resume(head.Cursor)
		return seq
	}
	seq := head.Seq
	for _, p := range past {
		if head.Had(p.Epoch) {
			seq = min(seq, p.Seq)
		}
	}
	return seq
}

// add records how far an epoch was served, unless a higher seq is recorded, and its
// tree, unless a larger one is recorded.
func (r *record) add(s served) {
	i := slices.IndexFunc(r.Epochs, func(o served) bool { return o.Epoch == s.Epoch })
	if i >= 0 {
		known := r.Epochs[i]
		if known.Last.Seq < s.Last.Seq || known.Last == s.Last && known.Trail == "" {
			r.Epochs[i] = s
		}
		if r.Epochs[i].Tree = s.Tree; known.Tree.Size > s.Tree.Size {
			r.Epochs[i].Tree = known.Tree
		}
		return
	}
	r.Epochs = append(r.Epochs, s)
	r.Epochs = r.Epochs[max(0, len(r.Epochs)-mostEpochs):]
	for i := range len(r.Epochs) - mostTrails {
		r.Epochs[i].Trail = ""
	}
}

// Keeper records and checks how far one log was served.
type Keeper struct {
	log    Log
	places []Place
	slog   *slog.Logger
	tree   func() (epoch string, tree Tree)

	epoch string          // of the log that first is of
	first disclosure.Mark // its first change
	trail store.Trail     // its newest changes
	saved map[Place]bool  // whether the last save succeeded
}

// New returns a keeper that uses all of the places.
func New(log Log, logger *slog.Logger, places ...Place) *Keeper {
	k := &Keeper{
		log:    log,
		places: places,
		slog:   logger,
		saved:  map[Place]bool{},
	}
	for _, p := range places {
		k.saved[p] = true // so that a failure is logged
	}
	return k
}

// Publishes sets the function that returns the tree over the log that was published,
// the zero value if there is none. It must be called before Run.
func (k *Keeper) Publishes(tree func() (epoch string, tree Tree)) { k.tree = tree }

// Tree returns the largest tree over the log of an epoch that was published, the zero
// value if none is recorded.
func (k *Keeper) Tree(ctx context.Context, epoch string) (largest Tree) {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	for _, p := range k.places {
		r, err := load(ctx, p)
		if err != nil {
			continue // Check has logged it
		}
		for _, s := range r.Epochs {
			if s.Epoch == epoch && s.Tree.Size > largest.Size {
				largest = s.Tree
			}
		}
	}
	return largest
}

// Check compares the log with the records of all places, and renews its epoch when
// served changes are missing. renewed reports whether it did.
func (k *Keeper) Check(ctx context.Context) (head disclosure.Head, renewed bool, err error) {
	if head, err = k.log.Head(ctx); err != nil {
		return head, false, err
	}
	var known record
	for _, p := range k.places {
		r, err := load(ctx, p)
		if err != nil {
			k.slog.WarnContext(ctx, "cannot read how far the log was served: a restored backup may go "+
				"unnoticed", "place", p.String(), "err", err)
			continue
		}
		for _, s := range r.Epochs {
			known.add(s)
		}
	}
	shared, lost, err := k.lost(ctx, head, known)
	if err != nil || len(shared) == 0 {
		return head, false, err
	}
	before := head
	if head, err = k.log.RenewEpoch(ctx, head.Epoch, lost, shared...); err != nil || head.Epoch == before.Epoch {
		return head, false, err
	}
	k.slog.WarnContext(ctx, "an older backup was restored: a new epoch begins, and clients resume from the "+
		"last common change",
		"previous", before.String(), "current", head.String(), "shared", disclosure.FormatPast(shared))
	return head, true, nil
}

// lost returns the epochs of which the log lacks served changes, each with the seq
// up to which the log has them. lacks is the served change of the log's own epoch
// that is missing, if any.
func (k *Keeper) lost(
	ctx context.Context,
	head disclosure.Head,
	known record,
) (shared []disclosure.Cursor, lacks disclosure.Mark, err error) {
	for _, s := range known.Epochs {
		if head.Had(s.Epoch) {
			continue // the epoch was renewed already
		}
		proof := s.Last
		if s.Epoch != head.Epoch {
			proof = s.First // a backup that is older than the epoch, or another database
		}
		has, err := store.Has(ctx, k.log, proof)
		if err != nil {
			return nil, lacks, err
		}
		if s.Epoch == head.Epoch && has {
			continue
		}
		if s.Epoch != head.Epoch && !has {
			k.slog.WarnContext(ctx, "another store was served under this name before: if this should be a "+
				"backup of it, run `pregon restore`",
				"previous", disclosure.Cursor{Epoch: s.Epoch, Seq: s.Last.Seq}.String(), "current", head.String())
			continue
		}
		seq, err := store.Shared(ctx, k.log, head.Seq, s.Last, store.ParseTrail(s.Last.Seq, s.Trail))
		if err != nil {
			return nil, lacks, err
		}
		if s.Epoch == head.Epoch {
			lacks = s.Last
		} else {
			seq = min(seq, s.bound(head))
		}
		shared = append(shared, disclosure.Cursor{Epoch: s.Epoch, Seq: seq})
	}
	return shared, lacks, nil
}

// Run records how far the log is served until the context ends. Every second it
// calls seen, which returns the newest served change.
func (k *Keeper) Run(ctx context.Context, seen func() (disclosure.Head, disclosure.Mark)) {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	var last served
	update := func(ctx context.Context) {
		head, mark := seen()
		now := served{Epoch: head.Epoch, Last: mark, Tree: k.published(head.Epoch)}
		if mark == (disclosure.Mark{}) || now == last {
			return
		}
		if k.Save(ctx, head, mark) {
			last = now
		}
	}
	for {
		select {
		case <-ctx.Done():
			update(context.WithoutCancel(ctx))
			return
		case <-tick.C:
			update(ctx)
		}
	}
}

// published returns the published tree over the log of an epoch.
func (k *Keeper) published(epoch string) Tree {
	if k.tree == nil {
		return Tree{}
	}
	of, tree := k.tree()
	if of != epoch {
		return Tree{}
	}
	return tree
}

// Save records in all places that a log was served up to a change, and reports
// whether all of them succeeded.
func (k *Keeper) Save(ctx context.Context, head disclosure.Head, last disclosure.Mark) bool {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	if k.epoch != head.Epoch {
		found, err := k.log.ChangesAt(ctx, 1)
		if err != nil || len(found) != 1 {
			return false // Run tries again
		}
		k.epoch = head.Epoch
		k.first = found[0].Mark()
		k.trail = store.Trail{}
	}
	now := served{
		Epoch: head.Epoch,
		First: k.first,
		Last:  last,
		Past:  disclosure.FormatPast(head.Past),
		Tree:  k.published(head.Epoch),
	}
	if k.trail.Extend(ctx, k.log, last) { // without it a restored backup is noticed too
		now.Trail = k.trail.String()
	}
	all := true
	for _, p := range k.places {
		err := save(ctx, p, now)
		if err != nil && k.saved[p] { // logged once, not each time
			k.slog.WarnContext(ctx, "cannot save how far the log was served: a restored backup may go "+
				"unnoticed", "place", p.String(), "err", err)
		}
		k.saved[p] = err == nil
		all = all && err == nil
	}
	return all
}

// save updates the record of a place, which other processes may have changed.
func save(ctx context.Context, p Place, s served) error {
	r, err := load(ctx, p)
	if err != nil {
		return err
	}
	r.add(s)
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return p.Save(ctx, text)
}

// load reads the record of a place. A text that cannot be decoded counts as empty
// and will be overwritten.
func load(ctx context.Context, p Place) (r record, err error) {
	text, err := p.Load(ctx)
	if err != nil {
		return r, err
	}
	if len(text) > mostBytes {
		return r, errors.New("it is too long")
	}
	if json.Unmarshal(text, &r) != nil {
		return record{}, nil
	}
	r.Epochs = slices.DeleteFunc(r.Epochs, func(s served) bool { return !s.valid() })
	return r, nil
}
