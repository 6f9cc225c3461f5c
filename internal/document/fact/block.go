package fact

// block holds many slices in one array. The parts of a document have hundreds of short
// slices, which would each need an allocation, and a copy once its length is known.
type block[T any] struct{ free []T }

// blockLength is the length of a new array, and leastRoom the length below which the rest
// of one is left unused.
const (
	blockLength = 512
	leastRoom   = 64
)

// room returns an empty slice to append to.
func (b *block[T]) room() []T {
	if cap(b.free) < leastRoom {
		b.free = make([]T, 0, blockLength)
	}
	return b.free
}

// keep returns a slice that was appended to room, and gives the room behind it to the next
// one. The slice has an array of its own if the room was too small.
func (b *block[T]) keep(s []T) []T {
	b.free = s[len(s):]
	return s[:len(s):len(s)]
}
