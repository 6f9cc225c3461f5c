package search

import (
	"encoding/binary"
	"slices"
	"sync"
)

// dictionary numbers words and stems, so that a text can be kept as a few
// bytes and compared as numbers. It only grows. One goroutine adds; any number
// of others look up without a lock, through the two maps.
type dictionary struct {
	words sync.Map // word -> uint32
	stems sync.Map // stem -> stem

	// Of the goroutine that adds. A copy of the slice's header is all that a
	// reader needs, since what it covers never changes.
	mine  map[string]uint32
	list  []word // by number
	nStem uint32
}

type word struct {
	text string
	stem uint32
}

// stem is what the words of one stem share.
type stem struct {
	number uint32
	words  []string
}

// gap is the number that stands between two fields of a text.
const gap = 0

func newDictionary() *dictionary {
	return &dictionary{mine: map[string]uint32{}, list: make([]word, 1)}
}

// add returns the number of a word, new or not.
func (d *dictionary) add(text []byte) uint32 {
	if n, ok := d.mine[string(text)]; ok {
		return n
	}
	w := word{text: string(text)}
	key := Stem(w.text)
	s := d.stem(key)
	if s.number == 0 {
		d.nStem++
		s.number = d.nStem
	}
	w.stem = s.number
	d.stems.Store(key, stem{s.number, append(slices.Clip(s.words), w.text)})
	n := uint32(len(d.list))
	d.list = append(d.list, w)
	d.mine[w.text] = n
	d.words.Store(w.text, n)
	return n
}

// word returns the number of a word, 0 when no text has it.
func (d *dictionary) word(text string) uint32 {
	if n, ok := d.words.Load(text); ok {
		return n.(uint32)
	}
	return 0
}

// stem returns what is known of a stem, nothing when no text has it.
func (d *dictionary) stem(text string) stem {
	if s, ok := d.stems.Load(text); ok {
		return s.(stem)
	}
	return stem{}
}

// tokens is a text as the numbers of its words, as varints, with a gap after
// each field.
type tokens string

// next takes the first number off.
func (t tokens) next() (uint32, tokens) {
	if c := t[0]; c < 0x80 {
		return uint32(c), t[1:]
	}
	var n uint32
	for i := range len(t) {
		n |= uint32(t[i]&0x7f) << (7 * i)
		if t[i] < 0x80 {
			return n, t[i+1:]
		}
	}
	return n, ""
}

// has tells whether the words stand in the text side by side.
func (t tokens) has(phrase []uint32) bool {
	for len(t) > 0 {
		if t.begins(phrase) {
			return true
		}
		_, t = t.next()
	}
	return false
}

// hasAny tells whether one of many phrases stands in the text; they are found
// by their first word.
func (t tokens) hasAny(byFirst map[uint32][][]uint32) bool {
	for len(t) > 0 {
		first, rest := t.next()
		for _, phrase := range byFirst[first] {
			if rest.begins(phrase[1:]) {
				return true
			}
		}
		t = rest
	}
	return false
}

func (t tokens) begins(phrase []uint32) bool {
	for _, want := range phrase {
		if len(t) == 0 {
			return false
		}
		var n uint32
		if n, t = t.next(); n != want {
			return false
		}
	}
	return true
}

// analyser turns fields into tokens.
type analyser struct {
	dict *dictionary
	t    tokenizer
}

func (a *analyser) append(b []byte, field string) []byte {
	before := len(b)
	a.t.text(field, func(w []byte) { b = binary.AppendUvarint(b, uint64(a.dict.add(w))) })
	if len(b) > before {
		b = append(b, gap)
	}
	return b
}
