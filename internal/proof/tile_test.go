package proof_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/proof"
)

func TestTilePaths(t *testing.T) {
	for path, want := range map[string]tlog.Tile{
		"tile/0/000":                                   {L: 0, N: 0, W: 256},
		"tile/0/000.p/1":                               {L: 0, N: 0, W: 1},
		"tile/1/x001/x234/067.p/255":                   {L: 1, N: 1234067, W: 255},
		"tile/63/x001/000":                             {L: 63, N: 1000, W: 256},
		"tile/entries/x001/x234/067":                   {L: 0, N: 1234067, W: 256},
		"tile/entries/000.p/112":                       {L: 0, N: 0, W: 112},
		"tile/0/x009/x223/x372/x036/x854/x775/807":     {L: 0, N: math.MaxInt64, W: 256},
		"tile/0/x009/x223/x372/x036/x854/x775/807.p/9": {L: 0, N: math.MaxInt64, W: 9},
	} {
		want.H = proof.TileHeight
		got, entries, err := proof.ParseTilePath(path)
		if err != nil || got != want || entries != strings.Contains(path, "entries") {
			t.Errorf("%s is read as %+v, entries %t (%v); want %+v", path, got, entries, err, want)
		}
		if back := proof.TilePath(want, entries); back != path {
			t.Errorf("the path of %+v is %s, want %s", want, back, path)
		}
	}
}

func TestWrongTilePaths(t *testing.T) {
	for _, path := range []string{
		"", "tile", "tile/", "tile/0", "tile/0/", "/tile/0/000", "tile/0/000/", "tile/0/0", "tile/0/00", "tile/0/0000", "tile/0/x000",
		"tile/0/x000/000", "tile/00/000", "tile/+1/000", "tile/-1/000", "tile/64/000", "tile/data/000", "tile/8/0/000", "tile/0/001/000",
		"tile/0/000.p", "tile/0/000.p/", "tile/0/000.p/0", "tile/0/000.p/01", "tile/0/000.p/256", "tile/0/000.p/-1", "tile/0/000.p/1/",
		"tile/0/x001/x000", "tile/0/../000", "tile/entries", "tile/entries/0/000", "tile/entries/entries/000", "tile/0/x１00/000",
		"tile/0/x009/x223/x372/x036/x854/x775/808", "tile/0/x999/x999/x999/x999/x999/x999/999", "tile/0/" + strings.Repeat("x001/", 1e6) + "000",
	} {
		if tile, entries, err := proof.ParseTilePath(path); err == nil {
			t.Errorf("%.80s is read as %+v, entries %t; want an error", path, tile, entries)
		} else if len(err.Error()) > 300 {
			t.Errorf("the error has %d characters", len(err.Error()))
		}
	}
}

func TestEntries(t *testing.T) {
	var bundle []byte
	leaves := [][]byte{[]byte("a"), bytes.Repeat([]byte("b"), proof.MaxEntry), bytes.Repeat([]byte("c"), proof.MaxEntry+1), []byte("d")}
	for _, leaf := range leaves {
		bundle = proof.AppendEntry(bundle, leaf)
	}
	got, err := proof.ParseEntries(bundle, 4)
	if err != nil {
		t.Fatal(err)
	}
	leaves[2] = nil // too long for a bundle
	if !slices.EqualFunc(got, leaves, bytes.Equal) {
		t.Errorf("read entries of %d, %d, %d and %d bytes", len(got[0]), len(got[1]), len(got[2]), len(got[3]))
	}
	for _, n := range []int{-1, 0, 3, 5, 257} {
		if _, err := proof.ParseEntries(bundle, n); err == nil {
			t.Errorf("the bundle of 4 is read as one of %d", n)
		}
	}
	for _, cut := range []int{0, 1, 2, 3, 4, len(bundle) - 1} {
		if _, err := proof.ParseEntries(bundle[:cut], 4); err == nil {
			t.Errorf("%d of %d bytes are read as a bundle", cut, len(bundle))
		}
	}
}

func FuzzParseTilePath(f *testing.F) {
	for _, path := range []string{"tile/0/000", "tile/1/x001/x234/067.p/255", "tile/entries/x001/067.p/9", "tile/8/0/000", "tile/data/000"} {
		f.Add(path)
	}
	tree := treeOf(700)
	f.Fuzz(func(t *testing.T, path string) {
		tile, entries, err := proof.ParseTilePath(path)
		if err != nil {
			return
		}
		if back := proof.TilePath(tile, entries); back != path {
			t.Errorf("%q is the tile %+v, whose path is %q", path, tile, back)
		}
		if data, err := tree.Tile(tile); err == nil && len(data) != tile.W*tlog.HashSize {
			t.Errorf("%s has %d bytes", path, len(data))
		}
	})
}

func FuzzParseEntries(f *testing.F) {
	f.Add([]byte("\x00\x01a\x00\x00\x00\x02bc"), 3)
	f.Add([]byte("\xff\xffa"), 1)
	f.Fuzz(func(t *testing.T, bundle []byte, n int) {
		entries, err := proof.ParseEntries(bundle, n)
		if err != nil {
			return
		}
		var back []byte
		for _, entry := range entries {
			back = proof.AppendEntry(back, entry)
		}
		if len(entries) != n || !bytes.Equal(back, bundle) {
			t.Errorf("%d entries of %x, written as %x", len(entries), bundle, back)
		}
	})
}
