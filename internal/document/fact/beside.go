package fact

import (
	"strings"
	"unicode/utf8"

	"pregon/internal/document/passage"
)

// Bilingual papers have a paragraph in one language beside the same in another. Their lines end anywhere,
// so that each column is read as a paragraph:
//
//	se celebrará en primera convocatoria el        to be held on first call on 16 June
//	16 de junio de 2026 a las 17:00 horas          2026 at 5:00 p.m.

// beside is a paragraph with two columns. In the text of a column, spaces stand in place of the other
// one, so that its offsets are those of the paragraph.
type beside struct {
	at      passage.Span
	columns [2]string
	read    bool
}

// paragraphsBeside returns the paragraphs of a page that stand beside the same in another language.
func paragraphsBeside(page string) (found []beside) {
	if !strings.Contains(page, "   ") {
		return nil
	}
	start := 0
	var lines []string
	from := 0
	for line := range strings.Lines(page + "\n\n") {
		if strings.TrimSpace(line) != "" {
			if len(lines) == 0 {
				from = start
			}
			lines = append(lines, line)
		} else if len(lines) > 0 {
			if columns, ok := columnsBeside(lines); ok {
				end := min(from+len(columns[0]), len(page))
				found = append(found, beside{
					at:      passage.Span{Start: from, End: end},
					columns: columns,
				})
			}
			lines = lines[:0]
		}
		start += len(line)
	}
	return found
}

// columnsBeside divides the lines of a paragraph into two columns of prose in different languages, and
// reports whether there are such.
func columnsBeside(lines []string) (columns [2]string, ok bool) {
	const fewest = 2 // lines with both columns
	cut := cutOf(lines)
	if cut == 0 {
		return columns, false
	}
	var left, right strings.Builder
	both := 0
	for _, line := range lines {
		body := strings.TrimRight(line, "\n")
		at, ok := cutAt(body, cut)
		if !ok {
			return columns, false
		}
		before, behind := body[:at], body[at:]
		if passage.HasGap(strings.Trim(before, " ")) || passage.HasGap(strings.Trim(behind, " ")) {
			return columns, false
		}
		if hasLabel(before) && hasLabel(behind) {
			return columns, false
		}
		if strings.TrimSpace(before) != "" && strings.TrimSpace(behind) != "" {
			both++
		}
		left.WriteString(before + strings.Repeat(" ", len(behind)) + line[len(body):])
		right.WriteString(strings.Repeat(" ", len(before)) + behind + line[len(body):])
	}
	columns = [2]string{left.String(), right.String()}
	isProse := isLongColumn(columns[0]) && isLongColumn(columns[1])
	return columns, both >= fewest && isProse && inTwoLanguages(columns[0], columns[1])
}

// isLongColumn reports whether a column has the words of prose, and not those of a table.
func isLongColumn(text string) bool {
	const fewest = 3 // words of a line
	return len(strings.Fields(text)) >= fewest*strings.Count(strings.TrimSpace(text)+"\n", "\n")
}

// hasLabel reports whether a line begins with a label. The colon of an hour is none.
func hasLabel(line string) bool {
	_, rest, _ := strings.Cut(line, ":")
	return strings.HasPrefix(rest, " ") && isLabelLine(line)
}

// cutOf returns the letter of a line at which the second column begins, or 0: where it begins in the
// first line that has both columns.
func cutOf(lines []string) int {
	for _, line := range lines {
		body := strings.TrimRight(line, " \n")
		first := len(body) - len(strings.TrimLeft(body, " "))
		gap := strings.LastIndex(body, "  ")
		if gap > first {
			return utf8.RuneCountInString(body[:gap+2])
		}
	}
	return 0
}

// cutAt returns the offset of a letter in a line, and reports whether two spaces are before it, or
// nothing is behind it.
func cutAt(line string, letter int) (at int, ok bool) {
	n := 0
	for i := range line {
		if n == letter {
			return i, strings.HasSuffix(line[:i], "  ") && line[i] != ' '
		}
		n++
	}
	return len(line), true
}

// readBeside adds the parts of the two columns of a paragraph.
func (r *reading) readBeside(n int, b *beside, paragraph int) {
	for k, column := range b.columns {
		whole := passage.Span{Start: 0, End: len(column)}
		for _, sentence := range passage.Sentences(column, whole) {
			r.addPart(n, column, sentence, paragraph+k, false)
			last := &r.parts[len(r.parts)-1]
			last.start += b.at.Start
			last.column = true
		}
	}
}
