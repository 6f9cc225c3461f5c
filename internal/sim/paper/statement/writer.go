package statement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/sim/filler"
	"pregon/internal/sim/paper"
)

// writer writes one document.
type writer struct {
	filler.Random
	notation
	template *template
	order    *order
	subtitle string    // in the language of the document, if the title has another
	day      time.Time // of the document
	company  string
	sets     []set                 // the values of the facts
	used     []map[string][]string // of each fact, the forms in which fields were written
	rowUsed  []map[string][]string // the same of its rows
	row      map[string]value      // the current one
	rowOf    int                   // the fact it belongs to
	general  map[string]value      // values that belong to no fact
	blocks   []paper.Block
}

func newWriter(rng filler.Random, t *template, o *order) *writer {
	w := &writer{
		Random:   rng,
		template: t,
		order:    o,
		notation: newNotation(t.language, rng),
		general:  map[string]value{},
	}
	w.day = workday(time.Date(2024, 2, 1+rng.IntN(1050), 0, 0, 0, 0, time.UTC), 1)
	w.company = w.newCompany(t)
	if o.company != "" {
		w.company = o.company
		w.day = o.day
	}
	for _, fact := range t.facts {
		d := draw{writer: w, declaration: fact}
		d.values = map[string]value{}
		d.follows = map[string]deduction{}
		kindNamed(fact.kind).draw(&d)
		w.sets = append(w.sets, d.set)
		used := map[string][]string{}
		for field, form := range o.stated {
			used[field] = []string{form}
		}
		w.used = append(w.used, used)
		w.rowUsed = append(w.rowUsed, map[string][]string{})
	}
	for blank, v := range o.values {
		w.general[blank] = v
	}
	return w
}

// fill returns a text with its alternatives chosen and its blanks filled.
func (w *writer) fill(text string) string {
	f := filler.Filler{Value: w.blank}
	return f.Fill(w.choose(text))
}

// choose replaces each [a|b] by one of the two. Brackets of blanks are left.
func (w *writer) choose(text string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "[")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		all, rest, _ := strings.Cut(rest, "]")
		out.WriteString(filler.Pick(w.Random, strings.Split(all, "|")))
		text = rest
	}
}

// blank fills one blank.
func (w *writer) blank(text string) string {
	full, form, _ := strings.Cut(text, ":")
	name, which, _ := strings.Cut(full, "#")
	n := 0
	if which != "" {
		n, _ = strconv.Atoi(which)
		n--
	}
	switch {
	case name == "g":
		man, woman, _ := strings.Cut(form, "|")
		if w.sets[n].woman {
			return woman
		}
		return man
	case strings.HasPrefix(name, "."):
		return w.rowBlank(name[1:], form)
	case strings.HasPrefix(name, "prev."):
		return w.previous(n, name[5:]).write(&w.notation, form)
	case strings.HasPrefix(name, "old."):
		return w.replaced(n, name[4:]).write(&w.notation, form)
	case strings.HasPrefix(name, "var."):
		now := w.sets[n].values[name[4:]].(number)
		return w.percent(now, w.previous(n, name[4:]).(number))
	}
	if n < len(w.sets) {
		if v, ok := w.sets[n].values[name]; ok {
			w.used[n][name] = append(w.used[n][name], form)
			return v.write(&w.notation, form)
		}
	}
	return w.generalValue(name).write(&w.notation, form)
}

func (w *writer) rowBlank(name, form string) string {
	v, ok := w.row[name]
	if !ok {
		panic("statement: no row has " + name) // a bug in texts
	}
	w.rowUsed[w.rowOf][name] = append(w.rowUsed[w.rowOf][name], form)
	return v.write(&w.notation, form)
}

// previous returns what a value of a fact was a year before, the same in the whole
// document.
func (w *writer) previous(fact int, field string) value {
	return w.once(fmt.Sprint("prev.", field, fact), func() value {
		of := &w.sets[fact]
		if from := of.follows[field]; from != nil {
			return from(func(name string) number { return w.previous(fact, name).(number) })
		}
		return before(of.values[field], w.Random)
	})
}

// replaced returns another value than that of a fact, the same in the whole document.
func (w *writer) replaced(fact int, field string) value {
	return w.once(fmt.Sprint("old.", field, fact), func() value {
		return other(w.sets[fact].values[field], w.Random)
	})
}

// once returns the value of a key, which is made on first use.
func (w *writer) once(key string, create func() value) value {
	v, ok := w.general[key]
	if !ok {
		v = create()
		w.general[key] = v
	}
	return v
}

// facts returns the facts that the text states: the fields that were written.
func (w *writer) facts() (out []Fact) {
	for n, declared := range w.template.facts {
		f := Fact{Kind: declared.kind, Fields: map[string]string{}}
		k := kindNamed(declared.kind)
		for field, forms := range w.used[n] {
			if slices.Contains(k.fields, field) {
				f.Fields[field] = w.sets[n].values[field].truth(forms)
			}
		}
		for field, value := range declared.fields {
			f.Fields[field] = value
		}
		isStated := func(field string) bool { return f.Fields[field] != "" }
		if !isStated("currency") && slices.ContainsFunc(k.money, isStated) {
			f.Fields["currency"] = "EUR"
		}
		if !declared.options["broken"] {
			f.Rows = w.factRows(n, k)
		}
		out = append(out, f)
	}
	return out
}

// factRows returns the rows of a fact with the fields that were written.
func (w *writer) factRows(n int, k *kind) (out []map[string]string) {
	if len(w.rowUsed[n]) == 0 {
		return nil
	}
	for _, row := range w.sets[n].rows {
		one := map[string]string{}
		for field, forms := range w.rowUsed[n] {
			if slices.Contains(k.rowFields, field) {
				one[field] = row[field].truth(forms)
			}
		}
		out = append(out, one)
	}
	return out
}

// addTitle writes the title, and below it the one in the language of the document.
func (w *writer) addTitle(kind paper.BlockKind, title string) {
	w.add(kind, title)
	if w.subtitle != "" {
		w.add(paper.Heading, w.subtitle)
	}
}

func (w *writer) add(kind paper.BlockKind, text string) {
	w.blocks = append(w.blocks, paper.Block{Kind: kind, Text: text})
}

// writeLines writes the lines of a text.
func (w *writer) writeLines(lines []line) {
	for _, l := range lines {
		switch l.mark {
		case "?":
			if w.Percent(50) {
				w.add(paper.Paragraph, w.fill(l.text))
			}
		case "-":
			w.add(paper.Item, w.fill(l.text))
		case "#":
			w.add(paper.Heading, w.fill(l.text))
		case "^":
			w.add(paper.NewPage, "")
		case "&":
			w.writePair(l.text)
		case "||", "|", "|*", "|^":
			w.writeRows(l)
		default:
			w.add(paper.Paragraph, w.fill(l.text))
		}
	}
}

// writePair writes a paragraph in the language of the document and in another.
func (w *writer) writePair(text string) {
	left, right, _ := strings.Cut(w.choose(text), "¦")
	first := w.language
	row := []string{w.fill(strings.TrimSpace(left))}
	prose := w.prose
	w.language, w.prose = w.template.second, "long"
	row = append(row, w.fill(strings.TrimSpace(right)))
	w.language, w.prose = first, prose
	w.addRow(row, false)
}

// writeRows writes the head of a table, a row, or the rows of a fact.
func (w *writer) writeRows(l line) {
	w.cell = true
	w.narrow = strings.Count(l.text, "|") > 3
	defer func() { w.cell = false }()
	if l.mark == "||" || l.mark == "|" {
		w.addRow(w.cellsOf(l.text), l.mark == "||")
		return
	}
	rows := w.sets[w.rowOf].rows
	head := w.blocks[len(w.blocks)-1].Rows[0]
	for n := range rows {
		if l.mark == "|^" && n == (len(rows)+1)/2 {
			w.add(paper.NewPage, "")
			w.addRow(head, true)
		}
		w.row = rows[n]
		w.addRow(w.cellsOf(l.text), false)
	}
}

// cellsOf returns the cells of a row. A cell may be empty.
func (w *writer) cellsOf(text string) []string {
	var cells []string
	for _, cell := range strings.Split(w.choose(text)+" ", "| ") {
		cells = append(cells, w.fill(strings.TrimSpace(cell)))
	}
	return cells
}

// addRow adds a row to the table, or begins one with it, if there is none of as many
// columns.
func (w *writer) addRow(row []string, head bool) {
	last := len(w.blocks) - 1
	if head || w.blocks[last].Kind != paper.Table || len(w.blocks[last].Rows[0]) != len(row) {
		w.blocks = append(w.blocks, paper.Block{Kind: paper.Table, Head: head})
		last++
	}
	w.blocks[last].Rows = append(w.blocks[last].Rows, row)
}
