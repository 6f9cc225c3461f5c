package disclosure

import "strings"

// Type is the regulator's series a report belongs to. The three series number
// their reports independently.
type Type string

const (
	IP  Type = "IP"  // información privilegiada: inside information
	HR  Type = "HR"  // hecho relevante: until 2020 for issuers, still live for funds
	OIR Type = "OIR" // otra información relevante
)

// Types lists the series in the order in which they are shown.
var Types = []Type{IP, HR, OIR}

// ParseType accepts a type exactly as the contract spells it.
func ParseType(s string) (Type, bool) {
	switch t := Type(s); t {
	case IP, HR, OIR:
		return t, true
	}
	return "", false
}

// Index returns the position of t in Types, or -1.
func (t Type) Index() int {
	switch t {
	case IP:
		return 0
	case HR:
		return 1
	case OIR:
		return 2
	}
	return -1
}

// Lower returns the type as ids spell it.
func (t Type) Lower() string { return strings.ToLower(string(t)) }
