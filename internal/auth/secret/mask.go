package secret

import (
	"io"
	"regexp"
	"strings"
)

// credentials are API keys, however their underscores are escaped; secrets of
// webhooks; and JSON Web Tokens, also the beginning of one.
var credentials = regexp.MustCompile(`((?i:pregon(?:_|%(?:25)*5f)live(?:_|%(?:25)*5f)))[\w%-]+|(\bwhsec_)[\w+/=-]+|(\beyJ)[\w.-]{9,}`)

// Mask replaces what looks like a credential by its beginning, for logs and for
// answers that repeat what was sent.
func Mask(s string) string {
	if !mayHoldCredential(s) {
		return s
	}
	return credentials.ReplaceAllString(s, "$1$2$3…")
}

// suspicious is the quick answer for nearly all texts.
func mayHoldCredential(s string) bool {
	return strings.Contains(s, "eyJ") || strings.Contains(s, "whsec_") || containsFold(s, "pregon")
}

// containsFold is strings.Contains for an ASCII word in lower case, in any case.
func containsFold(s, word string) bool {
	for at := 0; at+len(word) <= len(s); at++ {
		if s[at]|0x20 == word[0] && strings.EqualFold(s[at:at+len(word)], word) {
			return true
		}
	}
	return false
}

// Masked masks every piece that is written, which must be whole lines.
type MaskingWriter struct{ io.Writer }

func (m MaskingWriter) Write(lines []byte) (int, error) {
	if s := string(lines); mayHoldCredential(s) {
		_, err := io.WriteString(m.Writer, Mask(s))
		return len(lines), err
	}
	return m.Writer.Write(lines)
}
