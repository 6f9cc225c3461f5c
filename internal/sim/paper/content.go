package paper

import (
	"fmt"

	"pregon/internal/sim/filler"
)

// Content is a document that a caller has written, to be printed as an issuer
// would.
type Content struct {
	Title      string // of the file
	Head, Foot string // of every page
	Blocks     []Block
}

// Block is a part of a Content.
type Block struct {
	Kind BlockKind
	Text string
	Rows [][]string // of a table
	Head bool       // the first row of the table is its head
}

// BlockKind says how a block is printed.
type BlockKind int

// The kinds of blocks.
const (
	Paragraph BlockKind = iota
	Letterhead
	Small // an address or a signature
	Heading
	Item // of an enumeration
	Table
	NewPage // what follows begins a page
)

var kinds = map[BlockKind]blockKind{
	Paragraph:  paragraph,
	Letterhead: letterhead,
	Small:      small,
	Heading:    heading,
	Item:       item,
	Table:      table,
	NewPage:    newPage,
}

// Print returns the file of a document. Its form is "pdf", "columns" or "scan".
func Print(c *Content, form string, seed uint64) File {
	d := &document{title: c.Title, head: c.Head, foot: c.Foot}
	for _, b := range c.Blocks {
		d.blocks = append(d.blocks, block{
			kind: kinds[b.Kind],
			text: b.Text,
			rows: b.Rows,
			head: b.Head,
		})
	}
	rng := filler.NewRandom(filler.Mix(seed), forLayout)
	f := File{ContentType: contentPDF}
	switch form {
	case "scan":
		f.Body = makeScan(d, rng)
	case "columns":
		style := randomStyle(d, rng)
		style.setTwoColumns()
		f.Body = makePDF(d, style)
	case "pdf":
		style := randomStyle(d, rng)
		f.Body = makePDF(d, style)
	default:
		panic(fmt.Sprintf("paper: content cannot have the form %q", form))
	}
	return f
}
