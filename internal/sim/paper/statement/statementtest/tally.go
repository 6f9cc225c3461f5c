package statementtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// Tally adds up the scores of documents. The zero Tally is empty.
type Tally struct {
	Documents int
	Mistakes  []string // a line for each wrong value, with the name of its document
	counts    map[cell]Count
}

// cell is a field in documents of a layout.
type cell struct {
	Field
	layout string
}

// Add adds the score of a document, which has a layout and a name for messages.
func (t *Tally) Add(layout, document string, s Score) {
	if t.counts == nil {
		t.counts = map[cell]Count{}
	}
	t.Documents++
	for field, count := range s.Fields {
		c := t.counts[cell{field, layout}]
		c.add(count)
		t.counts[cell{field, layout}] = c
	}
	for _, line := range s.Mistakes {
		t.Mistakes = append(t.Mistakes, document+": "+line)
	}
}

// Total returns the count of all fields.
func (t *Tally) Total() Count { return t.sum(func(cell) string { return "" })[""] }

// Kind returns the count of the fields of a kind.
func (t *Tally) Kind(kind string) Count { return t.sum(func(c cell) string { return c.Kind })[kind] }

// Layout returns the count of the fields in documents of a layout.
func (t *Tally) Layout(layout string) Count {
	return t.sum(func(c cell) string { return c.layout })[layout]
}

// Field returns the count of a field.
func (t *Tally) Field(field Field) Count {
	return t.sum(func(c cell) string { return c.Kind + " " + c.Name })[field.Kind+" "+field.Name]
}

func (t *Tally) sum(group func(cell) string) map[string]Count {
	out := map[string]Count{}
	for at, count := range t.counts {
		c := out[group(at)]
		c.add(count)
		out[group(at)] = c
	}
	return out
}

var trailing = regexp.MustCompile(`(?m) +$`)

// String returns a table: the kinds, the layouts, the kinds in each layout, and the
// fields, each with the values that are stated, right, missing and wrong.
func (t *Tally) String() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%d documents\tstated\tright\tmissing\twrong\tright %%\n", t.Documents)
	for _, group := range []func(cell) string{
		func(cell) string { return "all" },
		func(c cell) string { return c.Kind },
		func(c cell) string { return c.layout },
		func(c cell) string { return c.Kind + " " + c.layout },
		func(c cell) string { return c.Kind + " " + c.Name },
	} {
		sums := t.sum(group)
		for _, name := range slices.Sorted(maps.Keys(sums)) {
			c := sums[name]
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.1f\n", name, c.Stated, c.Right, c.Missing, c.Wrong, c.Share())
		}
		fmt.Fprintln(w, strings.Repeat("\t", 5)) // a line without tabs would end the columns
	}
	w.Flush()
	return trailing.ReplaceAllString(out.String(), "")
}
