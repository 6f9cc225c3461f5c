package remote

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/errgroup"

	"pregon/internal/fault"
	"pregon/internal/proof"
)

const (
	concurrent  = 8    // requests at once
	tilesAtOnce = 64   // tiles that are verified together
	maxKept     = 1024 // tiles of leaves that are kept for reading again: 8 MB
)

// MaxLeaves is the size of the largest log whose hashes are read: 2 GB of them.
const MaxLeaves = 1 << 26

// tree is the tree of a checkpoint, as a server has it. Its hashes are verified
// against the root of the checkpoint.
type tree struct {
	ctx   context.Context // package tlog passes none
	log   *Log
	of    proof.Checkpoint
	kept  map[tlog.Tile][]byte // verified
	tiles tlog.HashReader
}

func (l *Log) tree(ctx context.Context, c proof.Checkpoint) *tree {
	t := &tree{
		ctx:  ctx,
		log:  l,
		of:   c,
		kept: map[tlog.Tile][]byte{},
	}
	t.tiles = tlog.TileHashReader(tlog.Tree{N: c.Size, Hash: c.Root}, t)
	return t
}

// root returns the root of the first size leaves.
func (t *tree) root(size int64) (tlog.Hash, error) {
	if size == 0 {
		return tlog.TreeHash(0, nil)
	}
	return tlog.TreeHash(size, t)
}

// leaves returns the hashes of the leaves from one index up to another, and calls
// progress now and then.
func (t *tree) leaves(from, to int64, progress func(done int64)) ([]tlog.Hash, error) {
	if to > MaxLeaves {
		return nil, fault.New(fault.Invalid, "the log has %d changes; only the hashes of %d can be read", to,
			int64(MaxLeaves))
	}
	hashes := make([]tlog.Hash, 0, to-from)
	for from < to {
		// Whole tiles, so that none is read twice.
		end := min(to, (from/proof.TileWidth+tilesAtOnce)*proof.TileWidth)
		indexes := make([]int64, 0, end-from)
		for ; from < end; from++ {
			indexes = append(indexes, tlog.StoredHashIndex(0, from))
		}
		part, err := t.ReadHashes(indexes)
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, part...)
		progress(from)
	}
	return hashes, nil
}

// ReadHashes implements tlog.HashReader. Its error is a *Mismatch if the tiles of
// the server do not lead to the root.
func (t *tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes, err := t.tiles.ReadHashes(indexes)
	switch err.(type) {
	case nil, *Mismatch, *fault.Error:
		return hashes, err
	}
	if t.ctx.Err() != nil {
		return nil, t.ctx.Err()
	}
	return nil, &Mismatch{Kind: Tiles, New: t.of, Detail: fmt.Sprint("tiles do not lead to its root: ", err)}
}

// Height implements tlog.TileReader.
func (t *tree) Height() int { return proof.TileHeight }

// ReadTiles implements tlog.TileReader.
func (t *tree) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	group, ctx := errgroup.WithContext(t.ctx)
	group.SetLimit(concurrent)
	for i, tile := range tiles {
		if data[i] = t.kept[tile]; data[i] != nil {
			continue
		}
		group.Go(func() (err error) {
			data[i], err = t.log.hashes(ctx, tile)
			return err
		})
	}
	return data, group.Wait()
}

// SaveTiles implements tlog.TileReader.
func (t *tree) SaveTiles(tiles []tlog.Tile, data [][]byte) {
	for i, tile := range tiles {
		if tile.L > 0 || len(t.kept) < maxKept {
			t.kept[tile] = data[i]
		}
	}
}
