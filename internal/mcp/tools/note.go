package tools

import (
	"fmt"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/mcp/quote"
	"pregon/internal/search/question"
	"pregon/internal/text"
)

// understood returns the conditions that were searched for.
func (q *inquiry) understood() understood {
	out := understood{Type: string(q.Type)}
	var words []string
	for _, t := range q.Topics {
		words = append(words, t.Words)
		if out.Fact == "" && len(t.Facts) > 0 {
			out.Fact = string(t.Facts[0])
		}
	}
	for _, w := range q.Words {
		if !slices.Contains(q.unknown, w) {
			words = append(words, w)
		}
	}
	out.Search = text.Clip(strings.Join(words, " "), maxNote)
	if q.Issuer != nil {
		out.Issuer = q.Issuer.Issuer.ID
	}
	if q.From != 0 {
		out.From = q.From.String()
	}
	if q.To != 0 {
		out.To = q.To.String()
	}
	return out
}

// maxNote is the number of characters of the caller's words in a note.
const maxNote = 300

// note says in words how the question was understood, and what it left out.
func (q *inquiry) note() string {
	parts := []string{"Searched " + q.searched() + ", newest first. " + q.service.nowInMadrid()}
	if q.notAboutReports() {
		parts = []string{q.service.nowInMadrid()}
	}
	if len(q.Ignored) > 0 {
		parts = append(parts, "Ignored: "+text.Clip(strings.Join(q.Ignored, " "), maxNote)+".")
	}
	if len(q.unknown) > 0 {
		parts = append(parts, "No report has these words beside the rest: "+
			text.Clip(strings.Join(q.unknown, " "), maxNote)+".")
	}
	if q.mentions {
		parts = append(parts, "Reports that only mention it come last.")
	}
	if len(q.reports) == 0 && !q.notAboutReports() {
		parts = append(parts, "No report was found."+q.why)
	}
	switch {
	case q.more && q.total > 0:
		parts = append(parts, fmt.Sprintf("These are %d of %d reports: search_reports has all, by pages.",
			len(q.reports), q.total))
	case q.more:
		parts = append(parts, fmt.Sprintf("There are more than these %d reports: search_reports has all, by pages.",
			len(q.reports)))
	}
	if q.HasAmount {
		parts = append(parts, "Amounts are not searched for: use list_facts with min_amount.")
	}
	if hint := hints[q.Tool]; hint != "" {
		parts = append(parts, hint)
	}
	for _, t := range q.Topics {
		if len(t.Facts) > 0 {
			parts = append(parts, fmt.Sprintf("What documents state about it, with amounts and days: list_facts with kind %s.",
				t.Facts[0]))
		}
	}
	return strings.Join(parts, " ")
}

// hints name the tools that answer questions about something else than reports.
var hints = map[question.Tool]string{
	question.Shorts:    "Short positions are not reports: use list_shorts.",
	question.Dealings:  "Dealings of managers are not reports: use list_dealings.",
	question.Ownership: "Who holds shares is not in reports: use get_ownership with an issuer.",
	question.Calendar:  "Coming dates: use calendar.",
	question.Prices: "Share prices are not known here, nor what is computed from them, such as P/E ratios and market " +
		"capitalisation: ask a source of market data.",
}

// searched names the conditions of the search.
func (q *inquiry) searched() string {
	var b strings.Builder
	b.WriteString("all reports")
	if q.Type != "" {
		fmt.Fprintf(&b, " of type %s", q.Type)
	}
	if q.Issuer != nil {
		fmt.Fprintf(&b, " of %s (%s)", quote.Text(q.Issuer.Issuer.Name, 120), q.Issuer.Issuer.ID)
	}
	b.WriteString(period(q.From, q.To))
	u := q.understood()
	if u.Fact != "" {
		fmt.Fprintf(&b, " that state the fact %s, then those", u.Fact)
	}
	if u.Search != "" {
		fmt.Fprintf(&b, " with the words %s", u.Search)
	}
	return b.String()
}

// period names days.
func period(from, to disclosure.Day) string {
	switch {
	case from == to && from != 0:
		return " of " + from.String()
	case from != 0 && to != 0:
		return fmt.Sprintf(" from %s to %s", from, to)
	case from != 0:
		return fmt.Sprintf(" from %s on", from)
	case to != 0:
		return fmt.Sprintf(" until %s", to)
	}
	return ""
}
