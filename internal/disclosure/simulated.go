package disclosure

import "strings"

// The links in the records of the simulated market. Their host does not exist: a service
// that runs the market shows them under a path of its own.
const (
	SimulatedOrigin = "https://regulator.example" // of links in records
	SimulatedPath   = "/simulator"                // of the service, before the path of the link
)

// IsSimulatedLink reports whether a link that a service shows is that of a record of the
// simulated market, with the address of the service in place of the host.
func IsSimulatedLink(shown, recorded string) bool {
	path, simulated := strings.CutPrefix(recorded, SimulatedOrigin+"/")
	return simulated && strings.HasPrefix(shown, "http") && strings.HasSuffix(shown, SimulatedPath+"/"+path)
}
