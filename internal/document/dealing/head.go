package dealing

import (
	"regexp"
	"strings"
)

// label matches the labels of the columns, 4.a) to 4.h).
var label = regexp.MustCompile(`4 ?\. ?([a-h]) ?\)`)

var headWords, linkingWords = lists.Set("heads"), lists.Set("linking")

// hasLabel reports whether a line has a label of a column.
func hasLabel(l line) bool { return label.MatchString(l.text) }

// head is the lines above a row: the heads of the columns, or nothing at the top of a page.
type head struct {
	lines []line
}

// check returns an error unless the lines are heads of the columns in the order of the form.
// It reports whether every word is one of the form. If not, a line may be the part of a cell
// of the row below, which the caller must be certain of in another way.
func (h *head) check() (certain bool, err error) {
	var order strings.Builder
	for i := range h.lines {
		for _, found := range label.FindAllStringSubmatch(h.lines[i].text, -1) {
			order.WriteString(found[1])
		}
	}
	switch order.String() {
	case "abcdefgh":
		if err := h.checkFigures(); err != nil {
			return false, err
		}
	case "":
	default:
		return false, h.lines[0].unreadable("the columns of the grid are not in the order of the form")
	}
	certain = true
	for i := range h.lines {
		l := &h.lines[i]
		known, unknown := formWordsIn(l)
		if unknown > 0 {
			certain = false
		}
		if unknown > 0 && (known == 0 || order.Len() == 0) {
			return false, l.unreadable("there is text above the first row that is no head of a column")
		}
	}
	return certain, nil
}

// formWordsIn counts the words of a head that are of the form and the others. Words that
// only link are not counted.
func formWordsIn(l *line) (known, unknown int) {
	if hasLabel(*l) {
		known++
	}
	for word := range strings.FieldsSeq(fold(label.ReplaceAllString(l.text, " "))) {
		switch {
		case headWords.Has(word):
			known++
		case !linkingWords.Has(word):
			unknown++
		}
	}
	return known, unknown
}

// checkFigures returns an error if the heads say that the columns of volume and price are
// swapped. Only heads on the line of their label, or below it in a row of eight cells, are
// certain.
func (h *head) checkFigures() error {
	for i := range h.lines {
		l := &h.lines[i]
		at := label.FindAllStringSubmatchIndex(l.text, -1)
		for n, found := range at {
			end := len(l.text)
			if n+1 < len(at) {
				end = at[n+1][0]
			}
			if isSwapped(l.text[found[2]:found[3]], l.text[found[1]:end]) {
				return l.unreadable("the columns of volume and price are swapped")
			}
		}
		if len(l.cells) == 8 && (isSwapped("f", l.cells[5]) || isSwapped("g", l.cells[6])) {
			return l.unreadable("the columns of volume and price are swapped")
		}
	}
	return nil
}

// isSwapped reports whether the column of volumes has the head of prices, or the reverse.
func isSwapped(column, text string) bool {
	first, _, _ := strings.Cut(fold(text), " ")
	switch column {
	case "f":
		return strings.HasPrefix(first, "preci") || strings.HasPrefix(first, "price") || first == "unit"
	case "g":
		return strings.HasPrefix(first, "volum") || first == "cantidad" || first == "quantity"
	}
	return false
}
