package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/text"
)

// Suggestions are completions of a text that is being typed.
type Suggestions struct {
	Issuers    []*search.Issuer
	Categories []CategoryUse
}

// suggestedCategories is the maximum number of suggested categories. They take at
// most a third of the places.
const suggestedCategories = 3

// Suggest completes a text that is being typed. It returns the best issuers, and
// the most used categories that have its words. It returns nothing for an empty
// text.
func (s *Snapshot) Suggest(ctx context.Context, typed string, limit int) (Suggestions, error) {
	if strings.TrimSpace(typed) == "" || text.Wordless(typed) {
		return Suggestions{}, nil
	}
	issuers, err := s.Issuers(ctx, typed, "", limit)
	if err != nil {
		return Suggestions{}, err
	}
	out := Suggestions{Issuers: issuers}
	query := search.Parse(typed)
	for _, used := range s.categoryCounts(s.tally.categoryLines) {
		if doc := search.NewDocument(nil, used.Category); query.Match(&doc) {
			out.Categories = append(out.Categories, used)
		}
	}
	slices.SortFunc(out.Categories, compareUse)
	places := min(suggestedCategories, max(limit/3, limit-len(out.Issuers)))
	out.Categories = out.Categories[:min(len(out.Categories), places)]
	out.Issuers = out.Issuers[:min(len(out.Issuers), limit-len(out.Categories))]
	return out, nil
}

// Limits of Meant.
const (
	maxMeant      = 200 // bytes of the text
	maxMeantWords = 8
)

// Meant returns a search text that may be meant by one that finds nothing, or "": the
// same with words of the market in place of those that are spelled like them and that no
// report has, or the name of an issuer.
func (s *Snapshot) Meant(ctx context.Context, f disclosure.Filter) (string, error) {
	words := text.Words(f.Search)
	if len(f.Search) > maxMeant || len(words) == 0 || len(words) > maxMeantWords {
		return "", nil
	}
	corrected := false
	for i, word := range words {
		near := search.MarketWord(word)
		if near == "" {
			continue
		}
		total, err := s.totalOf(ctx, word)
		if err != nil {
			return "", err
		}
		if total == 0 {
			words[i], corrected = near, true
		}
	}
	if meant := strings.Join(words, " "); corrected {
		if total, err := s.totalOf(ctx, meant); err != nil || total > 0 {
			return meant, err
		}
	}
	issuers, err := s.Issuers(ctx, f.Search, "", 1)
	if err != nil || len(issuers) == 0 {
		return "", err
	}
	return issuers[0].Issuer.Name, nil
}

// totalOf returns how many reports a search text finds.
func (s *Snapshot) totalOf(ctx context.Context, searched string) (int, error) {
	f := disclosure.Filter{Search: searched, Widen: s.Directory().Widens(searched)}
	page, err := s.Reports(ctx, f, 1, 1)
	return page.Total, err
}

func compareUse(a, b CategoryUse) int {
	return cmp.Or(b.Total-a.Total, cmp.Compare(a.Category, b.Category))
}
