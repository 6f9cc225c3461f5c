package extract

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// sample is a text of testdata/languages.txt.
type sample struct{ language, text string }

func samples(t testing.TB) (out []sample) {
	t.Helper()
	file, err := os.ReadFile("testdata/languages.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		language, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue // a comment
		}
		out = append(out, sample{language, text})
	}
	return out
}

// least is how many of the texts of a language must be recognized. The others are
// too short.
var least = map[string]int{"es": 18, "ca": 14, "gl": 9, "eu": 12, "en": 18, "pt": 14, "fr": 16, "other": 57}

// TestLanguage detects the language of short texts, and of long ones, which are all
// texts of a language. A wrong language is worse than none.
func TestLanguage(t *testing.T) {
	all, right, long := map[string]int{}, map[string]int{}, map[string]string{}
	for _, s := range samples(t) {
		name, want := s.language, s.language
		if !slices.Contains(languages, name) {
			name, want = "other", ""
		}
		all[name]++
		long[s.language] += s.text + "\n"
		switch got := Language([]Page{{Text: s.text}}); got {
		case want:
			right[name]++
		case "":
		default:
			t.Errorf("%s: got %q, want %q or none: %s", s.language, got, want, s.text)
		}
	}
	for name, want := range least {
		t.Logf("%-5s %d of %d recognized, the others unknown", name, right[name], all[name])
		if right[name] < want {
			t.Errorf("%s: got %d of %d texts right, want %d", name, right[name], all[name], want)
		}
	}
	for language, text := range long {
		want := language
		if !slices.Contains(languages, language) {
			want = ""
		}
		if got := Language([]Page{{Text: text}}); got != want {
			t.Errorf("long text in %s: got %q, want %q", language, got, want)
		}
	}
}

// The list of languages and the clues must be in the same order.
func TestCluesAreInOrder(t *testing.T) {
	for i, want := range languages {
		if got := clues[i].language; got != want {
			t.Errorf("clues[%d]: got %s, want %s", i, got, want)
		}
	}
}
