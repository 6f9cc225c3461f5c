package access

import (
	"strings"

	"pregon/internal/fault"
)

// Scope is a set of rights, one bit each.
type Scope uint8

// The rights.
const (
	ReadReports Scope = 1 << iota
	ReadIssuers
	ReadAnalytics

	AllScopes = ReadReports | ReadIssuers | ReadAnalytics
)

// scopeNames are in output order.
var scopeNames = []struct {
	scope Scope
	name  string
}{
	{ReadReports, "read:reports"},
	{ReadIssuers, "read:issuers"},
	{ReadAnalytics, "read:analytics"},
}

// Has reports whether s contains all rights of another set.
func (s Scope) Has(all Scope) bool { return s&all == all }

// Names returns the names of the rights.
func (s Scope) Names() []string {
	names := make([]string, 0, len(scopeNames))
	for _, n := range scopeNames {
		if s.Has(n.scope) {
			names = append(names, n.name)
		}
	}
	return names
}

// String returns the names separated by spaces, as in OAuth.
func (s Scope) String() string { return strings.Join(s.Names(), " ") }

// ScopeOf returns the right with a name, or 0.
func ScopeOf(name string) Scope {
	for _, n := range scopeNames {
		if n.name == name {
			return n.scope
		}
	}
	return 0
}

// ParseScopes converts names. It fails for an unknown name.
func ParseScopes(names []string) (Scope, error) {
	var all Scope
	for _, name := range names {
		s := ScopeOf(name)
		if s == 0 {
			return 0, fault.New(fault.Invalid, "there is no scope %q: use %s", name, strings.Join(AllScopes.Names(), ", "))
		}
		all |= s
	}
	return all, nil
}

// MarshalText implements encoding.TextMarshaler.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Scope) UnmarshalText(text []byte) (err error) {
	*s, err = ParseScopes(strings.Fields(string(text)))
	return err
}
