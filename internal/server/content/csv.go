package content

import (
	"encoding/csv"
	"io"
	"strings"
	"unicode"
)

// CSVType is the media type of CSV with a header row.
const CSVType = "text/csv; charset=utf-8; header=present"

// ListSeparator separates the elements of a list in a cell.
const ListSeparator = "; "

// Dialect is a form of CSV.
type Dialect string

const (
	// PlainCSV has commas between cells, and no byte order mark.
	PlainCSV Dialect = ""
	// SpanishCSV is what spreadsheets with the settings of Spain open with a click: a
	// byte order mark, without which they do not take it for UTF-8, semicolons between
	// cells, and decimal commas.
	SpanishCSV Dialect = "es"
)

// byteOrderMark is U+FEFF in UTF-8.
const byteOrderMark = "\ufeff"

// ParseDialect returns the dialect with a name, and whether there is one.
func ParseDialect(name string) (d Dialect, ok bool) {
	d = Dialect(name)
	return d, d == PlainCSV || d == SpanishCSV
}

// NewCSVWriter returns a writer of CSV in a dialect, with CRLF at the end of lines. It
// writes the byte order mark, if there is one, at once.
func NewCSVWriter(w io.Writer, d Dialect) *csv.Writer {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if d == SpanishCSV {
		_, _ = io.WriteString(w, byteOrderMark) // the next write fails too
		out.Comma = ';'
	}
	return out
}

// Number returns a number, as JSON has it, as a cell.
func (d Dialect) Number(n string) string {
	if d == SpanishCSV {
		return strings.Replace(n, ".", ",", 1)
	}
	return n
}

// formulaStarts are the characters with which a cell may be a formula, also in
// their wide and small forms.
const formulaStarts = "=+-@＝＋－＠﹦﹢﹣﹫−"

// Cell returns text that no spreadsheet takes for a formula: an apostrophe
// precedes what would begin one. Programs whose locale separates cells by
// semicolons, as in Spain, do not see the quotes of a cell, and begin a new one
// after a semicolon, a tab or a line break in it.
func Cell(s string) string {
	if s == "" || !strings.ContainsAny(s, formulaStarts+"\t\r\n") {
		return s
	}
	var b strings.Builder
	apostrophe := ""
	first := true
	begins := true // in the first of the cells; at the beginning of one
	for i, c := range s {
		switch {
		case begins && strings.ContainsRune(formulaStarts, c) && first:
			apostrophe, begins = "'", false
		case begins && strings.ContainsRune(formulaStarts, c):
			b.WriteByte('\'')
			begins = false
		case strings.ContainsRune(";\t\r\n", c):
			if i == 0 && c != ';' {
				apostrophe = "'"
			}
			first, begins = false, true
		case !ignored(c):
			begins = false
		}
		b.WriteRune(c)
	}
	return apostrophe + b.String()
}

// ignored reports whether a program may pass over a character at the beginning of
// a cell.
func ignored(c rune) bool { return unicode.IsSpace(c) || unicode.Is(unicode.C, c) || c == '"' }
