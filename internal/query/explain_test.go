package query_test

import (
	"strings"
	"testing"

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
