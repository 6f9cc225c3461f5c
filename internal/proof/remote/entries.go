package remote

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/proof"
)

// checkEntries reads the entries that were not checked before, and compares each
// with its leaf of the tree.
func (c *Checker) checkEntries(ctx context.Context, t *tree) (checked int64, err error) {
	from := min(c.entries, t.of.Size)
	for at := from / proof.TileWidth * proof.TileWidth; at < t.of.Size; at += proof.TileWidth {
		end := min(at+proof.TileWidth, t.of.Size)
		hashes, err := t.leaves(at, end, func(int64) {})
		if err != nil {
			return checked, err
		}
		tile := tlog.Tile{H: proof.TileHeight, N: at / proof.TileWidth, W: int(end - at)}
		entries, err := c.Log.entries(ctx, tile)
		if fault.KindOf(err) == fault.Unauthorized {
			return checked, fmt.Errorf("%w (the entries need a key of the service in PREGON_KEY)", err)
		}
		if err != nil {
			return checked, err
		}
		for i, entry := range entries {
			if err := c.checkEntry(ctx, t, at+int64(i)+1, entry, hashes[i]); err != nil {
				return checked, err
			}
		}
		checked += end - max(at, from)
		c.progress("entries", end-from, t.of.Size-from)
	}
	c.entries = t.of.Size
	return checked, nil
}

// checkEntry compares an entry with its hash in the tree, and with its place.
func (c *Checker) checkEntry(ctx context.Context, t *tree, seq int64, entry []byte, want tlog.Hash) error {
	wrong := func(format string, args ...any) error {
		return &Mismatch{
			Kind:   Entry,
			New:    t.of,
			First:  seq,
			Last:   seq,
			Detail: fmt.Sprintf(format, args...),
		}
	}
	if len(entry) == 0 { // it is too long for a bundle
		p, err := c.Log.proof(ctx, seq)
		if err != nil {
			return err
		}
		entry = p.Leaf
	}
	leaf, err := disclosure.ParseLeaf(entry)
	switch same := tlog.RecordHash(entry) == want; {
	case err != nil && same:
		return wrong("the leaf of seq %d is not a change: %v", seq, err)
	case leaf.Seq != seq && same:
		return wrong("the leaf of seq %d is the change %d", seq, leaf.Seq)
	case leaf.Seq != seq && err == nil:
		return wrong("in the place of seq %d the server has the change %d: one was removed, added or moved",
			seq, leaf.Seq)
	case !same:
		return wrong("the server's entry of seq %d is not the one that was signed", seq)
	}
	return nil
}
