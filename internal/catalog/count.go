package catalog

import (
	"cmp"
	"context"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/search/segment"
	"pregon/internal/text"
)

// Dimension is a property that reports are counted by.
type Dimension string

// The dimensions. Days and months are Madrid's. Market, sector and kind are those of the
// issuer.
const (
	ByIssuer   Dimension = "issuer"
	ByType     Dimension = "type"
	ByCategory Dimension = "category"
	ByDay      Dimension = "day"
	ByMonth    Dimension = "month"
	ByMarket   Dimension = "market"
	BySector   Dimension = "sector"
	ByKind     Dimension = "kind"
)

// Dimensions are all dimensions, in the order of display.
var Dimensions = []Dimension{ByIssuer, ByType, ByCategory, ByDay, ByMonth, ByMarket, BySector, ByKind}

// InTime reports whether the values of a dimension are periods.
func (d Dimension) InTime() bool { return d == ByDay || d == ByMonth }

// Count is the number of reports with a value of a dimension.
type Count struct {
	Value string // "" for a company whose reports have neither a NIF nor an issuer
	Name  string
	Total int
}

// Counted is one page of the values that reports were counted by.
type Counted struct {
	Total  int // reports that match
	Values int // values on all pages
	Counts []Count
	Most   Count // the value with the most reports, the newest of several periods
}

// Count counts the reports that match a filter by a dimension. The newest period is the
// first, of other dimensions the value with the most reports. A report with several
// categories counts in each, and one whose issuer has no market, sector or kind only in
// the total. Pages count from 1; one past the end is empty.
func (s *Snapshot) Count(
	ctx context.Context,
	f disclosure.Filter,
	by Dimension,
	page, limit int,
) (Counted, error) {
	if f == (disclosure.Filter{}) && s.tally != nil && by != ByIssuer {
		c := newCounter(s, by)
		c.copy(s.tally)
		all := groups{}
		c.addTo(all)
		return all.page(by, page, limit, c.total), ctx.Err()
	}
	return s.count(ctx, f, by, page, limit, func(uint32) bool { return true })
}

// CountAmong is like Count, but counts only the reports with some documents: see Among.
func (s *Snapshot) CountAmong(
	ctx context.Context,
	documents search.NumberSet,
	f disclosure.Filter,
	by Dimension,
	page, limit int,
) (Counted, error) {
	return s.count(ctx, f, by, page, limit, documents.Has)
}

func (s *Snapshot) count(
	ctx context.Context,
	f disclosure.Filter,
	by Dimension,
	page, limit int,
	has func(document uint32) bool,
) (Counted, error) {
	if s.noWords && f.HasSearch() {
		return Counted{}, errNoWords
	}
	total := 0
	all := groups{}
	for _, part := range slices.Concat([]*Snapshot{s}, s.changed) {
		c := newCounter(part, by)
		err := part.index.Each(ctx, f, func(d *segment.Doc) {
			if has(d.Document) {
				c.visit(d)
			}
		})
		if err != nil {
			return Counted{}, err
		}
		total += c.total
		c.addTo(all)
	}
	return all.page(by, page, limit, total), nil
}

// group is a value of a dimension while reports are counted.
type group struct {
	value  string
	name   string // "": that of the company in the newest report, or the value
	newest Report
	total  int
	most   int // reports with the spelling that is the value
}

func (g *group) nameOf() string {
	switch {
	case g.name != "":
		return g.name
	case g.newest.doc != nil:
		return g.newest.CompanyName()
	}
	return g.value
}

func (g *group) count() Count { return Count{g.value, g.nameOf(), g.total} }

// groups are the values of a dimension by a key. Different spellings have the same one.
type groups map[string]*group

// add adds reports to a group. Of several spellings the most used is the value.
func (g groups) add(key string, found group) {
	known := g[key]
	if known == nil {
		found.most = found.total
		g[key] = &found
		return
	}
	known.total += found.total
	if known.most < found.total || known.most == found.total && found.value < known.value {
		known.value = found.value
		known.most = found.total
	}
	if found.name != "" {
		known.name = found.name
	}
	if found.newest.doc != nil && (known.newest.doc == nil || known.newest.doc.At < found.newest.doc.At) {
		known.newest = found.newest
	}
}

// page returns a page of the groups, in order.
func (g groups) page(by Dimension, page, limit, total int) Counted {
	sorted := g.sorted(by)
	out := Counted{Total: total, Values: len(sorted)}
	for _, one := range sorted {
		if one.total > out.Most.Total {
			out.Most = one.count()
		}
	}
	skip := (int64(page) - 1) * int64(limit)
	if skip >= int64(len(sorted)) {
		return out
	}
	for _, one := range sorted[skip:min(int64(len(sorted)), skip+int64(limit))] {
		out.Counts = append(out.Counts, one.count())
	}
	return out
}

func (g groups) sorted(by Dimension) []*group {
	out := make([]*group, 0, len(g))
	keys := make(map[*group]string, len(g))
	for key, one := range g {
		out = append(out, one)
		keys[one] = key
	}
	slices.SortFunc(out, func(a, b *group) int {
		if by.InTime() {
			return cmp.Compare(b.value, a.value)
		}
		return cmp.Or(b.total-a.total, cmp.Compare(a.value, b.value), cmp.Compare(keys[a], keys[b]))
	})
	return out
}

// counter counts the reports of a snapshot, not those of its changed ones. It decodes none.
type counter struct {
	of     *Snapshot
	by     Dimension
	total  int
	byType [3]int
	days   dayCounter
	lines  []int32        // by number of the category line
	refs   []int32        // by number of the reference to an issuer
	newest []*segment.Doc // by number of the reference to an issuer; nil for other dimensions
}

func newCounter(of *Snapshot, by Dimension) *counter {
	c := &counter{of: of, by: by}
	switch by {
	case ByCategory:
		c.lines = make([]int32, of.index.CategoryLines())
	case ByDay, ByMonth:
		c.days.byDay = map[disclosure.Day]*int{}
	case ByIssuer, ByMarket, BySector, ByKind:
		c.refs = make([]int32, of.index.Refs())
	}
	if by == ByIssuer {
		c.newest = make([]*segment.Doc, of.index.Refs())
	}
	return c
}

// copy takes the counts of all reports from a tally.
func (c *counter) copy(t *tally) {
	c.byType = t.byType
	c.total = t.byType[0] + t.byType[1] + t.byType[2]
	c.lines = t.categoryLines
	c.refs = t.refs
	for i, d := range t.days {
		if d != nil && c.by.InTime() {
			c.days.byDay[t.first+disclosure.Day(i)] = new(len(d.reports))
		}
	}
}

func (c *counter) visit(d *segment.Doc) {
	c.total++
	switch c.by {
	case ByType:
		c.byType[typeIndex[d.Key&3]]++
	case ByCategory:
		c.lines[d.CategoryLine]++
	case ByDay, ByMonth:
		c.days.count(d)
	default:
		c.refs[d.Ref]++
	}
	if c.newest != nil && (c.newest[d.Ref] == nil || c.newest[d.Ref].At < d.At) {
		c.newest[d.Ref] = d
	}
}

// addTo adds the counts to the groups.
func (c *counter) addTo(all groups) {
	switch c.by {
	case ByType:
		for i, t := range disclosure.Types {
			all.addSome(string(t), c.byType[i])
		}
	case ByCategory:
		for _, used := range c.of.categoryCounts(c.lines) {
			all.add(text.Fold(used.Category), group{value: used.Category, total: used.Total})
		}
	case ByDay:
		for day, total := range c.days.byDay {
			all.addSome(day.String(), *total)
		}
	case ByMonth:
		for day, total := range c.days.byDay {
			all.addSome(day.String()[:len("2006-01")], *total)
		}
	case ByIssuer:
		c.addIssuers(all)
	default:
		c.addCommon(all)
	}
}

// addSome adds reports to the group of a value that has one spelling.
func (g groups) addSome(value string, total int) {
	if total > 0 {
		g.add(value, group{value: value, total: total})
	}
}

// addIssuers adds the issuers under any of their names. Reports that have neither a NIF
// nor an issuer count under the name of the company.
func (c *counter) addIssuers(all groups) {
	for ref, total := range c.refs {
		if total == 0 {
			continue
		}
		found := group{
			value:  c.of.index.IssuerID(uint32(ref)),
			newest: Report{c.newest[ref], c.of},
			total:  int(total),
		}
		if i := c.of.index.IssuerByRef(uint32(ref)); i != nil {
			found.name = i.Name
		}
		key := found.value
		if key == "" {
			key = "name " + text.Fold(found.newest.CompanyName())
		}
		all.add(key, found)
	}
}

// addCommon adds what issuers have in common: their market, sector or kind.
func (c *counter) addCommon(all groups) {
	spelt := map[string]int{}
	for ref, total := range c.refs {
		i := c.of.index.IssuerByRef(uint32(ref))
		if total == 0 || i == nil {
			continue
		}
		value := i.Market
		switch c.by {
		case BySector:
			value = i.Sector
		case ByKind:
			value = string(i.Kind)
		}
		spelt[value] += int(total)
	}
	for value, total := range spelt {
		if key := text.Fold(value); key != "" { // other values are not names: see disclosure.Filter
			all.add(key, group{value: value, total: total})
		}
	}
}

// dayCounter counts reports by Madrid's days. Reports come in order of time in each
// segment of the index, so that nearly all are of the same day as the one before.
type dayCounter struct {
	byDay    map[disclosure.Day]*int
	current  *int
	from, to int64 // the bounds of the current day, in Unix nanoseconds
}

func (c *dayCounter) count(d *segment.Doc) {
	if d.At < c.from || d.At >= c.to || c.current == nil {
		day := disclosure.DayOf(time.Unix(0, d.At))
		if c.byDay[day] == nil {
			c.byDay[day] = new(int)
		}
		c.current = c.byDay[day]
		c.from = day.Start().UnixNano()
		c.to = (day + 1).Start().UnixNano()
	}
	*c.current++
}
