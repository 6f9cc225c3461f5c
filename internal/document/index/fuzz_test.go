package index

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"pregon/internal/search"
)

// FuzzEntries: blocks and values that are not ours are errors, and never panic.
func FuzzEntries(f *testing.F) {
	for _, block := range Build(strings.Repeat("a", 64), []string{"uno dos uno", "tres"}).Blocks {
		f.Add(block)
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		in := entries{block: block}
		for in.next() {
			s := newSet(10)
			_ = addDocuments(s, in.value, 10)
			p := newPositions(in.value, 0)
			for p.advance() {
				p.decode(nil)
			}
		}
		hashes, firsts, err := decodeHead(block)
		if err == nil {
			again := make([][]byte, len(firsts))
			for i, first := range firsts {
				again[i] = []byte(first)
			}
			if h, f, err := decodeHead(encodeHead(hashes, again)); err != nil || !slices.Equal(h, hashes) || !slices.Equal(f, firsts) {
				t.Errorf("got %v, %v, %v, want the head again", h, f, err)
			}
		}
	})
}

// FuzzDocuments: lists of documents are the same after encoding and decoding.
func FuzzDocuments(f *testing.F) {
	f.Add([]byte{1, 0, 5}, 100)
	f.Add(bytes.Repeat([]byte{0}, 50), 50)
	f.Fuzz(func(t *testing.T, gaps []byte, documents int) {
		documents = max(1, min(documents, 10_000))
		var list []uint32
		next := 0
		for _, gap := range gaps {
			if next += int(gap); next >= documents {
				break
			}
			list = append(list, uint32(next))
			next++
		}
		value := appendDocuments(nil, list, documents)
		var got []uint32
		if err := readDocuments(value, documents, func(n int) { got = append(got, uint32(n)) }); err != nil || !slices.Equal(got, list) {
			t.Errorf("got %v, %v, want %v", got, err, list)
		}
		s := newSet(documents)
		if err := addDocuments(s, value, documents); err != nil {
			t.Fatal(err)
		}
		got = nil
		s.each(func(n int) { got = append(got, uint32(n)) })
		if !slices.Equal(got, list) {
			t.Errorf("got the set %v, want %v", got, list)
		}
	})
}

// TestDamagedMerge: merging damaged blocks fails and does not panic.
func TestDamagedMerge(t *testing.T) {
	good := Build(strings.Repeat("a", 64), []string{"uno dos uno tres"})
	for at := range good.Blocks[0] {
		for _, change := range []byte{1, 0x80, 0xff} {
			damaged := good
			damaged.Blocks = [][]byte{bytes.Clone(good.Blocks[0])}
			damaged.Blocks[0][at] ^= change
			var inputs []*input
			for range 2 {
				in, err := inMemory(damaged)
				if err != nil {
					t.Fatal(err)
				}
				in.hashes = []search.Hash{{byte(len(inputs))}}
				inputs = append(inputs, in)
			}
			_, _, _ = merge(context.Background(), inputs, func([][]byte) error { return nil })
		}
	}
}
