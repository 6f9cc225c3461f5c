package position

import (
	"iter"
	"slices"
	"sort"
)

// chunkSize is how many records a chunk of a list has. A chunk has up to twice as many
// after it has grown.
const chunkSize = 256

// list is a sorted list of records. It is immutable: edit copies only the chunks that
// change.
type list struct {
	order  func(a, b *record) int // 0 only for two states of one position
	chunks [][]*record            // none of which is empty
	n      int                    // records
}

// edit returns the list without some records, which it has, and with others.
func (l list) edit(removed, added []*record) list {
	removed, added = slices.Clone(removed), slices.Clone(added)
	slices.SortFunc(removed, l.order)
	slices.SortFunc(added, l.order)
	next := list{
		order:  l.order,
		chunks: make([][]*record, 0, len(l.chunks)+len(added)/chunkSize+1),
		n:      l.n - len(removed) + len(added),
	}
	if len(l.chunks) == 0 {
		next.append(added)
		return next
	}
	for i, chunk := range l.chunks {
		gone, came := len(removed), len(added)
		if i+1 < len(l.chunks) {
			end := l.chunks[i+1][0]
			gone = l.before(removed, end)
			came = l.before(added, end)
		}
		if gone == 0 && came == 0 {
			next.chunks = append(next.chunks, chunk)
			continue
		}
		next.append(l.merge(chunk, removed[:gone], added[:came]))
		removed = removed[gone:]
		added = added[came:]
	}
	return next
}

// before returns how many of some sorted records are before another one.
func (l list) before(sorted []*record, end *record) int {
	return sort.Search(len(sorted), func(i int) bool { return l.order(sorted[i], end) >= 0 })
}

// merge returns a chunk without some of its records and with others. All are sorted. Few
// are compared, since comparing takes longer than copying.
func (l list) merge(chunk, removed, added []*record) []*record {
	out := make([]*record, 0, len(chunk)-len(removed)+len(added))
	for len(removed) > 0 || len(added) > 0 {
		removes := len(added) == 0 || len(removed) > 0 && l.order(removed[0], added[0]) <= 0
		next := added
		if removes {
			next = removed
		}
		n := l.before(chunk, next[0])
		out = append(out, chunk[:n]...)
		chunk = chunk[n:]
		if removes {
			chunk = chunk[1:]
			removed = removed[1:]
		} else {
			out = append(out, added[0])
			added = added[1:]
		}
	}
	return append(out, chunk...)
}

// append adds records at the end as chunks. Small chunks are joined with the one before.
func (l *list) append(records []*record) {
	if n := len(l.chunks); n > 0 && len(records) > 0 && len(l.chunks[n-1])+len(records) <= chunkSize {
		l.chunks[n-1] = slices.Concat(l.chunks[n-1], records)
		return
	}
	for len(records) > 2*chunkSize {
		l.chunks = append(l.chunks, slices.Clip(records[:chunkSize]))
		records = records[chunkSize:]
	}
	if len(records) > 0 {
		l.chunks = append(l.chunks, records)
	}
}

// all returns all records, in order.
func (l list) all() iter.Seq[*record] {
	return func(yield func(*record) bool) {
		for _, chunk := range l.chunks {
			for _, r := range chunk {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// find returns the record in the place of another one, or nil.
func (l list) find(like *record) *record {
	c := l.from(like)
	if r := c.next(); r != nil && l.order(r, like) == 0 {
		return r
	}
	return nil
}

// cursor walks through a list.
type cursor struct {
	chunks [][]*record
	i      int // in the first chunk
}

// from returns a cursor at the first record that is not before another one.
func (l list) from(first *record) cursor {
	n := sort.Search(len(l.chunks), func(i int) bool {
		chunk := l.chunks[i]
		return l.order(chunk[len(chunk)-1], first) >= 0
	})
	if n == len(l.chunks) {
		return cursor{}
	}
	return cursor{l.chunks[n:], l.before(l.chunks[n], first)}
}

// next returns the next record, or nil at the end.
func (c *cursor) next() *record {
	if len(c.chunks) == 0 {
		return nil
	}
	r := c.chunks[0][c.i]
	if c.i++; c.i == len(c.chunks[0]) {
		c.chunks = c.chunks[1:]
		c.i = 0
	}
	return r
}
