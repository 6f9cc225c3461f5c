package statement

import (
	"fmt"
	"slices"
	"strings"

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
// break and its cells by a tab. Empty cells are left out, and so may be the tabs in
// the head of a table, whose cells are close together. Head and foot are on the first
// page. Cells are not broken into lines, as they may be in the file.
//
// On a scan the cells of a table have dots between them, as on the sheet, its rows may
// run into one another, and a word here and there is misread. Figures and names of the facts are not, because nobody
// can say what should be found then.
func (d *Document) Pages() []string {
	p := pages{rng: filler.NewRandom(d.seed, 1)}
	p.dense = p.rng.Percent(25)
	p.add(d.head())
	for n := range d.Blocks {
		b := &d.Blocks[n]
		switch {
		case b.Kind == paper.NewPage:
			p.finish()
		case b.Kind == paper.Table && d.Layout == "bilingual" && !b.Head:
			p.addColumns(b.Rows)
		case b.Kind == paper.Table && d.Layout == "scan":
			p.add(scannedRows(b.Rows, p.rng))
		case b.Kind == paper.Table:
			p.addTable(b)
		default:
			p.add(b.Text)
		}
	}
	p.finish()
	p.done[0] += fmt.Sprintf("\n\n%s\tPágina 1 de %d", foot, len(p.done))
	if d.Layout == "scan" {
		for n := range p.done {
			p.done[n] = d.misread(plainCapitals.Replace(p.done[n]), p.rng)
		}
	}
	return p.done
}

// pages collects paragraphs into pages.
type pages struct {
	rng   filler.Random
	dense bool // the heads of tables
	now   strings.Builder
	done  []string
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

// addColumns adds the left column of a table and then the right one.
func (p *pages) addColumns(rows [][]string) {
	for side := range 2 {
		for _, row := range rows {
			p.add(row[side])
		}
	}
}

// addTable adds a table whose head is dense if those of the document are.
func (p *pages) addTable(b *paper.Block) {
	text := rowsText(b.Rows, "\t")
	if head, rest, _ := strings.Cut(text, "\n"); b.Head && p.dense {
		first, others, _ := strings.Cut(head, "\t")
		text = first + "\t" + strings.ReplaceAll(others, "\t", " ") + "\n" + rest
	}
	p.add(text)
}

func rowsText(rows [][]string, gap string) string {
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		filled := slices.DeleteFunc(slices.Clone(row), func(cell string) bool { return cell == "" })
		lines = append(lines, strings.Join(filled, gap))
	}
	return strings.Join(lines, "\n")
}
