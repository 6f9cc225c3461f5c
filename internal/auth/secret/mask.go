package secret

import (
	"io"
	"regexp"
	"strings"
)

// credentials matches API keys and refresh tokens, with their underscores escaped or
// not, webhook secrets, and JSON Web Tokens, complete or not.
var credentials = regexp.MustCompile(`((?i:pregon(?:_|%(?:25)*5f)(?:live|refresh)(?:_|%(?:25)*5f)))[\w%-]+|(\bwhsec_)[\w+/=-]+|(\beyJ)[\w.-]{9,}`)

// Mask shortens everything that looks like a credential, for logs and for responses
// that repeat input.
func Mask(s string) string {
	if !mayHoldCredential(s) {
		return s
	}
	return credentials.ReplaceAllString(s, "$1$2$3…")
}

// mayHoldCredential is a fast check that is false for most texts.
func mayHoldCredential(s string) bool {
	return strings.Contains(s, "eyJ") || strings.Contains(s, "whsec_") || containsFold(s, "pregon")
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

// MaskingWriter masks each write, which must consist of whole lines.
type MaskingWriter struct{ io.Writer }

func (m MaskingWriter) Write(lines []byte) (int, error) {
	if s := string(lines); mayHoldCredential(s) {
		_, err := io.WriteString(m.Writer, Mask(s))
		return len(lines), err
	}
	return m.Writer.Write(lines)
}
