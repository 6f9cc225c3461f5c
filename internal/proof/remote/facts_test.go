package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
)

// TestSameFacts: the log has the hash of the rows and quotes that an answer has, so that
// they cannot be changed either.
func TestSameFacts(t *testing.T) {
	const fields = `"kind":"dividend","fields":{"form":"cash"}`
	const quote = `{"page":1,"quote":"en <efectivo>","before":"Se paga ","after":""}`
	detail := `[{"evidence":{"form":{"page":1,"quote":"en \u003cefectivo\u003e","before":"Se paga "}}}]`
	sum := sha256.Sum256([]byte(detail))
	hash := hex.EncodeToString(sum[:])
	decode := func(text string) (value any) {
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	for _, test := range []struct {
		given, expected string
		want            bool
	}{
		{`null`, `null`, true},
		{`[]`, `[]`, true},
		{`[]`, `null`, false},
		{`"x"`, `[]`, false},
		{`["x"]`, `[{` + fields + `}]`, false},
		{`[{` + fields + `}]`, `[{` + fields + `}]`, true},
		{`[{` + fields + `,"evidence":{"form":` + quote + `}}]`, `[{` + fields + `}]`, true},
		{`[{` + fields + `,"evidence":{"form":{"page":2,"quote":"en <efectivo>","before":"Se paga ","after":""}}}]`, `[{` + fields + `}]`, false},
		{`[{` + fields + `,"rows":[{"a":"b"}],"evidence":{"form":` + quote + `}}]`, `[{` + fields + `}]`, false},
		{`[{` + fields + `,"rows":7}]`, `[{` + fields + `}]`, false},
		{`[{"kind":"dividend","fields":{"form":"scrip"}}]`, `[{` + fields + `}]`, false},
	} {
		if got := sameFacts(decode(test.given), decode(test.expected), hash); got != test.want {
			t.Errorf("%s as the facts %s: %t, want %t", test.given, test.expected, got, test.want)
		}
	}
}
