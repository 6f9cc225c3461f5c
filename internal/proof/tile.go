package proof

import (
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// Tiles have the height that tlog-tiles requires, and a tile holds up to TileWidth
// hashes or entries.
const (
	TileHeight = 8
	TileWidth  = 1 << TileHeight
)

// maxLevel is the highest level that a path may name.
const maxLevel = 63

// maxTilePath is more than the length of the path of any tile.
const maxTilePath = 64

// TilePath returns the path of a tile below the address of the log, such as
// tile/0/x001/234 or tile/0/000.p/7; with entries, that of the bundle of the leaves
// of a tile of level 0, such as tile/entries/000.p/7.
func TilePath(t tlog.Tile, entries bool) string {
	// tlog has the height in its paths, and data where tlog-tiles has entries.
	if entries {
		t.L = -1
	}
	path := strings.TrimPrefix(t.Path(), "tile/8/")
	if rest, ok := strings.CutPrefix(path, "data/"); ok {
		path = "entries/" + rest
	}
	return "tile/" + path
}

// ParseTilePath reads what TilePath returns, and fails for all other text.
func ParseTilePath(path string) (t tlog.Tile, entries bool, err error) {
	rest, ok := strings.CutPrefix(path, "tile/")
	if ok && len(path) <= maxTilePath {
		if bundle, is := strings.CutPrefix(rest, "entries/"); is {
			rest, entries = "data/"+bundle, true
		}
		t, err = tlog.ParseTilePath("tile/8/" + rest)
		if entries {
			t.L = 0
		}
	}
	if !ok || err != nil || t.L > maxLevel || TilePath(t, entries) != path {
		return tlog.Tile{}, false, fmt.Errorf("%.64q is not the path of a tile: "+
			"it must be such as tile/0/000, tile/1/x001/234.p/5 or tile/entries/000", path)
	}
	return t, entries, nil
}

// MaxEntry is the length of the longest leaf that fits into a bundle of entries.
const MaxEntry = 1<<16 - 1

// AppendEntry appends a leaf to a bundle of entries. The format has 16 bits for its
// length. No leaf is empty, so a longer one is represented by an empty entry: the
// other leaves of its bundle can still be read, and that leaf from its proof.
func AppendEntry(bundle, leaf []byte) []byte {
	if len(leaf) > MaxEntry {
		leaf = nil
	}
	return append(binary.BigEndian.AppendUint16(bundle, uint16(len(leaf))), leaf...)
}

// ParseEntries reads a bundle of n entries. An empty entry stands for a leaf that is
// longer than MaxEntry.
func ParseEntries(bundle []byte, n int) ([][]byte, error) {
	if n < 1 || n > TileWidth {
		return nil, fmt.Errorf("a bundle has 1 to %d entries, not %d", TileWidth, n)
	}
	entries := make([][]byte, n)
	for i := range entries {
		if len(bundle) < 2 {
			return nil, fmt.Errorf("the bundle ends after %d of %d entries", i, n)
		}
		length := int(binary.BigEndian.Uint16(bundle))
		if bundle = bundle[2:]; len(bundle) < length {
			return nil, fmt.Errorf("the bundle ends within entry %d of %d", i+1, n)
		}
		entries[i], bundle = bundle[:length:length], bundle[length:]
	}
	if len(bundle) > 0 {
		return nil, fmt.Errorf("the bundle has %d bytes after its %d entries", len(bundle), n)
	}
	return entries, nil
}
