package httpserver

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClipKeepsCharactersWhole(t *testing.T) {
	for before := range utf8.UTFMax {
		got := clip("/" + strings.Repeat("x", before) + strings.Repeat("😀", 100))
		if !utf8.ValidString(got) || len(got) > 203 || !strings.HasSuffix(got, "😀…") {
			t.Errorf("%q", got)
		}
	}
	if got := clip(strings.Repeat("\x80", 300)); len(got) < 196 {
		t.Errorf("what is no text is cut to %d bytes", len(got))
	}
}
