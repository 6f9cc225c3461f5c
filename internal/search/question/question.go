// Package question parses a question in words, in Spanish or English: the days, the
// issuer, the facts that documents state, and the words to search for.
//
// It only recognizes fixed expressions, in the order days, issuer, topic. Words that say
// nothing about the subject, such as "which companies announced", are set aside. Every
// other word stays a word to search for, so that no part of the question is dropped
// silently.
package question

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/text"
)

// Question is what a question asks for.
type Question struct {
	From, To disclosure.Day  // of publication, inclusive; zero is open
	Issuer   *search.Issuer  // nil if the question names none
	Type     disclosure.Type // "" if the question names none
	Topics   []Topic
	Words    []string // other words of the subject, folded
	Names    []string // those of Words that are written like names
	Ignored  []string // words that say nothing about the subject, folded
	Tool     Tool     // that answers the question better than a search

	HasAmount bool // the question names an amount of money, which is among Ignored
}

// Topic is a subject of reports that the question names.
type Topic struct {
	Words string                // as the question has it, folded
	Facts []disclosure.FactKind // that reports on the subject state, the most telling first
}

// Tool names a tool that answers questions about other things than reports.
type Tool string

// The tools that questions are referred to. Prices is none: nothing here answers them.
const (
	Shorts    Tool = "list_shorts"
	Dealings  Tool = "list_dealings"
	Ownership Tool = "get_ownership"
	Calendar  Tool = "calendar"
	Prices    Tool = "prices"
)

// maxWords is the number of words of a question that are read. Those after it are
// words to search for.
const maxWords = 60

// Parse returns what a question asks for on a day.
func Parse(asked string, issuers *search.Directory, today disclosure.Day) Question {
	var q Question
	words := wordsOf(asked)
	var rest []string
	if len(words) > maxWords {
		for _, w := range words[maxWords:] {
			rest = append(rest, w.text)
		}
		words = words[:maxWords]
	}
	words = q.readIssuer(words, issuers)
	words = q.readDays(words, today)
	words = q.readAmounts(words)
	words = q.readTopics(words)
	for _, w := range words {
		switch {
		case w.used:
		case generic[w.text]:
			q.Ignored = append(q.Ignored, w.text)
		default:
			q.Words = append(q.Words, w.text)
			if w.name {
				q.Names = append(q.Names, w.text)
			}
		}
	}
	q.Words = append(q.Words, rest...)
	return q
}

// Empty reports whether a question has no condition at all.
func (q *Question) Empty() bool {
	return q.From == 0 && q.To == 0 && q.Issuer == nil && q.Type == "" && len(q.Topics) == 0 && len(q.Words) == 0
}

// word is a word of a question.
type word struct {
	text  string // folded
	upper bool   // all of its letters are capitals
	name  bool   // it begins with a capital, inside a sentence that has small letters
	used  bool   // it is part of an expression that was recognized
}

// wordsOf returns the words of a question in their order.
func wordsOf(asked string) []word {
	var out []word
	shouted := strings.ToUpper(asked) == asked
	for field := range strings.FieldsSeq(asked) {
		upper := strings.ToUpper(field) == field && strings.ToLower(field) != field
		first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(field, unicode.IsPunct))
		name := unicode.IsUpper(first) && !shouted && len(out) > 0 && !strings.ContainsFunc(field, unicode.IsDigit)
		for _, w := range text.Words(field) {
			out = append(out, word{text: w, upper: upper, name: name})
		}
	}
	return out
}

// use marks n words from one on as used.
func use(words []word, at, n int) {
	for i := range n {
		words[at+i].used = true
	}
}

// phrase returns the unused words from one on, joined, n at most.
func phrase(words []word, at, n int) (joined string, ok bool) {
	if at+n > len(words) {
		return "", false
	}
	var parts []string
	for _, w := range words[at : at+n] {
		if w.used {
			return "", false
		}
		parts = append(parts, w.text)
	}
	return strings.Join(parts, " "), true
}
