package statement

import (
	"strings"
	"unicode"

	"pregon/internal/sim/filler"
	"pregon/internal/sim/paper"
)

// pageSize is how many characters a page of Pages has, about.
const pageSize = 2600

// File returns the file of the document.
func (d *Document) File() paper.File {
	c := paper.Content{
		Title:  d.Title,
		Head:   d.head(),
		Foot:   foot,
		Blocks: d.Blocks,
	}
	form := "pdf"
	if d.Layout == "scan" {
		form = "scan"
	}
	return paper.Print(&c, form, d.seed)
}

func (d *Document) head() string { return d.Company + " — DOCUMENTO SIMULADO" }

const foot = "Simulación: ni la entidad ni los hechos de este documento son reales."

// Pages returns about the text that is extracted from the file, without making the
// file: paragraphs are separated by an empty line, the rows of a table by a line
// break and its cells by a tab. Head and foot are on the first page.
//
// On a scan the cells of a table have dots between them, as on the sheet, and a word
// here and there is misread. Figures and names of the facts are not, because nobody
// can say what should be found then.
func (d *Document) Pages() []string {
	p := pages{rng: filler.NewRandom(d.seed, 1)}
	p.add(d.head())
	for n := range d.Blocks {
		b := &d.Blocks[n]
		switch {
		case b.Kind == paper.NewPage:
			p.finish()
		case b.Kind == paper.Table && d.Layout == "bilingual":
			p.addColumns(b.Rows)
		case b.Kind == paper.Table && d.Layout == "scan":
			p.add(rowsText(b.Rows, " .... "))
		case b.Kind == paper.Table:
			p.add(rowsText(b.Rows, "\t"))
		default:
			p.add(b.Text)
		}
	}
	p.finish()
	p.done[0] += "\n\n" + foot
	if d.Layout == "scan" {
		for n := range p.done {
			p.done[n] = d.misread(p.done[n], p.rng)
		}
	}
	return p.done
}

// pages collects paragraphs into pages.
type pages struct {
	rng  filler.Random
	now  strings.Builder
	done []string
}

func (p *pages) add(text string) {
	if p.now.Len()+len(text) > pageSize {
		p.finish()
	}
	if p.now.Len() > 0 {
		p.now.WriteString("\n\n")
	}
	p.now.WriteString(text)
}

func (p *pages) finish() {
	if p.now.Len() > 0 {
		p.done = append(p.done, p.now.String())
		p.now.Reset()
	}
}

// addColumns adds the left column of a table and then the right one, unless its rows
// have more than two cells.
func (p *pages) addColumns(rows [][]string) {
	if len(rows[0]) != 2 {
		p.add(rowsText(rows, "\t"))
		return
	}
	for side := range 2 {
		for _, row := range rows {
			p.add(row[side])
		}
	}
}

func rowsText(rows [][]string, gap string) string {
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		lines = append(lines, strings.Join(row, gap))
	}
	return strings.Join(lines, "\n")
}

// misread changes a letter of about one word in eighty, as poor prints cause it.
func (d *Document) misread(text string, rng filler.Random) string {
	words := strings.Split(text, " ")
	for n, word := range words {
		if rng.IntN(80) > 0 || len(word) < 5 || strings.ContainsFunc(word, notLetter) || d.states(word) {
			continue
		}
		for _, pair := range misreadings {
			if strings.Contains(word, pair[0]) {
				words[n] = strings.Replace(word, pair[0], pair[1], 1)
				break
			}
		}
	}
	return strings.Join(words, " ")
}

// misreadings are letters that are taken for others.
var misreadings = [][2]string{{"ó", "o"}, {"í", "i"}, {"rn", "m"}, {"á", "a"}, {"li", "h"}, {"cl", "d"}, {"ñ", "n"}}

func notLetter(c rune) bool { return !unicode.IsLower(c) }

// states reports whether a word is part of a value of a fact.
func (d *Document) states(word string) bool {
	for _, f := range d.Facts {
		for _, value := range f.Fields {
			if strings.Contains(value, word) {
				return true
			}
		}
	}
	return false
}
