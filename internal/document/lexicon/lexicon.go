// Package lexicon reads lists of words, and compares texts without regard to case and
// accents. The rules that read documents keep their words in such lists.
package lexicon

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	plain "pregon/internal/text"
)

// Lists holds the content of the sections of some files by name. Words are folded, in
// Spanish, English and, where it matters, the other languages of Spain.
type Lists map[string]string

// Load reads the files of a directory. A line such as [months] begins a section. The
// files are part of the program: it panics if they cannot be read.
func Load(files fs.FS, dir string) Lists {
	all := Lists{}
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		text, err := fs.ReadFile(files, dir+"/"+entry.Name())
		if err != nil {
			panic(err)
		}
		for _, section := range strings.Split("\n"+string(text), "\n[")[1:] {
			name, body, _ := strings.Cut(section, "]\n")
			all[name] = body
		}
	}
	return all
}

// Section returns the content of a section. A missing one is a mistake in the package
// that asks for it, which each of its tests finds.
func (l Lists) Section(name string) string {
	body, ok := l[name]
	if !ok {
		panic(fmt.Sprintf("no word list %q", name))
	}
	return body
}

// Set returns the words of a section, separated by white space; a star matches any
// ending.
func (l Lists) Set(name string) Set { return NewSet(l.Section(name)) }

// Phrases returns the phrases of a section, separated by semicolons or line ends.
func (l Lists) Phrases(name string) Phrases { return NewPhrases(l.Section(name)) }

// Table reads lines of the form "value: word word" into a map from each word to its
// value. A phrase of several words is written with underscores.
func (l Lists) Table(name string) map[string]string {
	table := map[string]string{}
	for line := range strings.Lines(l.Section(name)) {
		value, row, ok := strings.Cut(line, ": ")
		if !ok {
			continue
		}
		for w := range strings.FieldsSeq(row) {
			table[strings.ReplaceAll(w, "_", " ")] = value
		}
	}
	return table
}

// Numbers is Table for values that are numbers.
func (l Lists) Numbers(name string) map[string]int {
	numbers := map[string]int{}
	for word, value := range l.Table(name) {
		numbers[word], _ = strconv.Atoi(value)
	}
	return numbers
}

// Set is a set of folded words and prefixes.
type Set struct {
	words    map[string]bool
	prefixes []string
	shapes   *shapes
}

// shapes are the lengths of the words of a set, and whether it has a prefix, by the first
// byte. Most words of a document have a shape that no word of the set has, so that they
// need not be looked up.
type shapes [256]struct {
	lengths uint32 // a bit for each; the last one stands for all longer words
	prefix  bool
}

func (s *shapes) add(word string) { s[word[0]].lengths |= lengthBit(word) }

func (s *shapes) has(word string) bool { return s[word[0]].lengths&lengthBit(word) != 0 }

func lengthBit(word string) uint32 { return 1 << min(len(word), 31) }

// NewSet returns the words of a text, separated by white space; a star matches any
// ending.
func NewSet(text string) Set {
	s := Set{
		words:  map[string]bool{},
		shapes: new(shapes),
	}
	for w := range strings.FieldsSeq(text) {
		prefix, isPrefix := strings.CutSuffix(w, "*")
		switch {
		case !isPrefix:
			s.words[w] = true
			s.shapes.add(w)
		case prefix != "":
			s.prefixes = append(s.prefixes, prefix)
			s.shapes[prefix[0]].prefix = true
		}
	}
	return s
}

// Has reports whether a folded word is in the set.
func (s Set) Has(word string) bool {
	if word == "" || s.shapes == nil {
		return false
	}
	if s.shapes.has(word) && s.words[word] {
		return true
	}
	if !s.shapes[word[0]].prefix {
		return false
	}
	for _, p := range s.prefixes {
		if strings.HasPrefix(word, p) {
			return true
		}
	}
	return false
}

// Phrases are sequences of folded words; a star at the end matches any ending.
type Phrases []string

// NewPhrases returns the phrases of a text, separated by semicolons or line ends.
func NewPhrases(text string) Phrases {
	var p Phrases
	for phrase := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		phrase = strings.TrimSpace(phrase)
		if open, ok := strings.CutSuffix(phrase, "*"); ok {
			p = append(p, " "+open)
		} else if phrase != "" {
			p = append(p, " "+phrase+" ")
		}
	}
	return p
}

// In reports whether a folded text contains one of them.
func (p Phrases) In(folded string) bool {
	for _, phrase := range p {
		if strings.Contains(folded, phrase) {
			return true
		}
	}
	return false
}

// Count returns how many of them a folded text contains.
func (p Phrases) Count(folded string) int {
	n := 0
	for _, phrase := range p {
		if strings.Contains(folded, phrase) {
			n++
		}
	}
	return n
}

// Fold returns the words of a text in lower case and without accents, one space
// before each and one after the last, so that strings.Contains finds " phrase " in
// it. Invisible characters do not split words, and letters of other scripts with the
// shape of a plain letter become that letter.
func Fold(text string) string {
	if isPlain(text) {
		return " " + strings.ToLower(text) + " "
	}
	return " " + plain.Fold(lookalikes.Replace(WithoutHidden(text))) + " "
}

// isPlain reports whether a text is one word of plain letters and digits. Most texts that
// are folded are.
func isPlain(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') {
			return false
		}
	}
	return text != ""
}

// lookalikes maps letters of other scripts to the plain letters they look like. The
// ordinal indicators in nº and Dª are gaps, so that nº does not become "no".
var lookalikes = func() *strings.Replacer {
	pairs := []string{"º", " ", "ª", " "}
	for letter, others := range map[string]string{
		"a": "аΑА", "b": "ВΒ", "c": "сС", "e": "еЕΕ", "h": "НΗ", "i": "іІΙ", "j": "ј", "k": "кКΚ", "m": "МΜ",
		"n": "Ν", "o": "оОοΟ", "p": "рРΡ", "s": "ѕЅ", "t": "ТΤ", "x": "хХΧ", "y": "уΥ", "z": "Ζ",
	} {
		for other := range strings.SplitSeq(others, "") {
			pairs = append(pairs, other, letter)
		}
	}
	return strings.NewReplacer(pairs...)
}()

// WithoutHidden returns a text without invisible characters.
func WithoutHidden(text string) string {
	return strings.Map(func(r rune) rune {
		if plain.Invisible(r) {
			return -1
		}
		return r
	}, text)
}
