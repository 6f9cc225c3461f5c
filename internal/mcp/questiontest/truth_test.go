package questiontest_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/paper/statement"
	"pregon/internal/text"
)

// truth says how the right answer is computed from the generators of the market.
//
// Kind is what is asked for: reports, report, counts, values, calendar, shorts,
// short_totals, holdings, own_shares, dealings, issuer, issuers, document, says or none. The
// other members select and order it; days may have placeholders.
type truth struct {
	Kind       string            `json:"kind"`
	Call       int               `json:"call,omitempty"`   // of which the answer is judged, from 1; 0: the last one
	Issuer     string            `json:"issuer,omitempty"` // its name, ticker or id
	Of         disclosure.Kind   `json:"of,omitempty"`     // kind of issuer
	Type       string            `json:"type,omitempty"`
	Category   string            `json:"category,omitempty"` // words of it
	Title      []string          `json:"title,omitempty"`    // words of titles, one of which is there
	Fact       string            `json:"fact,omitempty"`
	Fields     map[string]string `json:"fields,omitempty"` // of the fact
	Sector     string            `json:"sector,omitempty"` // words of it
	Market     string            `json:"market,omitempty"`
	NotRoutine bool              `json:"not_routine,omitempty"`
	Millions   int               `json:"millions,omitempty"`    // the least proceeds that the title states
	InDocument string            `json:"in_document,omitempty"` // words of the document
	From       string            `json:"from,omitempty"`
	To         string            `json:"to,omitempty"`
	Side       string            `json:"side,omitempty"`
	By         string            `json:"by,omitempty"`   // counts: type, category, issuer, day, month; values: of what
	Or         []truth           `json:"or,omitempty"`   // of these selections, one at least
	Want       string            `json:"want,omitempty"` // ids, companies, titles, count, first, values
	Largest    bool              `json:"largest,omitempty"`
	Only       bool              `json:"only,omitempty"`  // no other reports
	More       bool              `json:"more,omitempty"`  // if there are more than n, the answer says so
	Total      bool              `json:"total,omitempty"` // counts: the sum too
	Field      string            `json:"field,omitempty"`
	N          int               `json:"n,omitempty"` // how many of them; 0: one
	Least      string            `json:"least,omitempty"`
	Says       []string          `json:"says,omitempty"` // what the answer must say, also if it is empty
}

// all is more than any question is about.
const all = 1_000_000

// ranked adds the first n of some names with their values, which are in order. Of those that
// have the same value as the last one, any may be shown.
func (d *demand) ranked(names []string, n int, value func(n int) string) {
	n = min(n, len(names))
	var last group
	for k, name := range names {
		switch {
		case n == 0 || k >= n && value(k) != value(n-1):
		case value(k) != value(n-1):
			d.addRow(name, value(k))
		default:
			last.of = append(last.of, name)
			if k < n {
				last.least++
			}
		}
	}
	if n > 0 {
		d.groups = append(d.groups, last)
		d.rows = append(d.rows, row{last.of, {value(n - 1)}})
	}
}

// days returns the period of a truth.
func (t *truth) days() (from, to disclosure.Day, err error) {
	from, to = firstDay, today+3650
	for _, end := range []struct {
		value string
		day   *disclosure.Day
	}{{t.From, &from}, {t.To, &to}} {
		if end.value == "" {
			continue
		}
		d, ok := disclosure.ParseDay(placeholders(end.value))
		if !ok {
			return 0, 0, fmt.Errorf("%q is not a day", end.value)
		}
		*end.day = d
	}
	return from, to, nil
}

// demand returns what an answer must have, nothing if there is nothing to answer.
func (w *world) demand(t *truth) (demand, error) {
	kinds := map[string]func(*truth) (demand, error){
		"none":         func(*truth) (demand, error) { return demand{}, nil },
		"says":         w.ofWords,
		"reports":      w.ofReports,
		"report":       w.ofReport,
		"document":     w.ofDocument,
		"counts":       w.ofCounts,
		"values":       w.ofValues,
		"calendar":     w.ofCalendar,
		"shorts":       w.ofShorts,
		"short_totals": w.ofShortTotals,
		"holdings":     w.ofHoldings,
		"own_shares":   w.ofOwnShares,
		"dealings":     w.ofDealings,
		"issuer":       w.ofIssuer,
		"issuers":      w.ofIssuers,
	}
	answer := kinds[t.Kind]
	if answer == nil {
		return demand{}, fmt.Errorf("unknown kind %q", t.Kind)
	}
	out, err := answer(t)
	out.says = append(out.says, t.Says...)
	return out, err
}

// issuer returns the issuer of a truth, nil if it names none.
func (w *world) issuer(t *truth) (*disclosure.Issuer, error) {
	if t.Issuer == "" {
		return nil, nil
	}
	for _, i := range w.market.Issuers() {
		if i.ID == t.Issuer || i.Ticker == t.Issuer || text.Fold(i.Name) == text.Fold(t.Issuer) {
			return &i, nil
		}
	}
	return nil, fmt.Errorf("unknown issuer %q", t.Issuer)
}

// selected returns the reports of a truth, newest first.
func (w *world) selected(t *truth) (out []*archive.Report, err error) {
	of, err := w.issuer(t)
	if err != nil {
		return out, err
	}
	from, to, err := t.days()
	if err != nil {
		return out, err
	}
	for _, r := range slices.Backward(w.reports) {
		day := disclosure.DayOf(r.PublishedAt)
		if day < from || day > to || t.Type != "" && string(r.Type) != t.Type {
			continue
		}
		if of != nil && (r.Issuer == nil || r.Issuer.ID != of.ID) {
			continue
		}
		if w.has(r, t) {
			out = append(out, r)
		}
	}
	return out, nil
}

// has reports whether a report has the words, the facts and the sector of a truth.
func (w *world) has(r *archive.Report, t *truth) bool {
	title := " " + text.Fold(r.Title) + " "
	named := len(t.Title) == 0
	for _, words := range t.Title {
		named = named || strings.Contains(title, " "+text.Fold(words)+" ")
	}
	if !named || !strings.Contains(text.Fold(r.Category), text.Fold(t.Category)) {
		return false
	}
	if !strings.Contains(text.Fold(w.sector(r.Issuer)), text.Fold(t.Sector)) {
		return false
	}
	if t.Of != "" && (r.Issuer == nil || r.Issuer.Kind != t.Of) {
		return false
	}
	if t.Market != "" && (r.Issuer == nil || text.Fold(r.Issuer.Market) != text.Fold(t.Market)) {
		return false
	}
	if t.Millions > proceeds(r.Title) {
		return false
	}
	if t.NotRoutine && w.routine(r) {
		return false
	}
	if t.InDocument != "" && !strings.Contains(text.Fold(strings.Join(w.pages[r.ID], " ")), text.Fold(t.InDocument)) {
		return false
	}
	if len(t.Or) > 0 && !slices.ContainsFunc(t.Or, func(one truth) bool { return w.has(r, &one) }) {
		return false
	}
	return t.Fact == "" || len(t.factsOf(w.facts[r.ID])) > 0
}

// effective is the amount in the title of a capital increase.
var effective = regexp.MustCompile(`importe efectivo de ([\d.]+)(?:,\d+)? millones`)

// proceeds returns the millions that a capital increase brings as its title has it, or 0.
func proceeds(title string) int {
	found := effective.FindStringSubmatch(title)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.ReplaceAll(found[1], ".", "")) // digits by the expression
	return n
}

// routine reports whether a report is one that issuers file regularly: about a liquidity
// contract or the number of voting rights, or of a securitisation fund.
func (w *world) routine(r *archive.Report) bool {
	category := strings.TrimSpace(r.Category)
	return r.Type != disclosure.IP && (strings.Contains(r.CompanyName, "TITULIZACI") ||
		strings.HasPrefix(category, "Contratos de liquidez") || strings.HasPrefix(category, "Total número de derechos"))
}

// factsOf returns those of some facts that a truth selects.
func (t *truth) factsOf(stated []statement.Fact) (out []statement.Fact) {
	for _, f := range stated {
		ok := t.Fact == "" || f.Kind == t.Fact
		for name, value := range t.Fields {
			ok = ok && f.Fields[name] == value
		}
		if t.Least != "" {
			ok = ok && disclosure.IsDecimal(f.Fields[t.Field]) &&
				disclosure.CompareDecimals(f.Fields[t.Field], t.Least) >= 0
		}
		if ok {
			out = append(out, f)
		}
	}
	return out
}

// ofReports answers with reports: the newest, or those of which the amount of a fact is
// the largest.
func (w *world) ofReports(t *truth) (out demand, err error) {
	found, err := w.selected(t)
	if err != nil {
		return out, err
	}
	amount := func(r *archive.Report) string { return t.factsOf(w.facts[r.ID])[0].Fields[t.Field] }
	if t.Largest {
		found = slices.DeleteFunc(found, func(r *archive.Report) bool { return !disclosure.IsDecimal(amount(r)) })
		slices.SortStableFunc(found, func(a, b *archive.Report) int {
			return disclosure.CompareDecimals(amount(b), amount(a))
		})
	}
	if t.Only && len(found) > 0 {
		out.only = idsOf(found)
	}
	first := found[:min(cmp.Or(t.N, 1), len(found))]
	if t.Want == "count" {
		out.addTotal(len(found))
		return out, nil
	}
	if t.Want == "first" || t.Largest {
		out.first = idsOf(first)
	}
	for _, r := range first {
		of := row{{r.ID}}
		switch t.Want {
		case "companies":
			of = append(of, []string{r.CompanyName})
		case "titles":
			words := strings.Fields(r.Title)
			of = append(of, []string{strings.Join(words[:min(len(words), 12)], " ")})
		case "values":
			for _, name := range strings.Fields(t.Field) {
				if value := t.factsOf(w.facts[r.ID])[0].Fields[name]; value != "" {
					of = append(of, statedIn(value))
				}
			}
		}
		out.rows = append(out.rows, of)
	}
	if t.More && len(found) > len(first) {
		out.says = append(out.says, "more")
	}
	return out, nil
}

// ofWords answers with words alone, and with no report if there may be no others.
func (w *world) ofWords(t *truth) (out demand, err error) {
	if t.Only {
		out.only = []string{}
	}
	return out, nil
}

// ofReport answers with the newest report: its day, its title and the address of its
// source.
func (w *world) ofReport(t *truth) (out demand, err error) {
	found, err := w.selected(t)
	if err != nil || len(found) == 0 {
		return out, err
	}
	r := found[0]
	out.add(r.ID)
	out.add(r.Title)
	out.add(disclosure.DayOf(r.PublishedAt).String())
	out.add(r.SourceURL)
	return out, nil
}

// ofDocument answers with the words of the document of the newest report, or that it has
// none.
func (w *world) ofDocument(t *truth) (out demand, err error) {
	found, err := w.selected(t)
	if err != nil || len(found) == 0 {
		return out, err
	}
	if len(w.pages[found[0].ID]) == 0 {
		out.says = append(out.says, "no document")
		return out, nil
	}
	out.add(found[0].ID)
	for _, page := range w.pages[found[0].ID] {
		words := strings.Fields(page)
		out.add(strings.Join(words[:min(len(words), 20)], " "))
	}
	return out, nil
}

func idsOf(reports []*archive.Report) (ids []string) {
	for _, r := range reports {
		ids = append(ids, r.ID)
	}
	return ids
}

// spellings returns the ways in which a text writes a value.
func spellings(value string) []string {
	out := []string{value}
	if day, clock, ok := strings.Cut(value, "T"); ok && clock != "" {
		if _, isDay := disclosure.ParseDay(day); isDay {
			return append(out, day+" "+clock)
		}
	}
	if !disclosure.IsDecimal(value) {
		return out
	}
	whole, decimals, _ := strings.Cut(value, ".")
	decimals = strings.TrimRight(decimals, "0")
	grouped := whole
	for at := len(whole) - 3; at > 0; at -= 3 {
		grouped = grouped[:at] + " " + grouped[at:] // a comma or a point, which are folded
	}
	out = append(out, strings.TrimSpace(grouped+" "+decimals), strings.TrimSpace(whole+" "+decimals))
	if n, err := strconv.ParseFloat(value, 64); err == nil && n >= 1e6 {
		out = append(out, strconv.FormatFloat(n/1e6, 'f', -1, 64)+" million")
	}
	return out
}

// ofCounts answers with the largest groups of reports, and their numbers.
func (w *world) ofCounts(t *truth) (out demand, err error) {
	found, err := w.selected(t)
	if err != nil {
		return out, err
	}
	groups := map[string]int{}
	for _, r := range found {
		for _, name := range w.groupsOf(r, t.By) {
			groups[name]++
		}
	}
	names := make([]string, 0, len(groups))
	for name := range groups {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(groups[b], groups[a]), cmp.Compare(a, b))
	})
	out.ranked(names, cmp.Or(t.N, 1), func(n int) string { return strconv.Itoa(groups[names[n]]) })
	if t.Total {
		out.addTotal(len(found))
	}
	return out, nil
}

// ofValues answers with all sectors, markets or categories.
func (w *world) ofValues(t *truth) (out demand, err error) {
	names := map[string]bool{}
	for _, i := range w.market.Issuers() {
		switch t.By {
		case "sector":
			names[w.sector(&i)] = true
		case "market":
			names[i.Market] = true
		}
	}
	for _, r := range w.reports {
		if t.By == "category" {
			for _, name := range r.Categories() {
				names[name] = true
			}
		}
	}
	delete(names, "")
	if len(names) == 0 {
		return out, fmt.Errorf("no values of %q", t.By)
	}
	for name := range names {
		out.add(name)
	}
	return out, nil
}

// groupsOf returns the groups of a report: more than one if it has several categories.
func (w *world) groupsOf(r *archive.Report, by string) []string {
	day := disclosure.DayOf(r.PublishedAt).String()
	name := r.CompanyName
	if r.Issuer != nil {
		name = r.Issuer.Name
	}
	switch by {
	case "category":
		return r.Categories()
	case "type":
		name = string(r.Type)
	case "day":
		name = day
	case "month":
		name = day[:len("2006-01")]
	case "sector":
		name = w.sector(r.Issuer)
	case "market":
		if name = ""; r.Issuer != nil {
			name = r.Issuer.Market
		}
	}
	if name == "" {
		return nil
	}
	return []string{name}
}
