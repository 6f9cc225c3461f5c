package search

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Every Apply adds a segment. They are merged so that each is more than twice
// the size of the next: so there are few, and a report is moved a few
// times in its life. What is small is merged at once; the rest is a Merge that
// runs beside the readers and the writer. Merging moves no text and no record,
// only the sets are made anew.

// mergeAtOnce is how many reports may be merged while the writer waits.
const mergeAtOnce = 2048

// Merge is a merge of some segments of an index.
type Merge struct {
	parts  []part // as they were when it began
	words  vocabulary
	result *segment
}

// mergeSmall merges what is due and small.
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

// Due returns the merge that is to be run now, once, or nil.
func (w *Writer) Due() *Merge {
	if w.busy == nil {
		w.busy = w.due()
		return w.busy
	}
	return nil
}

// due finds segments that ought to be one: the last ones, as long as each is
// at most twice what follows it, or one of which most is gone. It leaves those
// alone that are being merged.
func (w *Writer) due() *Merge {
	parts := w.index.parts
	first := 0
	if w.busy != nil {
		first = w.at(w.busy) + len(w.busy.parts)
	}
	from := len(parts)
	size := 0
	for i := len(parts) - 1; i >= first && (size == 0 || parts[i].live() <= 2*size); i-- {
		size += parts[i].live()
		from = i
	}
	if len(parts)-from >= 2 {
		return w.newMerge(parts[from:])
	}
	for i := first; i < len(parts); i++ {
		if parts[i].live() < len(parts[i].seg.docs)/2 {
			return w.newMerge(parts[i : i+1])
		}
	}
	return nil
}

func (w *Writer) newMerge(parts []part) *Merge {
	return &Merge{parts: slices.Clone(parts), words: w.vocabulary(w.index.join)}
}

// at returns where the parts of a merge stand now.
func (w *Writer) at(m *Merge) int {
	return slices.IndexFunc(w.index.parts, func(p part) bool { return p.seg == m.parts[0].seg })
}

func (p part) live() int {
	if p.gone == nil {
		return len(p.seg.docs)
	}
	return len(p.seg.docs) - int(p.gone.GetCardinality())
}

func (m *Merge) size() (n int) {
	for _, p := range m.parts {
		n += p.live()
	}
	return n
}

// Run does the work. It may run on any goroutine.
func (m *Merge) Run() {
	docs := make([]Doc, 0, m.size())
	for _, p := range m.parts {
		for i := range p.seg.docs {
			if p.gone == nil || !p.gone.Contains(uint32(i)) {
				docs = append(docs, p.seg.docs[i])
			}
		}
	}
	slices.SortFunc(docs, func(a, b Doc) int { return compareDocs(&a, &b) })
	m.result = build(docs, m.words, 1)
}

// Install puts the result of a merge that Due gave into the index.
func (w *Writer) Install(m *Merge) {
	w.install(m)
	w.busy = nil
	w.mergeSmall()
}

// install replaces the parts by the result. What was replaced while the merge
// ran is gone from the result too.
func (w *Writer) install(m *Merge) {
	at := w.at(m)
	merged := newPart(m.result)
	for i, before := range m.parts {
		now := w.index.parts[at+i].gone
		if now == nil {
			continue
		}
		if before.gone != nil {
			now = roaring.AndNot(now, before.gone)
		}
		for it := now.Iterator(); it.HasNext(); {
			n, _ := m.result.find(before.seg.docs[it.Next()].Key)
			if merged.gone == nil {
				merged.gone = roaring.New()
			}
			merged.gone.Add(n)
		}
	}
	parts := slices.Clone(w.index.parts[:at])
	if len(m.result.docs) > 0 {
		parts = append(parts, merged)
	}
	w.publish(append(parts, w.index.parts[at+len(m.parts):]...), w.index.join)
}
