package paper

import (
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
)

// Script is a script with its lines as text.
type Script struct {
	Subjects [][]string
	Lines    []string
}

// Scripts returns all scripts.
func Scripts() (out []Script) {
	for _, s := range readTexts().scripts {
		var lines []string
		for _, l := range s.lines {
			lines = append(lines, l.mark+l.text)
		}
		out = append(out, Script{s.subjects, lines})
	}
	return out
}

// Body returns the text of the document of a report without its headings, and
// reports whether a script matches its subject.
func Body(r *disclosure.Report) (body string, foreseen bool) {
	var b strings.Builder
	s := Source{Report: r}
	for _, part := range s.write(1).blocks[4:] { // below the letterhead and the opening
		if part.kind != heading {
			b.WriteString(part.text + "\n")
		}
		for _, row := range part.rows {
			b.WriteString(strings.Join(row, " ") + "\n")
		}
	}
	script, _ := scriptFor(strings.TrimPrefix(r.Title, market.Mark), r.Category)
	return b.String(), script.words == nil
}
