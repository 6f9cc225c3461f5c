package query

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/disclosure/calendar"
	"pregon/internal/search"
	"pregon/internal/text"
)

// ValueSet is the set of values that a parameter accepts.
type ValueSet string

// The sets of values.
const (
	Categories  ValueSet = "category"
	Markets     ValueSet = "market"
	Sectors     ValueSet = "sector"
	FactKinds   ValueSet = "fact"
	Types       ValueSet = "type"
	IssuerKinds ValueSet = "kind"
	DateKinds   ValueSet = "date"
)

// ValueSets are all sets, in the order of display.
var ValueSets = []ValueSet{Categories, Markets, Sectors, FactKinds, Types, IssuerKinds, DateKinds}

// ValueSet reads the parameter of.
func (p *Params) ValueSet() ValueSet {
	of := ValueSet(p.Text("of"))
	if slices.Contains(ValueSets, of) {
		return of
	}
	names := make([]string, len(ValueSets))
	for i, set := range ValueSets {
		names[i] = string(set)
	}
	reason := "must be " + search.OrList(names)
	if of == "" {
		reason = "is needed: " + search.OrList(names)
	}
	p.Reject("of", string(of), "%s", reason)
	return ""
}

// Value is a value that a parameter accepts.
type Value struct {
	Value   string   `json:"value"`
	Name    string   `json:"name"`
	NameEN  *string  `json:"name_en"` // null if it is not known
	About   *string  `json:"about"`   // null if the name is enough
	AboutEN *string  `json:"about_en"`
	Fields  []string `json:"fields,omitempty"` // of a kind of facts
	Count   int      `json:"count"`            // reports; for kinds of dates, dates in the next year
}

// Values are those of a set.
type Values struct {
	Of   ValueSet `json:"of"`
	Data []Value  `json:"data"`
	Seq  int64    `json:"seq"`
}

// maxValues is the number of values of a set in an answer. Imported names may be any number.
const maxValues = 500

// Values returns the values of a set, with the number of reports that each selects. Of the
// sets whose names come from the source, the most used values come first.
func (q *Service) Values(ctx context.Context, s *catalog.Snapshot, of ValueSet) (*Values, error) {
	out := &Values{Of: of, Data: []Value{}, Seq: s.Seq()}
	var err error
	switch of {
	case Categories:
		err = out.addUsed(ctx, s, catalog.ByCategory, disclosure.Categories)
	case Markets:
		err = out.addUsed(ctx, s, catalog.ByMarket, slices.Concat(s.Directory().Markets(), disclosure.Markets))
	case Sectors:
		err = out.addUsed(ctx, s, catalog.BySector, slices.Concat(s.Directory().Sectors(), disclosure.Sectors))
	case FactKinds:
		err = addSelected(ctx, s, out, disclosure.FactKinds(), func(f *disclosure.Filter, k disclosure.FactKind) {
			f.Fact = k
		})
	case Types:
		err = addSelected(ctx, s, out, disclosure.Types, func(f *disclosure.Filter, t disclosure.Type) { f.Type = t })
	case IssuerKinds:
		err = addSelected(ctx, s, out, disclosure.Kinds, func(f *disclosure.Filter, k disclosure.Kind) { f.Kind = k })
	case DateKinds:
		err = q.addDates(ctx, s, out)
	}
	if of == FactKinds {
		for i := range out.Data {
			out.Data[i].Fields = disclosure.FactKind(out.Data[i].Value).Fields()
		}
	}
	return out, err
}

func (v *Values) add(value string, count int) {
	spanish, english := v.Of.names(value)
	about := valueNames[v.Of][text.Fold(value)]
	v.Data = append(v.Data, Value{
		Value:   value,
		Name:    spanish,
		NameEN:  OrNull(english),
		About:   OrNull(about.about),
		AboutEN: OrNull(about.aboutEN),
		Count:   count,
	})
}

// addUsed adds the values of a dimension that reports have, and then other known ones.
func (v *Values) addUsed(ctx context.Context, s *catalog.Snapshot, by catalog.Dimension, known []string) error {
	found, err := s.Count(ctx, disclosure.Filter{}, by, 1, maxValues)
	if err != nil {
		return err
	}
	used := map[string]bool{"": true} // a name without a letter or digit cannot be asked for
	for _, c := range found.Counts {
		used[text.Fold(c.Value)] = true
		v.add(c.Value, c.Total)
	}
	for _, name := range known {
		if folded := text.Fold(name); !used[folded] && len(v.Data) < maxValues {
			used[folded] = true
			v.add(name, 0)
		}
	}
	return nil
}

// addSelected adds values of the program, with the reports that a filter selects by each.
func addSelected[T ~string](
	ctx context.Context,
	s *catalog.Snapshot,
	v *Values,
	values []T,
	set func(*disclosure.Filter, T),
) error {
	for _, value := range values {
		var f disclosure.Filter
		set(&f, value)
		found, err := s.Reports(ctx, f, 1, 1)
		if err != nil {
			return err
		}
		v.add(string(value), found.Total)
	}
	return nil
}

// addDates adds the kinds of the calendar with their dates in the next year.
func (q *Service) addDates(ctx context.Context, s *catalog.Snapshot, v *Values) error {
	today := disclosure.DayOf(time.Now())
	entries, err := q.Entries(ctx, s, Calendar{From: today, To: today + calendarDays})
	if err != nil {
		return err
	}
	counts := map[calendar.Kind]int{}
	for i := range entries {
		counts[entries[i].Kind]++
	}
	for _, k := range calendar.Kinds {
		v.add(string(k), counts[k])
	}
	return nil
}

//go:embed values.txt
var valueLines string

// valueName is what the program knows of a value.
type valueName struct {
	value            string
	spanish, english string
	about, aboutEN   string // "" if the names are enough
}

// valueNames are the names of values by their folded text.
var valueNames = readValueNames(valueLines)

func readValueNames(lines string) map[ValueSet]map[string]valueName {
	out := map[ValueSet]map[string]valueName{}
	for line := range strings.Lines(lines) {
		columns := append(strings.Split(strings.TrimRight(line, "\n"), "\t"), "", "")
		if strings.HasPrefix(line, "#") || len(columns) < 6 {
			continue
		}
		set := ValueSet(columns[0])
		if out[set] == nil {
			out[set] = map[string]valueName{}
		}
		out[set][text.Fold(columns[1])] = valueName{
			value:   columns[1],
			spanish: columns[2],
			english: columns[3],
			about:   columns[4],
			aboutEN: columns[5],
		}
	}
	return out
}

// Limits of the values that may be meant by another one.
const (
	leastLikeness = 0.6
	maxNearValues = 3
)

// near returns the values of a set of the program that are similar to another value, by
// themselves or by their names in either language.
func (of ValueSet) near(value string) (values []string) {
	likeness := map[string]float64{}
	for known, name := range valueNames[of] {
		likeness[name.value] = search.Likeness(value, strings.Join([]string{known, name.spanish, name.english}, " "))
		if likeness[name.value] >= leastLikeness {
			values = append(values, name.value)
		}
	}
	slices.SortFunc(values, func(a, b string) int {
		return cmp.Or(cmp.Compare(likeness[b], likeness[a]), cmp.Compare(a, b))
	})
	return values[:min(len(values), maxNearValues)]
}

// SectorNames returns the Spanish and the English name of a sector for people. A name that is not
// known is "".
func SectorNames(sector string) (spanish, english string) {
	known := valueNames[Sectors][text.Fold(sector)]
	return known.spanish, known.english
}

// names returns the Spanish and the English name of a value. The English one is "" if it is
// not known. A name of the source stays as it is spelt there.
func (of ValueSet) names(value string) (spanish, english string) {
	if of == Categories {
		if name, known := disclosure.CategoryEN(value); known {
			english = name
		}
		return value, english
	}
	known := valueNames[of][text.Fold(value)]
	if of == Sectors {
		return value, known.english
	}
	return cmp.Or(known.spanish, value), known.english
}
