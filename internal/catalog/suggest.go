package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"

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

func compareUse(a, b CategoryUse) int {
	return cmp.Or(b.Total-a.Total, cmp.Compare(a.Category, b.Category))
}
