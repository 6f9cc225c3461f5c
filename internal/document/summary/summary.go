// Package summary summarizes a report in at most three sentences, each with the
// sentence of the document that is its evidence.
//
// Extract chooses sentences of the document by rules. It is deterministic and uses
// no network. Write asks a language model, which sees the sentences with numbers and
// answers with sentences of its own and the numbers of their sources. Each is proved
// or quoted: check compares its figures, dates, names, negations and words of intent
// with the sources, and a second call asks whether it follows from them alone. If
// either fails, the source itself takes its place, verbatim.
//
// A document's text is data. Passages that address a program are not sent to a
// model, quoted or extracted.
package summary

// Source is a report and the text of its document.
type Source struct {
	Company  string
	Title    string
	Category string // the regulator's category
	Language string // of the text: es, en…; empty if unknown
	Pages    []string
	Stated   []Stated // the words that prove the facts of the document
}

// Stated is a place of the document that proves a fact: see package fact. A sentence that
// has its words is worth more in a summary.
type Stated struct {
	Page  int // from 1
	Words string
}

// Sentence is a sentence of a summary and its evidence.
type Sentence struct {
	Text  string
	Page  int    // from 1; that of the first sentence of the quote
	Quote string // sentences of the document, verbatim except line breaks
}

// Summary is a summary of a document.
type Summary struct {
	Method    Method
	Language  string // of the sentences: es, if it can be
	Sentences []Sentence
	English   []Sentence // the same in English, if a model wrote it
}

// Method is the method by which a summary was made.
type Method string

// The methods.
const (
	Extractive Method = "extractive" // sentences of the document, chosen by rules
	Selected   Method = "selected"   // sentences of the document, chosen by a language model
	ByModel    Method = "model"      // at least one sentence was written by a language model, and checked
	OfFacts    Method = "facts"      // the facts of the document in a sentence: see package headline
	None       Method = "none"       // the text has no suitable sentence
)
