package xls_test

import (
	"bytes"
	"strings"
	"testing"

	"pregon/internal/sim/paper/xls"
)

// What a reader makes of the files is tested with the reader, in document/extract/xls.

func TestSameBytes(t *testing.T) {
	sheets := []xls.Sheet{{Name: "A", Rows: [][]any{{"x", 0.49}, {"y", 2.547}}}, {Name: "B"}}
	first, err := xls.Book(sheets)
	if err != nil {
		t.Fatal(err)
	}
	second, err := xls.Book(sheets)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("the same sheets gave other bytes, %v", err)
	}
}

func TestRefused(t *testing.T) {
	many := make([]any, 1000)
	for n := range many {
		many[n] = 1.0 / 3
	}
	large := make([][]any, 600)
	for n := range large {
		large[n] = many
	}
	for _, test := range []struct {
		name   string
		sheets []xls.Sheet
		reason string
	}{
		{"no sheets", nil, "needs a sheet"},
		{"no name", []xls.Sheet{{}}, "name of a sheet"},
		{"a long name", []xls.Sheet{{Name: strings.Repeat("x", 32)}}, "name of a sheet"},
		{"many rows", []xls.Sheet{{Name: "A", Rows: make([][]any, 1<<16+1)}}, "at most 65536 rows"},
		{"a long text", []xls.Sheet{{Name: "A", Rows: [][]any{{strings.Repeat("x", 32_768)}}}}, "at most 32767 characters"},
		{"another type", []xls.Sheet{{Name: "A", Rows: [][]any{{1}}}}, "type int"},
		{"a large file", []xls.Sheet{{Name: "A", Rows: large}}, "bytes"},
	} {
		if _, err := xls.Book(test.sheets); err == nil || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s: got %v, want an error with %q", test.name, err, test.reason)
		}
	}
}
