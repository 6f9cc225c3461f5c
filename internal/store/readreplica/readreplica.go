// Package readreplica lets a process that serves clients read the log and the
// documents from a standby server of the database, so that many such processes do
// not load the primary. Everything else, such as keys, webhooks and leases, stays
// with the primary, because it must take effect at once.
package readreplica

import (
	"context"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/store"
)

// Reads are the parts of a store that a standby server has.
type Reads interface {
	Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error)
	ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)
	ChangesOf(ctx context.Context, of disclosure.Subject, id string, upTo int64, limit int) ([]disclosure.Change, error)
	AsOf(ctx context.Context, of disclosure.Subject, upTo int64, ids ...string) ([]disclosure.Change, error)
	Marks(ctx context.Context, after int64, limit int) ([]disclosure.Mark, error)
	Current(ctx context.Context, fn func(disclosure.Change) error) (disclosure.Head, error)
	LeafHashes(ctx context.Context, after int64, fn func(tlog.Hash) error) error
	Leaves(ctx context.Context, after int64, limit int) ([]disclosure.Leaf, error)
	NameOpening(ctx context.Context, sealed string) (store.SealedName, bool, error)
	SealedNames(ctx context.Context, fn func(sealed, name string)) error
	Newest(ctx context.Context) (int64, error)
	Head(ctx context.Context) (disclosure.Head, error)
	Wait(ctx context.Context, after int64) error
	Source(ctx context.Context) (string, error)
	Document(ctx context.Context, sha256 string) (store.Document, error)
	DocumentPages(ctx context.Context, sha256 ...string) (map[string][]string, error)
	Original(ctx context.Context, sha256 string) ([]byte, error)
	Segments(ctx context.Context) ([]store.Segment, error)
	SegmentHeads(ctx context.Context, segments []int64, fn func(id int64, head []byte) error) error
	Blocks(ctx context.Context, ids []int64, fn func(id int64, block []byte)) error
}

// Store is a store whose log and documents are read from a standby.
type Store struct {
	Reads
	primary
}

// primary has the methods of the primary that Reads does not replace: it is one
// level deeper, so that those of Reads are selected.
type primary struct{ store.Store }

// New returns a store on a primary and its standby. It fails, Invalid, if they are
// not copies of one log.
func New(ctx context.Context, main store.Store, standby Reads) (*Store, error) {
	s := &Store{standby, primary{main}}
	ours, err := main.Head(ctx)
	if err != nil {
		return nil, err
	}
	theirs, err := standby.Head(ctx)
	if err != nil {
		return nil, err
	}
	if ours.Epoch != theirs.Epoch && !ours.Had(theirs.Epoch) {
		return nil, fault.New(fault.Invalid,
			"--store-read is not a copy of --store: their logs have the epochs %s and %s", theirs.Epoch, ours.Epoch)
	}
	return s, nil
}

// maxLag is how long a standby may lack a change of the primary before Wait fails.
// It is shorter than the time for which callers wait, so that they notice.
const maxLag = time.Second

// Wait returns once the standby has a change with seq > after. The primary, which
// notifies at once, decides when to look; while it is unavailable the standby is
// polled. It fails, Unavailable, when the standby does not receive the change.
func (s *Store) Wait(ctx context.Context, after int64) error {
	if err := s.primary.Wait(ctx, after); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return s.Reads.Wait(ctx, after)
	}
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		newest, err := s.Newest(ctx)
		switch {
		case err != nil:
			return err
		case newest > after:
			return nil
		case time.Since(began) > maxLag:
			return fault.New(fault.Unavailable,
				"the read replica (--store-read) is behind: it does not have change %d yet", after+1)
		}
		if err := retry.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}
