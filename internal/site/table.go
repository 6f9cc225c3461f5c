package site

import (
	"bytes"
	"encoding/csv"
	"strconv"

	"pregon/internal/server/content"
)

// table is what a chart shows, as a table of the page and as CSV.
type table struct {
	Columns []column
	Rows    [][]cell
}

// column is a column of a table. Its name in CSV is that of the API.
type column struct {
	Name, Text string
	End        bool // aligned to the end, as numbers are
}

// cell is a value of a table.
type cell struct {
	Text string // in the language of the page
	URL  string // of the page about it, or ""

	value  string // in CSV
	number int
}

// textCell returns a text that is the same in CSV.
func textCell(text string) cell { return cell{Text: text, value: text} }

// numberCell returns a number, with separators on the page and without in CSV.
func (e edition) numberCell(n int) cell {
	return cell{Text: e.Number(n), value: strconv.Itoa(n), number: n}
}

// csv returns the table with a header row. Texts cannot be formulas.
func (t *table) csv() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	record := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		record[i] = c.Name
	}
	_ = w.Write(record) // a buffer does not fail
	for _, row := range t.Rows {
		for i, c := range row {
			record[i] = content.Cell(c.value)
		}
		_ = w.Write(record)
	}
	w.Flush()
	return b.Bytes()
}

// csvPage returns a table as CSV.
func csvPage(t *table) *page {
	return &page{contentType: content.CSVType, body: t.csv(), noIndex: true}
}
