package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"pregon/internal/search"
	"pregon/internal/store"
)

// Documents returns the hashes of the documents of a segment with a head.
func Documents(head []byte) ([]search.Hash, error) {
	hashes, _, err := decodeHead(head)
	return hashes, err
}

// CheckSegment reads all blocks of a segment, given with its head, and decodes every
// entry. It fails with ErrDamaged, or NotFound if a block is missing.
func CheckSegment(ctx context.Context, s store.Index, segment store.Segment) error {
	hashes, firsts, err := decodeHead(segment.Head)
	if err != nil {
		return err
	}
	var last []byte
	for from := 0; from < len(firsts); from += blocksAtOnce {
		to := min(len(firsts), from+blocksAtOnce)
		blocks, err := readBlocks(ctx, s, segment.ID, from, to)
		if err != nil {
			return err
		}
		for i, block := range blocks {
			if last, err = checkBlock(block, firsts[from+i], last, len(hashes)); err != nil {
				return fmt.Errorf("block %d: %w", from+i, err)
			}
		}
	}
	return nil
}

// checkBlock checks a block of a segment with a number of documents. It returns its
// last key.
func checkBlock(block []byte, first string, last []byte, documents int) ([]byte, error) {
	in := entries{block: block}
	for n := 0; in.next(); n++ {
		if n == 0 && string(in.key) != first || bytes.Compare(in.key, last) <= 0 {
			return nil, fmt.Errorf("%w: its keys are not in order", ErrDamaged)
		}
		last = append(last[:0], in.key...)
		if err := checkValue(in.key, in.value, documents); err != nil {
			return nil, err
		}
	}
	if in.err == nil && len(block) == 0 {
		in.err = ErrDamaged
	}
	return last, in.err
}

func checkValue(key, value []byte, documents int) error {
	if key[0] != positionKind {
		return readDocuments(value, documents, func(int) {})
	}
	p := newPositions(value, int(binary.BigEndian.Uint32(key[len(key)-4:])))
	for p.advance() {
		if p.n >= documents {
			return ErrDamaged
		}
		if p.decode(nil); p.err != nil {
			return p.err
		}
	}
	return p.err
}
