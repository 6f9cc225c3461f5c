package statementtest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/sim/paper/statement"
	"pregon/internal/sim/paper/statement/statementtest"
)

type (
	fields = map[string]string
	counts = map[statementtest.Field]statementtest.Count
)

func stated(kind string, f fields, rows ...map[string]string) statement.Fact {
	return statement.Fact{Kind: kind, Fields: f, Rows: rows}
}

func found(kind disclosure.FactKind, f fields) disclosure.Fact {
	return disclosure.Fact{Kind: kind, Fields: f}
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		name  string
		truth []statement.Fact
		found []disclosure.Fact
		rows  [][]map[string]string
		want  counts
	}{
		{
			"equal in another notation",
			[]statement.Fact{stated("board", fields{"person": "Inés Gil", "role": "consejera", "effective": "2026-05-04"})},
			[]disclosure.Fact{found("board", fields{"person": "D.ª INÉS GIL", "role": "Consejera", "effective": "2026-05-04"})},
			nil,
			counts{
				{"board", "person"}:    {Stated: 1, Right: 1},
				{"board", "role"}:      {Stated: 1, Right: 1},
				{"board", "effective"}: {Stated: 1, Right: 1},
			},
		},
		{
			"numbers and times",
			[]statement.Fact{
				stated("meeting", fields{"first_call": "2026-05-04T12:00", "second_call": "2026-05-05T12:00"}),
				stated("capital", fields{"amount": "100.50", "price": "2.000"}),
			},
			[]disclosure.Fact{
				found("meeting", fields{"first_call": "2026-05-04 12:00", "second_call": "2026-05-05"}),
				found("capital", fields{"amount": "100.5", "price": "2.001"}),
			},
			nil,
			counts{
				{"meeting", "first_call"}:  {Stated: 1, Right: 1},
				{"meeting", "second_call"}: {Stated: 1, Wrong: 1},
				{"capital", "amount"}:      {Stated: 1, Right: 1},
				{"capital", "price"}:       {Stated: 1, Wrong: 1},
			},
		},
		{
			"missing, and a field that is not stated",
			[]statement.Fact{stated("rating", fields{"rating": "BBB-", "agency": "Fiel"})},
			[]disclosure.Fact{found("rating", fields{"rating": "bbb-", "outlook": "stable"})},
			nil,
			counts{
				{"rating", "rating"}:  {Stated: 1, Wrong: 1},
				{"rating", "agency"}:  {Stated: 1, Missing: 1},
				{"rating", "outlook"}: {Wrong: 1},
			},
		},
		{
			"a fact of another kind",
			[]statement.Fact{stated("suspension", fields{"action": "lifted"})},
			[]disclosure.Fact{found("dividend", fields{"form": "cash"})},
			nil,
			counts{
				{"suspension", "action"}: {Stated: 1, Missing: 1},
				{"dividend", "form"}:     {Wrong: 1},
			},
		},
		{
			"two of a kind in another order",
			[]statement.Fact{stated("dividend", fields{"gross_per_share": "0.1"}), stated("dividend", fields{"gross_per_share": "0.2"})},
			[]disclosure.Fact{
				found("dividend", fields{"gross_per_share": "0.20"}),
				found("dividend", fields{"gross_per_share": "0.10"}),
				found("dividend", fields{"gross_per_share": "0.10"}),
			},
			nil,
			counts{{"dividend", "gross_per_share"}: {Stated: 2, Right: 2, Wrong: 1}},
		},
		{
			"rows",
			[]statement.Fact{stated("securitisation_payment", fields{}, fields{"isin": "A", "interest": "1.0"}, fields{"isin": "B", "interest": "2"})},
			[]disclosure.Fact{found("securitisation_payment", fields{})},
			[][]map[string]string{{{"isin": "A", "interest": "1", "series": "X"}, {"isin": "B", "interest": "3"}, {"isin": "C"}}},
			counts{
				{"securitisation_payment", "rows.isin"}:     {Stated: 2, Right: 2, Wrong: 1},
				{"securitisation_payment", "rows.interest"}: {Stated: 2, Right: 1, Wrong: 1},
			},
		},
		{
			"rows that were left out, and rows that should have been",
			[]statement.Fact{stated("buyback_trades", nil, fields{"shares": "5"}), stated("securitisation_payment", nil)},
			[]disclosure.Fact{found("securitisation_payment", nil), found("buyback_trades", nil)},
			[][]map[string]string{{{"isin": "A"}}},
			counts{
				{"buyback_trades", "rows.shares"}:       {Stated: 1, Missing: 1},
				{"securitisation_payment", "rows.isin"}: {Wrong: 1},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := statementtest.Compare(test.truth, test.found, test.rows)
			if diff := cmp.Diff(test.want, got.Fields); diff != "" {
				t.Errorf("(-want +got) %s", diff)
			}
			wrong := 0
			for _, c := range got.Fields {
				wrong += c.Wrong
			}
			if wrong != len(got.Mistakes) {
				t.Errorf("got %d wrong values and the lines %q", wrong, got.Mistakes)
			}
		})
	}
}

// TestTruthIsRight compares documents with their own truth.
func TestTruthIsRight(t *testing.T) {
	var tally statementtest.Tally
	for d := range statement.Sample(168, 1) {
		var facts []disclosure.Fact
		var rows [][]map[string]string
		for _, f := range d.Facts {
			facts = append(facts, found(disclosure.FactKind(f.Kind), f.Fields))
			rows = append(rows, f.Rows)
		}
		tally.Add(d.Layout, d.Voice, statementtest.Compare(d.Facts, facts, rows))
	}
	total := tally.Total()
	if total.Right != total.Stated || total.Wrong+total.Missing != 0 || total.Stated < 500 || total.Share() != 100 {
		t.Errorf("got %+v, %q", total, tally.Mistakes)
	}
}

func TestTable(t *testing.T) {
	var tally statementtest.Tally
	truth := []statement.Fact{stated("rating", fields{"rating": "BBB-", "agency": "Fiel"})}
	tally.Add("letter", "one", statementtest.Compare(truth, []disclosure.Fact{found("rating", fields{"rating": "BBB"})}, nil))
	tally.Add("form", "two", statementtest.Compare(truth, []disclosure.Fact{found("rating", truth[0].Fields)}, nil))
	want := `2 documents    stated  right  missing  wrong  right %
all            4       2      1        1      50.0

rating         4       2      1        1      50.0

form           2       2      0        0      100.0
letter         2       0      1        1      0.0

rating form    2       2      0        0      100.0
rating letter  2       0      1        1      0.0

rating agency  2       1      1        0      50.0
rating rating  2       1      0        1      50.0`
	if diff := cmp.Diff(want, strings.TrimSpace(tally.String())); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
	if diff := cmp.Diff([]string{`one: rating rating: got "BBB", want "BBB-"`}, tally.Mistakes); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
	if got := tally.Kind("rating"); got != tally.Total() || tally.Layout("form").Right != 2 {
		t.Errorf("got %+v", got)
	}
	if got := tally.Field(statementtest.Field{Kind: "rating", Name: "agency"}); got.Missing != 1 {
		t.Errorf("got %+v", got)
	}
}
