package search

import (
	"maps"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/RoaringBitmap/roaring/v2"

	"pregon/internal/disclosure"
)

// Writer makes one Index after another as filings come and change. It belongs
// to one goroutine at a time; the indexes it makes belong to everybody.
type Writer struct {
	dict     *dictionary
	analyser analyser
	buffer   []byte
	arena    arena

	refs       []string
	refNumbers map[string]uint32

	headings       []heading
	headingNumbers map[string]uint32
	categories     map[string]uint32 // replaced, never changed: indexes share it

	index *Index // the newest
	busy  *Merge // under way elsewhere
}

// NewWriter returns a writer whose index is empty.
func NewWriter() *Writer {
	dict := newDictionary()
	w := &Writer{
		dict: dict, analyser: analyser{dict: dict},
		refNumbers: map[string]uint32{}, headingNumbers: map[string]uint32{}, categories: map[string]uint32{},
	}
	w.publish(nil, newJoin(NewDirectory(nil), nil))
	return w
}

// Index returns the newest index.
func (w *Writer) Index() *Index { return w.index }

// Doc analyses a report. The record is kept beside it for whoever shows it.
func (w *Writer) Doc(r *disclosure.Report, record []byte) Doc {
	w.buffer = w.buffer[:0]
	for _, field := range []string{r.CompanyName, r.Ticker, r.Title, r.Summary} {
		w.buffer = w.analyser.append(w.buffer, field)
	}
	for _, c := range r.Categories() {
		w.buffer = w.analyser.append(w.buffer, c)
	}
	return Doc{
		At: r.PublishedAt.UnixNano(), Key: KeyOf(r.Type, r.Number), Ref: w.ref(refOf(r)), Heading: w.heading(r.Category),
		Text: tokens(w.arena.keep(w.buffer)), Record: w.arena.keep(record),
	}
}

func (w *Writer) ref(text string) uint32 {
	n, ok := w.refNumbers[text]
	if !ok {
		n = uint32(len(w.refs))
		w.refs = append(w.refs, text)
		w.refNumbers[text] = n
	}
	return n
}

func (w *Writer) heading(text string) uint32 {
	n, ok := w.headingNumbers[text]
	if ok {
		return n
	}
	h := heading{text: text}
	for _, c := range disclosure.SplitCategories(text) {
		folded := Fold(c)
		number, ok := w.categories[folded]
		if !ok {
			number = uint32(len(w.categories))
			w.categories = maps.Clone(w.categories)
			w.categories[folded] = number
		}
		h.categories = append(h.categories, number)
	}
	n = uint32(len(w.headings))
	w.headings = append(w.headings, h)
	w.headingNumbers[text] = n
	return n
}

// Apply lays filings over the index, each replacing an earlier state of its
// own, and returns those states. No two may be of one filing. A directory
// replaces the one before; nil keeps it.
func (w *Writer) Apply(docs []Doc, dir *Directory) (replaced []*Doc) {
	parts := slices.Clone(w.index.parts)
	owned := make([]bool, len(parts)) // whose gone is a copy of our own
	for i := range docs {
		for k := range parts {
			p := &parts[k]
			n, ok := p.seg.find(docs[i].Key)
			if !ok || p.gone != nil && p.gone.Contains(n) {
				continue
			}
			replaced = append(replaced, &p.seg.docs[n])
			if !owned[k] {
				owned[k] = true
				p.gone = cloneOrNew(p.gone)
			}
			p.gone.Add(n)
		}
	}
	if len(docs) > 0 {
		slices.SortFunc(docs, func(a, b Doc) int { return compareDocs(&a, &b) })
		parts = append(parts, newPart(build(docs, w.vocabulary())))
	}
	w.publish(parts, w.joined(dir))
	w.mergeSmall()
	return replaced
}

func cloneOrNew(b *roaring.Bitmap) *roaring.Bitmap {
	if b == nil {
		return roaring.New()
	}
	return b.Clone()
}

func newPart(s *segment) part { return part{seg: s, kinds: new(atomic.Pointer[kindSets])} }

func (w *Writer) vocabulary() vocabulary {
	return vocabulary{words: w.dict.list, stems: w.dict.nStem, headings: w.headings}
}

// joined resolves the references anew when there are more, or issuers changed.
func (w *Writer) joined(dir *Directory) *join {
	last := w.index.join
	if dir == nil {
		dir = last.dir
	}
	if dir == last.dir && len(last.issuers) == len(w.refs) {
		return last
	}
	return newJoin(dir, w.refs)
}

func (w *Writer) publish(parts []part, j *join) {
	w.index = &Index{dict: w.dict, parts: parts, join: j, headings: w.headings, categories: w.categories}
}

// arena keeps many small strings in few pieces of memory. A piece is freed
// when none of its strings is in use any more.
type arena struct{ piece []byte }

const arenaPiece = 64 << 10

func (a *arena) keep(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > cap(a.piece)-len(a.piece) {
		a.piece = make([]byte, 0, max(arenaPiece, len(b)))
	}
	at := len(a.piece)
	a.piece = append(a.piece, b...)
	return unsafe.String(&a.piece[at], len(b)) // written once, never again
}
