package fact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/document/passage"
	"pregon/internal/document/value"
)

// withoutStrayGaps returns a page in which two spaces within a sentence are no gap between
// cells: text recognition writes them in place of one. The second space becomes another
// kind of white space, so that the length stays the same and offsets are those of the page.
func withoutStrayGaps(page string) string {
	if !strings.Contains(page, "  ") {
		return page
	}
	var b strings.Builder
	b.Grow(len(page))
	for line := range strings.Lines(page) {
		body := strings.TrimRight(line, " \n")
		if hasStrayGaps(body) {
			body = strings.ReplaceAll(body, "  ", " \r")
		}
		b.WriteString(body)
		b.WriteString(line[len(body):])
	}
	return b.String()
}

// fewestProseWords is the number of words of the shortest line of prose, and of a title in
// capitals.
const (
	fewestProseWords = 8
	fewestTitleWords = 4
)

// hasStrayGaps reports whether a line is prose, so that its gaps are not those between
// cells: they stand before a small letter or a mark, or behind a word that needs another.
func hasStrayGaps(line string) bool {
	line = strings.TrimLeft(line, " ")
	if !strings.Contains(line, "  ") || strings.Contains(line, "   ") || strings.Contains(line, "\t") {
		return false
	}
	words := len(strings.Fields(line))
	title := passage.AllCaps(line)
	segments := strings.Split(line, "  ")
	if title && words < fewestTitleWords || !title && (words < fewestProseWords || words < 3*len(segments)) {
		return false
	}
	if len(segments) == 2 && isListMark(segments[0]) {
		return true // "1.º  La vigencia …"
	}
	outside := 0
	for n := 1; n < len(segments); n++ {
		if !isStrayGap(segments[n-1], segments[n], title) {
			outside++
		}
	}
	if len(segments) == 2 && outside == 0 {
		return !inTwoLanguages(segments[0], segments[1])
	}
	// a name in prose: "la Junta  General"
	return outside == 0 || !title && words >= 6*len(segments) && 3*outside <= len(segments)-1
}

// isListMark reports whether a text is only the number or the mark of an item of a list.
func isListMark(text string) bool {
	const longest = 6 // bytes
	if len(text) > longest {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".)º-–—•*", last)
}

// isStrayGap reports whether a sentence continues over a gap.
func isStrayGap(before, after string, title bool) bool {
	first, _ := utf8.DecodeRuneInString(after)
	switch {
	case passage.Dangling(strings.TrimRight(before, " ")):
		return true
	case unicode.IsLower(first), strings.ContainsRune(".,;:)", first):
		return true
	case strings.HasSuffix(before, "."), strings.HasSuffix(before, ";"):
		return unicode.IsUpper(first) // the next sentence
	}
	word, _, _ := strings.Cut(after, " ")
	return title && passage.Dangling(word)
}

// inTwoLanguages reports whether two texts are the same row of two columns in different
// languages.
func inTwoLanguages(a, b string) bool {
	english := func(text string) int {
		e, s := countWords(phrases.appendWords(nil, value.Tokenise(text)))
		return e - s
	}
	return english(a) > 0 && english(b) < 0 || english(a) < 0 && english(b) > 0
}

// fewestColumnWords is the number of words of the shortest sentence beside another.
const fewestColumnWords = 6

// proseColumns returns the two cells of a row that has a sentence or a labelled line in one
// language beside the same in another. Each is read as a paragraph of its own. It returns
// nil for other rows: those of tables with words in two languages have shorter cells.
func proseColumns(page string, at passage.Span) []passage.Span {
	text := at.Of(page)
	before, behind, ok := strings.Cut(text, "\t")
	if !ok {
		cut := strings.Index(text, "   ")
		if cut < 0 {
			return nil
		}
		before = text[:cut]
		behind = text[cut:]
	}
	before = strings.TrimRight(before, " ")
	behind = strings.TrimLeft(behind, " \t")
	if passage.HasGap(before) || passage.HasGap(behind) || !isColumn(before) || !isColumn(behind) {
		return nil
	}
	if !inTwoLanguages(before, behind) && !inTwoNotations(before, behind) {
		return nil
	}
	return []passage.Span{
		{Start: at.Start, End: at.Start + len(before)},
		{Start: at.End - len(behind), End: at.End},
	}
}

func isColumn(cell string) bool {
	return isLabelLine(cell) || len(strings.Fields(cell)) >= fewestColumnWords
}
