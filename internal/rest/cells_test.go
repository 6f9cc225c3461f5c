package rest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pregon/internal/query"
	"pregon/internal/server/content"
)

// A number in a cell stays a number. Text that a spreadsheet would run gets an
// apostrophe.
func TestCells(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{nil, ""},
		{true, "true"},
		{json.Number("-5"), "-5"},
		{json.Number("9007199254740993"), "9007199254740993"},
		{"", ""},
		{"Banco, S.A.", "Banco, S.A."},
		{"a = b", "a = b"},
		{"oir-1", "oir-1"},
		{"-5", "'-5"},
		{"=1+1", "'=1+1"},
		{"+1", "'+1"},
		{"@SUM(A1)", "'@SUM(A1)"},
		{"\t=1", "'\t'=1"},
		{"\r=1", "'\r'=1"},
		{"\n=1", "'\n'=1"},
		{"\ttext", "'\ttext"},
		{"  =1", "'  =1"},
		{"\u00a0\u200b\ufeff=1", "'\u00a0\u200b\ufeff=1"},
		{"\x00=1", "'\x00=1"},
		{`"=1"`, `'"=1"`},
		{"＝1", "'＝1"},
		{"＋1", "'＋1"},
		{"－1", "'－1"},
		{"＠A1", "'＠A1"},
		{" ＝1", "' ＝1"},
		{"−1", "'−1"},
		{"'=1", "'=1"},
		{"a;=cmd|' /C calc'!A0;b", "a;'=cmd|' /C calc'!A0;b"},
		{`a; "=1`, `a; "'=1`},
		{";=1", ";'=1"},
		{"a\t=1", "a\t'=1"},
		{"a\r\n-1", "a\r\n'-1"},
		{"a; b-c", "a; b-c"},
		{[]any{}, ""},
		{[]any{"a", "=b", nil, json.Number("-2")}, "a; '=b; ; -2"},
	} {
		if got := (&rowWriter{}).cell(test.value); got != test.want {
			t.Errorf("cell(%#v) is %q, want %q", test.value, got, test.want)
		}
	}
}

// Numbers have a decimal comma in the Spanish dialect, and texts stay as they are.
func TestDecimalComma(t *testing.T) {
	w := &rowWriter{dialect: content.SpanishCSV}
	for _, test := range []struct {
		value any
		want  string
	}{
		{json.Number("1.25"), "1,25"},
		{json.Number("-3"), "-3"},
		{"v1.25", "v1.25"},
		{[]any{json.Number("1.5"), "a.b"}, "1,5; a.b"},
	} {
		if got := w.cell(test.value); got != test.want {
			t.Errorf("the cell of %#v is %q, want %q", test.value, got, test.want)
		}
	}
}

func TestPrefersCSV(t *testing.T) {
	for _, test := range []struct {
		accept []string
		want   bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{"*/*"}, false},
		{[]string{"application/json"}, false},
		{[]string{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}, false},
		{[]string{"text/csv"}, true},
		{[]string{"Text/CSV; header=present"}, true},
		{[]string{"text/*"}, true},
		{[]string{"text/csv, */*"}, true},
		{[]string{"text/csv", "application/json;q=0.9"}, true},
		{[]string{"application/json;q=0.5, text/csv;q=0.6"}, true},
		{[]string{"application/json;q=0.6, text/csv;q=0.5"}, false},
		{[]string{"text/csv;q=0.5, */*"}, false},
		{[]string{"text/csv, application/json"}, false},
		{[]string{"text/*, application/*"}, false},
		{[]string{"text/csv;q=0"}, false},
		{[]string{"text/*;q=0.9, text/csv;q=0, application/json;q=0.1"}, false},
		{[]string{"text/csv;q=nonsense"}, false},
		{[]string{"image/png"}, false},
	} {
		if got := prefersCSV(test.accept); got != test.want {
			t.Errorf("Accept %q: %t, want %t", test.accept, got, test.want)
		}
	}
}

// Every field of a filter is a column of webhooks.
func TestFilterColumns(t *testing.T) {
	fields := reflect.TypeFor[query.FilterBody]()
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		if !slices.Contains(webhookColumns, "filter."+name) {
			t.Errorf("filter.%s is not a column", name)
		}
	}
}
