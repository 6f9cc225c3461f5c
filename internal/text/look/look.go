// Package look has the style of what the pages of the site and the views of MCP hosts show
// alike: the types of reports, the first line of a row, and quotes.
package look

import _ "embed"

// Style is the style sheet. It uses custom properties that each surface sets: --ink, --muted,
// --edge, --accent, --sans and --mono.
//
//go:embed look.css
var Style string
