package search

import (
	"encoding/hex"
	"sync"
)

// Hash is the first half of the SHA-256 of a document's bytes. It identifies the
// document where a whole one would take too much memory.
type Hash [16]byte

// ParseHash returns the Hash of a SHA-256 in hex digits. It returns false if it is
// not one.
func ParseHash(sha256 string) (h Hash, ok bool) {
	if len(sha256) != 4*len(h) {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(sha256[:2*len(h)]))
	return h, err == nil
}

// Numbers gives every document a number, from 1 on, in this process. The index of
// reports and the index of documents share it, so that sets of documents are bits.
type Numbers struct {
	mu     sync.Mutex
	byHash map[Hash]uint32 // guarded by mu
}

// Of returns the numbers of documents. New ones get the next numbers.
func (n *Numbers) Of(hashes ...Hash) []uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byHash == nil {
		n.byHash = map[Hash]uint32{}
	}
	out := make([]uint32, len(hashes))
	for i, hash := range hashes {
		number, ok := n.byHash[hash]
		if !ok {
			number = uint32(len(n.byHash)) + 1
			n.byHash[hash] = number
		}
		out[i] = number
	}
	return out
}

// NumberSet is a set of numbers of documents.
type NumberSet []uint64

// Add adds a number.
func (s *NumberSet) Add(n uint32) {
	if missing := int(n/64) + 1 - len(*s); missing > 0 {
		*s = append(*s, make(NumberSet, missing)...)
	}
	(*s)[n/64] |= 1 << (n % 64)
}

// Has reports whether a number is in the set.
func (s NumberSet) Has(n uint32) bool {
	return int(n/64) < len(s) && s[n/64]>>(n%64)&1 != 0
}

// hashes returns the documents by their numbers, that of number 1 first.
func (n *Numbers) hashes() []Hash {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := make([]Hash, len(n.byHash))
	for hash, number := range n.byHash {
		all[number-1] = hash
	}
	return all
}
