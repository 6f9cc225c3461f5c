package search

import (
	"slices"
	"unsafe"
)

// memory is a few large pieces that hold many small strings. What is written
// stays as it is until nobody needs its piece any more.
type memory [][]byte

// place is where a string is.
type place struct{ piece, offset, length uint32 }

// at returns the string at a place.
func (m memory) at(p place) string {
	if p.length == 0 {
		return ""
	}
	return unsafe.String(&m[p.piece][p.offset], p.length) // never written again
}

// arena fills memory. It belongs to the writer. Indexes in use share its
// pieces, and look only at what was written before they were made.
type arena struct {
	memory
	used int   // bytes of the last piece
	live []int // bytes in use, by piece
}

const pieceSize = 1 << 20

// keep copies a string into memory.
func (a *arena) keep(b []byte) place {
	last := len(a.memory) - 1
	if last < 0 || len(b) > len(a.memory[last])-a.used {
		a.memory = append(a.memory, make([]byte, max(pieceSize, len(b))))
		a.live = append(a.live, 0)
		a.used = 0
		last++
	}
	p := place{uint32(last), uint32(a.used), uint32(len(b))}
	a.used += copy(a.memory[last][a.used:], b)
	a.live[last] += len(b)
	return p
}

// free says that a string is no longer needed by what comes. A piece without
// any is left out of the memory of later indexes.
func (a *arena) free(p place) {
	a.live[p.piece] -= int(p.length)
	if a.live[p.piece] == 0 && int(p.piece) < len(a.memory)-1 {
		a.memory = slices.Clone(a.memory)
		a.memory[p.piece] = nil
	}
}
