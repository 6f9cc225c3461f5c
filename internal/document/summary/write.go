package summary

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// Model is a language model. Complete receives the instructions, the data and the
// JSON schema of the answer.
type Model interface {
	Complete(ctx context.Context, system, user string, schema json.RawMessage) (string, error)
}

// Models are the model that writes and the one that verifies. They may be the same.
type Models struct {
	Writer, Verifier Model
}

// Rejected is a sentence whose wording was rejected.
type Rejected struct {
	Text     string
	Language string
	Reason   Reason
	Quoted   bool // the sentence that it cites took its place
}

// ErrUnproved is the error if an answer could neither be proved nor quoted.
var ErrUnproved = errors.New("no sentence of the model could be proved or quoted")

// Write summarizes the document with a model. Every sentence of the summary is proved
// by the sentences that the model cited for it, or is one of them. After an error
// there is no summary by the model; the caller keeps that of Extract.
func Write(ctx context.Context, m Models, s Source) (Summary, []Rejected, error) {
	sources := numbered(s)
	if len(sources) == 0 {
		return Summary{}, nil, errors.New("the document has no sentence to summarize")
	}
	secret := rand.Text()
	answer, err := m.Writer.Complete(ctx, strings.ReplaceAll(systemPrompt, "%[1]s", secret), userPrompt(s, secret, sources), answerSchema)
	if err != nil {
		return Summary{}, nil, err
	}
	items, err := readAnswer(answer)
	if err != nil {
		return Summary{}, nil, err
	}
	w := &writer{Source: s, verifier: m.Verifier, sources: sources}
	spanish, english := w.summary(ctx, items, "es"), w.summary(ctx, items, "en")
	if err := ctx.Err(); err != nil {
		return Summary{}, nil, err
	}
	if spanish.Sentences == nil {
		return Summary{}, w.rejected, ErrUnproved
	}
	if english.Language == "en" { // without its quotes in another language
		spanish.English = english.Sentences
	}
	return spanish, w.rejected, nil
}

// writer turns the items of an answer into a summary.
type writer struct {
	Source
	verifier Model
	silent   bool // the verifier failed and is not asked again
	sources  []candidate
	rejected []Rejected
}

// summary returns the summary in a language: proved items, with quotes in place of
// the others if they are in the same language. If no item was proved it consists of
// quotes alone, in the language of the document.
func (w *writer) summary(ctx context.Context, items []item, language string) Summary {
	var proved, mixed, quoted []Sentence
	for _, i := range items {
		if i.Language != language || len(quoted) == mostSentences {
			continue
		}
		claim, cited, reason := w.prove(ctx, i)
		quote, ok := w.quotable(cited)
		if reason != "" {
			w.rejected = append(w.rejected, Rejected{i.Text, language, reason, ok})
		}
		if reason == "" {
			proved = appendNew(proved, claim)
			mixed = appendNew(mixed, claim)
		} else if ok && inLanguage(quote.Text, language) {
			mixed = appendNew(mixed, quote)
		}
		if ok {
			quoted = appendNew(quoted, quote)
		}
	}
	if len(mixed) > 0 {
		method := Selected
		if len(proved) > 0 {
			method = ByModel
		}
		return Summary{Method: method, Language: language, Sentences: mixed}
	}
	own := w.Language
	if len(quoted) > 0 && own == "" {
		own = "es"
	}
	return Summary{Method: Selected, Language: own, Sentences: quoted}
}

// appendNew appends a sentence unless its text or its quote is there already.
func appendNew(all []Sentence, s Sentence) []Sentence {
	again := func(other Sentence) bool { return other.Text == s.Text || other.Quote == s.Quote }
	if slices.ContainsFunc(all, again) {
		return all
	}
	return append(all, s)
}

// prove checks an item. It returns the sentence with its evidence, and the sentences
// that the item cites even if the item is rejected.
func (w *writer) prove(ctx context.Context, i item) (Sentence, []candidate, Reason) {
	cited := w.cited(i.Sources)
	if len(cited) == 0 {
		return Sentence{}, nil, BadSources
	}
	texts := make([]string, len(cited))
	quote := cited[0].Quote
	for n, c := range cited {
		texts[n] = visible(c.Quote)
		if n > 0 && c.order == cited[n-1].order+1 && c.Page == cited[0].Page {
			quote += " " + c.Quote
		} else if n > 0 {
			quote += " […] " + c.Quote
		}
	}
	claim := Sentence{Text: strings.TrimSpace(i.Text), Page: cited[0].Page, Quote: quote}
	if reason := check(w.Source, claim.Text, i.Language, texts); reason != "" {
		return claim, cited, reason
	}
	if !slices.Contains(texts, claim.Text) && !w.entailed(ctx, claim.Text, texts) {
		return claim, cited, NotEntailed
	}
	return claim, cited, ""
}

const mostSources = 3

// cited returns the sentences with the numbers of an item, in the order of the
// document. Numbers that no sentence has make the item invalid.
func (w *writer) cited(numbers []sentenceNumber) []candidate {
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	if len(numbers) > mostSources {
		return nil
	}
	var found []candidate
	for _, n := range numbers {
		if n < 1 || int(n) > len(w.sources) {
			return nil
		}
		found = append(found, w.sources[n-1])
	}
	return found
}

// quotable returns the first of the cited sentences that can be a sentence of a
// summary.
func (w *writer) quotable(cited []candidate) (Sentence, bool) {
	for _, c := range cited {
		if c.short() {
			return c.Sentence, true
		}
	}
	return Sentence{}, false
}
