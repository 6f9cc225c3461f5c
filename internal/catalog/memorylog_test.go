package catalog_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"pregon/internal/disclosure"
)

// memoryLog is a log in memory. It can be restored to an earlier state and be made
// unreadable.
type memoryLog struct {
	mu      sync.Mutex
	changes []disclosure.Change
	more    chan struct{} // closed when there is something new
	broken  bool          // Current fails half way
	head    disclosure.Head
}

func newMemoryLog() *memoryLog {
	return &memoryLog{more: make(chan struct{}), head: disclosure.Head{Cursor: disclosure.Cursor{Epoch: "first"}}}
}

// append adds changes atomically, and sets their seqs.
func (l *memoryLog) append(changes ...disclosure.Change) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range changes {
		c.Seq = int64(len(l.changes) + 1)
		if c.OccurredAt.IsZero() {
			c.OccurredAt = time.Now()
		}
		l.changes = append(l.changes, c)
	}
	close(l.more)
	l.more = make(chan struct{})
	return int64(len(l.changes))
}

// cut restores the log to its state at seq.
func (l *memoryLog) cut(seq int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes = slices.Clone(l.changes[:seq])
}

func (l *memoryLog) setBroken(broken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = broken
}

func (l *memoryLog) Current(_ context.Context, fn func(disclosure.Change) error) (disclosure.Head, error) {
	l.mu.Lock()
	changes, broken, head := l.changes, l.broken, l.end()
	l.mu.Unlock()
	last := map[string]int{}
	for i := range changes {
		last[changes[i].Subject()] = i
	}
	for n, i := range slices.Sorted(maps.Values(last)) {
		if broken && n == len(last)/2 {
			return disclosure.Head{}, errCut
		}
		if err := fn(changes[i]); err != nil {
			return disclosure.Head{}, err
		}
	}
	return head, nil
}

func (l *memoryLog) Changes(_ context.Context, after int64, limit int) ([]disclosure.Change, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := min(after, int64(len(l.changes)))
	return slices.Clone(l.changes[from:min(from+int64(limit), int64(len(l.changes)))]), nil
}

func (l *memoryLog) SealedNames(context.Context, func(sealed, name string)) error { return nil }

func (l *memoryLog) Marks(ctx context.Context, after int64, limit int) (marks []disclosure.Mark, err error) {
	changes, err := l.Changes(ctx, after, limit)
	for i := range changes {
		marks = append(marks, changes[i].Mark())
	}
	return marks, err
}

func (l *memoryLog) ChangesAt(_ context.Context, seqs ...int64) (found []disclosure.Change, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, seq := range seqs {
		if seq >= 1 && seq <= int64(len(l.changes)) {
			found = append(found, l.changes[seq-1])
		}
	}
	return found, nil
}

// end returns the head. l.mu is held.
func (l *memoryLog) end() disclosure.Head {
	head := l.head
	head.Seq = int64(len(l.changes))
	return head
}

func (l *memoryLog) Head(context.Context) (disclosure.Head, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end(), nil
}

func (l *memoryLog) RenewEpoch(_ context.Context, replaced string, lost disclosure.Mark, shared ...disclosure.Cursor) (disclosure.Head, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if there := lost.Seq > 0 && lost.Seq <= int64(len(l.changes)) && l.changes[lost.Seq-1].Mark() == lost; l.head.Epoch == replaced && !there {
		l.head = l.end().Renew(shared...)
	}
	return l.end(), nil
}

func (l *memoryLog) Wait(ctx context.Context, after int64) error {
	for {
		l.mu.Lock()
		newest, more := int64(len(l.changes)), l.more
		l.mu.Unlock()
		if newest > after {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// published is the change that a state of a report makes.
func published(r disclosure.Report) disclosure.Change {
	if err := r.Validate(); err != nil {
		panic(err)
	}
	return disclosure.Change{Event: disclosure.Published, Report: &r}
}

// listed is the change that a state of an issuer makes.
func listed(i disclosure.Issuer) disclosure.Change {
	if err := i.Validate(); err != nil {
		panic(err)
	}
	return disclosure.Change{Event: disclosure.IssuerUpdated, Issuer: &i}
}
