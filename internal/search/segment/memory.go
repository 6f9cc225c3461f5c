package segment

import (
	"slices"
	"unsafe"
)

// Memory is a few large pieces that hold many small strings. Strings are
// never overwritten while their piece is in use.
type Memory [][]byte

// place is where a string is.
type place struct{ piece, offset, length uint32 }

// At returns the string at a place.
func (m Memory) At(p place) string {
	if p.length == 0 {
		return ""
	}
	return unsafe.String(&m[p.piece][p.offset], p.length) // never written again
}

// Arena fills memory. It belongs to the writer. Indexes in use share its
// pieces, and read only the strings that were written before they were built.
type Arena struct {
	Memory
	used int   // bytes of the last piece
	live []int // bytes in use, by piece
}

const pieceSize = 1 << 20

// Add copies a string into memory.
func (a *Arena) Add(b []byte) place {
	last := len(a.Memory) - 1
	if last < 0 || len(b) > len(a.Memory[last])-a.used {
		a.Memory = append(a.Memory, make([]byte, max(pieceSize, len(b))))
		a.live = append(a.live, 0)
		a.used = 0
		last++
	}
	p := place{uint32(last), uint32(a.used), uint32(len(b))}
	a.used += copy(a.Memory[last][a.used:], b)
	a.live[last] += len(b)
	return p
}

// Free marks a string as unused by later indexes. A piece without used strings is
// not part of their memory.
func (a *Arena) Free(p place) {
	a.live[p.piece] -= int(p.length)
	if a.live[p.piece] == 0 && int(p.piece) < len(a.Memory)-1 {
		a.Memory = slices.Clone(a.Memory)
		a.Memory[p.piece] = nil
	}
}
