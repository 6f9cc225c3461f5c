package chart

import (
	"bytes"

	"pregon/internal/server/content"
)

// Table is what a chart shows, as a table of the page and as CSV.
type Table struct {
	Columns []Column
	Rows    [][]Cell
}

// Column is a column of a table. Its name in CSV is that of the API.
type Column struct {
	Name, Text string
	End        bool // of numbers, which are aligned to the end
}

// NumberColumn returns a column of numbers.
func NumberColumn(name, text string) Column { return Column{Name: name, Text: text, End: true} }

// Cell is a value of a table.
type Cell struct {
	Text   string // in the language of the page
	URL    string // of the page about it, or ""
	Value  string // in CSV
	Number int
}

// TextCell returns a text that is the same in CSV.
func TextCell(text string) Cell { return Cell{Text: text, Value: text} }

// CSV returns the table with a header row. Texts cannot be formulas.
func (t *Table) CSV(dialect content.Dialect) []byte {
	var b bytes.Buffer
	w := content.NewCSVWriter(&b, dialect)
	record := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		record[i] = c.Name
	}
	_ = w.Write(record) // a buffer does not fail
	for _, row := range t.Rows {
		for i, c := range row {
			record[i] = content.Cell(c.Value)
			if t.Columns[i].End {
				record[i] = dialect.Number(record[i])
			}
		}
		_ = w.Write(record)
	}
	w.Flush()
	return b.Bytes()
}
