package search

import (
	"maps"
	"runtime"
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/search/segment"
	"pregon/internal/text"
)

// Writer builds successive indexes as reports are added and changed. Only one
// goroutine at a time may use it. Any goroutine may use its indexes.
type Writer struct {
	dict     *segment.Dictionary
	analyser segment.Analyzer
	buffer   []byte
	arena    segment.Arena

	refs       []string
	refNumbers map[string]uint32

	categoryLines  []categoryLine
	lineCategories [][]uint32 // by number of the category line
	lineNumbers    map[string]uint32
	categories     map[string]uint32
	categoryNames  []name // by number
	shared         bool   // an index shares the categories: copy before a change

	documents *Numbers
	lean      bool // see segment.Vocabulary
	facts     FactsOf

	index *Index // the newest
	busy  *Merge // running in another goroutine
}

// FactsOf returns the facts of a report from its record: see Writer.Doc.
type FactsOf func(record string) []disclosure.Fact

// factWord returns the word in the index that all reports with a fact of a kind have. No
// text has it, because words have no such characters.
func factWord(k disclosure.FactKind) string { return "\x00fact " + string(k) }

// routineWord is the word in the index that all routine reports have. No text has it.
const routineWord = "\x00routine"

// NewWriter returns a writer whose index is empty. It numbers the documents of
// reports with documents. Filters by amounts read the facts of records with facts.
func NewWriter(documents *Numbers, facts FactsOf) *Writer {
	dict := segment.NewDictionary()
	w := &Writer{
		dict:        dict,
		analyser:    segment.Analyzer{Dict: dict},
		documents:   documents,
		facts:       facts,
		refNumbers:  map[string]uint32{},
		lineNumbers: map[string]uint32{},
		categories:  map[string]uint32{},
	}
	w.publish(nil, w.newJoin(NewDirectory(nil)))
	return w
}

// NewLeanWriter returns a writer for an index of a few reports that is built once and
// searched a few times. It takes half the time, on one processor, and some searches take
// longer.
func NewLeanWriter(facts FactsOf) *Writer {
	w := NewWriter(new(Numbers), facts)
	w.lean = true
	return w
}

// Index returns the newest index.
func (w *Writer) Index() *Index { return w.index }

// Doc returns the document of a report. The record is kept with it: see
// Index.Record.
func (w *Writer) Doc(r *disclosure.Report, record []byte) segment.Doc {
	w.buffer = append(w.buffer[:0], record...)
	for _, field := range []string{r.CompanyName, r.Ticker, r.Title, r.Summary} {
		w.buffer = w.analyser.Append(w.buffer, field)
	}
	line := w.categoryLine(r.Category)
	w.buffer = append(w.buffer, w.categoryLines[line].text...)
	if len(r.Facts) > 0 {
		w.buffer = w.analyser.AppendWord(w.buffer, factWord(disclosure.AnyFact))
	}
	for i, f := range r.Facts {
		if !slices.ContainsFunc(r.Facts[:i], func(other disclosure.Fact) bool { return other.Kind == f.Kind }) {
			w.buffer = w.analyser.AppendWord(w.buffer, factWord(f.Kind))
		}
	}
	if r.IsRoutine() {
		w.buffer = w.analyser.AppendWord(w.buffer, routineWord)
	}
	return segment.Doc{
		At:           r.ListedAt().UnixNano(),
		Key:          KeyOf(r.Type, r.Number),
		Ref:          w.ref(refOf(r)),
		CategoryLine: line,
		Document:     w.document(&r.Document),
		Place:        w.arena.Add(w.buffer),
		RecordLen:    uint32(len(record)),
	}
}

// document returns the number of a document that can be read, else 0.
func (w *Writer) document(d *disclosure.Document) uint32 {
	hash, ok := ParseHash(d.SHA256)
	if !ok || d.Status != disclosure.DocumentReady {
		return 0
	}
	return w.documents.Of(hash)[0]
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

func (w *Writer) categoryLine(line string) uint32 {
	n, ok := w.lineNumbers[line]
	if ok {
		return n
	}
	l := categoryLine{line: line, names: disclosure.SplitCategories(line)}
	for _, c := range l.names {
		l.text = w.analyser.Append(l.text, c)
		folded := text.Fold(c)
		number, ok := w.categories[folded]
		if !ok {
			number = uint32(len(w.categories))
			if w.shared {
				w.categories, w.shared = maps.Clone(w.categories), false
			}
			w.categories[folded] = number
			w.categoryNames = append(w.categoryNames, newCategory(c))
		}
		l.numbers = append(l.numbers, number)
	}
	n = uint32(len(w.categoryLines))
	w.categoryLines, w.lineCategories = append(w.categoryLines, l), append(w.lineCategories, l.numbers)
	w.lineNumbers[line] = n
	return n
}

// Apply adds reports to the index and returns the earlier states that they
// replace. The reports must be distinct. dir replaces the directory unless it is
// nil.
func (w *Writer) Apply(docs []segment.Doc, dir *Directory) (replaced []*segment.Doc) {
	last := w.index
	next := w.joined(dir)
	parts := slices.Clone(last.parts)
	moved := w.moved(docs, last.join.retickered(next))
	gone := make([][]uint32, len(parts)) // of each part, besides what is gone already
	remove := func(key uint64) *segment.Doc {
		for k, p := range parts {
			if n, ok := p.Find(key); ok {
				gone[k] = append(gone[k], n)
				return &p.Seg.Docs[n]
			}
		}
		return nil
	}
	for i := range docs {
		if d := remove(docs[i].Key); d != nil {
			replaced = append(replaced, d)
			w.arena.Free(d.Place)
		}
	}
	for i := range moved {
		remove(moved[i].Key)
	}
	for k := range parts {
		parts[k] = parts[k].Without(gone[k])
	}
	if fresh := slices.Concat(docs, moved); len(fresh) > 0 {
		slices.SortFunc(fresh, func(a, b segment.Doc) int { return segment.Compare(&a, &b) })
		goroutines := 1
		if len(parts) == 0 && !w.lean { // the start, before there are readers
			goroutines = runtime.GOMAXPROCS(0)
		}
		parts = append(parts, segment.NewPart(segment.Build(fresh, w.vocabulary(next), goroutines)))
	}
	w.publish(parts, next)
	w.mergeSmall()
	return replaced
}

// moved returns the reports of some references that must be indexed again, without
// those that are added anyway.
func (w *Writer) moved(docs []segment.Doc, refs []uint32) []segment.Doc {
	if len(refs) == 0 {
		return nil
	}
	coming := make(map[uint64]bool, len(docs))
	for i := range docs {
		coming[docs[i].Key] = true
	}
	var moved []segment.Doc
	for _, p := range w.index.parts {
		s := p.Seg.RefSet(refs)
		if s == nil {
			continue
		}
		for h := segment.NewHits(p.Seg, []*segment.Set{s}, p.Gone); h.Left > 0; {
			if d := p.Seg.Docs[h.NextOrdinal()]; !coming[d.Key] {
				moved = append(moved, d)
			}
		}
	}
	return moved
}

// vocabulary returns the meaning of the numbers, with the tickers of a join.
func (w *Writer) vocabulary(j *join) segment.Vocabulary {
	return segment.Vocabulary{
		Words:      w.dict.List,
		Stems:      w.dict.StemCount,
		Categories: w.lineCategories,
		Tickers:    j.tickers,
		Memory:     w.arena.Memory,
		Lean:       w.lean,
	}
}

// joined resolves the references again if there are new ones or issuers changed.
func (w *Writer) joined(dir *Directory) *join {
	last := w.index.join
	if dir == nil {
		dir = last.dir
	}
	if dir == last.dir && len(last.issuers) == len(w.refs) {
		return last
	}
	return w.newJoin(dir)
}

func (w *Writer) publish(parts []segment.Part, j *join) {
	w.shared = true
	w.index = &Index{
		dict:          w.dict,
		parts:         parts,
		join:          j,
		categoryLines: w.categoryLines,
		categories:    w.categories,
		categoryNames: w.categoryNames,
		memory:        w.arena.Memory,
		facts:         w.facts,
	}
}
