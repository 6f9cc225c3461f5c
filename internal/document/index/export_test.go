package index

import (
	"context"
)

// inMemoryOutput is a segment that is written to memory.
type inMemoryOutput struct{ blocks [][]byte }

func (o *inMemoryOutput) put(_ context.Context, blocks [][]byte) error {
	o.blocks = append(o.blocks, blocks...)
	return nil
}

func (o *inMemoryOutput) get(_ context.Context, numbers []int) (map[int][]byte, error) {
	out := map[int][]byte{}
	for _, n := range numbers {
		out[n] = o.blocks[n]
	}
	return out, nil
}

// Step does the next piece of work, and reports whether there was any.
func (k *Keeper) Step(ctx context.Context) (bool, error) { return k.step(ctx) }

// IsMarked reports whether the segment with a head has a mark.
func IsMarked(head []byte) bool {
	_, firsts, _ := decodeHead(head)
	_, ok := markOf(firsts)
	return ok
}

// WithoutPairs returns the head that a segment had if its mark and the blocks with
// pairs were removed, and the number of blocks that it still has.
func WithoutPairs(head []byte) ([]byte, int) {
	hashes, all, _ := decodeHead(head)
	var firsts [][]byte
	for _, first := range all {
		if first[0] != markKind && !isPair([]byte(first)) {
			firsts = append(firsts, []byte(first))
		}
	}
	return encodeHead(hashes, firsts), len(firsts)
}
