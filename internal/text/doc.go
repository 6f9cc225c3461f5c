// Package text handles text as the rest of the program needs it: splitting
// Spanish text into folded words, stemming, recognizing invisible characters
// and clipping. It knows nothing about reports.
//
// Two texts that differ only in case, accents and punctuation have the same
// folded words. The search index, the snippets of documents and the matching of
// names all compare folded words, so they agree on what a word is.
package text
