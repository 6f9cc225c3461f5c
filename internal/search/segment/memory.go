package segment

import (
	"slices"
	"unsafe"

	"pregon/internal/search/saved"
)

// Memory is a few large pieces that hold many small strings. Strings are
// never overwritten while their piece is in use.
type Memory []piece

// piece is memory of this process, or a part of a data file from an offset on.
type piece struct {
	own  []byte
	data *saved.Data
	from int64
}

// place is where a string is.
type place struct{ piece, offset, length uint32 }

// At returns the string at a place. If it is in a data file, it is valid only while that is
// not broken: see saved.Broken. What outlives a request must be a copy.
func (m Memory) At(p place) string {
	if p.length == 0 {
		return ""
	}
	in := &m[p.piece]
	if in.data != nil {
		b := in.data.Bytes(in.from+int64(p.offset), int(p.length))
		return unsafe.String(unsafe.SliceData(b), len(b)) // never written
	}
	return unsafe.String(&in.own[p.offset], p.length) // never written again
}

// Bytes returns how many bytes of memory of this process the pieces take.
func (m Memory) Bytes() (n int64) {
	for i := range m {
		n += int64(len(m[i].own))
	}
	return n
}

// First returns the first byte of a piece, nil for one that was released.
func (m Memory) First(n int) *byte { return unsafe.SliceData(m[n].own) }

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
	if last < 0 || len(b) > len(a.Memory[last].own)-a.used {
		a.Memory = append(a.Memory, piece{own: make([]byte, max(pieceSize, len(b)))})
		a.live = append(a.live, 0)
		a.used = 0
		last++
	}
	p := place{uint32(last), uint32(a.used), uint32(len(b))}
	a.used += copy(a.Memory[last].own[a.used:], b)
	a.live[last] += len(b)
	return p
}

// Free marks a string as unused by later indexes. A piece without used strings is
// not part of their memory. Those of data files stay.
func (a *Arena) Free(p place) {
	a.live[p.piece] -= int(p.length)
	if a.live[p.piece] == 0 && a.Memory[p.piece].own != nil && int(p.piece) < len(a.Memory)-1 {
		a.Memory = slices.Clone(a.Memory)
		a.Memory[p.piece].own = nil
	}
}

// Adopt makes the pieces of a data file a part of the memory, and returns the number of the
// first. They must be followed by a piece of memory of this process: see Add.
func (a *Arena) Adopt(pieces Memory) (first uint32) {
	first = uint32(len(a.Memory))
	a.Memory = append(slices.Clip(a.Memory), pieces...)
	a.live = append(a.live, make([]int, len(pieces))...)
	a.used = 0
	return first
}
