package search

import "pregon/internal/disclosure"

// typeRank orders the reports that share a number and an instant: the later in
// a list, the lower. It is the last two bits of a key.
func typeRank(t disclosure.Type) uint64 {
	switch t {
	case disclosure.HR:
		return 2
	case disclosure.IP:
		return 1
	}
	return 0
}

// KeyOf packs type and number, which together identify a report.
func KeyOf(t disclosure.Type, number int64) uint64 { return uint64(number)<<2 | typeRank(t) }

// TypeOf returns the type of the report with a key.
func TypeOf(key uint64) disclosure.Type {
	return [...]disclosure.Type{disclosure.OIR, disclosure.IP, disclosure.HR, ""}[key&3]
}
