package tail

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pregon/internal/disclosure"
	"pregon/internal/text"
)

// line has the fields of an event that a line shows.
type line struct {
	ID, Event, Type, Title, Name string

	CompanyName string    `json:"company_name"`
	PublishedAt time.Time `json:"published_at"`
	OccurredAt  time.Time `json:"occurred_at"`
	PDFURL      string    `json:"pdf_url"`
	DocumentURL string    `json:"document_url"` // of a position
	SourceURL   string    `json:"source_url"`   // of a position
	Changed     []string
	position
}

// at returns when it was published, or else when the change occurred.
func (l *line) at() time.Time {
	if l.PublishedAt.IsZero() {
		return l.OccurredAt.In(disclosure.Madrid)
	}
	return l.PublishedAt.In(disclosure.Madrid)
}

func (l *line) who() string { return l.CompanyName + l.Name + l.IssuerName }

func (l *line) what() string { return l.Title + l.position.String() }

// change names the event and the fields that changed. It is empty for a new report.
func (l *line) change() string {
	if disclosure.Event(l.Event) == disclosure.Published {
		return ""
	}
	return " (" + strings.Join(append([]string{l.Event}, l.Changed...), " ") + ")"
}

// plain returns a line that is complete, for a file or a pipe.
func (p *Printer) plain(l *line) string {
	return fmt.Sprintf("%s  %s  %-10s  %-32s  %s%s",
		p.color(l.at().Format(time.DateTime), dim),
		p.color(fmt.Sprintf("%-3s", l.Type), typeColors[l.Type]),
		printable(l.ID), printable(l.who()), printable(l.what()), p.color(l.change(), dim))
}

const (
	narrow       = 120 // columns of a terminal, below which a line has less
	shortestText = 20  // columns of the last part of a line
)

// columns returns a line for a terminal: each part begins in the same column as that of
// other lines, and is cut where the next one or the terminal's edge is.
func (p *Printer) columns(l *line, width int) string {
	at, company := time.DateTime, 32
	if width < narrow {
		at, company = time.TimeOnly, 24
	}
	id := printable(l.ID)
	p.widestID = max(p.widestID, 10, utf8.RuneCountInString(id))
	change := printable(l.change())
	begin := len(at) + 2 + 3 + 2 + p.widestID + 2 + company + 2
	room := max(shortestText, width-begin-utf8.RuneCountInString(change))
	return fmt.Sprintf("%s  %s  %s%s  %-*s  %s%s",
		p.color(l.at().Format(at), dim),
		p.color(fmt.Sprintf("%-3s", l.Type), typeColors[l.Type]),
		hyperlink(p.address(l), id), strings.Repeat(" ", p.widestID-utf8.RuneCountInString(id)),
		company, clip(printable(l.who()), company),
		clip(printable(l.what()), room), p.color(change, dim))
}

// clip cuts a text so that it has at most n characters with its ellipsis.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return text.Clip(s, n-1)
}

// address returns the address of the page of a report, or of the document or page at the
// source. It is "" if none is known.
func (p *Printer) address(l *line) string {
	if _, _, isReport := disclosure.ParseReportID(l.ID); isReport && p.Site != "" {
		return strings.TrimRight(p.Site, "/") + "/reports/" + l.ID
	}
	return cmp.Or(l.PDFURL, l.DocumentURL, l.SourceURL)
}

// hyperlink returns a text that a terminal opens as an address (OSC 8), or the text alone
// if it is not an address of the web. Others ignore the sequence.
func hyperlink(address, shown string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || printable(address) != address {
		return shown
	}
	const begin, end = "\x1b]8;;", "\x1b\\"
	return begin + u.String() + end + shown + begin + end
}

// position has the fields of an event of a position that a line shows.
type position struct {
	IssuerName string `json:"issuer_name"`
	HeldBy     string `json:"holder"`
	DealtBy    string `json:"person"`
	Percent    string `json:"percent"`
	Total      string `json:"percent_total"`
	Amount     string `json:"amount"`
	Currency   string `json:"currency"`
}

// String returns who holds or dealt, and how much. It is empty for other events.
func (p position) String() string {
	words := []string{}
	for _, s := range []string{p.HeldBy, p.DealtBy} {
		if s != "" {
			words = append(words, s)
		}
	}
	if percent := p.Percent + p.Total; percent != "" {
		words = append(words, percent+" %")
	}
	if p.Amount != "" {
		words = append(words, p.Amount+" "+p.Currency)
	}
	return strings.Join(words, "  ")
}

// Colours of a terminal, as numbered by ECMA-48.
const dim = "2"

var typeColors = map[string]string{"IP": "1;31", "HR": "33", "OIR": "36"}

func (p *Printer) color(s, color string) string {
	if !p.Colors || color == "" || s == "" {
		return printable(s)
	}
	return "\x1b[" + color + "m" + printable(s) + "\x1b[0m"
}

// printable replaces characters that a terminal would interpret: the text comes
// from outside.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != ' ' && !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}
