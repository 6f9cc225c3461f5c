package proof

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// step is the distance of the levels that a Tree keeps. With 2, a leaf needs 43
// bytes instead of 64, and reading a hash between two kept levels computes one. The
// height of tiles is a multiple, so that their hashes are all kept.
const step = 2

// Tree is a Merkle tree in memory that grows by its leaves. The zero value is the
// empty tree. It is not safe for concurrent use: several goroutines may read it,
// but not while one appends.
type Tree struct {
	// levels holds the hashes of complete subtrees: those of level n*step, left to
	// right, in levels[n].
	levels [][]tlog.Hash
}

// ErrSize is the error of a request for more than the tree has.
var ErrSize = errors.New("the tree does not have that many leaves")

// Size returns the number of leaves.
func (t *Tree) Size() int64 {
	if len(t.levels) == 0 {
		return 0
	}
	return int64(len(t.levels[0]))
}

// Append adds leaves by their hashes, in the order of the log.
func (t *Tree) Append(hashes ...tlog.Hash) {
	for _, h := range hashes {
		t.appendAt(0, h)
	}
}

// appendAt adds a hash to a kept level and, if it completes a subtree, the hash of
// that to the next kept level.
func (t *Tree) appendAt(level int, h tlog.Hash) {
	if level == len(t.levels) {
		t.levels = append(t.levels, nil)
	}
	t.levels[level] = append(t.levels[level], h)
	if n := int64(len(t.levels[level])); n%(1<<step) == 0 {
		t.appendAt(level+1, t.hash((level+1)*step, n>>step-1))
	}
}

// hash returns the hash of the n-th complete subtree with 1<<level leaves.
func (t *Tree) hash(level int, n int64) tlog.Hash {
	if kept := level / step; level%step == 0 && kept < len(t.levels) && n < int64(len(t.levels[kept])) {
		return t.levels[kept][n]
	}
	return tlog.NodeHash(t.hash(level-1, 2*n), t.hash(level-1, 2*n+1))
}

// ReadHashes implements tlog.HashReader.
func (t *Tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		if index < 0 || index >= tlog.StoredHashCount(t.Size()) {
			return nil, fmt.Errorf("stored hash %d: %w", index, ErrSize)
		}
		hashes[i] = t.hash(tlog.SplitStoredHashIndex(index))
	}
	return hashes, nil
}

// Root returns the hash of the tree of the first size leaves.
func (t *Tree) Root(size int64) (tlog.Hash, error) {
	if err := t.holds(size); err != nil {
		return tlog.Hash{}, err
	}
	return tlog.TreeHash(size, t)
}

// Prove returns the audit path of the leaf at index in the tree of the first size
// leaves.
func (t *Tree) Prove(index, size int64) (tlog.RecordProof, error) {
	if err := t.holds(size); err != nil {
		return nil, err
	}
	if index < 0 || index >= size {
		return nil, fmt.Errorf("index %d of %d leaves: %w", index, size, ErrSize)
	}
	return tlog.ProveRecord(size, index, t)
}

// Tile returns the bytes of a tile of hashes.
func (t *Tree) Tile(tile tlog.Tile) ([]byte, error) {
	validLevel := tile.L >= 0 && tile.L <= maxLevel
	validWidth := tile.W >= 1 && tile.W <= TileWidth
	if tile.H != TileHeight || tile.N < 0 || !validLevel || !validWidth {
		return nil, fmt.Errorf("%+v is not a tile of hashes with the height %d", tile, TileHeight)
	}
	// The comparison with has>>TileHeight comes first: tile.N<<TileHeight may overflow.
	has := t.Size() >> (tile.L * TileHeight)
	if tile.N > has>>TileHeight || tile.N<<TileHeight+int64(tile.W) > has {
		return nil, fmt.Errorf("%s: %w", TilePath(tile, false), ErrSize)
	}
	return tlog.ReadTileData(tile, t)
}

func (t *Tree) holds(size int64) error {
	if size < 0 || size > t.Size() {
		return fmt.Errorf("%d leaves of %d: %w", size, t.Size(), ErrSize)
	}
	return nil
}
