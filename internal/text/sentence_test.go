package text_test

import (
	"testing"

	"pregon/internal/text"
)

func TestSentence(t *testing.T) {
	for clause, want := range map[string]string{
		"": "", "a": "A.", "no key": "No key.", "No key.": "No key.", "ésta no": "Ésta no.", "8 keys": "8 keys.", ".": "..",
	} {
		if got := text.Sentence(clause); got != want {
			t.Errorf("%q becomes %q, want %q", clause, got, want)
		}
	}
}
