package message

import "strings"

// maxForm is the largest size of the text or the HTML of an e-mail, in bytes. Some clients
// cut off what is longer than 100 KB.
const maxForm = 90 << 10

// Text returns the message as plain text.
func (m *Message) Text() string {
	n := m.Fit(MaxItems, func(n int) bool { return len(m.text(n)) <= maxForm })
	return m.text(n)
}

func (m *Message) text(n int) string {
	var paragraphs []string
	add := func(lines ...string) {
		if p := joined("\n", lines...); p != "" {
			paragraphs = append(paragraphs, p)
		}
	}
	add(m.Notice())
	for _, s := range m.Sections(n) {
		add(s.Issuer, underline(s.Issuer))
		for _, e := range s.Entries {
			add(e.Title, joined(" · ", e.Note, e.Label, e.When), e.Facts, e.URL)
		}
	}
	if rest, ok := m.Rest(n); ok {
		add(rest.line())
	}
	add(m.Paragraphs()...)
	if action, ok := m.Action(); ok {
		add(action.line())
	}
	end := []string{m.reason()}
	for _, l := range m.Footer() {
		end = append(end, l.line())
	}
	if footer := joined("\n", end...); footer != "" {
		add("-- ", footer) // the mark of a signature
	}
	return strings.Join(paragraphs, "\n\n") + "\n"
}

func underline(s string) string {
	if s == "" {
		return ""
	}
	return strings.Repeat("-", len([]rune(s)))
}

func (l Link) line() string { return joined(": ", l.Text, l.URL) }
