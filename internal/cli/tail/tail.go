// Package tail prints events as they come, read from a store or from a running
// service.
package tail

import (
	"encoding/json"
	"fmt"
	"io"

	"pregon/internal/push/events"
)

// Printer writes events to Out and notices to Err.
type Printer struct {
	Out, Err io.Writer
	JSON     bool // one object a line, as streams send them, instead of a line for people
	Colors   bool // of lines for people

	// Terminal, if not nil, returns the width of the terminal that Out is. Lines are then
	// as wide as it is, and lead to the pages of what they show.
	Terminal func() int
	// Site is the origin of the service whose pages lines lead to; "" for the source's own
	// documents.
	Site string

	widestID int // of those that were printed to the terminal
}

// Event prints an event.
func (p *Printer) Event(event []byte) error {
	if p.JSON {
		_, err := fmt.Fprintf(p.Out, "%s\n", event)
		return err
	}
	var e line
	if err := json.Unmarshal(event, &e); err != nil {
		return err
	}
	text := p.plain(&e)
	if p.Terminal != nil {
		text = p.columns(&e, p.Terminal())
	}
	_, err := fmt.Fprintln(p.Out, text)
	return err
}

// reset prints why events that were printed before come again.
func (p *Printer) reset(r *events.Reset) {
	fmt.Fprintf(p.Err, "pregon: %s (%s)\n", printable(r.Reason), printable(r.After))
}
