package segment

import (
	"fmt"
	"math"

	"pregon/internal/search/saved"
)

// mostPiece is about the largest piece of texts in a data file. Places in it have 32 bits.
const mostPiece = 1 << 31

// Saver writes segments.
type Saver struct {
	State  *saved.Encoder
	Data   *saved.DataWriter
	pieces []uint64 // where pieces of texts begin in the data file
}

// Save writes a segment. Its words are numbers: the caller writes the dictionary.
func (v *Saver) Save(s *Segment) {
	e := v.State
	e.Uint(uint64(len(s.Docs)))
	for i := range s.Docs {
		d := &s.Docs[i]
		at := v.saveText(s.memory.At(d.Place))
		e.Int(d.At)
		e.Uint(d.Key)
		e.Uint(uint64(d.Ref))
		e.Uint(uint64(d.CategoryLine))
		e.Uint(uint64(d.Document))
		e.Uint(uint64(at.piece))
		e.Uint(uint64(at.offset))
		e.Uint(uint64(at.length))
		e.Uint(uint64(d.RecordLen))
	}
	e.Uint(uint64(s.Longest))
	e.Uint32s(s.byKey)
	for _, p := range s.postings() {
		v.savePostings(p)
	}
	e.Uint32s(s.lexicon)
	e.Uint(uint64(len(s.prefixes)))
	for text, set := range s.prefixes {
		e.String(text)
		e.Uint(uint64(set))
	}
	var common []uint32
	for n, is := range s.grams.common {
		if is {
			common = append(common, uint32(n))
		}
	}
	e.Uint32s(common)
	e.Uint64s(s.grams.keys)
	for _, g := range s.grams.next {
		e.Uint(uint64(g.set))
		e.Uint(uint64(g.id))
	}
	v.saveSets(&s.sets)
}

// saveText writes a text to the data file.
func (v *Saver) saveText(text string) place {
	at := uint64(v.Data.Add([]byte(text)))
	last := len(v.pieces) - 1
	if last < 0 || at-v.pieces[last] >= mostPiece {
		v.pieces = append(v.pieces, at)
		last++
	}
	return place{uint32(last), uint32(at - v.pieces[last]), uint32(len(text))}
}

func (s *Segment) postings() []*postings {
	return []*postings{&s.words, &s.stems, &s.last, &s.types, &s.refs, &s.categories}
}

func (v *Saver) savePostings(p *postings) {
	v.State.Bool(p.sparse != nil)
	v.State.Uint32s(p.dense)
	v.State.Uint(uint64(len(p.sparse)))
	for n, set := range p.sparse {
		v.State.Uint(uint64(n))
		v.State.Uint(uint64(set))
	}
}

// saveSets writes where each set is in the data file.
func (v *Saver) saveSets(t *sets) {
	places := make([]uint64, len(t.ready))
	sizes := make([]uint32, len(t.ready))
	for n := 1; n < len(t.ready); n++ {
		s := t.get(uint32(n))
		if sizes[n] = uint32(s.n); s.Bits != nil {
			places[n] = uint64(v.Data.AddUint64s(s.Bits)) | asBits
		} else {
			places[n] = uint64(v.Data.AddUint32s(s.list))
		}
	}
	v.State.Uint64s(places)
	v.State.Uint32s(sizes)
}

// asBits marks the place of a set that is bits.
const asBits = 1 << 63

// End writes what follows the last segment.
func (v *Saver) End() { v.State.Uint64s(v.pieces) }

// Opener reads the segments that a Saver wrote.
type Opener struct {
	State *saved.Decoder
	Data  *saved.Data
	Words []Word // of the dictionary

	opened []*Segment
}

// Open reads a segment. It can be used once End has read all.
func (o *Opener) Open() *Segment {
	d := o.State
	s := &Segment{Docs: make([]Doc, d.Len(9)), vocabulary: o.Words}
	for i := range s.Docs {
		s.Docs[i] = Doc{
			At:           d.Int(),
			Key:          d.Uint(),
			Ref:          d.Uint32(),
			CategoryLine: d.Uint32(),
			Document:     d.Uint32(),
			Place:        place{d.Uint32(), d.Uint32(), d.Uint32()},
			RecordLen:    d.Uint32(),
		}
	}
	s.Longest = int(d.Uint32())
	s.byKey = d.Uint32s()
	for _, p := range s.postings() {
		o.openPostings(p)
	}
	s.lexicon = d.Uint32s()
	n := d.Len(2)
	s.prefixes = make(map[string]uint32, n)
	for range n {
		text := d.String()
		s.prefixes[text] = d.Uint32()
	}
	s.grams.setCommon(d.Uint32s())
	s.grams.keys = d.Uint64s()
	s.grams.next = make([]gram, len(s.grams.keys))
	for i := range s.grams.next {
		s.grams.next[i] = gram{set: d.Uint32(), id: d.Uint32()}
	}
	o.openSets(&s.sets, len(s.Docs))
	o.opened = append(o.opened, s)
	return s
}

func (o *Opener) openPostings(p *postings) {
	d := o.State
	if d.Bool() {
		p.sparse = map[uint32]uint32{}
	}
	p.dense = d.Uint32s()
	for range d.Len(2) {
		n := d.Uint32()
		p.sparse[n] = d.Uint32()
	}
}

func (o *Opener) openSets(t *sets, docs int) {
	t.saved = &savedSets{
		data:   o.Data,
		docs:   docs,
		places: o.State.Uint64s(),
		sizes:  o.State.Uint32s(),
	}
	*t = sets{ready: newSets(make([]*Set, len(t.saved.places))).ready, saved: t.saved}
}

// End reads what follows the last segment, and returns the memory that all of them share.
func (o *Opener) End() (Memory, error) {
	var m Memory
	for _, from := range o.State.Uint64s() {
		m = append(m, piece{data: o.Data, from: int64(from)})
	}
	if err := o.State.Err(); err != nil {
		return nil, err
	}
	for _, s := range o.opened {
		if err := s.check(len(m)); err != nil {
			return nil, err
		}
		s.memory = m
	}
	return m, nil
}

// check returns an error if a number leads nowhere.
func (s *Segment) check(pieces int) error {
	if len(s.byKey) != len(s.Docs) || len(s.sets.saved.sizes) != len(s.sets.ready) || len(s.sets.ready) == 0 {
		return fmt.Errorf("a saved segment has lists of different lengths")
	}
	most := uint32(0)
	for _, p := range s.postings() {
		for _, set := range p.all() {
			most = max(most, set)
		}
	}
	for _, set := range s.prefixes {
		most = max(most, set)
	}
	for _, g := range s.grams.next {
		most = max(most, g.set)
	}
	if int(most) >= len(s.sets.ready) {
		return fmt.Errorf("a saved segment refers to a set that it does not have")
	}
	for _, n := range s.lexicon {
		if int(n) >= len(s.vocabulary) {
			return fmt.Errorf("a saved segment has a word that the dictionary does not have")
		}
	}
	for i := range s.Docs {
		d := &s.Docs[i]
		outside := d.Place.length > 0 && int(d.Place.piece) >= pieces
		if int(s.byKey[i]) >= len(s.Docs) || outside || d.RecordLen > d.Place.length {
			return fmt.Errorf("a saved segment refers to a text or a report that it does not have")
		}
	}
	return nil
}

// Move makes the segment a part of a memory of which that of End is a part, from a piece
// on. It must not be in use.
func (s *Segment) Move(m Memory, first uint32) {
	s.memory = m
	for i := range s.Docs {
		s.Docs[i].Place.piece += first
	}
}

// savedSets are sets in a data file.
type savedSets struct {
	data   *saved.Data
	docs   int
	places []uint64
	sizes  []uint32
}

// open returns a set, whose reports stay in the file.
func (v *savedSets) open(number uint32) *Set {
	s := &Set{n: int(v.sizes[number]), id: number}
	if at := v.places[number]; at&asBits != 0 {
		s.Bits = v.data.Uint64s(int64(at&math.MaxInt64), bitsOf(v.docs))
	} else {
		s.list = v.data.Uint32s(int64(at), s.n)
	}
	return s
}

// Uses reports whether the segment reads a data file.
func (s *Segment) Uses(data *saved.Data) bool {
	if s.sets.saved != nil && s.sets.saved.data == data {
		return true
	}
	for i := range s.Docs {
		if at := s.Docs[i].Place; at.length > 0 && s.memory[at.piece].data == data {
			return true
		}
	}
	return false
}

// Saved reports whether the texts and sets of the segment are in a data file.
func (s *Segment) Saved() bool { return s.sets.saved != nil }
