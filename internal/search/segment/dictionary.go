package segment

import (
	"encoding/binary"
	"maps"
	"slices"

	"pregon/internal/text"
)

// Dictionary numbers words and stems, so that a text can be kept as a few
// bytes and compared as numbers. It only grows, and belongs to the
// writer; readers use a view of it.
type Dictionary struct {
	View
	List      []Word // by number; a reader needs only a copy of the slice header, since elements never change
	StemCount uint32
	shared    bool // readers use the new maps: copy them before the next change
}

// View is a dictionary at one moment. Most words are in large maps that are never
// changed. New words are in small maps that are copied when words are added.
type View struct {
	words, newWords map[string]uint32
	stems, newStems map[string]Stem
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

// manyNew is the number of new words from which they move to the large maps.
const manyNew = 4096

func NewDictionary() *Dictionary {
	return &Dictionary{
		View: View{newWords: map[string]uint32{}, newStems: map[string]Stem{}},
		List: make([]Word, 1),
	}
}

// Snapshot returns an immutable view.
func (d *Dictionary) Snapshot() View {
	if len(d.newWords) > manyNew {
		d.words, d.newWords = joined(d.words, d.newWords), map[string]uint32{}
		d.stems, d.newStems = joined(d.stems, d.newStems), map[string]Stem{}
	}
	d.shared = true
	return d.View
}

// joined returns the union of two maps. It does not change the first, which is in
// use, unless that is empty.
func joined[V any](old, fresh map[string]V) map[string]V {
	if len(old) == 0 {
		return fresh
	}
	all := make(map[string]V, len(old)+len(fresh))
	maps.Copy(all, old)
	maps.Copy(all, fresh)
	return all
}

// Add returns the number of a word, new or not.
func (d *Dictionary) Add(spelled []byte) uint32 {
	if n, ok := d.words[string(spelled)]; ok {
		return n
	}
	if n, ok := d.newWords[string(spelled)]; ok {
		return n
	}
	if d.shared {
		d.newWords, d.newStems, d.shared = maps.Clone(d.newWords), maps.Clone(d.newStems), false
	}
	w := Word{Text: string(spelled)}
	key := text.Stem(w.Text)
	s := d.Stem(key)
	if s.Number == 0 {
		d.StemCount++
		s.Number = d.StemCount
	}
	w.stem = s.Number
	d.newStems[key] = Stem{s.Number, append(slices.Clip(s.Words), w.Text)}
	n := uint32(len(d.List))
	d.List = append(d.List, w)
	d.newWords[w.Text] = n
	return n
}

// Word returns the number of a word, or 0 if no text has it.
func (v *View) Word(text string) uint32 {
	if n, ok := v.words[text]; ok {
		return n
	}
	return v.newWords[text]
}

// Stem returns a stem, or the zero value if no text has it.
func (v *View) Stem(text string) Stem {
	if s, ok := v.newStems[text]; ok { // the newer, with more words
		return s
	}
	return v.stems[text]
}

// Numbers returns the numbers of the words of a phrase, or nil if no text has one
// of them.
func (v *View) Numbers(words []string) []uint32 {
	out := make([]uint32, len(words))
	for i, w := range words {
		if out[i] = v.Word(w); out[i] == 0 {
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

func (a *Analyzer) Append(b []byte, field string) []byte {
	before := len(b)
	a.Tokenizer.Words(field, func(w []byte) { b = binary.AppendUvarint(b, uint64(a.Dict.Add(w))) })
	if len(b) > before {
		b = append(b, gap)
	}
	return b
}
