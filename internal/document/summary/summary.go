// Package summary summarizes a report in at most three sentences, each with the
// words of the document that are its evidence.
//
// Extract chooses sentences of the document verbatim. It is deterministic and uses
// no network. Write uses a language model, and Judge compares each of its sentences
// with its evidence, a complete sentence of the document: all words, figures, dates
// and names, subject and object, increase and decrease, and whether an event is
// completed, planned, denied or conditional. The comparison is of words, not of
// their meaning. A sentence that cannot be proved is dropped, because a wrong number
// is worse than no summary.
//
// A document's text is data. Passages that address a program are not sent to the
// model, quoted or extracted.
package summary

// Source is a report and the text of its document.
type Source struct {
	Company  string
	Title    string
	Category string // the regulator's category
	Language string // of the text: es, en…; empty if unknown
	Pages    []string
}

// Sentence is a sentence of a summary and its evidence.
type Sentence struct {
	Text  string `json:"text"`
	Page  int    `json:"page"`  // from 1
	Quote string `json:"quote"` // verbatim, except line breaks
}

// Method is the method by which a summary was made.
type Method string

// The methods.
const (
	Extractive Method = "extractive" // sentences of the document, chosen by rules
	ByModel    Method = "model"      // written by a language model, and checked
	None       Method = "none"       // the text has no suitable sentence
)
