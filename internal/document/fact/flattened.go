package fact

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/document/passage"
)

// Some texts have the cells of a table one below the other, each in a line of its own:
//
//	Fecha
//	Acciones
//	05/10/2026
//	3.300
//	06/10/2026
//	2.980
//
// Where the lines have the form of such a table beyond doubt, they are read as its rows.

const (
	longestFlatCell    = 80 // bytes
	mostFlatColumns    = 8
	fewestFlatColumns  = 3
	fewestFlatRows     = 2
	longestFlatTable   = 600 // lines
	fewestFlatNumbered = 1   // columns with figures
)

// withRowsOfLines returns a page in which the cells of such tables are separated by tabs. Its length
// stays the same, so that offsets are those of the page.
func withRowsOfLines(page string) string {
	var out []byte
	blocks := flatBlocks(page)
	pairs := isFlatForm(page, blocks)
	for _, block := range blocks {
		lines := flatLines(page, block)
		columns := flatColumns(lines)
		isForm := isFlatPairs(lines) && (pairs || len(lines) > flatPair) || isNumberedForm(lines)
		if columns == 0 && isForm {
			columns = flatPair
		}
		if columns == 0 {
			continue
		}
		if out == nil {
			out = []byte(page)
		}
		for n := range lines[:len(lines)-1] {
			if (n+1)%columns != 0 {
				out[lines[n].end] = '\t'
			}
		}
	}
	if out == nil {
		return page
	}
	return string(out)
}

// flatPair is the number of lines of a label and its value.
const flatPair = 2

// isFlatForm reports whether a page is a form in which several paragraphs are a label and a value below it.
func isFlatForm(page string, blocks []passage.Span) bool {
	const fewest = 2
	found := 0
	for _, block := range blocks {
		if lines := flatLines(page, block); len(lines) == flatPair && isFlatPairs(lines) {
			found++
		}
	}
	return found >= fewest
}

// isFlatPairs reports whether some lines are labels, each with a figure or a date below it.
func isFlatPairs(lines []flatLine) bool {
	if len(lines) == 0 || len(lines)%flatPair != 0 {
		return false
	}
	for n, line := range lines {
		isLabel := n%flatPair == 0
		if isLabel && !isFlatLabel(line.text) || !isLabel && (line.kind != '0' || strings.HasSuffix(line.text, ".")) {
			return false
		}
	}
	return true
}

// flatNumber matches the number of a field of a form.
var flatNumber = regexp.MustCompile(`^(?:\(?[0-9]{1,2}(?:\.[0-9]{1,2})?[.)º-]+|\(?[a-z]\)|[-•*]) *`)

// isFlatLabel reports whether a line may be the label of the value below it: it begins with a capital
// letter, behind the number of a field, and ends with a word.
func isFlatLabel(line string) bool {
	line = strings.TrimRight(flatNumber.ReplaceAllString(line, ""), " :")
	first, _ := utf8.DecodeRuneInString(line)
	last, _ := utf8.DecodeLastRuneInString(line)
	isEnd := unicode.IsLetter(last) || last == ')' || flatDay.MatchString(line)
	return unicode.IsUpper(first) && isEnd && !passage.Dangling(line)
}

// flatDay matches the day at the end of a label: "Saldo a 30/09/2026".
var flatDay = regexp.MustCompile(`[0-9]/[0-9]{2}/[0-9]{4}$`)

// isNumberedForm reports whether some lines are the numbered fields of a form, each with its value below
// it: "4) Fecha de comienzo".
func isNumberedForm(lines []flatLine) bool {
	const fewest = 3
	if len(lines) < fewest*flatPair || len(lines)%flatPair != 0 {
		return false
	}
	for n, line := range lines {
		isNumber := line.kind == '0' && flatNumber.MatchString(line.text)
		if isLabel := n%flatPair == 0; isLabel != (isNumber && isFlatLabel(line.text)) {
			return false
		}
	}
	return true
}

// flatLine is a line that may be a cell.
type flatLine struct {
	text string
	end  int // offset of its line feed
	kind rune
}

// flatBlocks returns the paragraphs of a page, which empty lines separate.
func flatBlocks(page string) (found []passage.Span) {
	start := -1
	at := 0
	for line := range strings.Lines(page) {
		empty := strings.TrimSpace(line) == ""
		if empty && start >= 0 {
			found = append(found, passage.Span{Start: start, End: at})
			start = -1
		}
		if !empty && start < 0 {
			start = at
		}
		at += len(line)
	}
	if start >= 0 {
		found = append(found, passage.Span{Start: start, End: at})
	}
	return found
}

// flatLines returns the lines of a paragraph, or none if one of them is too long for a cell or has
// cells of its own.
func flatLines(page string, block passage.Span) (found []flatLine) {
	at := block.Start
	for line := range strings.Lines(block.Of(page)) {
		body := strings.TrimRight(line, "\n")
		text := strings.TrimSpace(body)
		if len(text) > longestFlatCell || len(found) == longestFlatTable || passage.HasGap(text) {
			return nil
		}
		found = append(found, flatLine{text, at + len(body), kindOfCell(text)})
		at += len(line)
	}
	return found
}

// kindOfCell returns '0' for a cell that begins with a figure or a date, 'a' for one of words, and
// '-' for one that is empty.
func kindOfCell(text string) rune {
	text = strings.TrimLeft(text, "+-–−(€$ ")
	first, _ := utf8.DecodeRuneInString(text)
	switch {
	case unicode.IsDigit(first):
		return '0'
	case unicode.IsLetter(first):
		return 'a'
	}
	return '-'
}

// flatColumns returns the number of columns of a table whose cells are lines, or 0 if the lines have not
// the form of one table only.
func flatColumns(lines []flatLine) (columns int) {
	words := 0 // lines before the first figure
	for words < len(lines) && lines[words].kind == 'a' {
		words++
	}
	for _, n := range []int{words, words - 1} {
		if n < fewestFlatColumns || n > mostFlatColumns || !isFlatTable(lines, n) {
			continue
		}
		if columns > 0 {
			return 0
		}
		columns = n
	}
	return columns
}

// isFlatTable reports whether some lines are a heading and rows with a number of columns: those of a
// column are of one kind. The last row, that of the totals, may lack cells.
func isFlatTable(lines []flatLine, columns int) bool {
	rows := len(lines)/columns - 1
	rest := lines[len(lines)-len(lines)%columns:]
	if rows < fewestFlatRows || len(rest) > 0 && rest[0].kind != 'a' {
		return false
	}
	numbered := 0
	for k := range columns {
		kind, ok := kindOfColumn(lines, columns, k, rows, len(rest) == 0)
		if !ok {
			return false
		}
		if kind == '0' && k > 0 {
			numbered++
		}
	}
	return numbered >= fewestFlatNumbered
}

// kindOfColumn returns the kind of the cells of a column, and reports whether all are of it. In the first
// column the last row may have the word for a total.
func kindOfColumn(lines []flatLine, columns, column, rows int, hasTotal bool) (kind rune, ok bool) {
	kind = '-'
	for row := 1; row <= rows; row++ {
		cell := lines[row*columns+column].kind
		isTotal := hasTotal && column == 0 && row == rows && cell == 'a'
		switch {
		case cell == '-' || isTotal && row > 1:
		case kind == '-':
			kind = cell
		case kind != cell:
			return kind, false
		}
	}
	return kind, true
}
