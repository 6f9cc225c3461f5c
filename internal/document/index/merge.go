package index

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/binary"

	"pregon/internal/search"
	"pregon/internal/store"
)

// input is a segment that is being merged. It reads the entries in order.
type input struct {
	entries
	hashes []search.Hash
	number []int // of its documents in the result; -1: not in it
	age    int   // its place in the inputs

	blocks int // number of blocks
	read   int // number of blocks read
	ready  [][]byte
	fetch  func(ctx context.Context, from, to int) ([][]byte, error)
	ended  bool
}

// blocksAtOnce is the number of blocks that an input reads at once.
const blocksAtOnce = 32

// writtenAtOnce is about how many bytes of blocks are written at once: other writers
// may have to wait for them.
const writtenAtOnce = blocksAtOnce * blockSize

// openInput returns an input whose blocks fetch returns.
func openInput(head []byte, fetch func(ctx context.Context, from, to int) ([][]byte, error)) (*input, error) {
	hashes, firsts, err := decodeHead(head)
	return &input{hashes: hashes, blocks: len(firsts), fetch: fetch}, err
}

// inMemory returns the input of a segment with its blocks.
func inMemory(s store.Segment) (*input, error) {
	return openInput(s.Head, func(_ context.Context, from, to int) ([][]byte, error) { return s.Blocks[from:to], nil })
}

// advance reads the next entry, or sets ended.
func (in *input) advance(ctx context.Context) error {
	for !in.next() {
		if in.err != nil {
			return in.err
		}
		if len(in.ready) == 0 {
			if in.read == in.blocks {
				in.ended = true
				return nil
			}
			to := min(in.blocks, in.read+blocksAtOnce)
			blocks, err := in.fetch(ctx, in.read, to)
			if err != nil {
				return err
			}
			in.ready, in.read = blocks, to
		}
		in.block, in.ready = in.ready[0], in.ready[1:]
		in.key = in.key[:0]
	}
	return nil
}

// term returns the key of the current entry, without the chunk.
func (in *input) term() []byte {
	if in.key[0] == positionKind {
		return in.key[:len(in.key)-suffixSize]
	}
	return in.key
}

// queue is a heap of inputs that have not ended, the one with the least term first,
// the older one first if they are equal.
type queue []*input

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	order := bytes.Compare(q[i].term(), q[j].term())
	return order < 0 || order == 0 && q[i].age < q[j].age
}

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push is not used: inputs are only removed.
func (q *queue) Push(any) {}

func (q *queue) Pop() any {
	*q = (*q)[:len(*q)-1]
	return nil
}

// output is a segment that is being written.
type output interface {
	// put adds blocks.
	put(ctx context.Context, blocks [][]byte) error
	// get returns some of the blocks that were added, by their numbers.
	get(ctx context.Context, numbers []int) (map[int][]byte, error)
}

// merger merges segments to one.
type merger struct {
	inputs    queue
	hashes    []search.Hash // of the result
	out       blockWriter
	to        output
	common    commonWords
	term      []byte   // that is being merged
	documents []uint32 // reused
	value     []byte   // reused
}

// merge merges segments, the oldest first. A document that is in several is taken
// from the newest. It writes the blocks to a segment, and returns the head and the number
// of documents.
func merge(ctx context.Context, inputs []*input, to output) (head []byte, documents int, err error) {
	m := merger{
		to:     to,
		common: commonWords{documents: map[string]int{}, bytes: map[int]int{}},
	}
	m.renumber(inputs)
	for age, in := range inputs {
		in.age = age
		if err := in.advance(ctx); err != nil {
			return nil, 0, err
		}
		if !in.ended {
			m.inputs = append(m.inputs, in)
		}
	}
	heap.Init(&m.inputs)
	for len(m.inputs) > 0 {
		step := m.mergeDocuments
		if m.inputs[0].key[0] == positionKind {
			step = m.mergePositions
		}
		m.term = append(m.term[:0], m.inputs[0].term()...)
		if err := step(ctx); err != nil {
			return nil, 0, err
		}
		if err := m.flushMany(ctx); err != nil {
			return nil, 0, err
		}
	}
	if err := m.addPairs(ctx); err != nil {
		return nil, 0, err
	}
	if err := m.flush(ctx); err != nil {
		return nil, 0, err
	}
	return encodeHead(m.hashes, m.out.firsts), len(m.hashes), nil
}

// flush completes the last block, and writes all blocks that are not written.
func (m *merger) flush(ctx context.Context) error {
	m.out.end()
	return m.write(ctx)
}

// flushMany writes the complete blocks if there are many.
func (m *merger) flushMany(ctx context.Context) error {
	if m.out.size < writtenAtOnce {
		return nil
	}
	return m.write(ctx)
}

func (m *merger) write(ctx context.Context) error {
	blocks := m.out.blocks
	m.out.blocks, m.out.size = nil, 0
	if len(blocks) == 0 {
		return nil
	}
	return m.to.put(ctx, blocks)
}

// renumber assigns the numbers of the result.
func (m *merger) renumber(inputs []*input) {
	newest := map[search.Hash]int{} // input
	for i, in := range inputs {
		for _, hash := range in.hashes {
			newest[hash] = i
		}
	}
	for i, in := range inputs {
		in.number = make([]int, len(in.hashes))
		for n, hash := range in.hashes {
			in.number[n] = -1
			if newest[hash] == i {
				in.number[n] = len(m.hashes)
				m.hashes = append(m.hashes, hash)
			}
		}
	}
}

// next returns the next input with the term, the oldest first, or nil.
func (m *merger) next() *input {
	if len(m.inputs) > 0 && bytes.Equal(m.inputs[0].term(), m.term) {
		return m.inputs[0]
	}
	return nil
}

// advance advances the input that next has returned.
func (m *merger) advance(ctx context.Context) error {
	in := m.inputs[0]
	if err := in.advance(ctx); err != nil {
		return err
	}
	if in.ended {
		heap.Pop(&m.inputs)
	} else {
		heap.Fix(&m.inputs, 0)
	}
	return nil
}

// mergeDocuments merges the values of documents of a term.
func (m *merger) mergeDocuments(ctx context.Context) error {
	m.documents = m.documents[:0]
	for in := m.next(); in != nil; in = m.next() {
		err := readDocuments(in.value, len(in.number), func(n int) {
			if in.number[n] >= 0 {
				m.documents = append(m.documents, uint32(in.number[n]))
			}
		})
		if err != nil {
			return err
		}
		if err := m.advance(ctx); err != nil {
			return err
		}
	}
	if len(m.documents) > 0 {
		if m.term[0] == wordKind {
			m.common.add(m.term[1:], len(m.documents), len(m.hashes))
		}
		m.value = appendDocuments(m.value[:0], m.documents, len(m.hashes))
		m.out.add(m.term, m.value)
	}
	return nil
}

// mergePositions merges all chunks of the positions of a word. It skips those of a pair.
func (m *merger) mergePositions(ctx context.Context) error {
	chunk, next := 0, 0
	m.value = m.value[:0]
	end := func() {
		if len(m.value) > 0 {
			m.common.addPositions(m.term[1:], chunk, len(m.value))
			m.out.add(positionKey(string(m.term[1:]), chunk), m.value)
			m.value = m.value[:0]
		}
	}
	for in := m.next(); in != nil; in = m.next() {
		if isPair(m.term) {
			in.value = nil
		}
		p := newPositions(in.value, int(binary.BigEndian.Uint32(in.key[len(in.key)-4:])))
		for p.advance() {
			if p.n >= len(in.number) {
				return ErrDamaged
			}
			n := in.number[p.n]
			if n < 0 {
				continue
			}
			if n>>chunkBits != chunk {
				end()
				chunk = n >> chunkBits
				next = chunk * chunkDocuments
			}
			m.value = appendPositions(m.value, n-next, p.encoded)
			next = n + 1
		}
		if p.err != nil {
			return p.err
		}
		if err := m.advance(ctx); err != nil {
			return err
		}
	}
	end()
	return nil
}
