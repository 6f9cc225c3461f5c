package query_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/query"
)

func TestExplain(t *testing.T) {
	q, _, c := registers(t)
	s := c.Snapshot()
	out, err := q.Explain(t.Context(), s, query.List{Filter: disclosure.Filter{
		Search: `"junta general" results zzzz -fondo`,
		Widen:  true,
		Type:   disclosure.OIR,
	}})
	if err != nil {
		t.Fatal(err)
	}
	type count struct {
		text           string
		here, anywhere int
	}
	want := []count{{`"junta general"`, 2, 2}, {"results", 0, 1}, {"zzzz", 0, 0}}
	if len(out.Words) != len(want) || out.More != 0 || out.Rest == nil || *out.Rest != 2 {
		t.Fatalf("got %+v, want %d words, 2 reports that meet the rest", out, len(want))
	}
	for i, w := range out.Words {
		if got := (count{w.Text, w.Here, w.Anywhere}); got != want[i] {
			t.Errorf("word %d: got %+v, want %+v", i, got, want[i])
		}
	}
	if got := strings.Join(out.Words[1].Alternatives, " "); got != "resultados" {
		t.Errorf("the alternatives of results: got %q", got)
	}
}

// An explanation is bounded, whatever the search text has.
func TestExplainBounded(t *testing.T) {
	q, _, c := registers(t)
	words := strings.Fields("uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce")
	out, err := q.Explain(t.Context(), c.Snapshot(), query.List{Filter: disclosure.Filter{
		Search: strings.Join(words, " "),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Words) != 12 || out.More != 2 || out.Rest != nil {
		t.Errorf("got %d words and %d more, rest %v; want 12, 2 and none", len(out.Words), out.More, out.Rest)
	}
}

// If the conditions beside the words exclude everything, each is left out once, unless it is
// the only one.
func TestExplainConditions(t *testing.T) {
	q, _, c := registers(t)
	s := c.Snapshot()
	day := func(text string) disclosure.Day {
		d, ok := disclosure.ParseDay(text)
		if !ok {
			t.Fatal(text)
		}
		return d
	}
	all, err := q.Reports(t.Context(), s, query.List{Filter: disclosure.Filter{Type: disclosure.OIR}, Page: 1, Limit: 1})
	if err != nil || all.Total == 0 {
		t.Fatalf("got %d reports, %v", all.Total, err)
	}
	for name, test := range map[string]struct {
		filter disclosure.Filter
		want   []query.ConditionCount
	}{
		"two": {
			disclosure.Filter{Type: disclosure.OIR, To: day("1999-12-31")},
			[]query.ConditionCount{{Condition: "type", Count: 0}, {Condition: "from and to", Count: all.Total}},
		},
		"two and a word": {
			disclosure.Filter{Search: "zzzz", Type: disclosure.OIR, To: day("1999-12-31")},
			[]query.ConditionCount{{Condition: "type", Count: 0}, {Condition: "from and to", Count: all.Total}},
		},
		"one":          {disclosure.Filter{To: day("1999-12-31")}, nil},
		"only words":   {disclosure.Filter{Search: "zzzz"}, nil},
		"not excluded": {disclosure.Filter{Search: "zzzz", Type: disclosure.OIR, From: day("1999-12-31")}, nil},
	} {
		out, err := q.Explain(t.Context(), s, query.List{Filter: test.filter})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, out.Left); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
