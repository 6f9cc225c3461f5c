package tools

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/disclosure/headline"
	"pregon/internal/fault"
	"pregon/internal/mcp/quote"
	"pregon/internal/query"
	"pregon/internal/search"
	"pregon/internal/search/question"
	"pregon/internal/text"
)

// Limits of a search.
const (
	maxFound        = 10 // reports
	maxFoundIssuers = 3
	maxQuestion     = 12 // words that are tried one by one
)

// found is a result of search.
type found struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	URL      string `json:"url"`
	Headline string `json:"headline,omitempty"` // what the document of a report states
}

// answered is the result of search. Chat assistants require the member results.
type answered struct {
	Results    []found    `json:"results"`
	Understood understood `json:"understood"`
	Note       string     `json:"note"`
}

// understood has the conditions of the search, named as the arguments of search_reports.
type understood struct {
	Search string `json:"search,omitempty"`
	Fact   string `json:"fact,omitempty"`
	Issuer string `json:"issuer,omitempty"`
	Type   string `json:"type,omitempty"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
}

// inquiry is a question that is being answered.
type inquiry struct {
	service  *Service
	snapshot *catalog.Snapshot
	by       access.Principal
	question.Question

	issuers []*search.Issuer
	reports []catalog.Report
	more    bool     // there are more reports than those
	total   int      // of all reports, if that is known
	unknown []string // words that no report has beside the rest of the question
	why     string   // why there is no report

	mentions bool // some reports only mention the topic
}

func (s *Service) search(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	asked := p.LimitedText("query", query.MaxSearch)
	if text.Wordless(asked) {
		p.Reject("query", asked, "does not have a word to search for: use letters or digits")
	}
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	q := &inquiry{
		service:  s,
		snapshot: snapshot,
		by:       access.FromContext(ctx),
		Question: question.Parse(asked, snapshot.Directory(), disclosure.DayOf(s.now())),
	}
	literal, err := q.literally(ctx, asked)
	if err == nil && !literal {
		err = q.find(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	return asText(q.answer())
}

// now returns the present time.
func (s *Service) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// literally finds the words of a text that is not a sentence, and reports whether it
// found any.
func (q *inquiry) literally(ctx context.Context, asked string) (bool, error) {
	sentence := len(q.Ignored) > 0 || q.From != 0 || q.To != 0 || q.Issuer != nil || q.Tool != "" || q.Type != ""
	if sentence && !search.HasOperators(asked) {
		return false, nil
	}
	f := searchFor(q.snapshot, asked)
	page, err := q.snapshot.Reports(ctx, f, 1, maxFound)
	if err != nil {
		return false, err
	}
	q.add(page.Reports)
	q.more = page.Total > len(page.Reports)
	if err := q.inDocuments(ctx, f); err != nil || len(q.reports) == 0 {
		return false, err
	}
	q.Question = question.Question{Words: []string{asked}}
	return true, q.findIssuers(ctx, asked)
}

// find finds the reports and issuers that the question asks for: first the reports that
// state a fact of its topic, then those with the words of the topic.
func (q *inquiry) find(ctx context.Context) error {
	if len(q.Words) > 0 && q.Issuer == nil {
		if err := q.findIssuers(ctx, strings.Join(q.Words, " ")); err != nil {
			return err
		}
		if len(q.issuers) == 1 && len(q.Names) == len(q.Words) { // a part of its name, or one with a typing error
			q.Issuer = q.issuers[0]
			q.Words, q.Names = nil, nil
		}
	}
	if q.Issuer != nil {
		q.issuers = []*search.Issuer{q.Issuer}
	}
	if q.notAboutReports() {
		return nil
	}
	filters := q.filters()
	if err := q.findReports(ctx, filters); err != nil {
		return err
	}
	last := q.withWords(filters[len(filters)-1], q.Words)
	if len(q.reports) == 0 {
		why, err := q.service.explain(ctx, q.snapshot, query.List{Filter: last})
		q.why = why
		return err
	}
	return nil
}

// findReports adds the reports that meet a filter and have the words of the question, or
// as many of them as reports of any filter have. Something of the question must remain.
// Of a topic with several facts, the most telling ones come first, and the newest otherwise;
// reports that only mention a topic come last.
func (q *inquiry) findReports(ctx context.Context, filters []disclosure.Filter) error {
	words := q.Words[:min(len(q.Words), maxQuestion)]
	var best []string
	pages := make([]catalog.Page, len(filters))
	kept := make([][]string, len(filters))
	for i, f := range filters {
		var err error
		if pages[i], kept[i], err = q.relaxed(ctx, f, words); err != nil {
			return err
		}
		if len(kept[i]) > len(best) && pages[i].Total > 0 {
			best = kept[i]
		}
	}
	q.unknown = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(best, w) })
	if slices.ContainsFunc(q.unknown, func(w string) bool { return slices.Contains(q.Names, w) }) {
		return nil // reports of others do not answer a question about a name
	}
	var stating, others, mentions []catalog.Report
	for i, f := range filters {
		switch {
		case len(kept[i]) < len(best):
			continue
		case f.Fact != "" && q.Issuer == nil && i+1 < len(filters) && filters[i+1].Fact != "":
			stating = append(stating, pages[i].Reports...)
		case len(best) == 0 && len(words) > 0 && f.Search == "" && f.Issuer == "" && f.Fact == "":
			continue // of the subject nothing is known
		default:
			about, rest := aboutTopic(f, pages[i].Reports)
			others = append(others, about...)
			mentions = append(mentions, rest...)
		}
		q.more = q.more || pages[i].Total > len(pages[i].Reports)
		if len(filters) == 1 {
			q.total = pages[i].Total
		}
	}
	q.add(stating)
	newestFirst(others)
	q.add(others)
	newestFirst(mentions)
	q.add(mentions)
	q.mentions = len(mentions) > 0
	for _, f := range filters {
		if f = q.withWords(f, words); f.Search != "" && f.Fact == "" {
			if err := q.inDocuments(ctx, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// notAboutReports reports whether the question is about the registers of positions or about
// prices alone, which reports do not answer.
func (q *inquiry) notAboutReports() bool {
	return len(q.Topics) == 0 && q.Tool != "" && q.Tool != question.Calendar
}

// filters returns what reports must meet, without the words of the question.
func (q *inquiry) filters() (out []disclosure.Filter) {
	base := disclosure.Filter{From: q.From, To: q.To, Type: q.Type}
	if q.Issuer != nil {
		base.Issuer = q.Issuer.Issuer.ID
	}
	for _, t := range q.Topics {
		for _, fact := range t.Facts {
			f := base
			f.Fact = fact
			out = append(out, f)
		}
	}
	for _, t := range q.Topics {
		f := base
		f.Search, f.Widen = t.Words, true
		out = append(out, f)
	}
	if len(q.Topics) == 0 {
		out = append(out, base)
	}
	return out
}

// aboutTopic separates the reports that have the words of a filter in their title or category
// from those that only mention them. All are about a topic without words.
func aboutTopic(f disclosure.Filter, reports []catalog.Report) (about, mentions []catalog.Report) {
	if f.Search == "" {
		return reports, nil
	}
	words := search.ParseFilter(f)
	for _, r := range reports {
		d := search.NewDocument(nil, slices.Concat([]string{r.Title()}, r.Categories())...)
		if words.Match(&d) {
			about = append(about, r)
		} else {
			mentions = append(mentions, r)
		}
	}
	return about, mentions
}

func newestFirst(reports []catalog.Report) {
	slices.SortStableFunc(reports, func(a, b catalog.Report) int { return b.Published().Compare(a.Published()) })
}

// relaxed finds reports with all words or else with some of them. It adds words from the
// rarest on, and leaves out those with which nothing is found.
func (q *inquiry) relaxed(
	ctx context.Context,
	f disclosure.Filter,
	words []string,
) (best catalog.Page, kept []string, err error) {
	best, err = q.snapshot.Reports(ctx, q.withWords(f, words), 1, maxFound)
	if err != nil || best.Total > 0 || len(words) == 0 {
		return best, words, err
	}
	type counted struct {
		word  string
		total int
	}
	var some []counted
	for _, w := range words {
		page, err := q.snapshot.Reports(ctx, q.withWords(f, []string{w}), 1, 1)
		if err != nil {
			return best, nil, err
		}
		if page.Total > 0 {
			some = append(some, counted{w, page.Total})
		}
	}
	slices.SortStableFunc(some, func(a, b counted) int { // names first: a question is about them
		switch named := slices.Contains(q.Names, a.word); {
		case named == slices.Contains(q.Names, b.word):
			return cmp.Compare(a.total, b.total)
		case named:
			return -1
		}
		return 1
	})
	if best, err = q.snapshot.Reports(ctx, f, 1, maxFound); err != nil {
		return best, nil, err
	}
	for _, w := range some {
		more := append(slices.Clone(kept), w.word)
		page, err := q.snapshot.Reports(ctx, q.withWords(f, more), 1, maxFound)
		if err != nil {
			return best, nil, err
		}
		if page.Total > 0 {
			kept, best = more, page
		}
	}
	return best, kept, nil
}

// withWords returns a filter for reports that have some words too.
func withWords(snapshot *catalog.Snapshot, f disclosure.Filter, words []string) disclosure.Filter {
	f.Search = strings.TrimSpace(f.Search + " " + strings.Join(words, " "))
	f.Widen = f.Widen || f.Search != "" && snapshot.Directory().Widens(f.Search)
	return f
}

// shortWord is the number of letters of a word that is not taken for the beginning of others:
// of "cut" in a question, no name is meant.
const shortWord = 3

// withWords returns a filter for reports that have some words of the question too.
func (q *inquiry) withWords(f disclosure.Filter, words []string) disclosure.Filter {
	whole := slices.Clone(words)
	for i, w := range whole {
		if len(w) <= shortWord && !q.snapshot.Directory().Widens(w) {
			whole[i] = `"` + w + `"`
		}
	}
	return withWords(q.snapshot, f, whole)
}

// searchFor returns the filter of words that a caller asks for.
func searchFor(snapshot *catalog.Snapshot, words string) disclosure.Filter {
	return withWords(snapshot, disclosure.Filter{}, []string{words})
}

// inDocuments adds reports whose documents match, for callers with a credential.
func (q *inquiry) inDocuments(ctx context.Context, f disclosure.Filter) error {
	if q.by.Mode == access.Anonymous || len(q.reports) == maxFound {
		return nil
	}
	page, err := q.service.Query.Reports(ctx, q.snapshot, query.List{
		Filter:      f,
		Page:        1,
		Limit:       maxFound,
		InDocuments: true,
	})
	if fault.KindOf(err) == fault.Invalid { // words that a search in documents cannot have
		return nil
	}
	q.add(page.Reports)
	return err
}

// findIssuers finds issuers by words, if the caller may read issuers.
func (q *inquiry) findIssuers(ctx context.Context, words string) (err error) {
	if q.by.MayRead(access.ReadIssuers) {
		q.issuers, err = q.snapshot.Issuers(ctx, words, "", maxFoundIssuers)
	}
	return err
}

// add adds reports that are not among the results yet.
func (q *inquiry) add(reports []catalog.Report) {
	for _, r := range reports {
		same := func(other catalog.Report) bool { return other.ID() == r.ID() }
		switch {
		case slices.ContainsFunc(q.reports, same):
		case len(q.reports) == maxFound:
			q.more = true
		default:
			q.reports = append(q.reports, r)
		}
	}
}

// answer returns the results with what the question was taken for.
func (q *inquiry) answer() answered {
	out := answered{Results: []found{}, Understood: q.understood(), Note: q.note()}
	if q.by.MayRead(access.ReadIssuers) {
		for _, e := range q.issuers {
			name := q.service.title(quote.Text(e.Issuer.Name, 120))
			out.Results = append(out.Results, found{
				ID:    e.Issuer.ID,
				Title: name,
				URL:   q.service.issuerLink(e.Issuer.ID),
			})
		}
	}
	for _, f := range q.reports {
		r := f.Decode()
		title := q.service.reportTitle(r.CompanyName, r.Title, string(r.Type), r.PublishedAt)
		out.Results = append(out.Results, found{
			ID:       r.ID,
			Title:    title,
			URL:      q.service.reportLink(r.ID),
			Headline: headlineOf(r),
		})
	}
	return out
}

// maxHeadline is the number of characters of what a document states in a result of search.
const maxHeadline = 200

// headlineOf returns in one quoted line what the document of a report states, or "".
func headlineOf(r *disclosure.Report) string {
	if said := headline.English(r.Facts); said != "" {
		return quote.Text(said, maxHeadline)
	}
	return ""
}
