package value

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// numberEnd returns the end of the date in figures, or of the number, that begins at a
// digit. A number has points, commas or spaces between thousands, and letters may be
// attached to it (84.6m, 1T26).
func numberEnd(text string, at int) int {
	if end, ok := dateEnd(text, at); ok {
		return end
	}
	end, ok := spacedEnd(text, at)
	if !ok {
		end = digitsEnd(text, at)
		for end < len(text) && strings.IndexByte(".,:/'", text[end]) >= 0 && hasDigit(text, end+1) {
			end = digitsEnd(text, end+1)
		}
	}
	return attachedEnd(text, end)
}

// dateEnd returns the end of a date: 2026-05-28, or 28/5/26 with points, dashes or slashes.
func dateEnd(text string, at int) (end int, ok bool) {
	first := digitsEnd(text, at)
	if first-at == 4 {
		month := digitsEnd(text, first+1)
		day := digitsEnd(text, month+1)
		isDate := hasByte(text, first, '-') && month-first == 3 && hasByte(text, month, '-') && day-month == 3
		return day, isDate && !hasWord(text, day)
	}
	if first-at > 2 || !hasDateMark(text, first) {
		return 0, false
	}
	second := digitsEnd(text, first+1)
	if n := second - first - 1; n < 1 || n > 2 || !hasDateMark(text, second) {
		return 0, false
	}
	year := digitsEnd(text, second+1)
	n := year - second - 1
	return year, (n == 2 || n == 4) && !hasWord(text, year)
}

// spacedEnd returns the end of a number with spaces between its thousands: 1 234 567,89.
func spacedEnd(text string, at int) (end int, ok bool) {
	end = digitsEnd(text, at)
	if end-at > 3 {
		return 0, false
	}
	for {
		group := spaceEnd(text, end)
		if group == end || digitsEnd(text, group) < group+3 || hasWord(text, group+3) {
			break
		}
		end = group + 3
		ok = true
	}
	if ok && end < len(text) && (text[end] == '.' || text[end] == ',') && hasDigit(text, end+1) {
		end = digitsEnd(text, end+1)
	}
	return end, ok
}

// spaceEnd returns the index behind the space at an index, which may be one that does not
// break a line, or the index if there is none.
func spaceEnd(text string, at int) int {
	for _, space := range []string{" ", "\u00a0", "\u202f"} {
		if strings.HasPrefix(text[at:], space) {
			return at + len(space)
		}
	}
	return at
}

// attachedEnd returns the index behind the letters and digits at an index.
func attachedEnd(text string, at int) int {
	for at < len(text) {
		c, size := utf8.DecodeRuneInString(text[at:])
		if !unicode.IsLetter(c) && (c >= utf8.RuneSelf || !isDigit(byte(c))) {
			break
		}
		at += size
	}
	return at
}

// digitsEnd returns the index behind the digits at an index, which may be behind the text.
func digitsEnd(text string, at int) int {
	for hasDigit(text, at) {
		at++
	}
	return at
}

func hasDigit(text string, at int) bool { return at < len(text) && isDigit(text[at]) }

func hasByte(text string, at int, c byte) bool { return at < len(text) && text[at] == c }

func hasDateMark(text string, at int) bool {
	return at < len(text) && (text[at] == '/' || text[at] == '.' || text[at] == '-')
}

// hasWord reports whether a letter or a digit of ASCII is at an index.
func hasWord(text string, at int) bool {
	return at < len(text) && (isLetter(text[at]) || isDigit(text[at]) || text[at] == '_')
}
