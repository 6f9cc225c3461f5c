package search

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"pregon/internal/disclosure"
	"pregon/internal/text"
)

// Reports are Spanish, and many readers ask in English. A query that is widened finds,
// for a market term of a table, also the Spanish words that reports use for it.

// Widening says what was added to a query for one of its terms.
type Widening struct {
	Term         string   `json:"term"`         // as the query has it, folded
	Alternatives []string `json:"alternatives"` // Spanish words and phrases
}

// ParseFilter parses the search text of a filter, and widens it if the filter says so.
func ParseFilter(f disclosure.Filter) Query {
	q := Parse(f.Search)
	if f.Widen {
		q.widen()
	}
	return q
}

// Widens reports whether a search text has a term of the table. It returns false if the
// text is the name or ticker of an issuer: whoever asks for that company does not want
// every report of some kind.
func (d *Directory) Widens(text string) bool {
	q := Parse(text)
	q.widen()
	return len(q.widened) > 0 && len(d.Lookup(text)) == 0
}

// Widened returns what was added to the query, in the order of its terms.
func (q Query) Widened() []Widening { return q.widened }

// marketTerm is an entry of the table.
type marketTerm struct {
	shown []string // the alternatives as the table spells them
	terms []term   // the same
}

// marketTerms is the table, by the folded words of the English terms.
type marketTerms struct {
	entries map[string]*marketTerm
	longest map[string]int // by the first word of a term: the words of the longest one
	words   []string       // of all English terms and Spanish alternatives, sorted
}

//go:embed terms.txt
var termsText string

// knownTerms reads the table once.
var knownTerms = sync.OnceValue(func() marketTerms {
	known, err := readTerms(termsText)
	if err != nil {
		panic(err) // a file of this package, which the tests read
	}
	return known
})

// readTerms reads a table of terms. Its form is described in terms.txt.
func readTerms(table string) (marketTerms, error) {
	known := marketTerms{entries: map[string]*marketTerm{}, longest: map[string]int{}}
	n := 0
	for line := range strings.Lines(table) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		english, spanish, ok := strings.Cut(line, "=")
		if !ok {
			return known, fmt.Errorf("line %d has no =", n)
		}
		entry, err := newMarketTerm(spanish)
		if err != nil {
			return known, fmt.Errorf("line %d: %w", n, err)
		}
		for name := range strings.SplitSeq(english, ",") {
			words := text.Words(name)
			key := strings.Join(words, " ")
			if key == "" || known.entries[key] != nil {
				return known, fmt.Errorf("line %d: the term %q is empty or repeated", n, name)
			}
			known.entries[key] = entry
			known.longest[words[0]] = max(known.longest[words[0]], len(words))
			if len(words) == 1 {
				known.longest[words[0]+"s"] = max(known.longest[words[0]+"s"], 1)
			}
		}
	}
	for key, entry := range known.entries {
		known.words = append(known.words, strings.Fields(key)...)
		for _, t := range entry.terms {
			known.words = append(known.words, t.words...)
		}
	}
	slices.Sort(known.words)
	known.words = slices.Compact(known.words)
	return known, nil
}

// newMarketTerm reads the alternatives of an entry.
func newMarketTerm(spanish string) (*marketTerm, error) {
	entry := &marketTerm{}
	for shown := range strings.SplitSeq(spanish, "|") {
		shown = strings.TrimSpace(shown)
		words := text.Words(shown)
		if len(words) == 0 {
			return nil, fmt.Errorf("an alternative has no word")
		}
		t := term{words: words}
		if len(words) == 1 {
			t.stem = text.Stem(words[0])
		}
		entry.shown = append(entry.shown, shown)
		entry.terms = append(entry.terms, t)
	}
	return entry, nil
}

// widen adds the alternatives of the table to the terms of the query. Quoted and
// excluded terms stay as they are.
//
// A run of terms that is one English term matches if the document has all of its
// words, or an alternative. That is the same as: for each word of the run, the
// document has the word or an alternative. So each term is widened by itself.
func (q *Query) widen() {
	known := knownTerms()
	for i := 0; i < len(q.must); {
		n, entry := known.at(q.must[i:])
		if entry == nil {
			i++
			continue
		}
		words := make([]string, n)
		for k := range n {
			q.must[i+k].others = entry
			words[k] = q.must[i+k].words[0]
		}
		q.widened = append(q.widened, Widening{strings.Join(words, " "), entry.shown})
		i += n
	}
}

// at returns the longest English term at the beginning of some terms, and the number
// of its words.
func (k marketTerms) at(terms []term) (int, *marketTerm) {
	if !terms[0].plain() {
		return 0, nil
	}
	longest := k.longest[terms[0].words[0]]
	if longest == 0 {
		return 0, nil // as nearly always
	}
	var words []string
	for i := 0; i < min(longest, len(terms)) && terms[i].plain(); i++ {
		words = append(words, terms[i].words[0])
	}
	for n := len(words); n > 0; n-- {
		key := strings.Join(words[:n], " ")
		if entry := k.entries[key]; entry != nil {
			return n, entry
		}
		if entry := k.entries[strings.TrimSuffix(key, "s")]; entry != nil {
			return n, entry
		}
	}
	return 0, nil
}

// Literal returns a search text with quotation marks around what Widened names, so that
// it is searched for as it was typed.
func Literal(searched string) string {
	q := Parse(searched)
	q.widen()
	widened := map[string]bool{}
	for _, w := range q.widened {
		for word := range strings.FieldsSeq(w.Term) {
			widened[word] = true
		}
	}
	var parts []string
	for _, c := range split(searched) {
		isWidened := slices.ContainsFunc(text.Words(c.text), func(word string) bool { return widened[word] })
		part := c.text
		if c.quoted || !c.minus && isWidened {
			part = `"` + part + `"`
		}
		if c.minus {
			part = "-" + part
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

// MarketWord returns a word of the table, English or Spanish, that is spelled like a
// folded word with one error, or "".
func MarketWord(typed string) string {
	known := knownTerms().words
	if _, same := slices.BinarySearch(known, typed); same || len(typed) < forgivenLetters {
		return ""
	}
	for _, word := range known {
		if len(word) >= forgivenLetters && oneError(typed, word) {
			return word
		}
	}
	return ""
}

// plain reports whether a term is a single word without quotes.
func (t *term) plain() bool { return len(t.words) == 1 && !t.exact }
