package text

import "unicode"

// Invisible reports whether a character has no visible form: control and format
// characters, marks of writing direction, joiners, tags, variation selectors,
// fillers, private and unassigned code points. Blanks, tabs and line ends are
// not invisible.
//
// Invisible characters can hide instructions to a language model inside a text,
// or split a word so that a filter does not recognize it. Text from outside
// loses them before it is compared, or passed to a model.
func Invisible(c rune) bool {
	switch {
	case c >= ' ' && c <= '~', c == '\n', c == '\t', c == '\r', c == '\f':
		return false
	case c >= 'À' && c <= 'ÿ':
		return false // the other letters of Spanish
	case c == '\u2800': // braille pattern blank
		return true
	}
	return unicode.In(c, unicode.C, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
