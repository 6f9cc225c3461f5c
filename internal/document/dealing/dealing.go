// Package dealing reads notices of managers' dealings: the regulator's form of Implementing
// Regulation (EU) 2016/523, from the text of its PDF.
//
// A notice is read as a whole or not at all. A row that has more than one reading, a total
// without rows, a line that is no part of the form: each makes the notice unreadable, with
// the reason. The people who act on a dealing are better served by the document itself than
// by a number that is probably right.
package dealing

import (
	"errors"
	"fmt"

	"pregon/internal/disclosure"
)

// Notice is what a notice states.
type Notice struct {
	Person     string // who notifies: the manager or the associated person
	Role       string // as written; of an associated person also the name of the manager
	Associated bool   // the person is closely associated with a manager
	Amendment  bool   // it replaces another notice
	Reason     string // why it does, as written
	Issuer     string
	LEI        string
	Trades     []disclosure.Trade // in the order of the document
	Totals     []Total            // of the operations, in the order of the document
}

// Total is the sum that a notice declares for an operation. It is never added to its rows.
type Total struct {
	From, To int    // the operation is Trades[From:To]
	Volume   string // "" if the notice does not declare a total
	Price    string // the mean; "" if the notice does not state it
	Agrees   bool   // with the rows
}

// Aggregates returns whether the totals that the notice declares agree with its rows. It
// returns "" if the notice declares none.
func (n *Notice) Aggregates() disclosure.Agreement {
	var found disclosure.Agreement
	for _, t := range n.Totals {
		switch {
		case t.Volume == "":
		case !t.Agrees:
			return disclosure.SumsDiffer
		default:
			found = disclosure.SumsAgree
		}
	}
	return found
}

// Limits of what is read.
const (
	maxPages = 500
	maxBytes = 4 << 20
	maxValue = 500  // bytes of a name or a cell
	maxText  = 4000 // bytes of the reason of an amendment
)

// Unreadable is the error of a notice that is not read. Its text contains nothing of the
// notice, so that it can be logged and shown.
type Unreadable struct {
	Page   int // from 1; 0 if the reason is not on a page
	Reason string
}

func (e *Unreadable) Error() string {
	if e.Page == 0 {
		return "the notice is not readable: " + e.Reason
	}
	return fmt.Sprintf("the notice is not readable: page %d: %s", e.Page, e.Reason)
}

// IsUnreadable reports whether err is an *Unreadable, so that a retry is useless.
func IsUnreadable(err error) bool {
	_, ok := errors.AsType[*Unreadable](err)
	return ok
}

// Read reads a notice from the texts of its pages, as package extract gives them. The error
// of a notice that is not certain is an *Unreadable.
func Read(pages []string) (Notice, error) {
	lines, err := linesOf(pages)
	if err != nil {
		return Notice{}, err
	}
	var n Notice
	grid, err := n.readForm(lines)
	if err != nil {
		return Notice{}, err
	}
	g := reading{person: distinctive(n.Person, n.Role)}
	if err := g.readGrid(grid); err != nil {
		return Notice{}, err
	}
	n.Trades = g.trades
	n.Totals = g.totals
	return n, nil
}
