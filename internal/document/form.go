package document

import (
	"fmt"
	"strings"

	"pregon/internal/disclosure"
)

// Plain returns a piece as plain text, with a blank line between pages.
func Plain(p Piece) string {
	var b strings.Builder
	for i, page := range p.Pages {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(page.Text)
	}
	b.WriteByte('\n')
	return b.String()
}

// Markdown returns a piece in Markdown, with a heading for each page. The first
// piece begins with the data of the report. All text of the document is escaped.
func Markdown(r *disclosure.Report, p Piece, first bool) string {
	var b strings.Builder
	if first {
		writeHead(&b, r)
	}
	for _, page := range p.Pages {
		fmt.Fprintf(&b, "## Página %d\n\n", page.Page)
		for paragraph := range strings.SplitSeq(page.Text, "\n") {
			b.WriteString(escape(paragraph))
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Card returns a report without its document in Markdown: its data, its summary and
// its address in the service. All text is escaped.
func Card(r *disclosure.Report, address string) string {
	var b strings.Builder
	writeHead(&b, r)
	if r.Summary != "" {
		fmt.Fprintf(&b, "%s\n\n", escape(line(r.Summary)))
	}
	for _, e := range r.Evidence {
		fmt.Fprintf(&b, "> %s (p. %d)\n\n", escape(line(e.Quote)), e.Page)
	}
	fmt.Fprintf(&b, "<%s>\n", links.Replace(address))
	return b.String()
}

// writeHead writes the data of a report.
func writeHead(b *strings.Builder, r *disclosure.Report) {
	fmt.Fprintf(b, "# %s\n\n", escape(line(r.Title)))
	fmt.Fprintf(b, "%s · %s %d · %s", escape(line(r.CompanyName)), r.Type, r.Number,
		r.PublishedAt.In(disclosure.Madrid).Format("02/01/2006 15:04"))
	if r.PDFURL != "" {
		fmt.Fprintf(b, " · <%s>", links.Replace(r.PDFURL))
	}
	b.WriteString("\n\n")
}

// line returns s on one line.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// links escapes the characters that would end an address.
var links = strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20", "\n", "%0A", "\r", "%0D")

// Characters with a meaning in Markdown.
const (
	markup    = "\\`*_[]<>&|~" // anywhere
	atStart   = "#+-=:"        // at the beginning of a line
	afterList = ".)"           // after a number at the beginning of a line
)

// escape escapes a line, so that Markdown shows it unchanged.
func escape(text string) string {
	var b strings.Builder
	digits := true // the line so far is a number, which a dot would make a list item
	for i, c := range strings.TrimLeft(text, " \t") {
		switch {
		case strings.ContainsRune(markup, c),
			i == 0 && strings.ContainsRune(atStart, c),
			i > 0 && digits && strings.ContainsRune(afterList, c):
			b.WriteByte('\\')
		}
		digits = digits && c >= '0' && c <= '9'
		b.WriteRune(c)
	}
	return b.String()
}
