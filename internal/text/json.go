package text

import "unicode/utf8"

// AppendJSON appends a text as a JSON string, with the same bytes as encoding/json
// without HTML escapes, but without its cost.
func AppendJSON(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0 // of the bytes that are not appended yet
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			b = append(b, s[start:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\b':
				b = append(b, `\b`...)
			case '\f':
				b = append(b, `\f`...)
			case '\n':
				b = append(b, `\n`...)
			case '\r':
				b = append(b, `\r`...)
			case '\t':
				b = append(b, `\t`...)
			default:
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b = append(append(b, s[start:i]...), `\ufffd`...)
			start = i + size
		} else if r == '\u2028' || r == '\u2029' { // line ends in JavaScript
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hex[r&15])
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}
