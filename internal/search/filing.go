package search

import (
	"slices"
	"strconv"

	"pregon/internal/disclosure"
)

// Filing is a report as searches see it: joined with its issuer and analysed.
type Filing struct {
	Report *disclosure.Report
	Issuer *disclosure.Issuer // nil when the directory does not know it
	Ticker string             // the filing's own, else the issuer's

	doc        Document
	day        disclosure.Day
	categories []string // folded
}

// NewFiling joins and analyses a report.
func NewFiling(r *disclosure.Report, issuer *disclosure.Issuer) *Filing {
	f := &Filing{Report: r, Issuer: issuer, Ticker: r.Ticker, day: disclosure.DayOf(r.PublishedAt)}
	idents := []string{r.ID, strconv.FormatInt(r.Number, 10)}
	if r.NIF != "" {
		idents = append(idents, r.IssuerKey())
	}
	if issuer != nil {
		idents = append(idents, issuer.Keys()...)
		if f.Ticker == "" {
			f.Ticker = issuer.Ticker
		}
	}
	categories := r.Categories()
	fields := append([]string{r.CompanyName, r.Ticker, r.Title, r.Summary}, categories...)
	if issuer != nil {
		fields = append(fields, issuer.Ticker)
	}
	f.doc = NewDocument(idents, fields...)
	for _, c := range categories {
		f.categories = append(f.categories, Fold(c))
	}
	return f
}

// IssuerID returns the id of the filing's issuer: the directory's where it
// knows it, else the one it would have there, else nothing.
func (f *Filing) IssuerID() string {
	if f.Issuer != nil {
		return f.Issuer.ID
	}
	return f.Report.IssuerKey()
}

// Day returns the Madrid day of publication.
func (f *Filing) Day() disclosure.Day { return f.day }

// Matcher is a filter made ready to judge filings.
type Matcher struct {
	filter   disclosure.Filter
	query    Query
	issuer   string
	category string
}

// Compile makes a filter ready.
func Compile(f disclosure.Filter) *Matcher {
	return &Matcher{filter: f, query: Parse(f.Search), issuer: disclosure.IssuerKey(f.Issuer), category: Fold(f.Category)}
}

// Match tells whether the filter lets the filing through.
func (m *Matcher) Match(f *Filing) bool {
	switch {
	case m.filter.Type != "" && m.filter.Type != f.Report.Type,
		m.filter.From != 0 && f.day < m.filter.From,
		m.filter.To != 0 && f.day > m.filter.To,
		m.filter.Kind != "" && (f.Issuer == nil || f.Issuer.Kind != m.filter.Kind),
		m.category != "" && !slices.Contains(f.categories, m.category),
		m.issuer != "" && !m.isIssuer(f):
		return false
	}
	return m.query.Match(&f.doc)
}

func (m *Matcher) isIssuer(f *Filing) bool {
	return f.Report.IssuerKey() == m.issuer || f.Issuer != nil && slices.Contains(f.Issuer.Keys(), m.issuer)
}
