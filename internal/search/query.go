package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/disclosure"
	"pregon/internal/search/segment"
	"pregon/internal/text"
)

// Query is a parsed search text. The zero value matches everything.
type Query struct {
	wordless bool // symbols only: matches nothing

	must []term
	not  []term

	excluded excluded
	widened  []Widening
}

// excluded indexes the excluded terms, of which there may be thousands, so that
// the few words of a report are looked up in it.
type excluded struct {
	words, stems, idents map[string]bool
	phrases              segment.Trie[string]
}

// term is one term of a query. A document has it if it has the identifier or the
// words.
type term struct {
	words  []string // folded; several form a phrase
	stem   string   // of a single word
	exact  bool     // the word itself, not its stem
	prefix bool     // a single word that may be the beginning of one
	ident  string   // in the form of disclosure.IssuerKey

	others *marketTerm // what else a document may have instead; nil: nothing
}

// Parse parses a search text. Every text is valid. A text without a word matches
// nothing, unless it is blank.
func Parse(s string) Query {
	var q Query
	chunks := split(s)
	for _, c := range chunks {
		terms := c.terms(len(chunks) == 1)
		if c.minus {
			q.not = append(q.not, terms...)
		} else {
			q.must = append(q.must, terms...)
		}
	}
	q.must, q.not = distinct(dropLegalForms(q.must)), distinct(q.not)
	for _, terms := range [][]term{q.must, q.not} {
		for i := range terms {
			terms[i].stem = text.Stem(terms[i].words[0])
		}
	}
	q.wordless = len(chunks) > 0 && len(q.must)+len(q.not) == 0
	q.sortExcluded()
	if n := len(q.must); n > 0 && len(q.must[n-1].words) == 1 {
		q.must[n-1].prefix = !q.must[n-1].exact
	}
	return q
}

func (q *Query) sortExcluded() {
	if len(q.not) == 0 {
		return
	}
	x := excluded{words: map[string]bool{}, stems: map[string]bool{}, idents: map[string]bool{}}
	for _, t := range q.not {
		switch {
		case len(t.words) > 1:
			x.phrases.Add(t.words)
		case t.exact:
			x.words[t.words[0]] = true
		default:
			x.words[t.words[0]], x.stems[t.stem] = true, true
		}
		if t.ident != "" {
			x.idents[t.ident] = true
		}
	}
	q.excluded = x
}

// chunk is a piece of the text between spaces, or between quotes.
type chunk struct {
	text   string
	minus  bool
	quoted bool
}

const quotes = "\"“”„«»"

func isQuote(c rune) bool {
	if c < utf8.RuneSelf {
		return c == '"'
	}
	return strings.ContainsRune(quotes, c)
}

// split cuts the text into chunks. A quote that is not closed extends to
// the end.
func split(text string) []chunk {
	chunks := make([]chunk, 0, 4)
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			return chunks
		}
		var c chunk
		text, c.minus = strings.CutPrefix(text, "-")
		text, c.quoted = cutQuote(text)
		end := strings.IndexFunc(text, func(r rune) bool {
			return isQuote(r) || !c.quoted && unicode.IsSpace(r)
		})
		if end < 0 {
			end = len(text)
		}
		c.text, text = text[:end], text[end:]
		if c.quoted {
			text, _ = cutQuote(text)
		}
		chunks = append(chunks, c)
	}
}

func cutQuote(text string) (rest string, found bool) {
	c, size := utf8.DecodeRuneInString(text)
	if size == 0 || !isQuote(c) {
		return text, false
	}
	return text[size:], true
}

// terms returns the terms of a chunk. Digits are a registration number
// only when nothing else was typed: "resultados 2025" means the year.
func (c chunk) terms(alone bool) []term {
	words := text.Words(c.text)
	if c.quoted {
		if len(words) == 0 {
			return nil
		}
		return []term{{words: words, exact: true}}
	}
	ident := disclosure.IssuerKey(c.text)
	if _, number := disclosure.ParseNumber(ident); number && !alone {
		ident = ""
	}
	if c.minus || len(words) == 1 || isIdentifier(ident) {
		if len(words) == 0 {
			return nil
		}
		return []term{{words: words, ident: ident}}
	}
	terms := make([]term, len(words))
	for i, w := range words {
		terms[i] = term{words: []string{w}}
	}
	return terms
}

// isIdentifier reports whether a chunk with punctuation inside is one identifier,
// as A-69000016 and oir-40374 are, and not several words.
func isIdentifier(ident string) bool {
	if _, ok := disclosure.ParseNIF(ident); ok {
		return true
	}
	_, number, hyphen := strings.Cut(ident, "-")
	_, digits := disclosure.ParseNumber(number)
	return hyphen && digits
}

// dropLegalForms drops the legal forms unless there are no other words.
func dropLegalForms(terms []term) []term {
	isForm := func(t term) bool { return !t.exact && len(t.words) == 1 && legalForms[t.words[0]] }
	if !slices.ContainsFunc(terms, isForm) || !slices.ContainsFunc(terms, func(t term) bool { return !isForm(t) }) {
		return terms
	}
	return slices.DeleteFunc(terms, isForm)
}

// repeats reports whether a term may occur twice in terms.
func (t *term) repeats(terms []term) bool {
	n := 0
	for i := range terms {
		if terms[i].words[0] == t.words[0] {
			n++
		}
	}
	return n > 1
}

// distinct drops repeated terms. It keeps the last of equal ones, so that the last
// term stays the last.
func distinct(terms []term) []term {
	if len(terms) <= 8 && !slices.ContainsFunc(terms[min(1, len(terms)):],
		func(t term) bool { return t.repeats(terms) }) {
		return terms // as nearly always
	}
	seen := make(map[string]bool, len(terms))
	kept := make([]term, 0, len(terms))
	for _, t := range slices.Backward(terms) {
		key := strings.Join(t.words, " ") + "\x00" + t.ident
		if t.exact {
			key = "\"" + key
		}
		if !seen[key] {
			seen[key] = true
			kept = append(kept, t)
		}
	}
	slices.Reverse(kept)
	return kept
}

// legalForms are the abbreviations of legal forms. They do not distinguish one
// company from another.
var legalForms = map[string]bool{
	"sa": true, "sau": true, "sl": true, "slu": true, "sll": true, "sme": true, "sad": true,
	"sc": true, "scoop": true, "nv": true, "bv": true, "plc": true, "ag": true, "se": true,
	"inc": true, "ltd": true, "llc": true, "spa": true, "sarl": true, "gmbh": true, "ab": true, "asa": true,
}

// HasOperators reports whether a search text has phrases in quotation marks or words that
// are excluded.
func HasOperators(s string) bool {
	return strings.ContainsAny(s, "\"“”„«»") || strings.HasPrefix(s, "-") || strings.Contains(s, " -")
}
