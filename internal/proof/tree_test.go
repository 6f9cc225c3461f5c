package proof_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/transparency-dev/merkle/compact"
	merkle "github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/proof"
)

func leafHash(n int64) tlog.Hash { return tlog.RecordHash(fmt.Append(nil, "leaf ", n)) }

func treeOf(n int64) *proof.Tree {
	var t proof.Tree
	for i := range n {
		t.Append(leafHash(i))
	}
	return &t
}

// stored is the storage that package tlog describes: the reference for Tree.
type stored []tlog.Hash

func (s stored) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		hashes[i] = s[index]
	}
	return hashes, nil
}

func storedOf(t *testing.T, n int64) stored {
	t.Helper()
	var s stored
	for i := range n {
		hashes, err := tlog.StoredHashesForRecordHash(i, leafHash(i), s)
		if err != nil {
			t.Fatal(err)
		}
		s = append(s, hashes...)
	}
	return s
}

// rootOf is the definition of RFC 6962, section 2.1.
func rootOf(leaves []tlog.Hash) tlog.Hash {
	switch len(leaves) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leaves[0]
	}
	k := 1
	for k*2 < len(leaves) {
		k *= 2
	}
	left, right := rootOf(leaves[:k]), rootOf(leaves[k:])
	return sha256.Sum256(slices.Concat([]byte{1}, left[:], right[:]))
}

func TestTreeOfEverySmallSize(t *testing.T) {
	const most = 70
	reference, tree := storedOf(t, most), treeOf(most)
	var leaves []tlog.Hash
	for size := range int64(most + 1) {
		root, err := tree.Root(size)
		if err != nil || root != rootOf(leaves) {
			t.Fatalf("the root of %d leaves is %v (%v), want %v", size, root, err, rootOf(leaves))
		}
		if own, err := treeOf(size).Root(size); err != nil || own != root {
			t.Fatalf("a tree of %d leaves has the root %v (%v), a larger one says %v", size, own, err, root)
		}
		for index := range size {
			checkProof(t, tree, reference, index, size)
		}
		for old := range size {
			checkConsistency(t, tree, old, size)
		}
		leaves = append(leaves, leafHash(size))
	}
}

func TestLargeTree(t *testing.T) {
	const most = 300_000
	reference, tree := storedOf(t, most), treeOf(most)
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		size := 1 + random.Int64N(most)
		checkProof(t, tree, reference, random.Int64N(size), size)
		checkConsistency(t, tree, random.Int64N(size), size)
	}
	for _, tile := range tlog.NewTiles(proof.TileHeight, 0, most) {
		got, err := tree.Tile(tile)
		want, wantErr := tlog.ReadTileData(tile, reference)
		if err != nil || wantErr != nil || !slices.Equal(got, want) {
			t.Fatalf("tile %s differs from the reference (%v, %v)", proof.TilePath(tile, false), err, wantErr)
		}
	}
}

// checkProof compares a proof with that of tlog and verifies it with tlog and with
// another implementation.
func checkProof(t *testing.T, tree *proof.Tree, reference tlog.HashReader, index, size int64) {
	t.Helper()
	root, err := tree.Root(size)
	if err != nil {
		t.Fatal(err)
	}
	path, err := tree.Prove(index, size)
	if err != nil {
		t.Fatal(err)
	}
	want, err := tlog.ProveRecord(size, index, reference)
	if err != nil || !slices.Equal(path, want) {
		t.Fatalf("the proof of %d in %d is %v, want %v (%v)", index, size, path, want, err)
	}
	if err := tlog.CheckRecord(path, size, root, index, leafHash(index)); err != nil {
		t.Fatalf("the proof of %d in %d: %v", index, size, err)
	}
	leaf := leafHash(index)
	if err := merkle.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), uint64(size), leaf[:], raw(path), root[:]); err != nil {
		t.Fatalf("the proof of %d in %d: %v", index, size, err)
	}
}

func checkConsistency(t *testing.T, tree *proof.Tree, old, size int64) {
	t.Helper()
	root, err := tree.Root(size)
	if err != nil {
		t.Fatal(err)
	}
	oldRoot, err := tree.Root(old)
	if err != nil {
		t.Fatal(err)
	}
	if old == 0 {
		return // there is nothing to prove
	}
	path, err := tlog.ProveTree(size, old, tree)
	if err != nil {
		t.Fatal(err)
	}
	if err := merkle.VerifyConsistency(rfc6962.DefaultHasher, uint64(old), uint64(size), raw(path), oldRoot[:], root[:]); err != nil {
		t.Fatalf("consistency of %d and %d: %v", old, size, err)
	}
}

func raw[T ~[]tlog.Hash](hashes T) [][]byte {
	out := make([][]byte, len(hashes))
	for i := range hashes {
		out[i] = hashes[i][:]
	}
	return out
}

func TestTreeAgreesWithCompactRange(t *testing.T) {
	tree := treeOf(5000)
	ours, err := tree.Root(5000)
	if err != nil {
		t.Fatal(err)
	}
	factory := compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}
	other := factory.NewEmptyRange(0)
	for i := range int64(5000) {
		if err := other.Append(rfc6962.DefaultHasher.HashLeaf(fmt.Append(nil, "leaf ", i)), nil); err != nil {
			t.Fatal(err)
		}
	}
	root, err := other.GetRootHash(nil)
	if err != nil || !slices.Equal(root, ours[:]) {
		t.Errorf("the root is %x, want %x (%v)", ours, root, err)
	}
}

func TestBeyondTheTree(t *testing.T) {
	tree := treeOf(300)
	tile := func(level int, n int64, width int) error {
		_, err := tree.Tile(tlog.Tile{H: proof.TileHeight, L: level, N: n, W: width})
		return err
	}
	root := func(size int64) error { _, err := tree.Root(size); return err }
	prove := func(index, size int64) error { _, err := tree.Prove(index, size); return err }
	for name, err := range map[string]error{
		"root -1": root(-1), "root 301": root(301),
		"proof -1": prove(-1, 300), "proof 300 in 300": prove(300, 300), "proof 0 in 0": prove(0, 0), "proof 0 in 301": prove(0, 301),
		"tile of 45 of 44": tile(0, 1, 45), "tile 2": tile(0, 2, 1), "full tile 1": tile(0, 1, 256),
		"tile 1 of level 1": tile(1, 1, 1), "2 hashes of level 1": tile(1, 0, 2), "level 8": tile(8, 0, 1), "level 63": tile(63, 0, 1),
		"huge tile": tile(0, 1<<62, 1), "overflow": tile(0, 1<<55, 1),
	} {
		if !errors.Is(err, proof.ErrSize) {
			t.Errorf("%s: the error is %v, want %v", name, err, proof.ErrSize)
		}
	}
	for name, err := range map[string]error{
		"level -1": tile(-1, 0, 1), "level 64": tile(64, 0, 1), "width 0": tile(0, 0, 0), "width 257": tile(0, 0, 257), "tile -1": tile(0, -1, 1),
	} {
		if err == nil || errors.Is(err, proof.ErrSize) {
			t.Errorf("%s: the error is %v, want another", name, err)
		}
	}
	for _, err := range []error{tile(0, 1, 44), tile(0, 0, 256), tile(0, 0, 7), tile(1, 0, 1)} {
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := tree.ReadHashes([]int64{tlog.StoredHashCount(300)}); !errors.Is(err, proof.ErrSize) {
		t.Errorf("a hash after the last one: %v", err)
	}
}

func BenchmarkAppend(b *testing.B) {
	var tree proof.Tree
	h := leafHash(1)
	for b.Loop() {
		tree.Append(h)
	}
}

func BenchmarkProve(b *testing.B) {
	const size = 1_000_003
	tree := treeOf(size)
	random := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		if _, err := tree.Prove(random.Int64N(size), size); err != nil {
			b.Fatal(err)
		}
	}
}
