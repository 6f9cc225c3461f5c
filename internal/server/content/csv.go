package content

import (
	"strings"
	"unicode"
)

// CSVType is the media type of CSV with a header row.
const CSVType = "text/csv; charset=utf-8; header=present"

// ListSeparator separates the elements of a list in a cell.
const ListSeparator = "; "

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
	apostrophe, first, begins := "", true, true // in the first of the cells; at the beginning of one
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
