package rest

import (
	"fmt"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// widenedHeader is the header with what was added to the search of a request: see
// search.Widening. The bodies of lists are a contract and stay as they are.
const widenedHeader = "Pregon-Widened"

// maxWidened is the size of the header in bytes. Terms that do not fit are left out.
const maxWidened = 1 << 10

// widen returns the response to a request with a filter, with what was added to its
// search.
func (a response) widen(f disclosure.Filter) response {
	a.widened = widenedValue(f)
	return a
}

// widenedValue returns the value of widenedHeader, or "". It is plain ASCII.
func widenedValue(f disclosure.Filter) string {
	if !f.Widen {
		return ""
	}
	var b strings.Builder
	for _, w := range search.ParseFilter(f).Widened() {
		one := escapeASCII(w.Term) + `="` + escapeASCII(strings.Join(w.Alternatives, "|")) + `"`
		if b.Len() > 0 {
			one = ", " + one
		}
		if b.Len()+len(one) > maxWidened {
			break
		}
		b.WriteString(one)
	}
	return b.String()
}

// escapeASCII escapes the bytes that are not plain ASCII, and the quotation mark, as
// URLs do.
func escapeASCII(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '"' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
