package relational

import (
	"context"
	"math/rand/v2"
	"time"

	"pregon/internal/fault"
	"pregon/internal/store"
)

// The states of a segment.
const (
	written  = 0 // its blocks are being written
	used     = 1
	replaced = 2
)

const (
	// ReplacedTime is how long the blocks of a replaced segment remain. Searches and
	// merges that began before may read them.
	ReplacedTime = time.Minute
	// abandonedTime is how long a segment remains that nobody writes to.
	abandonedTime = time.Hour
	// sweptAtOnce is the number of blocks that are removed at once.
	sweptAtOnce = 1000
)

// putSegment adds a segment that is used at once.
func putSegment(ctx context.Context, tx Tx, s *store.Segment) error {
	id := int64(0)
	_, err := One(ctx, tx, []any{&id}, `INSERT INTO word_segment (state, token, documents, head) VALUES ($1, $2, $3, $4) RETURNING id`,
		used, rand.Int64(), s.Documents, NotNull(s.Head))
	if err == nil {
		putBlocks(ctx, tx, id, 0, s.Blocks)
	}
	return err
}

func putBlocks(ctx context.Context, tx Tx, segment int64, from int, blocks [][]byte) {
	for n, block := range blocks {
		tx.Exec(ctx, `INSERT INTO word_block (id, body) VALUES ($1, $2)`, store.BlockID(segment, from+n),
			NotNull(block))
	}
}

func (b *Base) Segments(ctx context.Context) (list []store.Segment, err error) {
	defer b.fail("listing the segments of the index of documents", &err)
	var s store.Segment
	err = Each(ctx, b, []any{&s.ID, &s.Token, &s.Documents}, func() error { list = append(list, s); return nil },
		`SELECT id, token, documents FROM word_segment WHERE state = $1 ORDER BY COALESCE(newest, id)`, used)
	return list, err
}

func (b *Base) SegmentHeads(ctx context.Context, segments []int64, fn func(id int64, head []byte) error) (err error) {
	defer b.fail("reading heads of the index of documents", &err)
	return b.byID(ctx, `SELECT id, head FROM word_segment WHERE id `+b.SQL.In(`$1`), segments, fn)
}

func (b *Base) Blocks(ctx context.Context, ids []int64, fn func(id int64, block []byte)) (err error) {
	defer b.fail("reading the index of documents", &err)
	each := func(id int64, block []byte) error {
		fn(id, block)
		return nil
	}
	return b.byID(ctx, `SELECT id, body FROM word_block WHERE id `+b.SQL.In(`$1`), ids, each)
}

// byID passes the rows with some ids to fn, and fails if one is missing.
func (b *Base) byID(ctx context.Context, statement string, ids []int64, fn func(id int64, bytes []byte) error) error {
	if len(ids) == 0 {
		return nil
	}
	var (
		found int
		id    int64
		bytes []byte
	)
	err := Each(ctx, b, []any{&id, &bytes}, func() error {
		found++
		got := bytes
		bytes = nil
		return fn(id, got)
	}, statement, ids)
	if err == nil && found < len(ids) {
		err = fault.New(fault.NotFound, "%d of %d rows of the index of documents do not exist", len(ids)-found,
			len(ids))
	}
	return err
}

func (b *Base) NewSegment(ctx context.Context) (id int64, err error) {
	err = b.update(ctx, "adding to the index of documents", func(tx Tx) error {
		_, err := One(ctx, tx, []any{&id},
			`INSERT INTO word_segment (state, token, changed_at) VALUES ($1, $2, `+b.SQL.Now+`) RETURNING id`,
			written, rand.Int64())
		return err
	})
	return id, err
}

func (b *Base) PutBlocks(ctx context.Context, segment int64, from int, blocks [][]byte) error {
	return b.update(ctx, "adding to the index of documents", func(tx Tx) error {
		err := change(ctx, tx, []int64{segment},
			`UPDATE word_segment SET changed_at = `+b.SQL.Now+`
			WHERE id `+b.SQL.In(`$1`)+` AND state = $2 RETURNING id`, written)
		if err == nil {
			putBlocks(ctx, tx, segment, from, blocks)
		}
		return err
	})
}

func (b *Base) UseSegment(ctx context.Context, s store.Segment, in store.Replaced) error {
	return b.update(ctx, "replacing a part of the index of documents", func(tx Tx) error {
		var newest *int64 // nil: it is the newest
		if len(in.Segments) > 0 {
			_, err := One(ctx, tx, []any{&newest},
				`SELECT max(COALESCE(newest, id)) FROM word_segment WHERE id `+b.SQL.In(`$1`), in.Segments)
			if err != nil {
				return err
			}
		}
		if err := change(ctx, tx, in.Segments,
			`UPDATE word_segment SET state = $3, changed_at = `+b.SQL.Now+`
			WHERE id `+b.SQL.In(`$1`)+` AND state = $2 RETURNING id`, used, replaced); err != nil {
			return err
		}
		if err := change(ctx, tx, in.Unindexed,
			`UPDATE document SET indexed = true WHERE sha256 `+b.SQL.In(`$1`)+
				` AND NOT indexed RETURNING sha256`); err != nil {
			return err
		}
		return change(ctx, tx, []int64{s.ID},
			`UPDATE word_segment SET state = $3, newest = $4, documents = $5, head = $6
			WHERE id `+b.SQL.In(`$1`)+` AND state = $2 RETURNING id`,
			written, used, newest, s.Documents, NotNull(s.Head))
	})
}

func (b *Base) DropSegment(ctx context.Context, segment int64) (err error) {
	defer b.fail("removing a part of the index of documents", &err)
	return b.Exec(ctx, `UPDATE word_segment SET state = $2, changed_at = `+b.SQL.Now+`
		WHERE id = $1 AND state = $3`, segment, replaced, written)
}

// change runs a statement that changes the rows with some ids, the parameter $1, and
// returns them. It fails, Conflict, unless it changes all of them.
func change[T any](ctx context.Context, tx Tx, ids []T, statement string, args ...any) error {
	if len(ids) == 0 {
		return nil
	}
	changed, err := Column[T](ctx, tx, statement, append([]any{ids}, args...)...)
	if err == nil && len(changed) != len(ids) {
		err = fault.New(fault.Conflict, "a part of the index of documents was changed by another process")
	}
	return err
}

// SweepSegments removes several segments in one transaction, since there may be
// thousands of small ones.
func (b *Base) SweepSegments(ctx context.Context) (more bool, err error) {
	defer b.fail("removing parts of the index of documents", &err)
	old := `(state = $1 AND changed_at < ` + b.SQL.Now + ` - CAST($2 AS interval)
		OR state = $3 AND changed_at < ` + b.SQL.Now + ` - CAST($4 AS interval))`
	found, err := One(ctx, b, []any{new(int64)}, `SELECT id FROM word_segment WHERE `+old+` LIMIT 1`, replaced,
		ReplacedTime, written, abandonedTime)
	if err != nil || !found {
		return false, err // without a transaction, which would wait for writers
	}
	return true, b.Update(ctx, func(tx Tx) error {
		segments, err := Column[int64](ctx, tx, `SELECT id FROM word_segment WHERE `+old+`
			ORDER BY id LIMIT $5 `+b.SQL.Lock(`FOR UPDATE SKIP LOCKED`),
			replaced, ReplacedTime, written, abandonedTime, sweptAtOnce)
		if err != nil {
			return err
		}
		left := sweptAtOnce
		for _, segment := range segments {
			// A process that was suspended may still write to the segment, or begin to use it:
			// both fail from now on, since some of its blocks are missing.
			tx.Exec(ctx, `UPDATE word_segment SET state = $2 WHERE id = $1 AND state <> $2`, segment, replaced)
			blocks, err := Column[int64](ctx, tx, `DELETE FROM word_block WHERE id IN
				(SELECT id FROM word_block WHERE id >= $1 AND id < $2 LIMIT $3) RETURNING id`,
				store.BlockID(segment, 0), store.BlockID(segment+1, 0), left)
			if left -= len(blocks); err != nil || left == 0 {
				return err
			}
			tx.Exec(ctx, `DELETE FROM word_segment WHERE id = $1`, segment)
		}
		return nil
	})
}

func (b *Base) Unindexed(ctx context.Context, limit int) (list []string, err error) {
	defer b.fail("listing documents without an index", &err)
	return Column[string](ctx, b, `SELECT sha256 FROM `+b.Documents+` WHERE NOT indexed LIMIT $1`, limit)
}
