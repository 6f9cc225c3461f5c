// Package statement writes documents that state facts, as issuers write them, with
// the truth beside it: what a reader of the document should find, and no more.
//
// The texts are in files, so that they can be written without knowing Go, and by
// people who do not know the reader: see template.go for their form. A blank of a
// text that is named as a field of the fact is filled with its value, and so makes
// the field part of the truth. Everything else in a text (figures of other periods,
// policies, conditions) has blanks of other names. So no document can state a field
// that is missing in its truth, and the reverse.
package statement

import (
	"cmp"
	"iter"
	"time"

	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
	"pregon/internal/sim/paper"
)

// Fact is what a document says.
//
// Numbers have a point and the decimals that the document gives; amounts are in
// units. Dates are as 2026-06-18, and as 2026-06-18T12:00 if the document gives the
// time, which it may do by "at the same time". Names are without forms of address.
// A role has the words of the document, in Spanish if it has two languages.
type Fact struct {
	Kind   string
	Fields map[string]string
	Rows   []map[string]string // nil if the rows do not add up to the stated total
}

// Document is a document and the facts that it states.
type Document struct {
	Kind     string // of the fact that it is about, or None
	Layout   string // one of Layouts
	Voice    string // names the text that was used
	Trap     string // what is difficult about the text, or ""
	Language string // es, en or ca; the first one if there are two
	Company  string
	Day      time.Time // on which it is published
	Title    string    // of the report, with the mark of the simulation
	Category string    // of the report, as the register spells it
	Blocks   []paper.Block
	Facts    []Fact // the first is of Kind, unless there is none

	seed uint64
}

// None is the kind of documents that state no fact.
const None = "none"

// Kinds returns the kinds of facts.
func Kinds() []string {
	all := make([]string, 0, len(kinds))
	for _, k := range kinds {
		all = append(all, k.name)
	}
	return all
}

// Layouts returns the layouts of documents.
func Layouts() []string {
	return []string{"letter", "form", "table", "press", "bilingual", "scan"}
}

// Voices returns how many texts there are for a kind in a layout.
func Voices(kind, layout string) int { return len(templatesFor(kind, layout)) }

// Make returns the document of a seed. The kind is one of Kinds or None.
func Make(kind, layout string, seed uint64) Document {
	all := templatesFor(kind, layout)
	if len(all) == 0 {
		panic("statement: no text for " + kind + " as " + layout)
	}
	key := filler.Mix(seed)
	for _, c := range kind + " " + layout {
		key = filler.Mix(key ^ uint64(c))
	}
	// Consecutive seeds use the texts in turn, so that few of them use all texts.
	return write(kind, layout, all[seed%uint64(len(all))], key, &order{})
}

// write returns the document that a text makes of what is ordered and drawn.
func write(kind, layout string, t *template, key uint64, o *order) Document {
	w := newWriter(filler.NewRandom(key, 0), t, o)
	d := Document{
		Kind:     kind,
		Layout:   layout,
		Voice:    t.voice,
		Trap:     t.trap,
		Language: t.language,
		Company:  w.company,
		Day:      w.day,
		Category: cmp.Or(o.category, w.category(kind)),
		seed:     key,
	}
	title := w.fill(t.title)
	if o.title != "" && t.language != "es" {
		w.subtitle = title
	}
	title = cmp.Or(o.title, title)
	w.compose(title)
	d.Title = market.Mark + title
	d.Blocks = w.blocks
	d.Facts = w.facts()
	if layout == "scan" {
		d.typewrite()
	}
	return d
}

// Sample returns documents of all kinds, and of none, in all layouts, as many of each
// as of the others. They depend on their position and the seed, not on n.
func Sample(n int, seed uint64) iter.Seq[Document] {
	return func(yield func(Document) bool) {
		names, layouts := append(Kinds(), None), Layouts()
		for at := range n {
			round := at / (len(names) * len(layouts))
			layout := layouts[at/len(names)%len(layouts)]
			if !yield(Make(names[at%len(names)], layout, seed+uint64(round))) {
				return
			}
		}
	}
}
