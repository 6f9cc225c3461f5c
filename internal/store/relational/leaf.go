package relational

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// hashAtOnce is the number of changes that AddLeaves hashes in one transaction. Other
// writers wait only while it writes, not while it hashes.
const hashAtOnce = 2000

func (b *Base) LeafHashes(ctx context.Context, after int64, fn func(tlog.Hash) error) error {
	var seq int64
	var hashes []byte
	last := after // seq of the last hash that was passed on
	err := Each(ctx, b, []any{&seq, &hashes}, func() error {
		all, err := store.SplitHashes(seq, hashes)
		if err != nil {
			return err
		}
		first := seq - int64(len(all)) + 1
		if first > last+1 || first <= last && last > after {
			return fmt.Errorf("the hashes of the log after change %d are missing: run pregon verify --repair: %w", last, store.ErrDamaged)
		}
		for _, hash := range all[last+1-first:] {
			if err := fn(hash); err != nil {
				return err
			}
		}
		last = seq
		return nil
	}, `SELECT seq, hashes FROM leaf WHERE seq > $1 ORDER BY seq`, after)
	if err != nil {
		return b.Failed("reading the hashes of the log", err)
	}
	return nil
}

func (b *Base) Leaves(ctx context.Context, after int64, limit int) (leaves []disclosure.Leaf, err error) {
	defer b.fail("reading the log", &err)
	err = eachRow(ctx, b, func(r store.Row) error {
		leaves = append(leaves, r.Leaf())
		return nil
	}, `seq > $1 ORDER BY seq LIMIT $2`, after, limit)
	return leaves, err
}

// AddLeaves hashes outside of the transaction, and writes the hashes unless another
// process has written them meanwhile.
func (b *Base) AddLeaves(ctx context.Context) (added int, err error) {
	defer b.fail("hashing the log", &err)
	var leaves int64
	if _, err := One(ctx, b, []any{&leaves}, `SELECT leaves FROM log_head`); err != nil {
		return 0, err
	}
	var hashes []tlog.Hash
	err = eachRow(ctx, b, func(r store.Row) error {
		if next := leaves + int64(len(hashes)) + 1; r.Seq != next {
			return fmt.Errorf("change %d is missing in the log: %w", next, store.ErrDamaged)
		}
		hashes = append(hashes, r.Leaf().Hash())
		return nil
	}, `seq > $1 ORDER BY seq LIMIT $2`, leaves, hashAtOnce)
	if err != nil || len(hashes) == 0 {
		return 0, err
	}
	err = b.update(ctx, "hashing the log", func(tx Tx) error {
		h, err := b.lockLog(ctx, tx)
		if err != nil {
			return err
		}
		if h.leaves != leaves {
			return errUnchanged
		}
		last := leaves + int64(len(hashes))
		writeLeaves(ctx, tx, last, hashes)
		tx.Exec(ctx, `UPDATE log_head SET leaves = $1`, last)
		return nil
	})
	return len(hashes), err
}

// writeLeaves adds the hashes of successive changes, the last of which has this seq.
func writeLeaves(ctx context.Context, tx Tx, last int64, hashes []tlog.Hash) {
	tx.Exec(ctx, `INSERT INTO leaf (seq, hashes) VALUES ($1, $2)`, last, store.JoinHashes(hashes))
}
