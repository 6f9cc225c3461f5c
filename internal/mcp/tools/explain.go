package tools

import (
	"context"
	"fmt"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/text"
)

// maxAlternatives is the number of Spanish alternatives that a text names for a word.
const maxAlternatives = 4

// explain says why a list of reports is empty: that its days are before the first known
// report, which of its words find how many reports by themselves, and which of its other
// conditions exclude everything. It returns "" if nothing of this can be said.
func (s *Service) explain(ctx context.Context, snapshot *catalog.Snapshot, list query.List) (string, error) {
	unknown, err := daysUnknown(ctx, snapshot, list.Filter)
	if err != nil {
		return "", err
	}
	why, err := s.Query.Explain(ctx, snapshot, list)
	return unknown + explanation("Reports", why), err
}

// daysUnknown says since when reports are known, if a filter has earlier days.
func daysUnknown(ctx context.Context, snapshot *catalog.Snapshot, f disclosure.Filter) (string, error) {
	if f.From == 0 && f.To == 0 {
		return "", nil
	}
	all, err := snapshot.Reports(ctx, disclosure.Filter{}, 1, 1)
	if err != nil || all.Total == 0 {
		return "", err
	}
	oldest, err := snapshot.Reports(ctx, disclosure.Filter{}, all.Total, 1)
	if err != nil || len(oldest.Reports) == 0 {
		return "", err
	}
	first := disclosure.DayOf(oldest.Reports[0].Listed())
	if f.From >= first || f.From == 0 && f.To >= first {
		return "", nil
	}
	return fmt.Sprintf(" The oldest report here is of %s: what was published before is not known.", first), nil
}

// explainFacts is explain for a list of facts.
func (s *Service) explainFacts(ctx context.Context, snapshot *catalog.Snapshot, list query.FactList) (string, error) {
	why, err := s.Query.ExplainFacts(ctx, snapshot, list)
	for i := range why.Left {
		if why.Left[i].Condition == "fact" {
			why.Left[i].Condition = "kind" // the name of the argument of list_facts
		}
	}
	return explanation("Facts", why), err
}

// explanation returns an explanation of a list of things in words.
func explanation(things string, why query.Explanation) string {
	var b strings.Builder
	if len(why.Words) > 0 {
		explainWords(&b, things, why)
	}
	if len(why.Left) > 0 {
		left := make([]string, len(why.Left))
		for i, c := range why.Left {
			left[i] = fmt.Sprintf("without %s %d", c.Condition, c.Count)
		}
		fmt.Fprintf(&b, " Nothing meets all conditions; matches if one is left out: %s.", strings.Join(left, ", "))
	}
	if len(why.Words) > 0 {
		b.WriteString(" Reports are in Spanish: leave out the words that match none, or use Spanish ones.")
	}
	return b.String()
}

// explainWords writes how many things the words of a search match.
func explainWords(b *strings.Builder, things string, why query.Explanation) {
	fmt.Fprintf(b, " %s that match each word alone: ", things)
	for i, w := range why.Words {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(text.Clip(w.Text, maxWord))
		if n := len(w.Alternatives); n > 0 {
			fmt.Fprintf(b, " (also %s)", strings.Join(w.Alternatives[:min(n, maxAlternatives)], ", "))
		}
		fmt.Fprintf(b, " %d", w.Here)
		if w.Anywhere != w.Here {
			fmt.Fprintf(b, " (%d without the other conditions)", w.Anywhere)
		}
	}
	b.WriteString(".")
	if why.More > 0 {
		fmt.Fprintf(b, " %s were not counted.", counted(why.More, "more word"))
	}
	if why.Rest != nil {
		fmt.Fprintf(b, " The other conditions alone match %d.", *why.Rest)
	}
}

// maxWord is the number of characters of a word of the caller in a text.
const maxWord = 60
