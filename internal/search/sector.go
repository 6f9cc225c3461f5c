package search

import (
	_ "embed"
	"strings"
	"sync"

	"pregon/internal/text"
)

//go:embed sectors.txt
var sectorLines string

// sectorWords has the English words for a folded Spanish one.
var sectorWords = sync.OnceValue(func() map[string][]string {
	english := map[string][]string{}
	for line := range strings.Lines(sectorLines) {
		if words := strings.Fields(line); len(words) > 1 && words[0] != "#" {
			english[words[0]] = words[1:]
		}
	}
	return english
})

// inEnglish returns the English words for those of the name of a sector.
func inEnglish(sector string) (words []string) {
	for _, word := range text.Words(sector) {
		words = append(words, sectorWords()[word]...)
	}
	return words
}

// newSector returns the name of a sector. It has English words too.
func newSector(s string) name {
	n := newName(s)
	n.stems = append(n.stems, stemsOf(inEnglish(s))...)
	return n
}

// NewSectors returns names of sectors that are compared often.
func NewSectors(list []string) Names {
	out := make(Names, len(list))
	for i, s := range list {
		out[i] = newSector(s)
	}
	return out
}

// MatchSector reports whether the filter selects a sector, which is written in Spanish. The
// filter may have English words.
func (f *NameFilter) MatchSector(s string) bool {
	n := newSector(s)
	return f.match(&n)
}

// SectorLikeness is Likeness for a value that may be English.
func SectorLikeness(value, sector string) float64 {
	return max(Likeness(value, sector), Likeness(value, strings.Join(inEnglish(sector), " ")))
}
