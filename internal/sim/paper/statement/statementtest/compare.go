// Package statementtest compares the facts that a reader found in documents with those
// that the documents state.
package statementtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/paper/statement"
)

// Field names a field of a kind of facts. The fields of rows begin with "rows.".
type Field struct{ Kind, Name string }

// Count says how many values were found.
type Count struct {
	Stated  int // by the documents
	Right   int
	Missing int // stated and not found
	Wrong   int // another value than the stated one, or a value that no document states
}

func (c *Count) add(other Count) {
	c.Stated += other.Stated
	c.Right += other.Right
	c.Missing += other.Missing
	c.Wrong += other.Wrong
}

// Share returns how many of a hundred stated values were found and are right.
func (c Count) Share() float64 {
	if c.Stated == 0 {
		return 100
	}
	return 100 * float64(c.Right) / float64(c.Stated)
}

// Score is the comparison of one document.
type Score struct {
	Fields   map[Field]Count
	Mistakes []string // a line for each wrong value
}

// Compare compares the facts that were found in a document with those that it states.
// The rows are those of the found facts, in the same order; they may be fewer.
//
// Numbers are equal if their values are, days and times if they are the same, names
// without regard to case and forms of address, and ratings letter for letter. If a
// document states several facts of a kind, each is compared with the found one that
// agrees most. A field "series" of a row is not compared, as the truth does not have it.
func Compare(truth []statement.Fact, found []disclosure.Fact, rows [][]map[string]string) Score {
	s := Score{Fields: map[Field]Count{}}
	left := make([]int, len(found)) // the found facts that belong to no stated one yet
	for n := range found {
		left[n] = n
	}
	rowsOf := func(n int) []map[string]string {
		if n < len(rows) {
			return rows[n]
		}
		return nil
	}
	for _, pair := range pairs(truth, found) {
		fact := &truth[pair.stated]
		if pair.found < 0 {
			s.compare(fact.Kind, "", fact.Fields, nil)
			s.compareRows(fact.Kind, fact.Rows, nil)
			continue
		}
		left = slices.DeleteFunc(left, func(n int) bool { return n == pair.found })
		s.compare(fact.Kind, "", fact.Fields, found[pair.found].Fields)
		s.compareRows(fact.Kind, fact.Rows, rowsOf(pair.found))
	}
	for _, n := range left {
		kind := string(found[n].Kind)
		s.compare(kind, "", nil, found[n].Fields)
		s.compareRows(kind, nil, rowsOf(n))
		if len(found[n].Fields) == 0 {
			s.wrong(Field{kind, "kind"}, "a fact without fields", "")
		}
	}
	return s
}

// pair is a stated fact and the one that was found for it, or -1.
type pair struct{ stated, found int }

// pairs returns a pair for every stated fact, those that agree most first.
func pairs(truth []statement.Fact, found []disclosure.Fact) (out []pair) {
	type candidate struct {
		pair
		agreement int
	}
	var all []candidate
	for s := range truth {
		for f := range found {
			if string(found[f].Kind) != truth[s].Kind {
				continue
			}
			c := candidate{pair: pair{s, f}}
			for name, value := range truth[s].Fields {
				if got, ok := found[f].Fields[name]; ok && equal(name, got, value) {
					c.agreement++
				}
			}
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return b.agreement - a.agreement })
	taken := func(c candidate) bool {
		return slices.ContainsFunc(out, func(p pair) bool { return p.stated == c.stated || p.found == c.found })
	}
	for _, c := range all {
		if !taken(c) {
			out = append(out, c.pair)
		}
	}
	for s := range truth {
		if !slices.ContainsFunc(out, func(p pair) bool { return p.stated == s }) {
			out = append(out, pair{s, -1})
		}
	}
	return out
}

// compare counts the fields of a fact or of a row.
func (s *Score) compare(kind, prefix string, want, got map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		field := Field{kind, prefix + name}
		c := s.Fields[field]
		c.Stated++
		value, ok := got[name]
		switch {
		case !ok:
			c.Missing++
		case equal(name, value, want[name]):
			c.Right++
		}
		s.Fields[field] = c
		if ok && !equal(name, value, want[name]) {
			s.wrong(field, value, want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, stated := want[name]; !stated && (prefix == "" || name != "series") {
			s.wrong(Field{kind, prefix + name}, got[name], "")
		}
	}
}

// compareRows counts the fields of rows, which are in the order of the document.
func (s *Score) compareRows(kind string, want, got []map[string]string) {
	for n := range max(len(want), len(got)) {
		var stated, found map[string]string
		if n < len(want) {
			stated = want[n]
		}
		if n < len(got) {
			found = got[n]
		}
		s.compare(kind, "rows.", stated, found)
	}
}

func (s *Score) wrong(field Field, got, want string) {
	c := s.Fields[field]
	c.Wrong++
	s.Fields[field] = c
	line := fmt.Sprintf("%s %s: got %q, want %q", field.Kind, field.Name, got, want)
	if want == "" {
		line = fmt.Sprintf("%s %s: got %q, but the document states none", field.Kind, field.Name, got)
	}
	s.Mistakes = append(s.Mistakes, line)
}

// equal reports whether two values of a field are the same.
func equal(field, got, want string) bool {
	switch {
	case got == want:
		return true
	case disclosure.IsDecimal(got) && disclosure.IsDecimal(want):
		return disclosure.CompareDecimals(got, want) == 0
	case field == "rating" || got == "":
		return false
	case want[0] >= '0' && want[0] <= '9': // a day, perhaps with the time
		return strings.Replace(want, "T", " ", 1) == strings.Replace(got, "T", " ", 1)
	}
	return bareName(got) == bareName(want)
}

// forms of address, which are no part of a name.
var forms = []string{"d.", "d.ª", "dª", "dña.", "don", "doña", "sr.", "sra.", "mr", "mr.", "ms", "ms.", "mrs", "mrs."}

// bareName returns a name in small letters without forms of address.
func bareName(name string) string {
	parts := strings.Fields(strings.ToLower(name))
	for len(parts) > 1 && slices.Contains(forms, parts[0]) {
		parts = parts[1:]
	}
	return strings.Join(parts, " ")
}
