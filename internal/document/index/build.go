package index

import (
	"encoding/binary"
	"maps"
	"slices"

	"pregon/internal/search"
	"pregon/internal/store"
	"pregon/internal/text"
)

// MaxWordBytes is the length of the longest word that is indexed.
const MaxWordBytes = 100

const hashSize = len(search.Hash{})

// Build returns the index of the document with a SHA-256.
func Build(sha256 string, pages []string) store.Segment {
	hash, _ := search.ParseHash(sha256) // the store accepts no other
	b := builder{words: map[string]*occurrences{}}
	var t text.Tokenizer
	for _, page := range pages {
		t.Words(page, b.add)
	}
	return b.segment(hash)
}

// occurrences are the positions of a word, encoded.
type occurrences struct {
	encoded []byte
	next    uint32 // the least position that can follow
}

type builder struct {
	words map[string]*occurrences
	at    uint32 // position of the next word
}

func (b *builder) add(word []byte) {
	if len(word) > MaxWordBytes {
		return
	}
	o := b.words[string(word)]
	if o == nil {
		o = &occurrences{}
		b.words[string(word)] = o
	}
	o.encoded = binary.AppendUvarint(o.encoded, uint64(b.at-o.next))
	o.next = b.at + 1
	b.at++
}

// segment returns the segment of the document. Its only document has the number 0.
func (b *builder) segment(hash search.Hash) store.Segment {
	words := slices.Sorted(maps.Keys(b.words))
	prefixes, stems := map[string]bool{}, map[string]bool{}
	for _, word := range words {
		for n := 1; n <= min(longestPrefix, len(word)); n++ {
			prefixes[word[:n]] = true
		}
		if stem := text.Stem(word); stem != "" {
			stems[stem] = true
		}
	}
	only := appendDocuments(nil, []uint32{0}, 1)
	var w blockWriter
	for _, list := range []struct {
		kind  byte
		words []string
	}{
		{wordKind, words},
		{prefixKind, slices.Sorted(maps.Keys(prefixes))},
		{stemKind, slices.Sorted(maps.Keys(stems))},
	} {
		for _, word := range list.words {
			w.add(key(list.kind, word), only)
		}
	}
	var value []byte
	for _, word := range words {
		value = appendPositions(value[:0], 0, b.words[word].encoded)
		w.add(positionKey(word, 0), value)
	}
	w.end()
	return store.Segment{Documents: 1, Head: encodeHead([]search.Hash{hash}, w.firsts), Blocks: w.blocks}
}

// encodeHead returns the head of a segment: the hashes of its documents and the
// first key of every block.
func encodeHead(hashes []search.Hash, firsts [][]byte) []byte {
	b := binary.AppendUvarint(nil, uint64(len(hashes)))
	for _, hash := range hashes {
		b = append(b, hash[:]...)
	}
	for _, first := range firsts {
		b = binary.AppendUvarint(b, uint64(len(first)))
		b = append(b, first...)
	}
	return b
}

// decodeHead is the reverse of encodeHead.
func decodeHead(head []byte) (hashes []search.Hash, firsts []string, err error) {
	count, rest := uvarint(head)
	if rest == nil || count > uint64(len(rest)/hashSize) {
		return nil, nil, ErrDamaged
	}
	hashes = make([]search.Hash, count)
	for i := range hashes {
		rest = rest[copy(hashes[i][:], rest):]
	}
	keys := string(rest) // one allocation for all
	for len(rest) > 0 {
		var first []byte
		if first, rest = lengthPrefixed(rest); rest == nil {
			return nil, nil, ErrDamaged
		}
		end := len(keys) - len(rest)
		firsts = append(firsts, keys[end-len(first):end])
	}
	return hashes, firsts, nil
}
