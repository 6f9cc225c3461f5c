package render

import (
	"strings"
	"testing"
	"testing/fstest"
)

// A table that a translator broke is refused when the program starts, with the name of
// the file and of the key.
func TestReadTexts(t *testing.T) {
	for _, test := range []struct{ table, want string }{
		{`{"a": {"es": "uno %s", "en": "one %s"}, "b": {"es": "100 %", "en": "100%"}}`, ""},
		{`{"a": {"es": "uno"}}`, `"a" lacks a language`},
		{`{"a": {"es": "uno %s", "en": "one %d"}}`, `"a" has the parameters ["%s"] in Spanish and ["%d"] in English`},
		{`{"a": {"es": "uno %s", "en": "one"}}`, `"a" has the parameters`},
		{`{"a": {"es": "uno", "en": "one"}, "a": {"es": "dos", "en": "two"}}`, `another text "a"`},
		{`{"taken": {"es": "uno", "en": "one"}}`, `another text "taken"`},
		{`{"a": {"es": "uno", "en": "one", "fr": "un"}}`, `unknown field "fr"`},
		{`{"a": "uno"}`, `"a"`},
		{`["a"]`, "not a JSON object"},
		{``, "not a JSON object"},
		{`{} {}`, "something follows"},
		{`{"a": {"es": "uno", "en": "one"}`, "EOF"},
	} {
		folder := fstest.MapFS{
			"texts/a.json": {Data: []byte(`{"taken": {"es": "x", "en": "x"}}`)},
			"texts/b.json": {Data: []byte(test.table)},
		}
		_, err := ReadTexts(folder)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.table, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "texts/b.json")):
			t.Errorf("%s: got %v, want an error with the name of the file and %q", test.table, err, test.want)
		}
	}
}
