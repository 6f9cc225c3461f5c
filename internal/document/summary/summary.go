// Package summary says in at most three sentences what a report is about, and
// on which words of its document each of them rests.
//
// Extract takes sentences of the document as they are: no network, no chance,
// nothing that the document does not say. Write has a language model write them,
// and Judge compares each with the whole sentence of the document it rests on:
// every word must be there, every figure, date and name, who does it to whom,
// what goes up and what goes down, what is done and what is only planned, denied
// or conditional. That is comparing words, not understanding them. What cannot be
// proved is dropped, because a wrong number is worse than no summary.
//
// A document's text is data. Passages that speak to a machine are not sent to
// the model, nor quoted, nor extracted.
package summary

// Source is a report and the text of its document.
type Source struct {
	Company  string
	Title    string
	Category string // the regulator's heading
	Language string // of the text: es, en…; empty when unknown
	Pages    []string
}

// Sentence is a sentence of a summary and what it rests on.
type Sentence struct {
	Text  string `json:"text"`
	Page  int    `json:"page"`  // from 1
	Quote string `json:"quote"` // verbatim, but for line breaks
}

// Method returns how a summary was made.
type Method string

// The methods.
const (
	Extractive Method = "extractive" // sentences of the document, chosen by rules
	ByModel    Method = "model"      // written by a language model, and checked
	None       Method = "none"       // the text has nothing that would do
)
