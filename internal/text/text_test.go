package text_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pregon/internal/text"
)

func TestInvisible(t *testing.T) {
	invisible := map[string]string{
		"control characters":        "\x00\x01\x08\x0b\x1b\x7f\u0080\u0085\u009f",
		"soft hyphen":               "\u00ad",
		"zero-width":                "\u200b\u200c\u200d\u2060\ufeff",
		"writing direction":         "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
		"invisible operators":       "\u2061\u2062\u2063\u2064",
		"interlinear annotation":    "\ufff9\ufffa\ufffb",
		"fillers":                   "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",
		"variation selectors":       "\u180b\u180f\ufe00\ufe0f\U000e0100\U000e01ef",
		"tags":                      "\U000e0001\U000e0020\U000e0041\U000e007f",
		"private use":               "\ue000\uf8ff\U000f0000\U0010fffd",
		"noncharacters":             "\ufdd0\ufffe\uffff\U0010ffff",
		"unassigned":                "\u0378\U000e0fff",
		"musical format characters": "\U0001d173\U0001d17a",
	}
	for name, characters := range invisible {
		for _, c := range characters {
			if !text.Invisible(c) {
				t.Errorf("%s: Invisible(%U) = false, want true", name, c)
			}
		}
	}
	for _, c := range " \n\t\r\fazAZ09~ñÑáÿÀ€«»…—•\u00a0\u2028日Ж🏛\u0301\ufffd" {
		if text.Invisible(c) {
			t.Errorf("Invisible(%U) = true, want false", c)
		}
	}
}

// The shortcuts of Invisible must agree with the Unicode tables.
func TestInvisibleAgreesWithUnicode(t *testing.T) {
	for c := rune(0); c <= unicode.MaxRune; c++ {
		hidden := unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Noncharacter_Code_Point,
			unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
		if hidden && !text.Invisible(c) && !strings.ContainsRune("\n\t\r\f", c) {
			t.Errorf("Invisible(%U) = false, want true", c)
		}
	}
}

func TestClip(t *testing.T) {
	for _, test := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 0, ""},
		{"año", 3, "año"},
		{"año", 4, "año"},
		{"años", 3, "año…"},
		{"ñ", 0, "…"},
		{"😀😀😀", 2, "😀😀…"},
		{"\x80\x80\x80", 2, "\x80\x80…"},
	} {
		if got := text.Clip(test.s, test.n); got != test.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", test.s, test.n, got, test.want)
		}
	}
}

func TestClipBytes(t *testing.T) {
	for before := range utf8.UTFMax {
		got := text.ClipBytes(strings.Repeat("x", before)+strings.Repeat("😀", 100), 200)
		if !utf8.ValidString(got) || len(got) > 203 || !strings.HasSuffix(got, "😀…") {
			t.Errorf("ClipBytes with %d bytes before = %q, want at most 200 bytes, whole characters and an ellipsis", before, got)
		}
	}
	if got := text.ClipBytes("año", 4); got != "año" {
		t.Errorf("ClipBytes(%q, 4) = %q, want it whole", "año", got)
	}
}

func TestPrefix(t *testing.T) {
	for _, test := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 0, ""},
		{"año", 0, ""},
		{"año", 1, "a"},
		{"año", 2, "a"},
		{"año", 3, "añ"},
		{"año", 9, "año"},
		{"😀", 3, ""},
		{strings.Repeat("\x80", 9), 6, strings.Repeat("\x80", 6)}, // no UTF-8: cut anywhere
		{strings.Repeat("\x80", 9), 2, strings.Repeat("\x80", 2)},
	} {
		if got := text.Prefix(test.s, test.n); got != test.want {
			t.Errorf("Prefix(%q, %d) = %q, want %q", test.s, test.n, got, test.want)
		}
	}
}
