package transparency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/fault/outage"
	"pregon/internal/proof"
	"pregon/internal/retry"
	"pregon/internal/store"
)

const (
	idle         = 30 * time.Second // after which the head is read even if nothing was appended
	firstRetry   = 100 * time.Millisecond
	longestRetry = 5 * time.Second
)

// Run keeps the tree up to date until the context ends.
func (p *Publisher) Run(ctx context.Context) error {
	failures := outage.Log{Logger: p.o.Logger}
	for tries := 0; ; {
		err := p.follow(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			failures.Recovered("the transparency log follows the log again")
			tries = 0
			continue
		}
		// The catalogue logs that the store does not answer.
		if fault.KindOf(err) != fault.Unavailable || errors.Is(err, store.ErrDamaged) {
			failures.Failed("the transparency log cannot follow the log: its last checkpoint stays published",
				"err", err)
		}
		tries++
		if err := retry.Sleep(ctx, retry.Backoff(tries, firstRetry, longestRetry)); err != nil {
			return err
		}
	}
}

// follow brings the tree up to date and waits for the next change.
func (p *Publisher) follow(ctx context.Context) error {
	if len(p.o.Keys.List()) == 0 {
		if err := p.o.Keys.LoadOrCreate(ctx); err != nil {
			return err
		}
	}
	if err := p.Update(ctx); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, idle)
	defer cancel()
	err := p.o.Log.Wait(waiting, p.Size())
	if waiting.Err() != nil {
		return ctx.Err()
	}
	return err
}

// errDiffers means that the log no longer has the last leaf of the tree.
var errDiffers = errors.New("the log is not the one that the tree was built from")

// Update brings the tree up to date with the log.
func (p *Publisher) Update(ctx context.Context) error {
	for {
		head, err := p.o.Log.Head(ctx)
		if err != nil {
			return err
		}
		p.mu.RLock()
		same, size := p.epoch == head.Epoch, p.tree.Size()
		p.mu.RUnlock()
		if same {
			err = p.extend(ctx, head.Epoch)
		}
		if !same || errors.Is(err, errDiffers) {
			err = p.rebuild(ctx, head)
		}
		if err != nil {
			return err
		}
		// Changes of a program that does not write hashes are hashed here.
		if p.Size() >= head.Seq {
			return nil
		}
		added, err := p.o.Log.AddLeaves(ctx)
		if err != nil {
			return err
		}
		if added == 0 && p.Size() == size && same {
			return fmt.Errorf("the log has %d changes and the hashes of only %d", head.Seq, size)
		}
	}
}

// extend reads the leaves after the last one, and that one again: after a restored
// copy the log may have another.
func (p *Publisher) extend(ctx context.Context, epoch string) error {
	size := p.Size()
	var fresh []tlog.Hash
	err := p.o.Log.LeafHashes(ctx, max(size-1, 0), func(h tlog.Hash) error {
		fresh = append(fresh, h)
		return nil
	})
	if err == nil {
		err = p.stillOf(ctx, epoch)
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if size > 0 {
		last, err := p.tree.ReadHashes([]int64{tlog.StoredHashIndex(0, size-1)})
		if err != nil {
			return err
		}
		switch {
		case len(fresh) == 0:
			return fmt.Errorf("the store no longer has change %d: it is behind, or an older "+
				"copy was restored", size)
		case fresh[0] != last[0]:
			return errDiffers
		}
		fresh = fresh[1:]
	}
	if len(fresh) == 0 {
		return nil
	}
	p.tree.Append(fresh...)
	if p.err != nil { // a standby that was behind at the start may have caught up
		p.err = contradiction(p.tree, p.known)
	}
	p.wake()
	return nil
}

// rebuild reads all leaves. It refuses to publish a tree that contradicts one that
// was published for the same epoch.
func (p *Publisher) rebuild(ctx context.Context, head disclosure.Head) error {
	var tree proof.Tree
	err := p.o.Log.LeafHashes(ctx, 0, func(h tlog.Hash) error {
		tree.Append(h)
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.stillOf(ctx, head.Epoch); err != nil {
		return err
	}
	var known Root
	if p.o.Known != nil {
		known = p.o.Known(ctx, head.Epoch)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.epoch == head.Epoch {
		if known = p.known; p.err == nil {
			known.Size = p.tree.Size()
			if known.Hash, err = p.tree.Root(known.Size); err != nil {
				return err
			}
		}
	}
	p.epoch = head.Epoch
	p.origin = Origin(p.o.Base, head)
	p.tree = &tree
	p.known = known
	p.signed, p.err = nil, contradiction(&tree, known)
	if p.err != nil {
		p.o.Logger.ErrorContext(ctx, "the history of the store was rewritten: no checkpoint is signed. "+
			"Compare the store with a backup; "+
			"to serve its present content anyway, run `pregon restore`, which begins a new log", "err",
			p.err, "epoch", head.Epoch)
	}
	p.wake()
	return nil
}

// stillOf fails if the log has another epoch by now: the hashes that were just read may
// be those of another history.
func (p *Publisher) stillOf(ctx context.Context, epoch string) error {
	now, err := p.o.Log.Head(ctx)
	if err == nil && now.Epoch != epoch {
		err = errors.New("the epoch of the log was renewed while its hashes were read")
	}
	return err
}

// contradiction returns an error if a tree does not continue a published one.
func contradiction(tree *proof.Tree, known Root) error {
	if known.Size > tree.Size() {
		return fault.New(fault.Unavailable,
			"The log has %d changes, but %d were published: an older copy of the store was restored.",
			tree.Size(), known.Size)
	}
	root, err := tree.Root(known.Size)
	if err != nil {
		return err
	}
	if known.Size > 0 && root != known.Hash {
		return fault.New(fault.Unavailable, "The first %d changes of the log are not those that were "+
			"published: the history of the store was rewritten.", known.Size)
	}
	return nil
}
