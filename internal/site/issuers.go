package site

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/search"
	"pregon/internal/site/render"
)

const directoryRows = 100

// tablesScript sorts the rows of tables by a column.
const tablesScript = "tables.js"

// directoryPage is the directory of issuers.
type directoryPage struct {
	Search   string
	Kinds    []choice // links
	Markets  []choice
	Sectors  []choice
	Letters  []choice // links; none in the results of a search, which are in the order of their rank
	Hidden   []hidden
	Entries  []directoryEntry
	Total    int
	Page     int
	Previous string // address of the page before, or ""
	Next     string // address of the page after, or ""
	CSV      string
	Filtered bool
}

// directoryEntry is an issuer in a list.
type directoryEntry struct {
	ID                        string
	Name, URL, Ticker, Market string
	Kind                      string // in the language of the page
	Reports                   int
	Last                      time.Time // zero without reports
}

// issuers is the directory.
func (s *Site) issuers(q *request) (*render.Page, error) {
	p := q.params
	text := p.Search()
	kind := p.Kind()
	letter := p.Text("letter")
	number := p.Integer("page", 1, 1, query.MaxPage)
	market, marketWords := p.Market(q.snapshot)
	sector, sectorWords := p.Sector(q.snapshot)
	if letter != "" && !slices.Contains(letters, letter) {
		p.Reject("letter", letter, "must be a letter from A to Z, or 0 for all else")
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	found := q.snapshot.Directory().Issuers()
	if text != "" {
		var err error
		if found, err = q.snapshot.Issuers(q.Context(), text, "", math.MaxInt32); err != nil {
			return nil, err
		}
	}
	out := &directoryPage{
		Search:   text,
		Page:     number,
		Filtered: len(q.values) > 0,
		CSV:      "/api/v1/issuers.csv" + q.directoryParameters(0),
	}
	wantedMarket := search.NewNameFilter(market, marketWords)
	wantedSector := search.NewNameFilter(sector, sectorWords)
	inMarket := only(found, market == "", func(e *search.Issuer) bool { return wantedMarket.Match(e.Issuer.Market) })
	inSector := only(found, sector == "", func(e *search.Issuer) bool { return wantedSector.MatchSector(e.Issuer.Sector) })
	found = only(inMarket, sector == "", func(e *search.Issuer) bool { return wantedSector.MatchSector(e.Issuer.Sector) })
	out.Markets = q.nameChoices(inSector, marketNames, market, len(found))
	out.Sectors = q.nameChoices(inMarket, sectorNames, sector, len(found))
	out.Kinds = q.kindChoices(found, kind)
	found = only(found, kind == "", func(e *search.Issuer) bool { return e.Issuer.Kind == kind })
	if text == "" {
		out.Letters = q.letterChoices(found, letter)
	}
	found = only(found, letter == "", func(e *search.Issuer) bool { return letterOf(e) == letter })
	out.Total = len(found)
	from := min((number-1)*directoryRows, len(found))
	to := min(from+directoryRows, len(found))
	for _, e := range found[from:to] {
		out.Entries = append(out.Entries, q.newEntry(e))
	}
	if number > 1 {
		out.Previous = q.with("/issuers", "page", pageNumber(number-1))
	}
	if to < len(found) {
		out.Next = q.with("/issuers", "page", pageNumber(number+1))
	}
	for _, name := range []string{"kind", "letter", "lang"} {
		if v := q.values.Get(name); v != "" {
			out.Hidden = append(out.Hidden, hidden{name, v})
		}
	}
	return &render.Page{
		Template:    "issuers",
		Style:       "issuers.css",
		Script:      tablesScript,
		Title:       q.edition.Text("issuers.title"),
		Description: q.edition.Text("issuers.description"),
		Data:        out,
		Head: []render.HeadLink{{Rel: "alternate", Type: "application/json", URL: "/api/v1/issuers" +
			q.directoryParameters(query.MaxLimit)}},
	}, nil
}

// only returns the issuers that meet a condition, or all of them.
func only(issuers []*search.Issuer, all bool, keep func(*search.Issuer) bool) []*search.Issuer {
	if all {
		return issuers
	}
	var out []*search.Issuer
	for _, e := range issuers {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}

// directoryParameters returns the parameters of the API for the request, with a limit
// unless it is 0.
func (q *request) directoryParameters(limit int) string {
	values := url.Values{}
	if limit > 0 {
		values.Set("limit", strconv.Itoa(limit))
	}
	for _, name := range []string{"search", "kind", "market", "sector"} {
		if v := q.values.Get(name); v != "" {
			values.Set(name, v)
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

func (q *request) newEntry(e *search.Issuer) directoryEntry {
	i := e.Issuer
	reports := q.snapshot.ReportsOf(e, 1)
	out := directoryEntry{
		ID:      i.ID,
		Name:    disclosure.DisplayName(i.Name),
		URL:     q.edition.Link(issuerPath(i.ID)),
		Ticker:  i.Ticker,
		Market:  i.Market,
		Kind:    q.edition.kindText(i.Kind),
		Reports: reports.Total,
	}
	if reports.Total > 0 {
		out.Last = reports.Reports[0].Listed()
	}
	return out
}

// kindText returns the name of a kind, or "".
func (e edition) kindText(k disclosure.Kind) string {
	if k == "" {
		return ""
	}
	return e.Text("kind." + string(k))
}

// kindChoices returns the kinds with the number of issuers of each.
func (q *request) kindChoices(issuers []*search.Issuer, selected disclosure.Kind) []choice {
	counts := countBy(issuers, func(e *search.Issuer) string { return string(e.Issuer.Kind) })
	out := []choice{{
		Text:     q.edition.Text("issuers.all"),
		URL:      q.with("/issuers", "kind", ""),
		Selected: selected == "",
		Count:    len(issuers),
	}}
	for _, k := range disclosure.Kinds {
		out = append(out, choice{
			Value:    string(k),
			Text:     q.edition.Text("kinds." + string(k)),
			URL:      q.with("/issuers", "kind", string(k)),
			Selected: k == selected,
			Count:    counts[string(k)],
		})
	}
	return out
}

// issuerName is a name that issuers have in common, such as that of a market.
type issuerName struct {
	of   func(*search.Issuer) string
	text func(edition, string) string // as pages show it
}

var (
	marketNames = issuerName{
		of:   func(e *search.Issuer) string { return e.Issuer.Market },
		text: func(_ edition, name string) string { return name },
	}
	sectorNames = issuerName{
		of:   func(e *search.Issuer) string { return e.Issuer.Sector },
		text: func(e edition, name string) string { return e.Sector(name) },
	}
)

// nameChoices returns the markets or sectors with the number of issuers of each. The
// selected one may be another spelling, or words of several: found is its number of issuers.
func (q *request) nameChoices(
	issuers []*search.Issuer,
	names issuerName,
	selected string,
	found int,
) []choice {
	counts := countBy(issuers, names.of)
	delete(counts, "")
	if selected != "" {
		counts[selected] = found // stays selected if no issuer has it
	}
	var out []choice
	for name, n := range counts {
		out = append(out, choice{
			Value:    name,
			Text:     names.text(q.edition, name),
			Selected: name == selected,
			Count:    n,
		})
	}
	slices.SortFunc(out, func(a, b choice) int {
		return cmp.Or(compareFolded(a.Text, b.Text), cmp.Compare(a.Value, b.Value))
	})
	return append([]choice{{Text: q.edition.Text("any"), Selected: selected == ""}}, out...)
}

// letters are the parts of the directory. Names that do not begin with a letter are
// in the last.
var letters = strings.Split("A B C D E F G H I J K L M N O P Q R S T U V W X Y Z "+noLetter, " ")

const noLetter = "0"

// letterOf returns the part of the directory in which an issuer is.
func letterOf(e *search.Issuer) string {
	if e.Folded != "" && e.Folded[0] >= 'a' && e.Folded[0] <= 'z' {
		return strings.ToUpper(e.Folded[:1])
	}
	return noLetter
}

// letterChoices returns the letters. Those without issuers have no address.
func (q *request) letterChoices(issuers []*search.Issuer, selected string) []choice {
	counts := countBy(issuers, letterOf)
	out := []choice{{
		Text:     q.edition.Text("issuers.letters.all"),
		URL:      q.with("/issuers", "letter", ""),
		Selected: selected == "",
	}}
	for _, l := range letters {
		c := choice{
			Value:    l,
			Text:     l,
			Selected: l == selected,
			Count:    counts[l],
		}
		if l == noLetter {
			c.Text = "0–9"
		}
		if c.Count > 0 {
			c.URL = q.with("/issuers", "letter", l)
		}
		out = append(out, c)
	}
	return out
}

// countBy counts issuers by a property.
func countBy(issuers []*search.Issuer, of func(*search.Issuer) string) map[string]int {
	counts := map[string]int{}
	for _, e := range issuers {
		counts[of(e)]++
	}
	return counts
}
