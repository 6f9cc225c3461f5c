package question

import "pregon/internal/search"

// maxName is the number of words of the longest name that is looked up.
const maxName = 10

// readIssuer recognizes an issuer by the longest run of words that is its name, ticker
// or identifier. A ticker must be in capitals, as other words are tickers too.
func (q *Question) readIssuer(words []word, issuers *search.Directory) []word {
	for n := min(maxName, len(words)); n > 0; n-- {
		for at := range len(words) - n + 1 {
			name, _ := phrase(words, at, n)
			if n == 1 && !mayName(words[at]) {
				continue
			}
			if found := issuers.Lookup(name); len(found) == 1 {
				q.Issuer = found[0]
				use(words, at, n)
				return words
			}
		}
	}
	return words
}

// mayName reports whether a single word may be the name, ticker or identifier of an
// issuer.
func mayName(w word) bool {
	if topics.starts[w.text] || generic[w.text] || len(months[w.text]) > 0 {
		return false
	}
	return w.upper || len(w.text) > maxTicker
}

// maxTicker is the number of letters of a word in small letters that may be a ticker.
const maxTicker = 5
