package fact

import (
	"strings"
	"unicode/utf8"

	"pregon/internal/disclosure"
)

// contextBytes is about how much text around a quote is kept, on each side.
const contextBytes = 150

// quote returns the words of a place, with some of the text around them.
func (r *reading) quote(at place) disclosure.Quote {
	p := &r.parts[at.part]
	page := r.pages[p.page]
	start := p.start + p.tokens[at.from].At
	end := p.start + p.tokens[at.to-1].End()
	if p.column {
		end = endOfLine(page, start, end)
	}
	q := disclosure.Quote{
		Page:   p.page + 1,
		Text:   oneLine(page[start:end]),
		Before: before(page[:start]),
		After:  after(page[end:]),
	}
	if q.Before != "" && isSpace(page[start-1]) {
		q.Before += " "
	}
	if q.After != "" && isSpace(page[end]) {
		q.After = " " + q.After
	}
	return q
}

// endOfLine returns the end of the first line in a range of a page, whose lines do not follow one
// another in the document: each has the other column beside it.
func endOfLine(page string, start, end int) int {
	line := page[start:end]
	if cut := strings.IndexByte(line, '\n'); cut > 0 {
		at := strings.Index(line[:cut], "  ")
		if at < 0 {
			at = cut
		}
		return start + len(strings.TrimRight(line[:at], " "))
	}
	return end
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// before returns the end of a text: of its last paragraph, from the beginning of a word.
func before(text string) string {
	cut := max(0, len(text)-contextBytes)
	for cut < len(text) && !utf8.RuneStart(text[cut]) {
		cut++
	}
	shortened := cut > 0
	text = text[cut:]
	if at := strings.LastIndex(text, "\n\n"); at >= 0 {
		return oneLine(text[at:])
	}
	if at := strings.IndexByte(text, ' '); shortened && at >= 0 {
		text = text[at:]
	}
	return oneLine(text)
}

// after returns the beginning of a text: of its first paragraph, to the end of a word.
func after(text string) string {
	cut := min(len(text), contextBytes)
	for cut < len(text) && !utf8.RuneStart(text[cut]) {
		cut--
	}
	shortened := cut < len(text)
	text = text[:cut]
	if at := strings.Index(text, "\n\n"); at >= 0 {
		return oneLine(text[:at])
	}
	if at := strings.LastIndexByte(text, ' '); shortened && at >= 0 {
		text = text[:at]
	}
	return oneLine(text)
}

// oneLine makes every run of white space one space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
