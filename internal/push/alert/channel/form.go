package channel

import (
	"strings"
	"unicode/utf16"

	"pregon/internal/push/alert/message"
)

// maxChatItems is how many items a message of a chat shows, so that it can be read.
const maxChatItems = 25

// fit returns the form with as many items as fit in a size.
func fit(m *message.Message, limit int, size func(string) int, form func(n int) string) string {
	return form(m.Fit(maxChatItems, func(n int) bool { return size(form(n)) <= limit }))
}

// bytesOf is the size of a text in bytes.
func bytesOf(s string) int { return len(s) }

// unitsOf is the size of a text in UTF-16 units, which some services count.
func unitsOf(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// markup writes a message in the markup of a service.
type markup struct {
	escape func(string) string
	bold   func(escaped string) string
	// link writes a link. Its text is escaped, its address is not.
	link func(escaped, address string) string
}

// plain is the markup of texts without any.
var plain = markup{
	escape: func(s string) string { return s },
	bold:   func(s string) string { return s },
	link: func(s, address string) string {
		if address == "" {
			return s
		}
		return s + "\n" + address
	},
}

// body writes the first n items, and everything else that a message says.
func (w markup) body(m *message.Message, n int) string {
	var paragraphs []string
	add := func(lines ...string) {
		var some []string
		for _, l := range lines {
			if l != "" {
				some = append(some, l)
			}
		}
		if len(some) > 0 {
			paragraphs = append(paragraphs, strings.Join(some, "\n"))
		}
	}
	add(w.escape(m.Notice()))
	for _, s := range m.Sections(n) {
		heading := ""
		if s.Issuer != "" {
			heading = w.bold(w.escape(s.Issuer))
		}
		for _, e := range s.Entries {
			add(heading, w.link(w.escape(e.Title), e.URL), w.escape(e.Detail()))
			heading = ""
		}
	}
	if rest, ok := m.Rest(n); ok {
		add(w.link(w.escape(rest.Text), rest.URL))
	}
	for _, p := range m.Paragraphs() {
		add(w.escape(p))
	}
	if action, ok := m.Action(); ok {
		add(w.link(w.bold(w.escape(action.Text)), action.URL))
	}
	var footer []string
	for _, l := range m.Footer() {
		footer = append(footer, w.link(w.escape(l.Text), l.URL))
	}
	add(footer...)
	return strings.Join(paragraphs, "\n\n")
}

// escape puts a backslash before some signs, and a character without width behind others.
func escape(s, backslashed, separated string) string {
	var out strings.Builder
	for _, r := range s {
		if strings.ContainsRune(backslashed, r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
		if strings.ContainsRune(separated, r) {
			out.WriteRune('\u200b')
		}
	}
	return out.String()
}

// markdownLink writes a link in Markdown.
func markdownLink(escaped, address string) string {
	if address == "" {
		return escaped
	}
	return "[" + escaped + "](" + inParentheses.Replace(address) + ")"
}

// inParentheses escapes the characters that could end an address, or be markup in it.
var inParentheses = strings.NewReplacer("(", "%28", ")", "%29", "*", "%2A", "_", "%5F", "~", "%7E")
