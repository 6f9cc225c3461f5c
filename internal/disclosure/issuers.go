package disclosure

import (
	"slices"
	"strings"
)

// MaxIssuers is how many issuers a filter names at most.
const MaxIssuers = 50

// JoinIssuers returns identifiers of issuers as Filter.Issuer has them. The same identifier
// is there once.
func JoinIssuers(idents []string) string {
	keys := make([]string, 0, len(idents))
	for _, ident := range idents {
		if key := IssuerKey(ident); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return strings.Join(keys, ",")
}

// IssuerKeys returns the identifiers that the filter names, as IssuerKey leaves them, or nil.
// An identifier that the source printed with a comma is one of them, as a whole.
func (f Filter) IssuerKeys() []string {
	if f.Issuer == "" {
		return nil
	}
	keys := []string{IssuerKey(f.Issuer)}
	if f.NamesOneIssuer() {
		return keys
	}
	for part := range strings.SplitSeq(f.Issuer, ",") {
		if key := IssuerKey(part); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// NamesOneIssuer reports whether the filter names exactly one issuer. Only then are the names
// of natural persons compared: nobody searches for a person across issuers.
func (f Filter) NamesOneIssuer() bool { return f.Issuer != "" && !strings.Contains(f.Issuer, ",") }
