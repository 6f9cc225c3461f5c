package summary

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
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
		return Summary{}, nil, errors.New("the document does not have a sentence to summarize")
	}
	secret := rand.Text()
	answer, err := m.Writer.Complete(ctx, strings.ReplaceAll(writePrompt, "SECRET", secret),
		userPrompt(s, secret, sources), answerSchema)
	if err != nil {
		return Summary{}, nil, err
	}
	items, err := readAnswer(answer)
	if err != nil {
		return Summary{}, nil, err
	}
	w := &writer{Source: s, verifier: m.Verifier, sources: sources}
	written := Summary{Method: Selected, Language: "es"}
	written.Sentences = w.sentences(ctx, items, "es")
	if w.proved {
		written.Method = ByModel
	}
	written.English = w.sentences(ctx, items, "en")
	if len(written.Sentences) == 0 { // the document is not in Spanish
		written.Sentences = w.quotes(items)
		written.Language = cmp.Or(languageOf(Join(written.Sentences)), s.Language, "es")
	}
	if len(written.Sentences) == 0 {
		return Summary{}, w.rejected, cmp.Or(ctx.Err(), ErrUnproved)
	}
	return written, w.rejected, ctx.Err()
}

// writer turns the items of an answer into a summary.
type writer struct {
	Source
	verifier Model
	silent   bool // the verifier failed and is not asked again
	proved   bool // a sentence in the words of the model was proved
	sources  []candidate
	rejected []Rejected
}

// sentences returns the summary in a language: the proved items, and in place of the
// others the sentences that they cite, if these are in that language.
func (w *writer) sentences(ctx context.Context, items []item, language string) (all []Sentence) {
	for _, i := range items {
		if i.Language != language || len(all) == mostSentences {
			continue
		}
		claim, reason := w.prove(ctx, i)
		if reason == "" {
			w.proved = w.proved || claim.Text != claim.Quote
			all = appendNew(all, claim)
			continue
		}
		quote, ok := w.quotable(i)
		ok = ok && inLanguage(quote.Text, language)
		if ok {
			all = appendNew(all, quote)
		}
		w.rejected = append(w.rejected, Rejected{i.Text, language, reason, ok})
	}
	return all
}

// quotes returns the sentences that the items cite.
func (w *writer) quotes(items []item) (all []Sentence) {
	for _, i := range items {
		if quote, ok := w.quotable(i); ok && len(all) < mostSentences {
			all = appendNew(all, quote)
		}
	}
	return all
}

// appendNew appends a sentence unless its text or its quote is there already.
func appendNew(all []Sentence, s Sentence) []Sentence {
	again := func(other Sentence) bool { return other.Text == s.Text || other.Quote == s.Quote }
	if slices.ContainsFunc(all, again) {
		return all
	}
	return append(all, s)
}

// prove checks an item and returns the sentence with its evidence.
func (w *writer) prove(ctx context.Context, i item) (Sentence, Reason) {
	cited := w.cited(i.Sources)
	if len(cited) == 0 {
		return Sentence{}, BadSources
	}
	texts := make([]string, len(cited))
	quote := cited[0].Quote
	for n, c := range cited {
		texts[n] = visible(c.Quote)
		if n > 0 && c.place == cited[n-1].place+1 && c.Page == cited[n-1].Page {
			quote += " " + c.Quote
		} else if n > 0 {
			quote += " […] " + c.Quote
		}
	}
	claim := Sentence{Text: strings.TrimSpace(i.Text), Page: cited[0].Page, Quote: quote}
	if n := slices.Index(texts, claim.Text); n >= 0 && cited[n].short() && inLanguage(claim.Text, i.Language) {
		return cited[n].Sentence, "" // a quote
	}
	if reason := check(w.Source, claim.Text, i.Language, texts); reason != "" {
		return claim, reason
	}
	if !w.entailed(ctx, claim.Text, texts) {
		return claim, NotEntailed
	}
	return claim, ""
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

// quotable returns the first of the sentences that an item cites that can be a
// sentence of a summary.
func (w *writer) quotable(i item) (Sentence, bool) {
	for _, c := range w.cited(i.Sources) {
		if c.short() {
			return c.Sentence, true
		}
	}
	return Sentence{}, false
}

// verifySchema is the JSON schema of the answer of the verifying model.
var verifySchema = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["follows"],"properties":` +
	`{"follows":{"type":"string","enum":["yes","no","unclear"]}}}`)

// verifyPrompt contains the instructions for the verifying model.
//
//go:embed prompts/verify.txt
var verifyPrompt string

// entailed asks the verifying model whether a claim follows from its sources. It sees
// nothing else. Anything but a clear yes is a no. After a failure it is not asked
// again for this document.
func (w *writer) entailed(ctx context.Context, claim string, sources []string) bool {
	if w.verifier == nil || w.silent {
		return false
	}
	secret := rand.Text()
	user := fmt.Sprintf("SOURCE %[1]s\n%[2]s\nCLAIM %[1]s\n%[3]s\nEND %[1]s", secret,
		strings.Join(sources, "\n"), claim)
	answer, err := w.verifier.Complete(ctx, strings.ReplaceAll(verifyPrompt, "SECRET", secret), user, verifySchema)
	if err != nil {
		w.silent = true
		return false
	}
	var verdict struct{ Follows string }
	err = lastObject(answer, func(object json.RawMessage) bool {
		verdict.Follows = ""
		return json.Unmarshal(object, &verdict) == nil && verdict.Follows != ""
	})
	return err == nil && verdict.Follows == "yes"
}
