package index

import (
	"context"
	"fmt"
	"slices"

	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/search"
	"pregon/internal/store"
)

// Query matches the documents that contain at least one phrase of every group of
// All, and no phrase of None. A group with a phrase of several words has no other.
type Query struct {
	All  [][]Phrase // not empty, and no group is empty
	None []Phrase
}

// Phrase is a sequence of adjacent words. Stem and Prefix are for single words.
type Phrase struct {
	Words  []string
	Stem   bool // it is the stem of a word
	Prefix bool // the word may be the beginning of one
}

// Index searches in documents. It is safe for concurrent use.
type Index struct {
	store   store.Index
	numbers *search.Numbers

	lock retry.Lock // held while segments are read from the store
	open []*segment // guarded by lock; the segments in use at the last search
}

// New returns the index of a store.
func New(s store.Index, numbers *search.Numbers) *Index {
	return &Index{
		store:   s,
		numbers: numbers,
		lock:    retry.NewLock(),
	}
}

// Find returns the documents that match a query.
func (x *Index) Find(ctx context.Context, q Query) (search.NumberSet, error) {
	return x.FindAmong(ctx, q, nil)
}

// FindAmong is like Find, but considers only some documents, all if it is nil. It
// need not read the positions of words in the others.
func (x *Index) FindAmong(ctx context.Context, q Query, among search.NumberSet) (search.NumberSet, error) {
	found, err := x.find(ctx, q, among)
	if fault.KindOf(err) == fault.NotFound { // the segments were merged during the search
		found, err = x.find(ctx, q, among)
	}
	if fault.KindOf(err) == fault.NotFound {
		err = fmt.Errorf("%w: %v", ErrDamaged, err) // the client asked for nothing that is missing
	}
	return found, err
}

func (x *Index) find(ctx context.Context, q Query, among search.NumberSet) (search.NumberSet, error) {
	segments, err := x.segments(ctx)
	if err != nil {
		return nil, err
	}
	e := evaluation{
		store:    x.store,
		query:    q,
		among:    among,
		segments: segments,
		blocks:   map[int64][]byte{},
		common:   map[wordOf]bool{},
	}
	return e.run(ctx)
}

// segments returns the segments in use, oldest first.
func (x *Index) segments(ctx context.Context) ([]*segment, error) {
	list, err := x.store.Segments(ctx)
	if err != nil {
		return nil, err
	}
	if err := x.lock.Acquire(ctx); err != nil {
		return nil, err
	}
	defer x.lock.Release()
	if slices.EqualFunc(list, x.open, func(a store.Segment, b *segment) bool {
		return a.ID == b.id &&
			a.Token == b.token
	}) {
		return x.open, nil
	}
	open := make([]*segment, len(list))
	known := map[int64]*segment{}
	for _, s := range x.open {
		known[s.id] = s
	}
	var missing []int64
	for i, s := range list {
		if old := known[s.ID]; old != nil && old.token == s.Token {
			fresh := *old // its dead may change
			open[i] = &fresh
		} else {
			open[i] = &segment{id: s.ID, token: s.Token}
			known[s.ID] = open[i]
			missing = append(missing, s.ID)
		}
	}
	err = x.store.SegmentHeads(ctx, missing, func(id int64, head []byte) error {
		hashes, firsts, err := decodeHead(head)
		known[id].numbers, known[id].firsts = x.numbers.Of(hashes...), firsts
		known[id].common, _ = markOf(firsts)
		return err
	})
	if err != nil {
		return nil, err
	}
	markDead(open)
	x.open = open
	return open, nil
}

// markDead marks the documents that a newer segment has too.
func markDead(list []*segment) {
	var seen search.NumberSet
	for _, s := range slices.Backward(list) {
		s.dead = nil
		for i, number := range s.numbers {
			if seen.Has(number) {
				if s.dead == nil {
					s.dead = newSet(len(s.numbers))
				}
				s.dead.add(i)
			}
			seen.Add(number)
		}
	}
}
