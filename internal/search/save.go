package search

import (
	"errors"
	"slices"

	"pregon/internal/search/saved"
	"pregon/internal/search/segment"
)

// Save is an index that is being written to files. While it is, its segments are not
// merged.
type Save struct {
	index *Index
	words []segment.Word
	merge *Merge // which makes the writer leave the segments as they are
	parts []byte // as Write wrote them
}

// BeginSave begins to save the newest index. It returns nil while another save or a merge
// runs, and if there are no reports. EndSave must follow.
func (w *Writer) BeginSave() *Save {
	if w.busy != nil || len(w.index.parts) == 0 {
		return nil
	}
	w.busy = w.newMerge(w.index.parts)
	return &Save{
		index: w.index,
		words: w.dict.List,
		merge: w.busy,
	}
}

// Write writes the index. It may run on any goroutine.
func (s *Save) Write(e *saved.Encoder, data *saved.DataWriter, documents *Numbers) {
	e.Uint(uint64(len(s.words) - 1))
	for _, word := range s.words[1:] {
		e.String(word.Text)
	}
	e.Strings(s.index.join.refText)
	e.Uint(uint64(len(s.index.categoryLines)))
	for _, l := range s.index.categoryLines {
		e.String(l.line)
	}
	hashes := documents.hashes()
	e.Uint(uint64(len(hashes)))
	for _, hash := range hashes {
		e.B = append(e.B, hash[:]...)
	}
	var parts saved.Encoder
	saver := segment.Saver{State: &parts, Data: data}
	parts.Uint(uint64(len(s.index.parts)))
	for _, p := range s.index.parts {
		var gone []uint32
		for i := range p.Gone.All() {
			gone = append(gone, i)
		}
		parts.Uint32s(gone)
		saver.Save(p.Seg)
	}
	saver.End()
	s.parts = parts.B
	e.B = append(e.B, parts.B...)
}

// InMemory returns how many reports of the index are in memory of this process, and not in
// a data file.
func (s *Save) InMemory() (n int) {
	for _, p := range s.index.parts {
		if !p.Seg.Saved() {
			n += p.Live()
		}
	}
	return n
}

// Uses reports whether the index reads a data file.
func (x *Index) Uses(data *saved.Data) bool {
	return slices.ContainsFunc(x.parts, func(p segment.Part) bool { return p.Seg.Uses(data) })
}

// Len returns the number of reports.
func (s *Save) Len() int { return s.index.Len() }

// EndSave ends a save. If data is not nil, the writer uses the file that Write has written
// instead of memory.
func (w *Writer) EndSave(s *Save, data *saved.Data) error {
	var err error
	if data != nil {
		err = w.adopt(s, data)
	}
	w.busy = nil
	w.mergeSmall()
	return err
}

// adopt replaces the segments of a save by the same segments in the file. Reports have the
// same ordinals, so that what is gone stays so.
func (w *Writer) adopt(s *Save, data *saved.Data) error {
	opened, memory, err := openParts(saved.NewDecoder(s.parts), data, s.words)
	if err != nil {
		return err
	}
	first := w.arena.Adopt(memory)
	at := w.at(s.merge)
	parts := append([]segment.Part{}, w.index.parts...)
	for i := range opened {
		p := &parts[at+i]
		for n := range p.Seg.Docs {
			if !p.Gone.Has(uint32(n)) { // the others were freed
				w.arena.Free(p.Seg.Docs[n].Place)
			}
		}
		p.Seg = opened[i].Seg
		p.Seg.Move(w.arena.Memory, first)
	}
	w.publish(parts, w.index.join)
	return nil
}

func openParts(d *saved.Decoder, data *saved.Data, words []segment.Word) ([]segment.Part, segment.Memory, error) {
	o := segment.Opener{State: d, Data: data, Words: words}
	var parts []segment.Part
	for range d.Len(1) {
		gone := d.Uint32s()
		p := segment.NewPart(o.Open())
		if d.Err() != nil {
			return nil, nil, d.Err()
		}
		parts = append(parts, p.Without(gone))
	}
	memory, err := o.End()
	return parts, memory, err
}

// OpenWriter returns a writer whose index is that of a save, joined with a directory that
// has the same issuers as the one that was saved.
func OpenWriter(
	documents *Numbers,
	facts FactsOf,
	d *saved.Decoder,
	data *saved.Data,
	dir *Directory,
) (*Writer, error) {
	w := NewWriter(documents, facts)
	for range d.Len(1) {
		w.dict.Add([]byte(d.String()))
	}
	for _, ref := range d.Strings() {
		w.ref(ref)
	}
	for range d.Len(1) {
		w.categoryLine(d.String())
	}
	hashes := make([]Hash, d.Len(len(Hash{})))
	for i := range hashes {
		d.Copy(hashes[i][:])
	}
	numbers := documents.Of(hashes...)
	parts, memory, err := openParts(d, data, w.dict.List)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		for i := range p.Seg.Docs {
			if err := w.renumber(&p.Seg.Docs[i], numbers); err != nil {
				return nil, err
			}
		}
	}
	w.arena.Adopt(memory)
	w.publish(parts, w.newJoin(dir))
	return w, nil
}

var errNumbers = errors.New("a saved report refers to an issuer, a category or a document that was not saved")

// renumber gives a document of a report the number that it has in this process.
func (w *Writer) renumber(d *segment.Doc, documents []uint32) error {
	if int(d.Ref) >= len(w.refs) || int(d.CategoryLine) >= len(w.categoryLines) || int(d.Document) > len(documents) {
		return errNumbers
	}
	if d.Document != 0 {
		d.Document = documents[d.Document-1]
	}
	return nil
}
