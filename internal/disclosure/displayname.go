package disclosure

import (
	_ "embed"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameWords has the words that DisplayName spells in a way of their own: particles in lower
// case, acronyms in upper case, and short words that are not acronyms.
//
//go:embed display_words.txt
var nameWordList string

// displayWords has the spelling of each of these words by the word in upper case.
var displayWords = displaySpellings(nameWordList)

func displaySpellings(list string) map[string]string {
	spellings := map[string]string{}
	for line := range strings.Lines(list) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			spellings[strings.ToUpper(word)] = word
		}
	}
	return spellings
}

// DisplayName returns a name as pages show it. The registers write most names in capitals
// («BANCO DE SABADELL, S.A.»); these are written with capitals at the beginning of words
// («Banco de Sabadell, S.A.»). Legal forms, initials, acronyms and Roman numerals keep
// their capitals. A name that has a lower-case letter is returned as it is.
//
// It is for people only: data, messages and searches have the name as it was filed.
func DisplayName(name string) string {
	if strings.ContainsFunc(name, unicode.IsLower) {
		return name
	}
	var b strings.Builder
	b.Grow(len(name))
	first := true // of the name, or of a part of it after a comma or a bracket
	for rest := name; rest != ""; {
		end := strings.IndexFunc(rest, isNameLetter)
		if end != 0 { // what is between two words
			if end < 0 {
				end = len(rest)
			}
			b.WriteString(rest[:end])
			first = first || strings.ContainsAny(rest[:end], ",;:()/\"«")
			rest = rest[end:]
			continue
		}
		if end = strings.IndexFunc(rest, func(r rune) bool { return !isNameLetter(r) }); end < 0 {
			end = len(rest)
		}
		b.WriteString(displayWord(rest[:end], first, rest[end:]))
		first, rest = false, rest[end:]
	}
	return b.String()
}

// isNameLetter reports whether a character is part of a word of a name. Initials and their
// dots are one word.
func isNameLetter(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '\'' || r == '’' || r == '&'
}

// romanNumeral matches the numerals that names of funds have. Single letters keep their
// capitals anyway.
var romanNumeral = regexp.MustCompile(`^X{0,3}(IX|IV|V?I{0,3})$`)

// displayWord returns a word of a name in capitals as pages show it. Particles keep their
// capital at the beginning of a part, and before its end.
func displayWord(word string, first bool, after string) string {
	bare := strings.TrimRight(word, ".")
	if spelling, ok := displayWords[bare]; ok {
		last := after == "" || strings.ContainsAny(after[:1], ",;)")
		if spelling == strings.ToLower(bare) && (first || last) {
			return capitalized(word)
		}
		return spelling + word[len(bare):]
	}
	if utf8.RuneCountInString(bare) <= maxAcronym || isInitials(bare) || strings.ContainsAny(bare, "0123456789&") ||
		!strings.ContainsAny(bare, "AEIOUÁÉÍÓÚÀÈÌÒÙÜÏY") || romanNumeral.MatchString(bare) {
		return word
	}
	return capitalized(word)
}

// maxAcronym is the number of letters of the longest unknown acronym, such as ACS. Longer
// words are acronyms only if they are known.
const maxAcronym = 3

// isInitials reports whether a word is letters with dots between them, as in S.I.C.A.V.
func isInitials(word string) bool {
	if !strings.Contains(word, ".") {
		return false
	}
	for part := range strings.SplitSeq(word, ".") {
		if utf8.RuneCountInString(part) > 2 {
			return false
		}
	}
	return true
}

// capitalized returns a word with a capital at its beginning, and after an apostrophe that
// follows one letter, as in L'Hospitalet.
func capitalized(word string) string {
	letters := []rune(strings.ToLower(word))
	for i := range letters {
		elided := i == 2 && (letters[1] == '\'' || letters[1] == '’')
		if i == 0 || elided || letters[i-1] == '.' {
			letters[i] = unicode.ToUpper(letters[i])
		}
	}
	return string(letters)
}
