package summary

import (
	"embed"
	"fmt"
	"strings"

	plain "pregon/internal/text"
)

// The word lists are data, in files of their own: folded words in Spanish, English
// and, where it matters, the other languages of Spain.
//
//go:embed words/*.txt
var wordFiles embed.FS

// lists holds the content of every [section] of the files by its name.
var lists = func() map[string]string {
	all := map[string]string{}
	files, err := wordFiles.ReadDir("words")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, f := range files {
		text, err := wordFiles.ReadFile("words/" + f.Name())
		if err != nil {
			panic(err)
		}
		for _, section := range strings.Split("\n"+string(text), "\n[")[1:] {
			name, body, _ := strings.Cut(section, "]\n")
			all[name] = body
		}
	}
	return all
}()

// list returns a section. A missing one is a mistake in this package, which every
// test finds.
func list(name string) string {
	body, ok := lists[name]
	if !ok {
		panic(fmt.Sprintf("summary: no word list %q", name))
	}
	return body
}

// lexicon is a set of folded words and prefixes.
type lexicon struct {
	words    map[string]bool
	prefixes []string
}

// lexiconOf reads words separated by white space; a star matches any ending.
func lexiconOf(name string) lexicon { return newLexicon(list(name)) }

func newLexicon(words string) lexicon {
	l := lexicon{words: map[string]bool{}}
	for w := range strings.FieldsSeq(words) {
		if prefix, ok := strings.CutSuffix(w, "*"); ok {
			l.prefixes = append(l.prefixes, prefix)
		} else {
			l.words[w] = true
		}
	}
	return l
}

func (l lexicon) has(word string) bool {
	if l.words[word] {
		return true
	}
	for _, p := range l.prefixes {
		if strings.HasPrefix(word, p) {
			return true
		}
	}
	return false
}

// phrases are sequences of folded words; a star at the end matches any ending.
type phrases []string

// phrasesOf reads phrases separated by semicolons or line ends.
func phrasesOf(name string) phrases { return newPhrases(list(name)) }

func newPhrases(text string) phrases {
	var p phrases
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

// in reports whether a folded text contains one of them.
func (p phrases) in(folded string) bool {
	for _, phrase := range p {
		if strings.Contains(folded, phrase) {
			return true
		}
	}
	return false
}

// count returns how many of them a folded text contains.
func (p phrases) count(folded string) int {
	n := 0
	for _, phrase := range p {
		if strings.Contains(folded, phrase) {
			n++
		}
	}
	return n
}

// table reads lines of the form "value: word word" into a map from each word to its
// value. A phrase of several words is written with underscores.
func table(name string) map[string]string {
	words := map[string]string{}
	for line := range strings.Lines(list(name)) {
		value, row, ok := strings.Cut(line, ": ")
		if !ok {
			continue
		}
		for w := range strings.FieldsSeq(row) {
			words[strings.ReplaceAll(w, "_", " ")] = value
		}
	}
	return words
}

// fold returns the words of a text in lower case and without accents, one space
// before each and one after the last, so that strings.Contains finds " phrase " in
// it. Invisible characters do not split words, and letters of other scripts with the
// shape of a plain letter become that letter.
func fold(text string) string {
	return " " + plain.Fold(lookalikes.Replace(withoutHidden(text))) + " "
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

func withoutHidden(text string) string {
	return strings.Map(func(r rune) rune {
		if plain.Invisible(r) {
			return -1
		}
		return r
	}, text)
}

// visible returns a text on one line without invisible characters.
func visible(text string) string { return squeeze(withoutHidden(text)) }

// squeeze makes every run of white space one space.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }
