package search_test

import (
	"fmt"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// marked returns a text with its matches in brackets.
func marked(query, s string) string {
	var b strings.Builder
	at := 0
	for _, span := range search.Highlight(query, s) {
		b.WriteString(s[at:span.From] + "[" + s[span.From:span.To] + "]")
		at = span.To
	}
	return b.String() + s[at:]
}

func TestHighlight(t *testing.T) {
	tests := []struct{ query, text, want string }{
		{"dividendo", "Pago de dividendos. Dividendo: 1 €", "Pago de [dividendos]. [Dividendo]: 1 €"},
		{"accion", "¡ACCIÓN, acciones y reacción!", "¡[ACCIÓN], [acciones] y reacción!"},
		{"acciónes", "acción accio\u0301n", "[acción] [accio\u0301n]"},
		{"nandu", "El ñandú", "El [ñandú]"},
		{"divid pago", "dividendos pagos", "dividendos [pagos]"},
		{"pago divid", "dividendos pagos", "[dividendos] [pagos]"},
		{"\"junta general\"", "la Junta  General; juntas generales, junta", "la [Junta  General]; juntas generales, junta"},
		{"junta general", "Junta general", "[Junta] [general]"},
		{"\"a b\" \"b c\"", "a b c b c", "[a b c] [b c]"},
		{"sa", "X, S. A., y SA", "X, [S. A]., y [SA]"},
		{"teleferica s.a.", "Teleférica, S.A.", "[Teleférica], S.A."},
		{"-junta pago", "junta pago", "junta [pago]"},
		{"A-69000016", "NIF A-69000016 o A69000016", "NIF [A-69000016] o A69000016"},
		{"***", "***", "***"},
		{"", "texto", "texto"},
		{"texto", "", ""},
		{"x", "\xffx\xff", "\xff[x]\xff"},
	}
	for _, tt := range tests {
		if got := marked(tt.query, tt.text); got != tt.want {
			t.Errorf("%q in %q: got %q, want %q", tt.query, tt.text, got, tt.want)
		}
	}
	var many strings.Builder
	for i := range 64 {
		fmt.Fprintf(&many, "w%d ", i)
	}
	if got, want := marked(many.String()+"junta", "junta w63"), "junta [w63]"; got != want {
		t.Errorf("a query of 65 words: got %q, want %q", got, want)
	}
}

// FuzzHighlight checks that spans are in order and within the text, and that a
// matching title has one.
func FuzzHighlight(f *testing.F) {
	for _, s := range []string{"a b", "\"a b\" c", "S. A.", "-x y", "\xff", "e\u0301"} {
		f.Add(s, "a b c S.A. \xff \u0301e\u0301 y")
	}
	f.Fuzz(func(t *testing.T, query, s string) {
		last := 0
		spans := search.Highlight(query, s)
		for _, span := range spans {
			if span.From < last || span.To <= span.From || span.To > len(s) {
				t.Fatalf("%q in %q: unexpected spans %v", query, s, spans)
			}
			last = span.To
		}
		all, _ := search.Parse(query).Wanted()
		r := &disclosure.Report{Title: s}
		if len(spans) == 0 && len(all) > 0 && len(all) < 64 && len(all[0].Words) < 64 && !strings.ContainsAny(query, "0123456789") {
			if search.Compile(disclosure.Filter{Search: query}).Match(search.NewDirectory(nil).Analyze(r)) {
				t.Errorf("%q matches %q without a span", query, s)
			}
		}
	})
}
