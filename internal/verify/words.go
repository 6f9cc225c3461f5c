package verify

import (
	"context"
	"errors"
	"fmt"

	"pregon/internal/document/index"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// checkWords checks the index of the words in documents. Heads and the list of
// documents are read in one snapshot; blocks afterwards, since a segment that was
// replaced meanwhile no longer matters.
func (c *Checker) checkWords(ctx context.Context) error {
	var segments []store.Segment
	indexed := map[search.Hash]bool{} // found in a segment
	err := c.base.Snapshot(ctx, func(tx relational.Tx) (err error) {
		if segments, err = c.readHeads(ctx, tx, indexed); err != nil {
			return err
		}
		return c.checkIndexed(ctx, tx, indexed)
	})
	if err != nil {
		return err
	}
	for i, s := range segments {
		if err := c.checkSegment(ctx, s); err != nil {
			return err
		}
		c.progress("reading the index of words", int64(i+1), int64(len(segments)))
	}
	return nil
}

// readHeads returns the segments whose head can be read, and adds their documents.
func (c *Checker) readHeads(
	ctx context.Context,
	tx relational.Tx,
	indexed map[search.Hash]bool,
) (segments []store.Segment, err error) {
	var s store.Segment
	err = relational.Each(ctx, tx, []any{&s.ID, &s.Documents, &s.Head}, func() error {
		head := s.Head
		s.Head = nil // the next row gets another slice
		documents, err := index.Documents(head)
		if err == nil && len(documents) != s.Documents {
			err = fmt.Errorf("it has %d documents, and its head %d", s.Documents, len(documents))
		}
		if err != nil {
			c.segment(s.ID, err)
			c.broken.allWords = true // its documents are not known
			return nil
		}
		for _, h := range documents {
			indexed[h] = true
		}
		segments = append(segments, store.Segment{ID: s.ID, Documents: s.Documents, Head: head})
		return nil
	}, `SELECT id, documents, head FROM word_segment WHERE state = 1 ORDER BY id`)
	return segments, err
}

func (c *Checker) segment(id int64, err error) {
	c.broken.segments = append(c.broken.segments, id)
	c.found(Finding{Kind: Segment, Where: fmt.Sprintf("segment %d", id), Text: err.Error()})
}

// checkIndexed checks that the documents that are marked as indexed are in the index.
func (c *Checker) checkIndexed(ctx context.Context, tx relational.Tx, indexed map[search.Hash]bool) error {
	var sha256 string
	return relational.Each(ctx, tx, []any{&sha256}, func() error {
		h, ok := search.ParseHash(sha256)
		if !ok || indexed[h] {
			return nil
		}
		c.broken.words[h] = true
		c.found(Finding{
			Kind:  NotFound,
			Where: "document " + sha256,
			Text:  "it is marked as indexed, and is not in the index of words",
		})
		return nil
	}, `SELECT sha256 FROM `+c.base.Documents+` WHERE indexed`)
}

// checkSegment reads the blocks of a segment.
func (c *Checker) checkSegment(ctx context.Context, s store.Segment) error {
	err := index.CheckSegment(ctx, c.db, s)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil || !errors.Is(err, index.ErrDamaged) && fault.KindOf(err) != fault.NotFound {
		return err
	}
	used, listErr := relational.Column[int64](ctx, c.base,
		`SELECT id FROM word_segment WHERE id = $1 AND state = 1`, s.ID)
	if listErr != nil || len(used) == 0 {
		return listErr // it was merged meanwhile
	}
	c.segment(s.ID, err)
	documents, err := index.Documents(s.Head)
	for _, h := range documents {
		c.broken.words[h] = true
	}
	return err
}
