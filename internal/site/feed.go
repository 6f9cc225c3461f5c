package site

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/search"
	"pregon/internal/server/content"
	"pregon/internal/site/chart"
	"pregon/internal/site/render"
)

// Sizes of the feed.
const (
	feedRows = 40
	liveRows = 12 // of the fragment that pages poll

	feedIssuers = 8 // most active ones
)

// feedPage is the feed of new reports.
type feedPage struct {
	*listing
	PaceText string
	PaceBar  *chart.Pace
	Active   []catalog.IssuerUse
	Live     string // address of the fragment to poll; empty on later pages
}

// FeedLinks returns the feeds of the list.
func (l *listing) FeedLinks() []render.Link {
	return []render.Link{
		{Text: "Atom", URL: "/feed.atom" + l.feedURL},
		{Text: "JSON Feed", URL: "/feed.json" + l.feedURL},
	}
}

// listing is a list of reports with its filter.
type listing struct {
	Form    filterForm
	Days    []*dayRows
	Total   int
	Page    int
	Newer   string // address of the page before, or ""
	Older   string // address of the page after, or ""
	Newest  string // address of the first page, if this is not it
	CSV     string
	Order   listOrder
	Widened *widened     // nil: the search was not widened
	Meant   *choice      // what may be meant by a search that finds nothing, or nil
	Why     *explanation // why a search finds nothing, or nil
	feedURL string
}

// listOrder is the order of a list. The newest report is the first unless the reader chose
// the most important ones of each day.
type listOrder struct {
	Important bool
	TooMany   bool   // reports to put them in order
	Newest    string // address of the list with the newest report first
}

// widened is what a list searched for besides what was typed.
type widened struct {
	Words string
	URL   string // of the same search as it was typed
}

// newWidened returns what was added to the search of a filter, or nil.
func (q *request) newWidened(f disclosure.Filter) *widened {
	if !f.Widen {
		return nil
	}
	var words []string
	for _, w := range search.ParseFilter(f).Widened() {
		for _, word := range w.Alternatives {
			if len(words) < maxShownWords && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return &widened{
		Words: strings.Join(words, ", "),
		URL:   q.with(q.URL.EscapedPath(), "search", search.Literal(f.Search)),
	}
}

// maxShownWords is the number of words that a page says were searched for too.
const maxShownWords = 20

// feed is the front page.
func (s *Site) feed(q *request) (*render.Page, error) {
	found, err := s.list(q, feedRows)
	if err != nil {
		return nil, err
	}
	figures := q.snapshot.Analytics(q.now)
	out := &feedPage{
		listing:  found,
		PaceText: q.edition.paceText(figures.Pace),
		PaceBar:  q.edition.newPaceBar(figures.Pace),
		Active:   figures.Issuers[:min(len(figures.Issuers), feedIssuers)],
	}
	if found.Page == 1 && !found.Order.Important { // new reports would be out of order
		out.Live = q.with("/live", "page", "")
	}
	return &render.Page{
		Template:    "feed",
		Title:       q.edition.Text("feed.title"),
		Description: q.edition.Text("feed.description"),
		Data:        out,
		Head:        forPrograms,
	}, nil
}

// forPrograms lead programs that read the front page to their documents.
var forPrograms = []render.HeadLink{
	{Rel: "ard", Type: "application/json", URL: "/.well-known/ard.json"},
	{Rel: "ai-catalog", Type: "application/json", URL: "/.well-known/ai-catalog.json"},
	{Rel: "api-catalog", Type: "application/linkset+json", URL: "/.well-known/api-catalog"},
	{Rel: "alternate", Type: "text/plain", URL: "/llms.txt"},
}

// livePage is what pages poll.
type livePage struct {
	State string // health of the source
	Rows  []row
}

// live is the fragment with the state of the source and the newest reports of a feed.
// Its entity tag changes only with them.
func (s *Site) live(q *request) (*render.Page, error) {
	list := q.list(liveRows)
	found, err := s.reports(q, list)
	if err != nil {
		return nil, err
	}
	data := livePage{string(s.Query.SourceStatus().State), q.rows(found, list.Filter)}
	return &render.Page{
		Template: "fragment-live",
		Data:     data,
		NoIndex:  true,
		Tag:      content.Tag(found.Hash() + content.Hash([]byte(string(q.edition.Language)+data.State))),
	}, nil
}

// list returns a page of reports by the parameters of the request.
func (s *Site) list(q *request, limit int) (*listing, error) {
	out, _, err := s.find(q, q.list(limit))
	return out, err
}

// find returns a page of reports, as pages show it and as it was found.
func (s *Site) find(q *request, list query.List) (*listing, catalog.Page, error) {
	found, order, err := s.ordered(q, list)
	if err != nil {
		return nil, catalog.Page{}, err
	}
	out := &listing{
		Order: order,
		Form:  q.form(),
		Days:  q.byDay(q.rows(found, list.Filter)),
		Total: found.Total,
		Page:  list.Page,
	}
	out.Widened = q.newWidened(list.Filter)
	if found.Total == 0 && list.Filter.Search != "" {
		meant, err := q.snapshot.Meant(q.Context(), list.Filter)
		if err != nil {
			return nil, catalog.Page{}, err
		}
		if meant != "" {
			out.Meant = &choice{Text: meant, URL: q.with(q.URL.EscapedPath(), "search", meant)}
		}
		if out.Why, err = s.explain(q.Context(), q, list); err != nil {
			return nil, catalog.Page{}, err
		}
	}
	if list.Page > 1 {
		out.Newer, out.Newest = q.with(q.URL.EscapedPath(), "page",
			pageNumber(list.Page-1)), q.with(q.URL.EscapedPath(), "page", "")
	}
	if list.Page*list.Limit < found.Total {
		out.Older = q.with(q.URL.EscapedPath(), "page", pageNumber(list.Page+1))
	}
	out.feedURL, out.CSV = q.parameters(), "/api/v1/reports.csv"+q.parameters()
	if conditions := q.parameters(); len(s.Parts) > 0 && conditions != "" && q.values.Get("watchlist") == "" {
		out.Form.Save = q.edition.Link("/account/watchlists/save" + conditions) // there are accounts
	}
	return out, found, nil
}

// reports returns a page of reports, or what is wrong with the parameters.
func (s *Site) reports(q *request, list query.List) (catalog.Page, error) {
	if err := q.params.Err(); err != nil {
		return catalog.Page{}, err
	}
	return s.Query.Reports(q.Context(), q.snapshot, list)
}

// importantFirst is the value of the parameter order for the most important reports of each
// day first.
const importantFirst = "important"

// ordered returns a page of reports in the order that the reader chose.
func (s *Site) ordered(q *request, list query.List) (catalog.Page, listOrder, error) {
	switch order := q.params.Text("order"); order {
	case "":
		found, err := s.reports(q, list)
		return found, listOrder{}, err
	case importantFirst:
	default:
		q.params.Reject("order", order, "must be %s, or absent for the newest first", importantFirst)
	}
	if err := q.params.Err(); err != nil {
		return catalog.Page{}, listOrder{}, err
	}
	found, ordered, err := s.Query.Important(q.Context(), q.snapshot, list)
	return found, listOrder{
		Important: true,
		TooMany:   !ordered,
		Newest:    q.with(q.URL.EscapedPath(), "order", ""),
	}, err
}

// pageNumber returns the parameter of a page, empty for the first.
func pageNumber(n int) string {
	if n == 1 {
		return ""
	}
	return strconv.Itoa(n)
}

// list reads the parameters of a list of reports. Documents, which need a credential,
// are searched by the page of searches only.
func (q *request) list(limit int) query.List {
	list := q.params.List(q.snapshot)
	list.Limit = limit
	if list.InDocuments {
		q.params.Reject("in", query.InDocument, "is for /search only")
	}
	return list
}

// rows returns reports with the words that match the search of a filter marked.
func (q *request) rows(found catalog.Page, filter disclosure.Filter) []row {
	out := make([]row, len(found.Reports))
	matches := search.NewHighlighter(search.ParseFilter(filter))
	for i, f := range found.Reports {
		out[i] = q.newRow(f, matches)
	}
	return out
}

// filterNames are the parameters of a filter, in the order of the form.
var filterNames = []string{
	"search", "type", "issuer", "kind", "category", "market", "sector", "from", "to",
	"without", "fact", "min_amount", "currency", "watchlist",
}

// parameters returns the filter of the request as a query string with a question
// mark, and additional names and values, or "" if there are none.
func (q *request) parameters(more ...string) string {
	values := url.Values{}
	for _, name := range filterNames {
		if v := q.values.Get(name); v != "" {
			values.Set(name, v)
		}
	}
	for i := 0; i+1 < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// with returns the address of a page with the parameters of the request, of which
// some are changed: names and values, where an empty value removes the parameter. It
// leads to the first page of a list.
func (q *request) with(path string, changes ...string) string {
	values := maps.Clone(q.values)
	values.Del("page")
	for i := 0; i+1 < len(changes); i += 2 {
		values.Set(changes[i], changes[i+1])
	}
	maps.DeleteFunc(values, func(_ string, v []string) bool { return len(v) != 1 || v[0] == "" })
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// queryOf returns a query string of names and values, with a question mark. Empty values
// are left out; it is "" if all are.
func queryOf(pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// filterForm is the filter of a list as the reader sees and changes it.
type filterForm struct {
	Path       string
	Types      []choice // links
	Presets    []choice // links to the last days
	Without    choice   // link
	Important  choice   // link to the most important reports first
	Kinds      []choice
	Categories []choice
	Facts      []choice
	From, To   string
	Hidden     []hidden // parameters that the form keeps
	Active     []choice // conditions that are set, with links that remove them
	Clear      string   // address without conditions
	Save       string   // address at which an account saves the conditions, or ""
}

// choice is one of several values.
type choice struct {
	Value, Text, URL string
	Selected         bool
	Count            int
}

// hidden is a parameter that a form keeps.
type hidden struct{ Name, Value string }

// shownTypes are the types in the order in which pages offer them.
var shownTypes = []disclosure.Type{disclosure.IP, disclosure.OIR, disclosure.HR}

// form returns the filter of the request.
func (q *request) form() filterForm { return q.formOf(presetDays) }

// formOf returns the filter of the request with periods of so many days.
func (q *request) formOf(days []int) filterForm {
	path, e := q.URL.EscapedPath(), q.edition
	f := filterForm{
		Path:  path,
		From:  q.values.Get("from"),
		To:    q.values.Get("to"),
		Clear: e.Link(path),
	}
	chosen := func(name, value, text string) choice {
		return choice{
			Value:    value,
			Text:     text,
			URL:      q.with(path, name, value),
			Selected: q.values.Get(name) == value,
		}
	}
	f.Types = append(f.Types, chosen("type", "", e.Text("all")))
	for _, t := range shownTypes {
		f.Types = append(f.Types, chosen("type", string(t), string(t)))
	}
	f.Presets = q.presets(path, days)
	f.Without = chosen("without", query.WithoutRoutine, e.Text("filter.routine"))
	if f.Without.Selected {
		f.Without.URL = q.with(path, "without", "")
	}
	f.Important = chosen("order", importantFirst, e.Text("order.important"))
	if f.Important.Selected {
		f.Important.URL = q.with(path, "order", "")
	}
	f.Kinds = append(f.Kinds, chosen("kind", "", e.Text("any")))
	for _, k := range disclosure.Kinds {
		f.Kinds = append(f.Kinds, chosen("kind", string(k), e.Text("kinds."+string(k))))
	}
	f.Categories = append(f.Categories, chosen("category", "", e.Text("any")))
	var categories []choice
	for _, name := range q.snapshot.CategoryNames() {
		categories = append(categories, chosen("category", name, e.Category(name)))
	}
	slices.SortFunc(categories, func(a, b choice) int { return compareFolded(a.Text, b.Text) })
	f.Categories = append(f.Categories, categories...)
	f.Facts = append(f.Facts, chosen("fact", "", e.Text("any")))
	for _, k := range disclosure.FactKinds() {
		f.Facts = append(f.Facts, chosen("fact", string(k), e.Text("factkind."+string(k))))
	}
	for _, name := range []string{
		"search", "type", "issuer", "market", "sector", "without", "min_amount", "currency",
		"watchlist", "order", "lang",
	} {
		if v := q.values.Get(name); v != "" {
			f.Hidden = append(f.Hidden, hidden{name, v})
		}
	}
	preset := slices.ContainsFunc(f.Presets, func(c choice) bool { return c.Selected })
	for _, name := range []string{
		"watchlist", "issuer", "kind", "category", "fact", "market", "sector", "from", "to", "without",
	} {
		shown := name == "from" && preset || name == "without" && f.Without.Selected
		if v := q.values.Get(name); v != "" && !shown {
			f.Active = append(f.Active, choice{Value: v, Text: q.conditionText(name, v), URL: q.with(path, name, "")})
		}
	}
	return f
}

// presetDays are the periods that lists offer, in days; today is the last day.
var presetDays = []int{1, 7, 30}

// presets returns links to the reports of the last days.
func (q *request) presets(path string, days []int) (out []choice) {
	for _, n := range days {
		from := disclosure.DayOf(q.now) - disclosure.Day(n-1)
		c := choice{
			Value:    from.String(),
			Text:     q.edition.Text("filter.days." + strconv.Itoa(n)),
			URL:      q.with(path, "from", from.String(), "to", ""),
			Selected: q.values.Get("from") == from.String() && q.values.Get("to") == "",
		}
		if c.Selected {
			c.URL = q.with(path, "from", "")
		}
		out = append(out, c)
	}
	return out
}

// conditionText describes a condition.
func (q *request) conditionText(name, value string) string {
	switch name {
	case "watchlist":
		return q.listName()
	case "kind":
		value = q.edition.Text("kinds." + value)
	case "category":
		value = q.edition.CategoryCondition(value)
	case "sector":
		value = q.edition.SectorCondition(value)
	case "fact":
		value = q.edition.Text("factkind." + value)
	case "issuer":
		value = q.issuerNames(value)
	case "without":
		value = q.edition.Text("filter.without." + value)
	case "from", "to":
		if day, ok := disclosure.ParseDay(value); ok {
			value = q.edition.date(day)
		}
	}
	return q.edition.Text("filter."+name) + ": " + value
}

// issuerNames returns the names of the issuers that a filter has, of which the first ones are
// shown.
func (q *request) issuerNames(value string) string {
	all := search.SplitIssuers(value, func(name string) bool { return len(q.snapshot.Lookup(name)) == 1 })
	names := make([]string, min(len(all), shownIssuers))
	for i := range names {
		names[i] = all[i]
		if found := q.snapshot.Lookup(all[i]); len(found) == 1 {
			names[i] = disclosure.DisplayName(found[0].Issuer.Name)
		}
	}
	text := strings.Join(names, " · ")
	if more := len(all) - len(names); more > 0 {
		text += " · +" + strconv.Itoa(more)
	}
	return text
}

// shownIssuers is how many issuers of a filter have their names shown.
const shownIssuers = 3

// suggestPage are the completions of a text in the search box.
type suggestPage struct {
	Issuers    []suggested
	Categories []suggested
}

type suggested struct{ Text, Detail, URL string }

const maxSuggestions = 8

// suggest is the fragment with the completions of a text.
func (s *Site) suggest(q *request) (*render.Page, error) {
	typed := q.params.LimitedText("q", maxTyped)
	if err := q.params.Err(); err != nil {
		return nil, err
	}
	found, err := q.snapshot.Suggest(q.Context(), typed, maxSuggestions)
	if err != nil {
		return nil, err
	}
	out := suggestPage{Issuers: q.suggestIssuers(found.Issuers)}
	for _, c := range found.Categories {
		out.Categories = append(out.Categories,
			suggested{
				q.edition.Category(c.Category), q.edition.Number(c.Total),
				q.edition.Link("/search?category=" + url.QueryEscape(c.Category)),
			})
	}
	return &render.Page{Template: "fragment-suggest", Data: out, NoIndex: true}, nil
}

// suggestIssuers returns issuers with the addresses of their pages.
func (q *request) suggestIssuers(found []*search.Issuer) (out []suggested) {
	for _, e := range found {
		out = append(out, suggested{
			disclosure.DisplayName(e.Issuer.Name), e.Issuer.Ticker, q.edition.Link(issuerPath(e.Issuer.ID)),
		})
	}
	return out
}

// maxTyped is the size of a text to complete, in bytes.
const maxTyped = 200
