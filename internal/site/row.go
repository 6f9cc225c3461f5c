package site

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/disclosure/headline"
	"pregon/internal/search"
	"pregon/internal/site/render"
	"pregon/internal/text"
)

// row is a report in a list.
type row struct {
	ID, Type   string
	Company    string
	Ticker     string
	Issuer     string // the id of its issuer, or ""
	IssuerURL  string // of the page of its issuer, or ""
	URL        string
	Simulated  bool // its title begins with render.SimulatedPrefix, which Title does not have
	Title      []span
	Line       string // what its facts say, in few words
	Summary    []span
	Translated bool // the summary is in the language of the page, and the title is not
	Categories []string
	At         time.Time
	When       string // all of At, to the second if that is known
	Ago        string // "5 min ago" within the last hour
	Corrected  bool
	Suspect    bool           // the stated time cannot be true: see disclosure.Report.SuspectTime
	Snippets   []snippetSpans // of a search in documents
}

// ShowsSummary reports whether a list shows the summary: if the search found words of it and not
// of the title, or if it is a translation and there is no line about facts, so that readers of English pages
// see what a Spanish title is about.
func (r row) ShowsSummary() bool {
	marked := func(s span) bool { return s.Marked }
	translates := r.Translated && r.Line == ""
	matches := slices.ContainsFunc(r.Summary, marked) && !slices.ContainsFunc(r.Title, marked)
	return translates || matches
}

// span is a piece of a text. Marked pieces match the search.
type span struct {
	Text   string
	Marked bool
}

// newRow returns a report as lists show it, with the words that match a search
// marked.
func (q *request) newRow(f catalog.Report, matches search.Highlighter) row {
	return q.rowOf(f, f.Decode(), matches)
}

// rowOf is newRow for a report that is decoded.
func (q *request) rowOf(f catalog.Report, r *disclosure.Report, matches search.Highlighter) row {
	title, simulated := strings.CutPrefix(r.Title, render.SimulatedPrefix)
	out := row{
		ID:         r.ID,
		Type:       string(r.Type),
		Company:    disclosure.DisplayName(r.CompanyName),
		Ticker:     f.Ticker(),
		URL:        q.edition.Link(q.reportPath(r.ID)),
		Simulated:  simulated,
		Title:      mark(matches, title),
		Line:       headline.Line(r.Facts, string(q.edition.Language)),
		Categories: q.categories(r),
		At:         r.ListedAt(),
		When:       q.listed(r),
		Ago:        q.edition.Ago(r.ListedAt(), q.now),
		Corrected:  r.CorrectedBy != "",
		Suspect:    r.SuspectTime(),
	}
	if summary := q.summaryOf(r); !q.repeats(summary, title, r) {
		out.Summary = mark(matches, summary)
		out.Translated = q.edition.Language == render.English && r.SummaryEN != ""
	}
	if id := f.IssuerID(); id != "" {
		out.Issuer = id
		out.IssuerURL = q.edition.Link(issuerPath(id))
	}
	return out
}

// repeats reports whether a summary says nothing that the other lines of a row do not say.
func (q *request) repeats(summary, title string, r *disclosure.Report) bool {
	if strings.TrimSuffix(summary, ".") == q.headlineOf(r.Facts) { // also if both are empty
		return true
	}
	known := append(text.Words(title), text.Words(r.CompanyName)...)
	return !slices.ContainsFunc(text.Words(summary), func(word string) bool { return !slices.Contains(known, word) })
}

// headlineOf returns what facts say in a sentence, without the full stop.
func (q *request) headlineOf(facts []disclosure.Fact) string {
	if q.edition.Language == render.English {
		return headline.English(facts)
	}
	return headline.Spanish(facts)
}

// summaryOf returns the summary in the language of the page, or else as it is.
func (q *request) summaryOf(r *disclosure.Report) string {
	if q.edition.Language == render.English && r.SummaryEN != "" {
		return r.SummaryEN
	}
	return r.Summary
}

// categories returns the categories of a report in the language of the page.
func (q *request) categories(r *disclosure.Report) []string {
	names := r.Categories()
	for i, name := range names {
		names[i] = q.edition.Category(name)
	}
	return names
}

// group are reports that one issuer published within minutes of each other.
type group struct{ Rows []row }

// First returns the newest report of the group.
func (g group) First() row { return g.Rows[0] }

// Rest returns the other reports.
func (g group) Rest() []row { return g.Rows[1:] }

// together is the longest time between two reports of a group.
const together = 10 * time.Minute

// dayRows are the reports of a day.
type dayRows struct {
	Day    disclosure.Day
	Name   string // today, yesterday, or ""
	Groups []*group
}

// byDay arranges reports, newest first, by day and then by issuer where they were
// published together.
func (q *request) byDay(rows []row) []*dayRows {
	var out []*dayRows
	for _, r := range rows {
		day := disclosure.DayOf(r.At)
		if len(out) == 0 || out[len(out)-1].Day != day {
			out = append(out, &dayRows{Day: day, Name: q.nameOf(day)})
		}
		out[len(out)-1].add(r)
	}
	return out
}

// nameOf returns "today" or "yesterday" in the language of the page, or "".
func (q *request) nameOf(d disclosure.Day) string {
	switch disclosure.DayOf(q.now) - d {
	case 0:
		return q.edition.Text("today")
	case 1:
		return q.edition.Text("yesterday")
	}
	return ""
}

func (d *dayRows) add(r row) {
	for i := len(d.Groups) - 1; i >= 0; i-- {
		last := d.Groups[i].Rows[len(d.Groups[i].Rows)-1]
		if last.Company == r.Company && last.At.Sub(r.At).Abs() <= together {
			d.Groups[i].Rows = append(d.Groups[i].Rows, r)
			return
		}
	}
	d.Groups = append(d.Groups, &group{Rows: []row{r}})
}
