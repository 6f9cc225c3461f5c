// Package notices has the licences of the modules that are part of the program.
package notices

import _ "embed"

// Text names every module with its version, and has its licence. It is written
// by `make notices`.
//
//go:embed notices.txt
var Text string
