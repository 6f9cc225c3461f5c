package index_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"pregon/internal/document/index"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// countingStore counts what a search or a merge does at once, and in all.
type countingStore struct {
	store.Store
	merged  int // most segments that were replaced at once
	written int // most bytes of blocks that were written at once
	read    int // ids of blocks that were read
}

func (s *countingStore) UseSegment(ctx context.Context, segment store.Segment, in store.Replaced) error {
	s.merged = max(s.merged, len(in.Segments))
	return s.Store.UseSegment(ctx, segment, in)
}

func (s *countingStore) PutBlocks(ctx context.Context, segment int64, from int, blocks [][]byte) error {
	size := 0
	for _, block := range blocks {
		size += len(block)
	}
	s.written = max(s.written, size)
	return s.Store.PutBlocks(ctx, segment, from, blocks)
}

func (s *countingStore) Blocks(ctx context.Context, ids []int64, fn func(id int64, block []byte)) error {
	s.read += len(ids)
	return s.Store.Blocks(ctx, ids, fn)
}

// TestManySegments: many segments that no process merged are merged some at a time,
// and a search reads each block once.
func TestManySegments(t *testing.T) {
	w, _ := onFile(t)
	counts := &countingStore{Store: w.db}
	w.index = index.New(counts, &w.numbers)
	w.keeper = &index.Keeper{Store: counts, Holder: "test", Logger: slog.New(slog.DiscardHandler)}
	const segments = 600
	for n := range segments {
		w.put(fmt.Sprint(n%500), fmt.Sprintf("uno dos n%d", n)) // some again
	}
	query := index.Query{
		All:  [][]index.Phrase{{phrase("uno")}, {phrase("dos")}, {{Words: []string{"n1"}, Prefix: true}}},
		None: []index.Phrase{phrase("n150")},
	}
	if _, err := w.index.Find(t.Context(), query); err != nil {
		t.Fatal(err)
	}
	if counts.read != segments {
		t.Errorf("a search in %d segments of one block read %d blocks", segments, counts.read)
	}
	w.check(query)
	w.maintain()
	if counts.merged > 64 {
		t.Errorf("%d segments were merged at once, want 64 at most", counts.merged)
	}
	w.check(query)
	w.check(all(phrase("dos", "n77")))
	w.check(all(phrase("dos", "n577")))
	list, err := w.db.Segments(t.Context())
	if err != nil || len(list) > 16 {
		t.Errorf("%d segments, %v, want few", len(list), err)
	}
}

// TestLargeBlocks: large blocks are not written together, as other writers wait.
func TestLargeBlocks(t *testing.T) {
	w, _ := onFile(t)
	counts := &countingStore{Store: w.db}
	w.keeper = &index.Keeper{Store: counts, Holder: "test", Logger: slog.New(slog.DiscardHandler)}
	for n := range 8 {
		w.put(fmt.Sprint(n), strings.Repeat("a b c d e f g h i j ", 10_000)+fmt.Sprint(n))
	}
	w.maintain()
	if most := 512 << 10; counts.written == 0 || counts.written > most {
		t.Errorf("%d bytes were written at once, want some, and %d at most", counts.written, most)
	}
	w.check(all(phrase("i", "j", "7")))
}

// TestMissingBlocks: the failure is not that of the client.
func TestMissingBlocks(t *testing.T) {
	w, raw := onFile(t)
	w.put("a", "uno dos")
	if _, err := raw.Exec("DELETE FROM word_block"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.index.Find(t.Context(), all(phrase("uno"))); err == nil || fault.KindOf(err) == fault.NotFound {
		t.Errorf("Find = %v, want an error that is not %v", err, fault.NotFound)
	}
}
