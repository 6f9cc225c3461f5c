package search

import (
	"slices"

	"pregon/internal/search/segment"
)

// Every Apply adds a segment. Segments are merged so that each is more than twice
// the size of the next. So there are few segments, and a report is moved only a few
// times. Small segments are merged at once. Others are merged by a Merge, which runs
// concurrently with readers and the writer. A merge rebuilds the sets, and moves no
// text and no record.

// mergeAtOnce is the number of reports that may be merged while the writer waits.
const mergeAtOnce = 2048

// Merge is a merge of some segments of an index.
type Merge struct {
	parts  []segment.Part // as they were when it began
	words  segment.Vocabulary
	result *segment.Segment
}

// mergeSmall merges small segments that are due.
func (w *Writer) mergeSmall() {
	for {
		m := w.due()
		if m == nil || m.size() > mergeAtOnce {
			return
		}
		m.Run()
		w.install(m)
	}
}

// Due returns the next merge to run, or nil. It returns each merge once.
func (w *Writer) Due() *Merge {
	if w.busy == nil {
		w.busy = w.due()
		return w.busy
	}
	return nil
}

// due returns the segments to be merged: the last ones while each is at most twice
// the size of those after it, or one of which most reports are gone. It excludes
// segments that are being merged.
func (w *Writer) due() *Merge {
	parts := w.index.parts
	first := 0
	if w.busy != nil {
		first = w.at(w.busy) + len(w.busy.parts)
	}
	from := len(parts)
	size := 0
	for i := len(parts) - 1; i >= first && (size == 0 || parts[i].Live() <= 2*size); i-- {
		size += parts[i].Live()
		from = i
	}
	if len(parts)-from >= 2 {
		return w.newMerge(parts[from:])
	}
	for i := first; i < len(parts); i++ {
		if parts[i].Live() < len(parts[i].Seg.Docs)/2 {
			return w.newMerge(parts[i : i+1])
		}
	}
	return nil
}

func (w *Writer) newMerge(parts []segment.Part) *Merge {
	return &Merge{parts: slices.Clone(parts), words: w.vocabulary(w.index.join)}
}

// at returns the current positions of the parts of a merge.
func (w *Writer) at(m *Merge) int {
	return slices.IndexFunc(w.index.parts, func(p segment.Part) bool { return p.Seg == m.parts[0].Seg })
}

func (m *Merge) size() (n int) {
	for _, p := range m.parts {
		n += p.Live()
	}
	return n
}

// Run merges the segments. It may run on any goroutine.
func (m *Merge) Run() {
	docs := make([]segment.Doc, 0, m.size())
	for _, p := range m.parts {
		for i := range p.Seg.Docs {
			if !p.Gone.Has(uint32(i)) {
				docs = append(docs, p.Seg.Docs[i])
			}
		}
	}
	slices.SortFunc(docs, func(a, b segment.Doc) int { return segment.Compare(&a, &b) })
	m.result = segment.Build(docs, m.words, 1)
}

// Install adds the result of a merge that Due returned to the index.
func (w *Writer) Install(m *Merge) {
	w.install(m)
	w.busy = nil
	w.mergeSmall()
}

// install replaces the parts by the result. Reports that were replaced
// while the merge ran are marked as gone in the result.
func (w *Writer) install(m *Merge) {
	at := w.at(m)
	merged := segment.NewPart(m.result)
	var gone []uint32
	for i, before := range m.parts {
		for n := range w.index.parts[at+i].Gone.All() {
			if before.Gone.Has(n) {
				continue
			}
			in, _ := m.result.Find(before.Seg.Docs[n].Key)
			gone = append(gone, in)
		}
	}
	merged = merged.Without(gone)
	parts := slices.Clone(w.index.parts[:at])
	if len(m.result.Docs) > 0 {
		parts = append(parts, merged)
	}
	w.publish(append(parts, w.index.parts[at+len(m.parts):]...), w.index.join)
}
