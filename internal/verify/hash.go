package verify

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/proof"
	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// hashReader reads the hashes of the leaves while the log is read, a few rows at a
// time, and compares each change with its hash.
type hashReader struct {
	c      *Checker
	tx     relational.Tx
	leaves int64 // up to which the counter says that there are hashes

	tree   proof.Tree          // of the changes, up to Options.Size
	read   int64               // seq of the last leaf that was read
	ended  bool                // there are no more rows
	hashes map[int64]tlog.Hash // the last of those that were read, by seq
}

const leafPage = 100 // rows of hashes that are read at once

// check compares a row of the log with its hash. Seqs must rise.
func (h *hashReader) check(ctx context.Context, r store.Row) error {
	for h.read < r.Seq && !h.ended {
		if err := h.next(ctx); err != nil {
			return err
		}
	}
	// A hash that is missing was found by next, or is yet to be added.
	is := r.Leaf().Hash()
	if h.tree.Size() == r.Seq-1 && r.Seq <= h.c.o.Size {
		h.tree.Append(is)
	}
	if hash, ok := h.hashes[r.Seq]; ok && hash != is {
		h.differs(r, "it is not what was hashed when it was appended")
	}
	if kept := h.c.o.Kept; kept != nil && r.Seq >= 1 && r.Seq <= kept.Size() {
		hash, err := kept.ReadHashes([]int64{tlog.StoredHashIndex(0, r.Seq-1)})
		if err != nil {
			return err
		}
		if hash[0] != is {
			h.differs(r, "it is not what was published: its hash is not the one that was kept")
		}
	}
	return nil
}

func (h *hashReader) differs(r store.Row, text string) {
	h.c.broken.hashes = true
	h.c.found(Finding{Kind: LogHash, Where: rowName(r), Text: text})
}

// end compares the changes with the root that was kept, and reads the hashes that are
// left.
func (h *hashReader) end(ctx context.Context) error {
	if size := h.c.o.Size; h.tree.Size() < size {
		h.c.found(Finding{
			Kind:  LogGap,
			Where: changes(h.tree.Size()+1, size),
			Text:  "published, but missing in the log",
		})
	} else if root, err := h.tree.Root(size); err != nil {
		return err
	} else if size > 0 && root != h.c.o.Root && h.c.o.Kept == nil {
		h.c.broken.hashes = true
		h.c.found(Finding{Kind: LogHash, Where: changes(1, size), Text: "they are not what was published: one of " +
			"them differs, and without its hash it is not known which one"})
	}
	for !h.ended {
		if err := h.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// next reads the next rows of hashes.
func (h *hashReader) next(ctx context.Context) error {
	h.hashes = map[int64]tlog.Hash{}
	var seq int64
	var joined []byte
	n := 0
	err := relational.Each(ctx, h.tx, []any{&seq, &joined}, func() error {
		n++
		hashes, err := store.SplitHashes(seq, joined)
		if err != nil {
			h.lost(h.read, seq, "their hashes cannot be read")
			h.read = seq
			return nil
		}
		first := seq - int64(len(hashes)) + 1
		if first != h.read+1 {
			h.lost(min(h.read, first-1), first-1, "their hashes are missing")
		}
		for i, hash := range hashes {
			h.hashes[first+int64(i)] = hash
		}
		h.read = seq
		return nil
	}, `SELECT seq, hashes FROM leaf WHERE seq > $1 ORDER BY seq LIMIT $2`, h.read, leafPage)
	if err != nil {
		return fmt.Errorf("the hashes after change %d: %w", h.read, err)
	}
	if h.ended = n < leafPage; h.ended && h.read != h.leaves {
		h.lost(min(h.read, h.leaves), max(h.read, h.leaves),
			"the counter of the log says that another one is the last that is hashed")
	}
	return nil
}

// lost records that the hashes of the changes after one are not as they should be.
func (h *hashReader) lost(after, last int64, text string) {
	if !h.c.broken.leaves {
		h.c.broken.leaves, h.c.broken.hashed = true, after
	}
	h.c.found(Finding{Kind: LogLeaf, Where: changes(after+1, last), Text: text})
}
