// Package tail prints events as they come, read from a store or from a running
// service.
package tail

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"pregon/internal/disclosure"
	"pregon/internal/push/events"
)

// Printer writes events to Out and notices to Err.
type Printer struct {
	Out, Err io.Writer
	JSON     bool // one object a line, as streams send them, instead of a line for people
	Colors   bool // of lines for people
}

// Event prints an event.
func (p *Printer) Event(event []byte) error {
	if p.JSON {
		_, err := fmt.Fprintf(p.Out, "%s\n", event)
		return err
	}
	var e struct {
		ID, Event, Type, Title, Name string
		CompanyName                  string    `json:"company_name"`
		PublishedAt                  time.Time `json:"published_at"`
		OccurredAt                   time.Time `json:"occurred_at"`
		Changed                      []string
		position
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return err
	}
	change := ""
	if disclosure.Event(e.Event) != disclosure.Published {
		change = p.color(" ("+strings.Join(append([]string{e.Event}, e.Changed...), " ")+")", dim)
	}
	at := e.PublishedAt
	if at.IsZero() {
		at = e.OccurredAt
	}
	_, err := fmt.Fprintf(p.Out, "%s  %s  %-10s  %-32s  %s%s\n",
		p.color(at.In(disclosure.Madrid).Format("2006-01-02 15:04:05"), dim),
		p.color(fmt.Sprintf("%-3s", e.Type), typeColors[e.Type]), printable(e.ID),
		printable(e.CompanyName+e.Name+e.IssuerName), printable(e.Title+e.position.String()), change)
	return err
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

// reset prints why events that were printed before come again.
func (p *Printer) reset(r *events.Reset) {
	fmt.Fprintf(p.Err, "pregon: %s (%s)\n", printable(r.Reason), printable(r.After))
}

// Colours of a terminal, as numbered by ECMA-48.
const dim = "2"

var typeColors = map[string]string{"IP": "1;31", "HR": "33", "OIR": "36"}

func (p *Printer) color(s, color string) string {
	if !p.Colors || color == "" {
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
