package fact_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/document/fact"
	"pregon/internal/sim/paper/statement"
)

// score counts the values of facts: found as they are stated, missing, and wrong, which
// includes values that the document does not state.
type score struct {
	right, missing, wrong int
	problems              []string
}

func (s *score) add(other score) {
	s.right += other.right
	s.missing += other.missing
	s.wrong += other.wrong
	s.problems = append(s.problems, other.problems...)
}

// found returns the share of values that were found, in percent.
func (s *score) found() float64 {
	return 100 * float64(s.right) / float64(max(1, s.right+s.missing))
}

// stated is a fact as the author of a document states it.
type stated struct {
	kind   string
	fields map[string]string
	rows   []map[string]string
}

// compare scores the facts that were found in a document.
func compare(truth []stated, found []fact.Found) (s score) {
	left := slices.Clone(found)
	for _, want := range truth {
		best, most := -1, -1
		for n, f := range left {
			if string(f.Kind) != want.kind {
				continue
			}
			if equal := countEqual(want.fields, f.Fields); equal > most {
				best, most = n, equal
			}
		}
		if best < 0 {
			s.missing += len(want.fields)
			s.miss("%s is missing: %v", want.kind, want.fields)
			if len(want.rows) > 0 {
				s.missing++
			}
			continue
		}
		s.compareFields(want, left[best])
		left = slices.Delete(left, best, best+1)
	}
	for _, f := range left {
		s.wrong += len(f.Fields)
		s.miss("WRONG: %s is not stated: %v", f.Kind, f.Fields)
	}
	return s
}

func (s *score) miss(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

func (s *score) compareFields(want stated, got fact.Found) {
	for _, name := range slices.Sorted(maps.Keys(want.fields)) {
		text, ok := got.Fields[name]
		switch {
		case !ok:
			s.missing++
			s.miss("%s.%s is missing: %s", want.kind, name, want.fields[name])
		case sameValue(want.fields[name], text):
			s.right++
		default:
			s.wrong++
			s.miss("WRONG: %s.%s = %q, want %q; %q", want.kind, name, text, want.fields[name], got.Evidence[name].Text)
		}
	}
	for name, text := range got.Fields {
		if _, ok := want.fields[name]; !ok {
			s.wrong++
			s.miss("WRONG: %s.%s = %q is not stated; %q", want.kind, name, text, got.Evidence[name].Text)
		}
	}
	s.compareRows(want, got)
}

// compareRows counts the rows of a table as one value.
func (s *score) compareRows(want stated, got fact.Found) {
	switch {
	case len(want.rows) == 0 && len(got.Rows) == 0:
	case len(got.Rows) == 0:
		s.missing++
		s.miss("%s.rows are missing: %v", want.kind, want.rows)
	case slices.EqualFunc(want.rows, got.Rows, sameRow):
		s.right++
	default:
		s.wrong++
		s.miss("WRONG: %s.rows = %v, want %v", want.kind, got.Rows, want.rows)
	}
}

func sameRow(a, b map[string]string) bool {
	return len(a) == len(b) && countEqual(a, b) == len(a)
}

func countEqual(a, b map[string]string) (n int) {
	for name, text := range a {
		if other, ok := b[name]; ok && sameValue(text, other) {
			n++
		}
	}
	return n
}

// sameValue compares numbers by their value, and texts without regard to case.
func sameValue(a, b string) bool {
	if disclosure.IsDecimal(a) && disclosure.IsDecimal(b) {
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		return x.Cmp(y) == 0
	}
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

func truthOf(d *statement.Document) (truth []stated) {
	for _, f := range d.Facts {
		truth = append(truth, stated{f.Kind, f.Fields, f.Rows})
	}
	return truth
}

func inputOf(d *statement.Document) fact.Document {
	return fact.Document{
		Company:   d.Company,
		Title:     d.Title,
		Category:  d.Category,
		Language:  d.Language,
		Published: d.Day,
		Pages:     d.Pages(),
	}
}

// TestQuality measures the rules over documents of every kind and layout that the
// simulator writes, with the truth beside them.
func TestQuality(t *testing.T) {
	const documents = 2000
	byKind := map[string]*score{}
	for d := range statement.Sample(documents, 1) {
		s := compare(truthOf(&d), fact.Find(inputOf(&d)))
		if byKind[d.Kind] == nil {
			byKind[d.Kind] = new(score)
		}
		byKind[d.Kind].add(s)
		for _, p := range s.problems {
			if strings.HasPrefix(p, "WRONG") {
				t.Errorf("%s (%s, %s): %s", d.Voice, d.Layout, cmp.Or(d.Trap, "no trap"), p)
			}
		}
	}
	var all score
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		s := byKind[kind]
		all.add(*s)
		t.Logf("%-24s right %5d, missing %5d, wrong %3d: found %.1f %%", kind, s.right, s.missing, s.wrong, s.found())
	}
	t.Logf("%-24s right %5d, missing %5d, wrong %3d: found %.1f %%", "all", all.right, all.missing, all.wrong, all.found())
	if all.found() < 95 {
		t.Errorf("%.1f %% of the values were found, want at least 95", all.found())
	}
}
