package simserver

import (
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
)

// Published counts what was published since the history ended.
func (s *Server) Published() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.live.all)
}

// Closing is closing.
func Closing(now time.Time) time.Time { return closing(now) }

// Forms is forms.
func Forms() []string { return forms() }

// Scripts tells of each text the subjects it is about, and its lines.
func Scripts() (out []struct {
	Subjects [][]string
	Lines    []string
},
) {
	for _, s := range texts().scripts {
		var lines []string
		for _, l := range s.lines {
			lines = append(lines, l.mark+l.text)
		}
		out = append(out, struct {
			Subjects [][]string
			Lines    []string
		}{s.subjects, lines})
	}
	return out
}

// Body is what the document of a report says, without its headings, and
// whether a text is about its very subject.
func Body(r *disclosure.Report) (body string, foreseen bool) {
	var b strings.Builder
	for _, part := range writePaper(&filing{Report: *r}, 1).blocks[4:] { // below the letterhead and the preamble
		if part.kind != heading {
			b.WriteString(part.text + "\n")
		}
		for _, row := range part.rows {
			b.WriteString(strings.Join(row, " ") + "\n")
		}
	}
	s, _ := scriptFor(strings.TrimPrefix(r.Title, market.Mark), r.Category)
	return b.String(), s.words == nil
}

// File makes the document of a report.
func File(r *disclosure.Report) []byte { return (&filing{Report: *r}).file(1).body }
