package document

import (
	"context"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/disclosure/headline"
	"pregon/internal/document/extract"
	"pregon/internal/document/fact"
	"pregon/internal/document/summary"
)

// minConfidence is the OCR confidence that a page needs to be summarized: a wrong
// figure is worse than none.
const minConfidence = 85

// source returns the input of a summary.
func source(r *disclosure.Report, t *extract.Text) summary.Source {
	s := summary.Source{
		Company:  r.CompanyName,
		Title:    r.Title,
		Category: r.Category,
		Language: t.Language,
		Pages:    make([]string, len(t.Pages)),
	}
	for i, p := range t.Pages {
		if p.Method == extract.ByText || p.Confidence >= minConfidence {
			s.Pages[i] = p.Text
		}
	}
	return s
}

// Now returns the time in the precision of the store.
func Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// TextReady returns the change to a report whose document was read.
func TextReady(r *disclosure.Report, k Kept) disclosure.Report {
	return disclosure.Report{
		ID:          r.ID,
		Type:        r.Type,
		Number:      r.Number,
		TextReadyAt: Now(),
		Document: disclosure.Document{
			Status:   disclosure.DocumentReady,
			Link:     r.PDFURL,
			SHA256:   k.SHA256,
			Bytes:    k.Bytes,
			Type:     string(k.Text.Type),
			Pages:    len(k.Text.Pages),
			Method:   string(k.Text.Method),
			Language: k.Text.Language,
		},
	}
}

// Summarise returns the change to a report that adds a summary by rules: sentences of the
// document, or the facts in a sentence if the document has no sentences that state them.
// The English summary is made of the facts.
func Summarise(r *disclosure.Report, k Kept, found []fact.Found) disclosure.Report {
	from := source(r, k.Text)
	for _, f := range found {
		for _, quote := range f.Evidence {
			from.Stated = append(from.Stated, summary.Stated{Page: quote.Page, Words: quote.Text})
		}
	}
	made := summary.Extract(from)
	if said := sentenceOf(found, headline.Spanish); said != nil && !stated(&found[0], made.Sentences) {
		made = summary.Summary{
			Method:    summary.OfFacts,
			Language:  "es",
			Sentences: said,
		}
	}
	made.English = sentenceOf(found, headline.English)
	return summarized(r, k.SHA256, made)
}

// essential has the fields without which a summary would not say what a fact states. Of
// other kinds a sentence with any field is enough.
var essential = map[disclosure.FactKind][]string{
	disclosure.Dividend: {"gross_per_share", "ex_date", "payment_date"},
}

// stated reports whether sentences say what a fact states: they have the words that prove
// its fields. A form or a table has them outside of its sentences, which are then about
// other matters, such as plans or last year.
func stated(f *fact.Found, sentences []summary.Sentence) bool {
	says := func(name string) bool {
		quote := f.Evidence[name]
		return slices.ContainsFunc(sentences, func(s summary.Sentence) bool {
			return quote.Text != "" && strings.Contains(s.Text, quote.Text)
		})
	}
	missing := func(name string) bool { return f.Fields[name] != "" && !says(name) }
	if slices.ContainsFunc(essential[f.Kind], missing) {
		return false
	}
	return slices.ContainsFunc(f.Kind.Fields(), says)
}

// sentenceOf returns the facts in a sentence, with the words that prove the first field of
// the first fact, or nil if there is nothing to say.
func sentenceOf(found []fact.Found, say func([]disclosure.Fact) string) []summary.Sentence {
	var facts []disclosure.Fact
	for _, f := range found {
		facts = append(facts, f.Fact)
	}
	text := say(facts)
	if text == "" {
		return nil
	}
	for _, name := range found[0].Kind.Fields() {
		if quote, ok := found[0].Evidence[name]; ok {
			return []summary.Sentence{{Text: text, Page: quote.Page, Quote: quote.Before + quote.Text + quote.After}}
		}
	}
	return nil
}

// byRules reports whether a report has a summary that rules have written, which improves
// with them.
func byRules(r *disclosure.Report) bool {
	switch summary.Method(r.SummaryMethod) {
	case summary.Extractive, summary.OfFacts, summary.None:
		return true
	}
	return false
}

// Write returns the change to a report that adds a summary by the model. It fails
// if the model does not answer, or if its answer can neither be proved nor quoted.
func (k *Keeper) Write(ctx context.Context, r *disclosure.Report, kept Kept) (disclosure.Report, error) {
	written, rejected, err := summary.Write(ctx, *k.Models, source(r, kept.Text))
	for _, d := range rejected {
		k.Logger.Info("the wording of the model was rejected", "report", r.ID, "reason", d.Reason, "language",
			d.Language, "quoted", d.Quoted)
	}
	if err != nil {
		return disclosure.Report{}, err
	}
	return summarized(r, kept.SHA256, written), nil
}

func summarized(r *disclosure.Report, sha256 string, s summary.Summary) disclosure.Report {
	return disclosure.Report{
		ID:              r.ID,
		Type:            r.Type,
		Number:          r.Number,
		Summary:         summary.Join(s.Sentences),
		SummaryMethod:   string(s.Method),
		SummaryLanguage: s.Language,
		SummaryOf:       sha256,
		Evidence:        evidence(s.Sentences),
		SummaryEN:       summary.Join(s.English),
		EvidenceEN:      evidence(s.English),
		SummaryReadyAt:  Now(),
	}
}

func evidence(sentences []summary.Sentence) (out []disclosure.Evidence) {
	for _, s := range sentences {
		out = append(out, disclosure.Evidence(s))
	}
	return out
}
