package search_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/search/segment"
)

// large returns the record of one of a few large reports, eight to a piece of
// memory.
func large(state string, n int64) []byte {
	return []byte(fmt.Sprintf("oir-%d %s ", n, state) + strings.Repeat(state[:1], 125_000))
}

func applyLarge(w *search.Writer, state string, from, to int64) {
	var docs []segment.Doc
	for n := from; n <= to; n++ {
		r := plain(n, int(n%24), "", state+" junta general")
		docs = append(docs, w.Doc(&r, large(state, n)))
	}
	w.Apply(docs, nil)
}

func lives(x *search.Index) (pieces []bool) {
	for _, p := range x.Pieces() {
		pieces = append(pieces, p != nil)
	}
	return pieces
}

// A piece of memory all of whose strings were replaced is not in later indexes.
// Older indexes, and searches that read the words of replaced reports, still have it.
func TestMemoryIsReleased(t *testing.T) {
	w := search.NewWriter(&search.Numbers{}, nil)
	applyLarge(w, "antes", 1, 40)
	old := w.Index()
	if diff := cmp.Diff([]bool{true, true, true, true, true}, lives(old)); diff != "" {
		t.Fatal(diff)
	}
	applyLarge(w, "luego", 1, 7)
	if pieces := lives(w.Index()); !pieces[0] {
		t.Fatal("a piece of memory that is still needed was released")
	}
	applyLarge(w, "luego", 8, 9)
	now := w.Index()
	if diff := cmp.Diff([]bool{false, true, true, true, true, true, true}, lives(now)); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff([]bool{true, true, true, true, true}, lives(old)); diff != "" {
		t.Errorf("an old index lost its memory: %s", diff)
	}
	sizes, gone := now.Segments()
	if len(sizes) < 2 || gone[0] != 9 {
		t.Fatalf("segments of %v with %v gone, which does not test the release", sizes, gone)
	}
	for state, index := range map[string]*search.Index{"antes": old, "luego": now} {
		for n := int64(1); n <= 40; n++ {
			want := large(state, n)
			if state == "luego" && n > 9 {
				want = large("antes", n)
			}
			if d := index.Find(search.KeyOf(disclosure.OIR, n)); index.Record(d) != string(want) {
				t.Errorf("the record of oir-%d in the index %q differs", n, state)
			}
		}
	}
	for text, want := range map[string][2]int{`"antes junta"`: {40, 31}, `-"antes junta"`: {0, 9}, `"luego junta general"`: {0, 9}, `-"luego junta" -"junta antes"`: {40, 31}, "antes": {40, 31}} {
		for i, index := range []*search.Index{old, now} {
			if total, _ := find(index, disclosure.Filter{Search: text}, 0, 1); total != want[i] {
				t.Errorf("%s finds %d in index %d, want %d", text, total, i, want[i])
			}
		}
	}
}

// The writer and the newest index do not retain unused memory: it is collected once
// old indexes are dropped and segments merged.
func TestMemoryIsCollected(t *testing.T) {
	w := search.NewWriter(&search.Numbers{}, nil)
	applyLarge(w, "antes", 1, 30)
	var old []weak.Pointer[byte]
	for _, p := range w.Index().Pieces()[:3] { // the last one is being filled
		old = append(old, weak.Make(p))
	}
	for _, state := range []string{"luego", "ahora"} {
		applyLarge(w, state, 1, 30)
	}
	runtime.GC()
	if slices.ContainsFunc(old, func(p weak.Pointer[byte]) bool { return p.Value() != nil }) {
		t.Error("the memory of replaced states is still in use")
	}
	if total, _ := find(w.Index(), disclosure.Filter{Search: `"ahora junta"`}, 0, 1); total != 30 {
		t.Errorf("%d reports are left, want 30", total)
	}
}

// Repeated changes of one report do not increase the memory in use.
func TestMemoryOfManyUpdates(t *testing.T) {
	w := search.NewWriter(&search.Numbers{}, nil)
	applyLarge(w, "antes", 1, 3)
	for n := range 200 {
		applyLarge(w, fmt.Sprintf("estado%d", n), 2, 2)
	}
	held := 0
	for _, live := range lives(w.Index()) {
		if live {
			held++
		}
	}
	if held > 3 {
		t.Errorf("three reports take %d pieces of memory", held)
	}
}
