package index_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"pregon/internal/document/index"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// several is the number of documents from which the keeper leaves a segment with pairs.
const several = 1088

// putSeveral stores documents that are merged to a segment with pairs, and returns it.
func (w *world) putSeveral(random *rand.Rand) store.Segment {
	w.Helper()
	for n := range several {
		w.put(fmt.Sprint(n), strings.Join(randomText(random, 12), " "))
	}
	w.maintain()
	return w.largest()
}

// largest returns the segment in use with the most documents, with its head.
func (w *world) largest() (largest store.Segment) {
	w.Helper()
	list, err := w.db.Segments(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, s := range list {
		if s.Documents > largest.Documents {
			largest = s
		}
	}
	err = w.db.SegmentHeads(w.Context(), []int64{largest.ID}, func(_ int64, head []byte) error {
		largest.Head = head
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return largest
}

// checkPhrases searches for phrases of all kinds.
func (w *world) checkPhrases(random *rand.Rand) {
	w.Helper()
	for range 10 {
		w.check(randomQuery(random))
		w.check(all(phrase(append(randomText(random, 3), "a")...)))
	}
	for _, words := range [][]string{
		{"a", "a"},
		{"a", "a", "a", "a"},
		{"a", "ab"},
		{"ab", "a", "ab"},
		{"cosas", "a"},
		{"a", "cosas", "ab"},
		{"a", "nada"},
		{"nada", "a", "a"},
		slices.Repeat([]string{"a"}, 20),
	} {
		w.check(all(phrase(words...)))
		w.check(index.Query{All: all(phrase("ab")).All, None: []index.Phrase{phrase(words...)}})
	}
}

// TestPairs: phrases are found in a segment with pairs, also while some of its documents
// were replaced, and in one that was merged from it.
func TestPairs(t *testing.T) {
	engines(t, func(w *world) {
		random := rand.New(rand.NewPCG(5, 6))
		w.put("none")
		w.put("one", "a")
		w.put("pages", "ab abc a", "ab a", "", "a", strings.Repeat("a ab ", 5000))
		s := w.putSeveral(random)
		if !index.IsMarked(s.Head) {
			t.Fatalf("the segment of %d documents has no pairs", s.Documents)
		}
		w.checkPhrases(random)
		for n := range 40 { // some of them are replaced
			w.put(fmt.Sprint(n*20), strings.Join(randomText(random, 12), " "))
		}
		w.checkPhrases(random)
		w.maintain()
		w.checkPhrases(random)
		w.checkSegments()
	})
}

// TestLongPhrase: a phrase of more words than any search has is found.
func TestLongPhrase(t *testing.T) {
	w, _ := onFile(t)
	w.put("short", strings.Repeat("a ab ", 100))
	w.put("long", strings.Repeat("a ab ", 5000))
	w.check(all(phrase(slices.Repeat([]string{"a", "ab"}, 5000)...)))
}

// checkSegments checks all segments.
func (w *world) checkSegments() {
	w.Helper()
	list, err := w.db.Segments(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, s := range list {
		err := w.db.SegmentHeads(w.Context(), []int64{s.ID}, func(_ int64, head []byte) error {
			s.Head = head
			return nil
		})
		if err == nil {
			err = index.CheckSegment(w.Context(), w.db, s)
		}
		if err != nil {
			w.Fatalf("segment %d: %v", s.ID, err)
		}
	}
}

// TestPairsReadLittle: a phrase of common words does not read the positions of the words.
func TestPairsReadLittle(t *testing.T) {
	w, _ := onFile(t)
	for n := range several {
		w.put(fmt.Sprint(n), strings.Repeat("uno x dos y ", 100)+"uno dos")
	}
	w.maintain()
	read := &sizedStore{Store: w.db}
	w.index = index.New(read, &w.numbers)
	w.check(all(phrase("uno", "dos"))) // reads the heads
	read.bytes = 0
	if _, err := w.index.Find(t.Context(), all(phrase("uno", "dos"))); err != nil {
		t.Fatal(err)
	}
	if most := 100 << 10; read.bytes > most {
		t.Errorf("a phrase of common words read %d bytes, want at most %d: its positions have 200,000", read.bytes, most)
	}
}

// sizedStore counts the bytes of blocks that are read.
type sizedStore struct {
	store.Store
	bytes int
}

func (s *sizedStore) Blocks(ctx context.Context, ids []int64, fn func(id int64, block []byte)) error {
	return s.Store.Blocks(ctx, ids, func(id int64, block []byte) {
		s.bytes += len(block)
		fn(id, block)
	})
}

// withoutPairs makes a segment one of a program from before pairs.
func (w *world) withoutPairs(raw *sql.DB, s store.Segment) {
	w.Helper()
	head, blocks := index.WithoutPairs(s.Head)
	if _, err := raw.Exec("UPDATE word_segment SET head = ? WHERE id = ?", head, s.ID); err != nil {
		w.Fatal(err)
	}
	if _, err := raw.Exec("DELETE FROM word_block WHERE id >= ? AND id < ?",
		store.BlockID(s.ID, blocks), store.BlockID(s.ID+1, 0)); err != nil {
		w.Fatal(err)
	}
	w.index = index.New(w.db, &w.numbers) // another process: a segment never changes
	w.keeper = &index.Keeper{Store: w.db, Holder: "test", Logger: slog.New(slog.DiscardHandler)}
}

// TestPairsOfEarlierPrograms: a segment without pairs is searched by positions, and is
// written again with pairs, also by two processes at once, and if one ends at any write.
func TestPairsOfEarlierPrograms(t *testing.T) {
	w, raw := onFile(t)
	random := rand.New(rand.NewPCG(7, 8))
	s := w.putSeveral(random)
	for writes := range 4 {
		w.withoutPairs(raw, s)
		w.checkPhrases(random)
		dying := &index.Keeper{
			Store:  &dyingStore{Store: w.db, left: writes},
			Holder: "test",
			Logger: slog.New(slog.DiscardHandler),
		}
		for {
			if done, err := dying.Step(t.Context()); err != nil || !done {
				break
			}
		}
		w.checkPhrases(random)
		s = w.largest()
	}
	w.withoutPairs(raw, w.largest())
	var keepers errgroup.Group
	for range 2 {
		keeper := &index.Keeper{Store: w.db, Holder: "test", Logger: slog.New(slog.DiscardHandler)}
		keepers.Go(func() error {
			for {
				done, err := keeper.Step(t.Context())
				if err != nil && fault.KindOf(err) != fault.Conflict {
					return err
				}
				if err == nil && !done {
					return nil
				}
			}
		})
	}
	if err := keepers.Wait(); err != nil {
		t.Fatal(err)
	}
	if s := w.largest(); !index.IsMarked(s.Head) || s.Documents != several {
		t.Errorf("the largest segment has %d documents, marked: %t; want %d, marked", s.Documents,
			index.IsMarked(s.Head), several)
	}
	w.checkPhrases(random)
	w.checkSegments()
	if done, err := w.keeper.Step(t.Context()); done || err != nil {
		t.Errorf("Step = %t, %v, want that nothing is left to do", done, err)
	}
}
