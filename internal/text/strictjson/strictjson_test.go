package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pregon/internal/text/strictjson"
)

// FuzzDecode compares DecodeKeeping with encoding/json.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"id":"\ud800","params":{"_meta":{"a":[1,2.5e3,null,true]}}}`, ` {"id" : 9007199254740993 ,"a":false} `,
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":[1,],}`, `{"a":1}{}`, `[[]]`, `{"id":-0}`, `{"":{"":{}}}`, "{\"a\":\"\xff\"}", "\"\x01\"", `nul`, `{"a" 1}`, `01`, `-`, `1.`, `"a`, `"\"`, `"\x"`, `{`, `[1 2]`, ``,
		strings.Repeat("[", 64) + strings.Repeat("]", 64), strings.Repeat("[", 65) + strings.Repeat("]", 65), "\ufeff{}", "{}\x00",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, id, err := strictjson.DecodeKeeping(body, "id")
		valid := json.Valid(body) && utf8.Valid(body)
		if errors.Is(err, strictjson.ErrSyntax) == valid && (err == nil || errors.Is(err, strictjson.ErrSyntax)) {
			t.Fatalf("%q is valid: %v, but the error is %v", body, valid, err)
		}
		if err != nil {
			return
		}
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) { // cmp takes for ever with nested lists
			t.Errorf("%q is decoded as %v, want %v", body, got, want)
		}
		var parts map[string]json.RawMessage
		_ = json.Unmarshal(body, &parts)
		if !bytes.Equal(id, parts["id"]) {
			t.Errorf("the id is %s, want %s", id, parts["id"])
		}
	})
}

func TestBounds(t *testing.T) {
	many := "[" + strings.Repeat("0,", strictjson.MaxValues-2) + "0]"
	for body, want := range map[string]error{
		many: nil, "[0," + many[1:]: strictjson.ErrTooComplex,
		strings.Repeat("[", strictjson.MaxDepth) + strings.Repeat("]", strictjson.MaxDepth): nil, strings.Repeat("[", strictjson.MaxDepth+2): strictjson.ErrTooComplex,
	} {
		if _, err := strictjson.Decode([]byte(body)); !errors.Is(err, want) {
			t.Errorf("%.30s… of %d bytes: %v, want %v", body, len(body), err, want)
		}
	}
	var twice *strictjson.TwiceError
	if _, err := strictjson.Decode([]byte(`{"a":{"b":1,"b":2}}`)); !errors.As(err, &twice) || twice.Name != "b" {
		t.Error(err)
	}
}
