package message

import (
	_ "embed"
	"html/template"
	"strings"
)

// The page has no images, no scripts and no resources of other hosts, and does not set
// colours, so that clients can show it in light and dark.
//
//go:embed message.html
var pageText string

var page = template.Must(template.New("message").Parse(pageText))

// pageData is what the template shows.
type pageData struct {
	Language   string
	Subject    string
	Notice     string
	Sections   []Section
	Rest       *Link
	Paragraphs []string
	Action     *Link
	Reason     string
	Footer     []Link
}

// HTML returns the message as a page of HTML.
func (m *Message) HTML() string {
	n := m.Fit(MaxItems, func(n int) bool { return len(m.html(n)) <= maxForm })
	return m.html(n)
}

func (m *Message) html(n int) string {
	data := pageData{
		Language:   m.say(Spanish, English),
		Subject:    m.Subject(),
		Notice:     m.Notice(),
		Sections:   m.Sections(n),
		Paragraphs: m.Paragraphs(),
		Reason:     m.reason(),
		Footer:     m.Footer(),
	}
	if rest, ok := m.Rest(n); ok {
		data.Rest = &rest
	}
	if action, ok := m.Action(); ok {
		data.Action = &action
	}
	var out strings.Builder
	if err := page.Execute(&out, data); err != nil {
		return "" // cannot happen: the template fits its data; the text has all that a reader needs
	}
	return out.String()
}
