package text_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"pregon/internal/text"
)

func FuzzAppendJSON(f *testing.F) {
	for _, s := range []string{"", "a", `"\/`, "ñ😀", "\x00\b\f\n\r\t\x1f\x7f", "<&>", "\u2028\u2029\u2030", "\xff a\xc3", "�", "\ufffd", "a\xe2\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got := string(text.AppendJSON([]byte("x"), s)) + "\n"; got != "x"+want.String() {
			t.Errorf("%q: got %s, want %s", s, got, want.String())
		}
	})
}
