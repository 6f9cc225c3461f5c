package disclosure

import (
	_ "embed"
	"strings"
)

//go:embed categories.txt
var categories string

// Categories are the names of the regulator's categories that are known without a
// report. The regulator does not publish them, and may have others.
var Categories = strings.Split(strings.TrimSpace(categories), "\n")

// Markets are the markets of companies, in the order in which the market of a company
// is chosen if its shares are in several.
var Markets = []string{"SIBE", "Floor", "Latibex", "BME Growth", "BME Scaleup"}
