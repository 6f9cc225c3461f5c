package text_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/text"
)

func TestWords(t *testing.T) {
	tests := map[string][]string{
		"":                                 nil,
		"  ,.- ":                           nil,
		"Telefónica, S.A.":                 {"telefonica", "sa"},
		"telefonica sa":                    {"telefonica", "sa"},
		"AENA, S.M.E., S.A.":               {"aena", "sme", "sa"},
		"Aena S. M. E.,S.A.U.":             {"aena", "sme", "sau"},
		"MIQUEL Y COSTAS & MIQUEL, S.A.":   {"miquel", "y", "costas", "miquel", "sa"},
		"ESPAÑA Núñez garçon Œuvre straße": {"espana", "nunez", "garcon", "oeuvre", "strasse"},
		"cafe\u0301 an\u0303o":             {"cafe", "ano"}, // decomposed
		"1.250.000,50 €":                   {"1", "250", "000", "50"},
		"A-69000016":                       {"a", "69000016"},
		"Plan A. Segundo":                  {"plan", "a", "segundo"},
		"nº 5 (1ª)":                        {"no", "5", "1a"},
		"\x00\xff\xfe":                     nil,
		"日本 ΑΒΓ":                           {"日本", "αβγ"},
	}
	for s, want := range tests {
		if diff := cmp.Diff(want, text.Words(s)); diff != "" {
			t.Errorf("Words(%q) (-want +got):\n%s", s, diff)
		}
	}
}

// TestWordsOfOneByte: a byte is a word if it is a letter or a digit, and in lower case.
func TestWordsOfOneByte(t *testing.T) {
	for c := range 256 {
		s := string([]byte{byte(c)})
		var want []string
		if isLetter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'; isLetter || '0' <= c && c <= '9' {
			want = []string{strings.ToLower(s)}
		}
		if diff := cmp.Diff(want, text.Words(s)); diff != "" {
			t.Errorf("Words(%q) (-want +got):\n%s", s, diff)
		}
		if diff := cmp.Diff(append([]string{"ab"}, want...), text.Words("ab "+s)); diff != "" {
			t.Errorf("Words(%q) (-want +got):\n%s", "ab "+s, diff)
		}
	}
}

func TestStem(t *testing.T) {
	for _, pair := range []string{
		"dividendo dividendos", "accion acciones", "ampliacion ampliaciones", "emision emisiones", "resultado resultados",
		"junta juntas", "balance balances", "base bases", "raiz raices", "mes meses", "plan planes", "informe informes",
		"interes intereses", "voz voces", "bono bonos", "nombramiento nombramientos", "consejero consejera",
	} {
		one, many, _ := strings.Cut(pair, " ")
		if text.Stem(one) != text.Stem(many) {
			t.Errorf("Stem(%q) = %q, Stem(%q) = %q, want them equal", one, text.Stem(one), many, text.Stem(many))
		}
	}
	for _, pair := range []string{"banco bonos", "sol sola", "2025 2024", "fusion fusibles"} {
		one, other, _ := strings.Cut(pair, " ")
		if text.Stem(one) == text.Stem(other) {
			t.Errorf("Stem(%q) = Stem(%q) = %q, want different stems", one, other, text.Stem(one))
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{"a", "-\"", "««»", "S.A.", "S. A. b", "\xff-\x00", "oir-40374", "İ\u0307ﬁ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if folded := text.Fold(s); text.Fold(folded) != folded {
			t.Errorf("Fold(%q) = %q, Fold of which = %q, want it unchanged", s, folded, text.Fold(folded))
		}
	})
}
