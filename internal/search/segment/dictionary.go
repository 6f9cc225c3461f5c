package segment

import (
	"encoding/binary"
	"slices"
	"sync"

	"pregon/internal/text"
)

// Dictionary numbers words and stems, so that a text can be kept as a few
// bytes and compared as numbers. It only grows. One goroutine adds words; any may
// look them up. A word that is newer than an index has a number that the index
// does not use.
type Dictionary struct {
	List      []Word // by number; a reader needs only a copy of the slice header, since elements never change
	StemCount uint32

	mu    sync.RWMutex
	words map[string]uint32 // guarded by mu; the goroutine that adds reads it without
	stems map[string]Stem   // likewise
}

type Word struct {
	Text string
	stem uint32
}

// Stem holds the words of one stem.
type Stem struct {
	Number uint32
	Words  []string
}

// gap is the number between two fields of a text.
const gap = 0

func NewDictionary() *Dictionary {
	return &Dictionary{words: map[string]uint32{}, stems: map[string]Stem{}, List: make([]Word, 1)}
}

// Add returns the number of a word, new or not.
func (d *Dictionary) Add(spelled []byte) uint32 {
	if n, ok := d.words[string(spelled)]; ok {
		return n
	}
	w := Word{Text: string(spelled)}
	key := text.Stem(w.Text)
	s := d.stems[key]
	if s.Number == 0 {
		d.StemCount++
		s.Number = d.StemCount
	}
	w.stem = s.Number
	n := uint32(len(d.List))
	d.List = append(d.List, w)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.words[w.Text] = n
	d.stems[key] = Stem{s.Number, append(slices.Clip(s.Words), w.Text)}
	return n
}

// Word returns the number of a word, or 0 if no text has it.
func (d *Dictionary) Word(text string) uint32 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.words[text]
}

// Stem returns a stem, or the zero value if no text has it.
func (d *Dictionary) Stem(text string) Stem {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.stems[text]
}

// Numbers returns the numbers of the words of a phrase, or nil if no text has one
// of them.
func (d *Dictionary) Numbers(words []string) []uint32 {
	out := make([]uint32, len(words))
	for i, w := range words {
		if out[i] = d.Word(w); out[i] == 0 {
			return nil
		}
	}
	return out
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

// has reports whether the text has the phrase.
func (t tokens) has(phrase []uint32) bool {
	for len(t) > 0 {
		if t.begins(phrase) {
			return true
		}
		_, t = t.next()
	}
	return false
}

// hasAny reports whether the text has one of the phrases.
func (t tokens) hasAny(phrases *Trie[uint32]) bool {
	for len(t) > 0 {
		first, rest := t.next()
		n := phrases.next[first]
		for at := rest; n != nil && !n.end && len(at) > 0; {
			var w uint32
			w, at = at.next()
			n = n.next[w]
		}
		if n != nil && n.end {
			return true
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

// Analyzer turns fields into tokens.
type Analyzer struct {
	Dict      *Dictionary
	Tokenizer text.Tokenizer
}

// AppendWord appends a field of one word as it is.
func (a *Analyzer) AppendWord(b []byte, word string) []byte {
	return append(binary.AppendUvarint(b, uint64(a.Dict.Add([]byte(word)))), gap)
}

// Append appends the words of a field.
func (a *Analyzer) Append(b []byte, field string) []byte {
	before := len(b)
	a.Tokenizer.Words(field, func(w []byte) { b = binary.AppendUvarint(b, uint64(a.Dict.Add(w))) })
	if len(b) > before {
		b = append(b, gap)
	}
	return b
}
