package index

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// The key of an entry begins with its kind. The order of kinds is that of the
// entries in a segment.
const (
	wordKind     = 'a' // a word: the documents that have it
	prefixKind   = 'b' // the first bytes of words: the documents that have one of them
	stemKind     = 'c' // a stem: the documents that have a word with it
	positionKind = 'd' // a word, a zero byte and the number of a chunk: its positions in the documents of the chunk
	markKind     = 'e' // see pair.go, also for the positions of pairs
)

// longestPrefix is the length, in bytes, of prefixes that have an entry. The
// documents with a longer one are found by reading the words that begin with it.
const longestPrefix = 3

// chunkDocuments is the number of documents in a chunk. It bounds the size of an
// entry: the positions of a word in all documents may take many megabytes.
const (
	chunkBits      = 12
	chunkDocuments = 1 << chunkBits
)

func key(kind byte, word string) []byte { return append([]byte{kind}, word...) }

// positionKey returns the key of the positions of a word in a chunk. No word
// contains a zero byte.
func positionKey(word string, chunk int) []byte {
	b := append(key(positionKind, word), 0)
	return binary.BigEndian.AppendUint32(b, uint32(chunk))
}

const suffixSize = 5 // of a key of positions: the zero byte and the chunk

// A block is a list of entries. Each has the length of the beginning that its key
// shares with the key before, the length of the rest, the rest, the length of the
// value, and the value.

// blockSize is the size in bytes that a block has at most, unless it has only one
// entry.
const blockSize = 8 << 10

// ErrDamaged is the error of a block or a head that cannot be decoded.
var ErrDamaged = errors.New("the index of documents is damaged")

// blockWriter cuts entries into blocks.
type blockWriter struct {
	blocks [][]byte // complete
	size   int      // of blocks, in bytes
	firsts [][]byte // key of the first entry of every block, complete or not
	block  []byte
	last   []byte // key
}

// add adds an entry. Entries come in the order of their keys.
func (w *blockWriter) add(key, value []byte) {
	if len(w.block) > 0 && len(w.block)+len(key)+len(value) > blockSize {
		w.end()
	}
	shared := 0
	if len(w.block) == 0 {
		w.firsts = append(w.firsts, bytes.Clone(key))
	} else {
		for shared < min(len(key), len(w.last)) && key[shared] == w.last[shared] {
			shared++
		}
	}
	w.block = binary.AppendUvarint(w.block, uint64(shared))
	w.block = binary.AppendUvarint(w.block, uint64(len(key)-shared))
	w.block = append(w.block, key[shared:]...)
	w.block = binary.AppendUvarint(w.block, uint64(len(value)))
	w.block = append(w.block, value...)
	w.last = append(w.last[:0], key...)
}

// end completes the block.
func (w *blockWriter) end() {
	if len(w.block) > 0 {
		w.blocks = append(w.blocks, bytes.Clone(w.block))
		w.size += len(w.block)
		w.block = w.block[:0]
	}
}

// entries reads a block.
type entries struct {
	block      []byte // what is left
	key, value []byte
	err        error
}

// next reads the next entry. It returns false at the end of the block, and if the
// block is damaged: see err.
func (e *entries) next() bool {
	if len(e.block) == 0 || e.err != nil {
		return false
	}
	shared, rest := uvarint(e.block)
	if rest == nil || shared > uint64(len(e.key)) {
		e.err = ErrDamaged
		return false
	}
	tail, rest := lengthPrefixed(rest)
	e.value, e.block = lengthPrefixed(rest)
	if e.block == nil {
		e.err = ErrDamaged
		return false
	}
	e.key = append(e.key[:shared], tail...)
	if len(e.key) == 0 || e.key[0] == positionKind && len(e.key) < 1+suffixSize {
		e.err = ErrDamaged
		return false
	}
	return true
}

// uvarint takes a number off the front. The rest is nil if there is none.
func uvarint(b []byte) (uint64, []byte) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return 0, nil
	}
	return n, b[size:]
}

// lengthPrefixed takes bytes that follow their length off the front. The rest is
// nil if they are incomplete.
func lengthPrefixed(b []byte) (value, rest []byte) {
	n, rest := uvarint(b)
	if rest == nil || n > uint64(len(rest)) {
		return nil, nil
	}
	return rest[:n:n], rest[n:]
}
