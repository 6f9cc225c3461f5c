package fact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/document/value"
)

// Text recognition takes some letters for others: "rnáxirno" for máximo, "lmporte" for
// importe. A word that no rule knows is read as a known one if only such letters differ.
// It also divides words: "regis tro". In figures, only the letters that are certainly digits
// are replaced: see withDigits.

// misread are the letters that text recognition confuses, as it writes them, with what they
// may be.
var misread = []struct{ wrong, right string }{
	{"rn", "m"},
	{"l", "i"},
	{"1", "i"},
	{"1", "l"},
	{"i", "l"},
	{"0", "o"},
	{"5", "s"},
	{"vv", "w"},
	{"cl", "d"},
	{"ii", "n"},
}

// misreadArticles are short words with a capital I in place of an l, which no other word is.
var misreadArticles = map[string]string{
	"Ia":  "la",
	"Ias": "las",
	"Ios": "los",
	"eI":  "el",
	"EI":  "el",
	"deI": "del",
	"aI":  "al",
}

// Shorter words are too like one another, and longer ones are none.
const (
	shortestRepaired = 5
	longestRepaired  = 24
)

// months are words that values need, beside those of the rules.
const months = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre " +
	"january february march april june july august september october november december euros millones million"

// addKnown adds the words of a phrase to those that the rules know.
func (x *index) addKnown(words []string) {
	for _, w := range words {
		if !strings.HasSuffix(w, "*") {
			x.word(w).known = true
		}
	}
}

// isKnown reports whether a phrase has a word, or a value.
func (x *index) isKnown(text string) bool {
	w := x.words[text]
	return w != nil && w.known
}

// repair replaces the folded words that text recognition misread, and joins those that it
// divided: two words that no rule knows, if both together are a known one. It gets what the
// rules know of each token, and returns the tokens with the same.
func (x *index) repair(tokens []value.Token, words []*word) ([]value.Token, []*word) {
	kept := 0
	isKnown := true // the last of them
	for i, t := range tokens {
		known := words[i] != nil && words[i].known
		last := kept - 1
		if !known && !isKnown && x.isDivided(tokens[last], t) {
			tokens[last].Text += " " + t.Text // of the same length as in the page
			tokens[last].Folded += t.Folded
			words[last] = x.words[tokens[last].Folded]
			isKnown = true
			continue
		}
		if !isKnown {
			x.repairWord(&tokens[last], &words[last])
		}
		if kept < i {
			tokens[kept] = t
			words[kept] = words[i]
		}
		kept++
		isKnown = known
	}
	if !isKnown {
		x.repairWord(&tokens[kept-1], &words[kept-1])
	}
	return tokens[:kept], words[:kept]
}

// repairWord replaces a folded word that no rule knows.
func (x *index) repairWord(t *value.Token, w **word) {
	if article := misreadArticles[t.Text]; article != "" {
		t.Folded = article
		*w = x.words[article]
		return
	}
	if len(t.Folded) < shortestRepaired || len(t.Folded) > longestRepaired || t.IsNumber() {
		return
	}
	if right, ok := x.repaired(t.Folded); ok {
		t.Folded = right
		*w = x.words[right]
	}
}

// isDivided reports whether two tokens that no rule knows are one word with a space in it.
func (x *index) isDivided(a, b value.Token) bool {
	const shortest, longest = 2, 14
	if len(a.Folded) < shortest || len(b.Folded) < shortest || len(a.Folded) > longest || len(b.Folded) > longest {
		return false
	}
	if b.At != a.End()+1 || a.IsNumber() || b.IsNumber() || b.IsCapital() {
		return false
	}
	return len(a.Folded)+len(b.Folded) >= shortestRepaired && x.isKnown(a.Folded+b.Folded)
}

// withDigits returns a page with digits in place of the letters that text recognition
// writes within figures: 2O26, 64.3O2, "O,25". Its length stays the same. A letter behind a
// single digit may mean something else, such as 1º.
func withDigits(page string) string {
	if !strings.ContainsAny(page, "OIl") {
		return page
	}
	var changed []byte
	for start := 0; start < len(page); {
		if !mayBeFigure[page[start]] {
			start++
			continue
		}
		end := start
		for end < len(page) && mayBeFigure[page[end]] {
			end++
		}
		if isMisreadFigure(page[start:end]) && !isInWord(page, start, end) {
			if changed == nil {
				changed = []byte(page)
			}
			for i := start; i < end; i++ {
				switch page[i] {
				case 'O':
					changed[i] = '0'
				case 'I', 'l':
					changed[i] = '1'
				}
			}
		}
		start = end
	}
	if changed == nil {
		return page
	}
	return string(changed)
}

// mayBeFigure has the bytes that may be part of a figure or a date in digits.
var mayBeFigure = func() (bytes [256]bool) {
	for _, c := range []byte("0123456789OIl.,/") {
		bytes[c] = true
	}
	return bytes
}()

// isMisreadFigure reports whether digits surround letters, or at least two digits are
// beside them.
func isMisreadFigure(text string) bool {
	text = strings.TrimRight(text, ".,/")
	letters, digits, run := 0, 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			digits++
			run = 0
		case c == 'O' || c == 'I' || c == 'l':
			letters++
			run++
			if run > 2 {
				return false
			}
		}
	}
	if letters == 0 || len(text) == 0 || strings.IndexByte(".,/", text[0]) >= 0 {
		return false
	}
	return digits >= 2
}

// isInWord reports whether a letter stands directly before or behind a range of a text.
func isInWord(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	behind, _ := utf8.DecodeRuneInString(text[end:])
	return unicode.IsLetter(before) || unicode.IsLetter(behind)
}

// repaired returns the only known word that differs from a word by one misread letter, or by
// the same one everywhere.
func (x *index) repaired(word string) (found string, ok bool) {
	var room [longestRepaired]byte
	try := func(candidate []byte) {
		switch {
		case !x.isKnown(string(candidate)) || found == string(candidate):
		case found == "":
			found = string(candidate)
			ok = true
		default:
			ok = false // two words are possible
		}
	}
	letters := letterSet(word)
	for _, m := range misread {
		if letters&letterSet(m.wrong[:1]) == 0 {
			continue
		}
		if strings.Count(word, m.wrong) > 1 {
			everywhere := room[:0]
			for at := 0; at < len(word); {
				if strings.HasPrefix(word[at:], m.wrong) {
					everywhere = append(everywhere, m.right...)
					at += len(m.wrong)
					continue
				}
				everywhere = append(everywhere, word[at])
				at++
			}
			try(everywhere)
		}
		for at := range len(word) {
			if strings.HasPrefix(word[at:], m.wrong) {
				once := append(room[:0], word[:at]...)
				once = append(once, m.right...)
				try(append(once, word[at+len(m.wrong):]...))
			}
		}
	}
	return found, ok
}

// letterSet returns a bit for each letter of a word. Two letters may have the same bit.
func letterSet(word string) (set uint64) {
	for i := range len(word) {
		set |= 1 << (word[i] % 64)
	}
	return set
}
