package document

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/document/fact"
	"pregon/internal/fault"
)

// FindFacts returns the facts of a document: see fact.Find.
type FindFacts func(fact.Document) []fact.Found

// Derive returns the change to a report that adds what follows from its document: the
// facts, and a summary that is written by rules unless the report has one that is to stay.
// It stores what proves the facts. It fails if the store does.
func (k *Keeper) Derive(ctx context.Context, r *disclosure.Report, kept Kept) (disclosure.Report, error) {
	found := k.findFacts(r, kept)
	facts, detail, err := k.keepDetails(ctx, found)
	if err != nil {
		return disclosure.Report{}, err
	}
	change := disclosure.Report{ID: r.ID, Type: r.Type, Number: r.Number}
	read := *r // r may not have the document yet
	read.Document = TextReady(r, kept).Document
	if read.WantsSummary() || byRules(r) {
		change = Summarise(r, kept, found)
	}
	change.Facts = facts
	change.FactsRules = fact.Rules
	change.FactsOf = kept.SHA256
	change.FactsDetail = detail
	change.FactsReadyAt = Now()
	return change, nil
}

// keepDetails stores what proves some facts, and returns the facts and the hash of it. It
// returns "" if there are no facts.
func (k *Keeper) keepDetails(ctx context.Context, found []fact.Found) (facts []disclosure.Fact, detail string, err error) {
	var details []disclosure.FactDetail
	for _, f := range found {
		facts = append(facts, f.Fact)
		details = append(details, f.FactDetail)
	}
	facts = disclosure.ClipFacts(facts)
	if len(facts) == 0 {
		return nil, "", nil
	}
	body, err := encodeDetails(details[:len(facts)])
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(body)
	detail = hex.EncodeToString(sum[:])
	if err := k.Store.PutOriginal(ctx, detail, body); err != nil {
		return nil, "", fmt.Errorf("store the evidence of facts: %w", err)
	}
	return facts, detail, nil
}

// findFacts applies the rules. An error in them costs the facts of one document, not the
// service: the document counts as examined until the rules change.
func (k *Keeper) findFacts(r *disclosure.Report, kept Kept) (found []fact.Found) {
	defer func() {
		if p := recover(); p != nil {
			k.Logger.Error("the rules for facts failed; the report gets none", "report", r.ID, "err", fmt.Sprint(p),
				"stack", string(debug.Stack()))
			found = nil
		}
	}()
	find := k.FindFacts
	if find == nil {
		find = fact.Find
	}
	s := source(r, kept.Text)
	found = find(fact.Document{
		Company:   s.Company,
		Title:     s.Title,
		Category:  s.Category,
		Language:  s.Language,
		Published: r.PublishedAt,
		Pages:     s.Pages,
	})
	return slices.DeleteFunc(found, func(f fact.Found) bool {
		err := f.Fact.Validate()
		if err != nil {
			k.Logger.Error("a fact is left out, because it is not valid", "report", r.ID, "err", err)
		}
		return err != nil
	})
}

// maxDetailBytes is the size above which the rows of tables are left out of the details.
// It is more than a document of a hundred pages of trades has.
const maxDetailBytes = 2 << 20

func encodeDetails(details []disclosure.FactDetail) ([]byte, error) {
	body, err := json.Marshal(details)
	if err != nil || len(body) <= maxDetailBytes {
		return body, err
	}
	for i := range details {
		details[i].Rows = nil
	}
	return json.Marshal(details)
}

// Details is where the evidence of facts is stored: see store.Documents.
type Details interface {
	Original(ctx context.Context, sha256 string) ([]byte, error)
}

// LoadDetails returns what proves the facts of a report, parallel to them. It returns nil
// if there are no facts, or if it is not stored, as after an import.
func LoadDetails(ctx context.Context, from Details, r *disclosure.Report) ([]disclosure.FactDetail, error) {
	if r.FactsDetail == "" {
		return nil, nil
	}
	body, err := from.Original(ctx, r.FactsDetail)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var details []disclosure.FactDetail
	if err := json.Unmarshal(body, &details); err != nil {
		return nil, fmt.Errorf("decode the evidence %s of the facts of %s: %w", r.FactsDetail, r.ID, err)
	}
	if len(details) != len(r.Facts) {
		return nil, fmt.Errorf("the evidence %s of %s has %d facts, and the report %d", r.FactsDetail, r.ID,
			len(details), len(r.Facts))
	}
	return details, nil
}
