package text

import "unicode/utf8"

const ellipsis = "…"

// Clip returns s if it has at most n characters, and otherwise its first n
// characters and an ellipsis.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i] + ellipsis
		}
		n--
	}
	return s
}

// ClipBytes returns s if it has at most n bytes, and otherwise its first n bytes
// and an ellipsis. It does not split a character.
func ClipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Prefix(s, n) + ellipsis
}

// Prefix returns the first n bytes of s, or all of a shorter s. It does not
// split a character, so the result may be up to three bytes shorter.
func Prefix(s string, n int) string {
	if len(s) <= n {
		return s
	}
	// Bytes that are no UTF-8 at all must not shorten the result further.
	for end := n; end > n-utf8.UTFMax && end >= 0; end-- {
		if utf8.RuneStart(s[end]) {
			return s[:end]
		}
	}
	return s[:n]
}
