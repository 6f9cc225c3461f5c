// Package mask shortens credentials in texts that are logged or repeated to a caller.
package mask

import (
	"io"
	"regexp"
	"strings"
)

// credential matches API keys and refresh tokens, with their underscores escaped or
// not, webhook secrets, secrets of links to watchlists and
// of links in messages of alerts, tickets of streams, and JSON Web Tokens, complete or not.
var credential = regexp.MustCompile(`((?i:pregon(?:_|%(?:25)*5f)(?:live|refresh)(?:_|%(?:25)*5f)))[\w%-]+|(\bwhsec_)[\w+/=-]+|((?:wl[sf]|al[ce]|stk)(?:_|%(?:25)*5[fF]))[\w%-]+|(\beyJ)[\w.-]{9,}`)

// Credentials shortens everything that looks like a credential, for logs and for responses
// that repeat input.
func Credentials(s string) string {
	if !mayHoldCredential(s) {
		return s
	}
	return credential.ReplaceAllString(s, "$1$2$3$4…")
}

// mayHoldCredential is a fast check that is false for most texts.
func mayHoldCredential(s string) bool {
	return strings.Contains(s, "eyJ") || strings.Contains(s, "whsec_") ||
		strings.Contains(s, "wls") || strings.Contains(s, "wlf") ||
		strings.Contains(s, "alc") || strings.Contains(s, "ale") || strings.Contains(s, "stk") || containsFold(s, "pregon")
}

// containsFold is strings.Contains without case, for an ASCII word in lower case.
func containsFold(s, word string) bool {
	for at := 0; at+len(word) <= len(s); at++ {
		if s[at]|0x20 == word[0] && strings.EqualFold(s[at:at+len(word)], word) {
			return true
		}
	}
	return false
}

// Writer masks each write, which must consist of whole lines.
type Writer struct{ io.Writer }

func (m Writer) Write(lines []byte) (int, error) {
	if s := string(lines); mayHoldCredential(s) {
		_, err := io.WriteString(m.Writer, Credentials(s))
		return len(lines), err
	}
	return m.Writer.Write(lines)
}
