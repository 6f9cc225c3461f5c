package index

import (
	"encoding/binary"
	"math/bits"
)

// set is a set of the documents of a segment, as bits.
type set []uint64

func newSet(documents int) set { return make(set, (documents+63)/64) }

func (s set) add(n int) { s[n/64] |= 1 << (n % 64) }

func (s set) remove(n int) { s[n/64] &^= 1 << (n % 64) }

func (s set) has(n int) bool { return s[n/64]>>(n%64)&1 != 0 }

func (s set) or(other set) {
	for i := range s {
		s[i] |= other[i]
	}
}

func (s set) and(other set) {
	for i := range s {
		s[i] &= other[i]
	}
}

func (s set) andNot(other set) {
	for i := range s {
		s[i] &^= other[i]
	}
}

// count returns the number of documents.
func (s set) count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

func (s set) empty() bool {
	for _, word := range s {
		if word != 0 {
			return false
		}
	}
	return true
}

// each calls fn for each document of the set, in order.
func (s set) each(fn func(n int)) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			fn(i*64 + bits.TrailingZeros64(word))
		}
	}
}

// A value of documents is their number, times two, and their distances: that of
// the first from -1, less one, and so on. If there are so many that one bit for
// each document of the segment is shorter, the number is followed by these bits,
// and odd.

// appendDocuments appends the value of documents that are in order, of a segment
// with the given number of documents.
func appendDocuments(b []byte, list []uint32, documents int) []byte {
	if size := (documents + 7) / 8; len(list) > size {
		b = binary.AppendUvarint(b, uint64(len(list))<<1|1)
		at := len(b)
		b = append(b, make([]byte, size)...)
		for _, n := range list {
			b[at+int(n/8)] |= 1 << (n % 8)
		}
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(list))<<1)
	next := uint32(0)
	for _, n := range list {
		b = binary.AppendUvarint(b, uint64(n-next))
		next = n + 1
	}
	return b
}

// readDocuments calls fn for each document of a value, in order.
func readDocuments(value []byte, documents int, fn func(n int)) error {
	count, rest := uvarint(value)
	if rest == nil {
		return ErrDamaged
	}
	if count&1 != 0 {
		for i, eight := range rest {
			for ; eight != 0; eight &= eight - 1 {
				n := i*8 + bits.TrailingZeros8(eight)
				if n >= documents {
					return ErrDamaged
				}
				fn(n)
			}
		}
		return nil
	}
	next := uint64(0)
	for range count >> 1 {
		var distance uint64
		if len(rest) > 0 && rest[0] < 0x80 { // nearly always
			distance, rest = uint64(rest[0]), rest[1:]
		} else if distance, rest = uvarint(rest); rest == nil {
			return ErrDamaged
		}
		n := next + distance
		if n >= uint64(documents) {
			return ErrDamaged
		}
		fn(int(n))
		next = n + 1
	}
	return nil
}

// addDocuments adds the documents of a value to a set.
func addDocuments(s set, value []byte, documents int) error {
	count, rest := uvarint(value)
	if count&1 != 0 && len(rest) == (documents+7)/8 {
		for i, eight := range rest {
			s[i/8] |= uint64(eight) << (i % 8 * 8)
		}
		return nil
	}
	return readDocuments(value, documents, s.add)
}

// A value of positions has, for each document of a chunk: its distance from the
// last, less one, the length of its positions in bytes, and their distances.

// positions reads a value of positions.
type positions struct {
	rest    []byte
	next    int    // the least number that the next document can have
	n       int    // the document
	encoded []byte // its positions
	err     error
}

func newPositions(value []byte, chunk int) positions {
	return positions{rest: value, next: chunk * chunkDocuments}
}

// advance reads the next document. It returns false after the last, and if the
// value is damaged: see err.
func (p *positions) advance() bool {
	if len(p.rest) == 0 || p.err != nil {
		return false
	}
	var distance, size uint64
	rest := p.rest
	if len(rest) >= 2 && rest[0]|rest[1] < 0x80 { // nearly always
		distance = uint64(rest[0])
		size = uint64(rest[1])
		rest = rest[2:]
	} else {
		distance, rest = uvarint(rest)
		size, rest = uvarint(rest)
	}
	if rest == nil || distance >= chunkDocuments || size > uint64(len(rest)) {
		p.err = ErrDamaged
		return false
	}
	p.n = p.next + int(distance)
	p.encoded, p.rest = rest[:size:size], rest[size:]
	p.next = p.n + 1
	return true
}

// appendPositions appends the positions of the next document of a chunk, encoded.
func appendPositions(b []byte, distance int, encoded []byte) []byte {
	b = binary.AppendUvarint(b, uint64(distance))
	b = binary.AppendUvarint(b, uint64(len(encoded)))
	return append(b, encoded...)
}

// decode appends the positions of the document to list.
func (p *positions) decode(list []uint32) []uint32 {
	at := uint32(0)
	for b := p.encoded; len(b) > 0; {
		var distance uint64
		if b[0] < 0x80 {
			distance, b = uint64(b[0]), b[1:]
		} else if distance, b = uvarint(b); b == nil {
			p.err = ErrDamaged
			return list
		}
		at += uint32(distance)
		list = append(list, at)
		at++
	}
	return list
}
