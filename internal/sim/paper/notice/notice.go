// Package notice writes the notices of managers' dealings of the simulated market, as
// PDF files in the form that the regulator gives to the template of Implementing
// Regulation (EU) 2016/523: four sections with labels in two languages, and the
// operations in a grid of eight columns.
//
// The persons and companies are fictional, and every page says that it is simulated.
package notice

import (
	"strings"

	"pregon/internal/disclosure"
)

// Notice is what the PDF of a dealing states.
type Notice struct {
	Number     string // of the register
	Issuer     string
	LEI        string
	Person     string
	Role       string // as written: of an associated person NAME - POSITION of the manager
	Associated bool
	Amendment  string // why it replaces another; empty: an initial notice
	Trades     []Trade
	Other      string // «Otra información»
}

// Trade is one row of the grid.
type Trade struct {
	ISIN       string
	Instrument string // Acción, Derivados…
	Nature     string // Compra, Venta, Otros…
	Date       disclosure.Day
	Venue      string // MIC
	Volume     string // decimal with a point
	Price      string
	Currency   string
}

// PDF returns the notice as the regulator renders it. The same notice gives the same bytes.
func PDF(n Notice) []byte {
	s := Usual()
	// Some notices have points between thousands.
	s.Points = n.Number != "" && strings.HasSuffix(n.Number, "7")
	return Write(n, s)
}

// operation returns how many of the first rows are one operation: they agree but for
// volume, price and currency.
func operation(rows []Trade) int {
	n := 1
	for n < len(rows) && sameOperation(rows[0], rows[n]) {
		n++
	}
	return n
}

func sameOperation(a, b Trade) bool {
	a.Volume = b.Volume
	a.Price = b.Price
	a.Currency = b.Currency
	return a == b
}
