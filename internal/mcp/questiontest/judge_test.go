package questiontest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/text"
)

// group is some texts, of which an answer must have at least so many.
type group struct {
	of    []string
	least int
}

// demand is what an answer must have. Without groups, rows and says, the right answer is
// that there is nothing.
type demand struct {
	groups []group
	rows   []row
	says   []string // which an empty answer must have too
	only   []string // if not nil, the ids of reports that the answer may have
	first  []string // ids of reports that come before all others
}

// row is what one line of an answer must have: of each element, one of its texts.
type row [][]string

// add adds texts of which the answer must have one.
func (d *demand) add(oneOf ...string) { d.groups = append(d.groups, group{oneOf, 1}) }

// addRow adds texts that one line of the answer must have together.
func (d *demand) addRow(all ...string) {
	var r row
	for _, one := range all {
		r = append(r, []string{one})
	}
	d.rows = append(d.rows, r)
}

// addTotal adds the number of things that the answer must give, beside a word for what
// they are: a number alone is in every answer by chance.
func (d *demand) addTotal(n int) {
	d.add(
		fmt.Sprintf("of %d", n),
		fmt.Sprintf("%d report", n),
		fmt.Sprintf("%d reports", n),
		fmt.Sprintf("%d notice", n),
		fmt.Sprintf("%d notices", n),
		fmt.Sprintf("%d found", n),
	)
}

// has reports whether a folded text has the words of another text one after another.
func has(folded, words string) bool {
	return strings.Contains(" "+folded+" ", " "+text.Fold(words)+" ")
}

// in reports whether a folded line has all of a row.
func (r row) in(folded string) bool {
	for _, oneOf := range r {
		if !slices.ContainsFunc(oneOf, func(s string) bool { return has(folded, s) }) {
			return false
		}
	}
	return true
}

// mostShown is the number of characters of an answer that a failure shows.
const mostShown = 700

// judge compares the text of an answer with what it must have. An error is never right.
func judge(want demand, got reply) verdict {
	wrong := func(format string, values ...any) verdict {
		shown := strings.ReplaceAll(text.Clip(got.text, mostShown), "\n", " / ")
		return verdict{why: fmt.Sprintf(format, values...) + ": " + shown}
	}
	nothing := len(want.groups) == 0 && len(want.rows) == 0
	switch {
	case got.err != nil:
		return verdict{why: "an error: " + got.err.Error(), falseZero: got.empty && !nothing}
	case nothing && len(want.says) == 0 && !got.empty:
		return wrong("the right answer is that there is none")
	case !nothing && got.empty:
		v := wrong("an empty answer, want %v %q", want.groups, want.rows)
		v.falseZero = true
		return v
	}
	folded := text.Fold(got.text)
	for _, s := range want.says {
		if !has(folded, s) {
			return wrong("the answer does not say %q", s)
		}
	}
	for _, g := range want.groups {
		found := 0
		for _, s := range g.of {
			if has(folded, s) {
				found++
			}
		}
		if found < g.least {
			return wrong("the answer has %d of %q, want %d", found, g.of[:min(len(g.of), 3)], g.least)
		}
	}
	lines := strings.Split(strings.ReplaceAll(got.text, "},{", "},\n{"), "\n") // of a list as JSON too
	for n := range lines {
		lines[n] = text.Fold(lines[n])
	}
	for _, r := range want.rows {
		if !slices.ContainsFunc(lines, r.in) {
			return wrong("no line has %q", r)
		}
	}
	return order(want, got, wrong)
}

// order checks which reports an answer has, and which come first.
func order(want demand, got reply, wrong func(string, ...any) verdict) verdict {
	ids := distinct(reportID.FindAllString(got.text, -1))
	for n, id := range ids {
		if want.only != nil && !slices.Contains(want.only, id) {
			return wrong("%s is not right", id)
		}
		if n < len(want.first) && id != want.first[n] {
			return wrong("%s comes before %s", id, want.first[n])
		}
	}
	return verdict{right: true}
}

// distinct returns the first of each of some texts.
func distinct(all []string) (out []string) {
	for _, s := range all {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// The judge must be able to find fault.
func TestJudge(t *testing.T) {
	want := demand{first: []string{"oir-1"}}
	want.add("oir-1")
	want.add("37300000", "37,3 millones")
	for _, test := range []struct {
		answer           string
		empty            bool
		right, falseZero bool
	}{
		{"oir-1: 37,3 millones de euros", false, true, false},
		{"oir-1 37300000, oir-2", false, true, false},
		{"oir-2, oir-1 37300000", false, false, false},
		{"oir-11: 37,3 millones de euros", false, false, false},
		{"oir-1", false, false, false},
		{"No report here (0 found in all).", true, false, true},
	} {
		got := judge(want, reply{text: test.answer, empty: test.empty})
		if got.right != test.right || got.falseZero != test.falseZero {
			t.Errorf("%q: got %+v", test.answer, got)
		}
	}
	if want.only = []string{"oir-1"}; judge(want, reply{text: "oir-1 37300000, oir-2"}).right {
		t.Error("a report too many is not found")
	}
	if !judge(demand{}, reply{text: "No report here", empty: true}).right || judge(demand{}, reply{text: "oir-1"}).right {
		t.Error("an empty truth is judged wrongly")
	}
	says := demand{says: []string{"no prices"}}
	if !judge(says, reply{text: "There are no prices here", empty: true}).right || judge(says, reply{text: "1.25"}).right {
		t.Error("what an answer must say is judged wrongly")
	}
}

// What belongs together must be on one line.
func TestJudgeRows(t *testing.T) {
	var want demand
	want.addRow("oir-1", "0.25")
	want.addRow("oir-2", "0.5")
	for answer, right := range map[string]bool{
		"- oir-1: 0.25\n- oir-2: 0.5":                     true,
		"- oir-1: 0.5\n- oir-2: 0.25":                     false,
		"- oir-1: 0.25":                                   false,
		`[{"id":"oir-1","x":0.25},{"id":"oir-2 0.5"}]`:    true,
		`[{"id":"oir-1","x":0.5},{"id":"oir-2 0.25"}]`:    false,
		"- oir-1: 10.25 and 0.255\n- oir-2: 0.5 and 0.25": false,
	} {
		if got := judge(want, reply{text: answer}); got.right != right {
			t.Errorf("%q: got %+v", answer, got)
		}
	}
	if !judge(want, reply{empty: true}).falseZero {
		t.Error("a false zero is not found")
	}
}

// An error is not an answer, whatever its text.
func TestJudgeErrors(t *testing.T) {
	var want demand
	want.add("oir-1")
	for _, truth := range []demand{want, {}} {
		got := judge(truth, reply{err: fault.New(fault.Invalid, "Unknown issuer: did you mean oir-1?")})
		if got.right || got.falseZero {
			t.Errorf("got %+v, want an error to be wrong", got)
		}
	}
	if !judge(want, reply{err: fault.New(fault.NotFound, "There is no such report."), empty: true}).falseZero {
		t.Error("an error that says that there is nothing is a false zero")
	}
}

func TestPlaceholders(t *testing.T) {
	for s, want := range map[string]string{
		"{today}":       "2026-11-19",
		"{today-7}":     "2026-11-12",
		"{today+30}":    "2026-12-19",
		"{last_monday}": "2026-11-09",
		"{first.ID}":    "{first.ID}",
		"no {day}":      "no {day}",
	} {
		if got := placeholders(s); got != want {
			t.Errorf("%s: got %s, want %s", s, got, want)
		}
	}
}
