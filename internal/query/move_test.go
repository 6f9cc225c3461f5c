package query_test

import (
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/query"
)

func TestMoves(t *testing.T) {
	q, _, c := registers(t)
	s := c.Snapshot()
	for _, c := range []struct {
		kind  disclosure.PositionKind
		query string
		want  string
	}{
		{disclosure.Short, "", "2026-02-04 2026-03-05: short-es0sim000028-2026-03-05-1 short-es0sim000010-2026-03-04-2 short-es0sim000010-2026-03-04-1"},
		{disclosure.Short, "issuer=bvb&to=2026-02-28", "2026-01-30 2026-02-28: short-es0sim000010-2026-02-02-1"},
		{disclosure.Holding, "from=2025-11-01", "2025-11-01 2026-01-16: holding-2026000103 holding-2026000101 holding-2026000102"},
		{disclosure.Dealing, "", "2026-02-01 2026-03-02: dealing-2026000123 dealing-2026000122"},
		{disclosure.Dealing, "side=buy&issuer=ANB", "2026-02-01 2026-03-02: "},
	} {
		p := query.ParseQuery(c.query)
		l := p.PositionList(s, c.kind)
		if err := p.Err(); err != nil {
			t.Fatal(err)
		}
		found, err := q.Moves(t.Context(), s.Positions(), l, 10)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, m := range found.Moves {
			ids = append(ids, m.Entry.ID())
		}
		if got := found.From.String() + " " + found.To.String() + ": " + strings.Join(ids, " "); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.kind, c.query, got, c.want)
		}
	}
}
