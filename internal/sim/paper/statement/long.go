package statement

import (
	"slices"

	"pregon/internal/sim/filler"
	"pregon/internal/sim/paper"
)

// annex is the file of the sections of long documents, which state no fact: reports
// of the management, notes, tables of other figures, earlier years.
const annex = "annex"

// Long returns a document of so many pages, in Spanish, which states a fact of a kind
// somewhere among sections about other things. The facts are those of the statement.
// The pages are those of the method Pages; the file may have some more or less.
func Long(kind string, pages int, seed uint64) *Document {
	d := longStatement(kind, seed)
	rng := filler.NewRandom(d.seed, 3)
	sections := templatesFor(annex, "section")
	order := &order{company: d.Company, day: d.Day}
	statement := slices.Clone(d.Blocks)
	var before, after []paper.Block
	compose := func() {
		d.Blocks = slices.Concat([]paper.Block{{Kind: paper.Letterhead, Text: d.Company}}, before,
			[]paper.Block{{Kind: paper.NewPage}}, statement, []paper.Block{{Kind: paper.NewPage}}, after)
	}
	for n := 0; len(d.Pages()) < pages; n++ {
		if n%len(sections) == 0 {
			rng.Shuffle(len(sections), func(i, k int) { sections[i], sections[k] = sections[k], sections[i] })
		}
		t := sections[n%len(sections)]
		w := newWriter(rng, t, order)
		w.add(paper.Heading, w.fill(t.title))
		w.writeLines(t.lines)
		if n%5 < 2 {
			before = append(before, w.blocks...)
		} else {
			after = append(after, w.blocks...)
		}
		compose()
	}
	for len(d.Pages()) > pages && len(after) > 0 {
		after = after[:len(after)-1]
		compose()
	}
	return d
}

// longStatement returns the statement of a long document: one in Spanish that is not
// scanned.
func longStatement(kind string, seed uint64) *Document {
	layouts := []string{"letter", "form", "table", "press"}
	for try := uint64(0); ; try++ {
		d := Make(kind, layouts[seed%uint64(len(layouts))], seed<<16|try)
		if d.Language == "es" {
			return &d
		}
	}
}
