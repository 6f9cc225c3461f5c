package index

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pregon/internal/search"
	"pregon/internal/text"
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
			_, _, _ = merge(context.Background(), inputs, &inMemoryOutput{})
		}
	}
}

// FuzzPairs: the pairs of documents are those that a loop finds.
func FuzzPairs(f *testing.F) {
	f.Add("a b a b,b a,,a,a a a")
	f.Add("uno dos uno,dos uno dos")
	f.Fuzz(func(t *testing.T, texts string) {
		var inputs []*input
		var pages []string
		for _, page := range strings.Split(texts, ",") {
			if len(pages) == chunkDocuments {
				break
			}
			in, err := inMemory(Build(strings.Repeat("a", 64), []string{page}))
			if err != nil {
				t.Fatal(err)
			}
			in.hashes = []search.Hash{{byte(len(pages)), byte(len(pages) >> 8)}}
			inputs = append(inputs, in)
			pages = append(pages, page)
		}
		var out inMemoryOutput
		head, documents, err := merge(t.Context(), inputs, &out)
		if err != nil {
			t.Fatal(err)
		}
		_, firsts, err := decodeHead(head)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{} // pair, document and position
		seen := map[string]bool{}
		for n, page := range pages {
			words := slices.DeleteFunc(text.Words(page), func(word string) bool { return len(word) > MaxWordBytes })
			for at, word := range words {
				seen[word] = true
				if at > 0 {
					want[fmt.Sprint(words[at-1], " ", word, " ", n, " ", at-1)] = true
				}
			}
		}
		common := slices.Sorted(maps.Keys(seen))
		if len(common) > mostCommon {
			return
		}
		finder, err := (&segment{firsts: firsts}).pairFinder(t.Context(), common, 0, &out)
		if err != nil {
			t.Fatal(err)
		}
		if err := finder.find(documents); err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for pair, found := range finder.pairs {
			for p := newPositions(found.value, 0); p.advance(); {
				for _, at := range p.decode(nil) {
					got[fmt.Sprint(common[pair>>commonBits], " ", common[pair%mostCommon], " ", p.n, " ", at)] = true
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// TestDamagedPairs: finding pairs in damaged blocks may fail, and does not panic.
func TestDamagedPairs(t *testing.T) {
	good := Build(strings.Repeat("a", 64), []string{"uno dos uno tres uno dos"})
	for at := range good.Blocks[0] {
		for _, change := range []byte{1, 0x80, 0xff} {
			damaged := inMemoryOutput{blocks: [][]byte{bytes.Clone(good.Blocks[0])}}
			damaged.blocks[0][at] ^= change
			_, firsts, err := decodeHead(good.Head)
			if err != nil {
				t.Fatal(err)
			}
			finder, err := (&segment{firsts: firsts}).pairFinder(t.Context(), []string{"dos", "tres", "uno"}, 0, &damaged)
			if err == nil {
				_ = finder.find(1)
			}
		}
	}
}

// TestCommonWords: the common words of a segment, and the memory for them, are bounded.
func TestCommonWords(t *testing.T) {
	words := func(counts map[string]int) commonWords {
		c := commonWords{documents: map[string]int{}, bytes: map[int]int{}}
		for word, n := range counts {
			c.add([]byte(word), n, pairsFrom)
		}
		return c
	}
	few := words(map[string]int{
		"de":      pairsFrom,
		"la":      pairsFrom / commonShare,
		"acuerdo": pairsFrom/commonShare - 1,
	})
	if list, least := few.list(); !slices.Equal(list, []string{"de", "la"}) || least != pairsFrom/commonShare {
		t.Errorf("got %v in %d documents at least, want de and la in %d", list, least, pairsFrom/commonShare)
	}
	few.addPositions([]byte("acuerdo"), 0, mostPositions)
	few.addPositions([]byte("de"), 0, mostPositions/2+1)
	if list, _ := few.list(); len(list) != 2 {
		t.Errorf("got %v, want two words: their positions fit", list)
	}
	few.addPositions([]byte("la"), 0, mostPositions/2+1)
	if list, least := few.list(); len(list) > 0 || least != noPairs {
		t.Errorf("got %v, %d, want none: their positions take too much memory", list, least)
	}
	counts := map[string]int{}
	for n := range mostCommon {
		counts[fmt.Sprint(n)] = pairsFrom / commonShare
	}
	counts["de"] = pairsFrom
	many := words(counts)
	if list, least := many.list(); !slices.Equal(list, []string{"de"}) || least != pairsFrom/commonShare+1 {
		t.Errorf("got %d words in %d documents at least, want the one that is in all", len(list), least)
	}
	none := words(nil)
	if list, least := none.list(); len(list) > 0 || least != noPairs {
		t.Errorf("got %v, %d, want none", list, least)
	}
}
