package dealing

import (
	"embed"
	"strings"

	"pregon/internal/document/lexicon"
	"pregon/internal/text"
)

//go:embed words/*.txt
var wordFiles embed.FS

var lists = lexicon.Load(wordFiles, "words")

// line is a line of the document that is not blank.
type line struct {
	page  int      // from 1
	text  string   // on one line, single spaces
	cells []string // the parts between tabs
	fold  string   // folded, ligatures expanded
}

// linesOf returns the lines of the pages.
func linesOf(pages []string) ([]line, error) {
	if len(pages) > maxPages {
		return nil, &Unreadable{Reason: "it has more pages than a notice can have"}
	}
	size := 0
	var lines []line
	for n, page := range pages {
		if size += len(page); size > maxBytes {
			return nil, &Unreadable{Reason: "its text is longer than that of a notice can be"}
		}
		for raw := range strings.FieldsFuncSeq(page, isBreak) {
			if l := newLine(n+1, raw); l.text != "" {
				lines = append(lines, l)
			}
		}
	}
	return lines, nil
}

func isBreak(c rune) bool {
	return c == '\n' || c == '\r' || c == '\f' || c == '\v' || c == '\u0085' || c == '\u2028' || c == '\u2029'
}

func newLine(page int, raw string) line {
	l := line{page: page, text: oneLine(raw)}
	for cell := range strings.SplitSeq(raw, "\t") {
		if cell = oneLine(cell); cell != "" {
			l.cells = append(l.cells, cell)
		}
	}
	l.fold = fold(l.text)
	return l
}

// unreadable returns the error of a line.
func (l *line) unreadable(reason string) error { return &Unreadable{Page: l.page, Reason: reason} }

// oneLine makes every run of white space one space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl")

// fold returns the words of a text in lower case, without accents and ligatures.
func fold(s string) string { return text.Fold(ligatures.Replace(s)) }
