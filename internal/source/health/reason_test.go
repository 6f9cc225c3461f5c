package health_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
)

// reasons has one reason for each code, with the sentence that clients of the API see.
var reasons = map[string]health.Reason{
	"status 503":          {Code: health.Failed, Params: health.Params{Detail: "status 503"}},
	"log: it is away":     {Code: health.StoreFailed, Params: health.Params{Part: "log", Detail: "it is away"}},
	"IP was not read yet": {Code: health.Unread, Params: health.Params{Type: disclosure.IP}},
	"neither the feed nor the list of OIR can be read": {
		Code:   health.Unreadable,
		Params: health.Params{Type: disclosure.OIR},
	},
	"it can be read, but lacks oir-7, which the list showed at 10:02:03; the list is read in its place": {
		Code:   health.Stale,
		Params: health.Params{Report: "oir-7", At: time.Date(2026, 11, 18, 9, 2, 3, 0, time.UTC)},
	},
	"it was not read for a while: more urgent requests take precedence": {Code: health.Overdue},
	"no process has read the source yet":                                {Code: health.NeverRead},
	"no process has read the source since":                              {Code: health.NotReadSince},
	"no process reads the source at present":                            {Code: health.NobodyReads},
	"another process begins to read the source":                         {Code: health.Takeover},
	"no process read the source":                                        {Code: health.NobodyRead},
}

// TestSentences: the sentences are part of the API.
func TestSentences(t *testing.T) {
	var tested []health.Code
	for want, r := range reasons {
		if got := r.Text(); got != want {
			t.Errorf("%s: got %q, want %q", r.Code, got, want)
		}
		tested = append(tested, r.Code)
	}
	slices.Sort(tested)
	if !slices.Equal(tested, health.Codes) {
		t.Errorf("got the codes %v, tested are %v", health.Codes, tested)
	}
}

// TestStoredReasons: a reason is the same after it was stored, also by a version that
// stored the sentence only, and by one with more codes.
func TestStoredReasons(t *testing.T) {
	since := time.Date(2026, 11, 18, 9, 3, 0, 0, time.UTC)
	for text, want := range reasons {
		want.Surface = "feed-ip"
		want.Since = since
		body, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		sameReason(t, string(body), want)
		earlier := `{"surface":"feed-ip","reason":"` + text + `","since":"2026-11-18T09:03:00Z"`
		if want.Code == health.StoreFailed { // it is never stored
			continue
		}
		sameReason(t, earlier+`}`, want)
		sameReason(t, earlier+`,"code":"of-another-version","params":{"part":"x"}}`, want)
	}
}

// sameReason expects that a stored reason is read as another.
func sameReason(t *testing.T, body string, want health.Reason) {
	t.Helper()
	var got health.Reason
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	same := got.Surface == want.Surface && got.Code == want.Code && got.Since.Equal(want.Since)
	if !same || got.Text() != want.Text() || got.Params.At.UTC() != want.Params.At {
		t.Errorf("%s: got %+v, want %+v", body, got, want)
	}
}

// TestEveryReasonHasACode reads the program: whatever makes a reason names its code.
func TestEveryReasonHasACode(t *testing.T) {
	made := 0
	for _, root := range []string{"../../../internal", "../../../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			program := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
			if err != nil || d.IsDir() || !program {
				return err
			}
			n, err := checkReasons(t, path)
			made += n
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if made < 5 {
		t.Errorf("found only %d places that make reasons: does this test still find the program?", made)
	}
}

// checkReasons expects that every reason that a file makes has a code, and returns how
// many there are.
func checkReasons(t *testing.T, path string) (made int, err error) {
	body, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(body), "Reason{") {
		return 0, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, body, parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	own := file.Name.Name == "health"
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		for _, one := range reasonLiterals(literal, own) {
			made++
			if !slices.ContainsFunc(one.Elts, setsCode) {
				t.Errorf("%s: this reason has no code", set.Position(one.Pos()))
			}
		}
		return true
	})
	return made, nil
}

// reasonLiterals returns the literals of reasons that a literal is or, as a list, has.
func reasonLiterals(literal *ast.CompositeLit, own bool) (out []*ast.CompositeLit) {
	if isReason(literal.Type, own) {
		if len(literal.Elts) > 0 {
			out = append(out, literal)
		}
		return out
	}
	list, ok := literal.Type.(*ast.ArrayType)
	if !ok || !isReason(list.Elt, own) {
		return nil
	}
	for _, e := range literal.Elts {
		if one, ok := e.(*ast.CompositeLit); ok && one.Type == nil {
			out = append(out, one)
		}
	}
	return out
}

// isReason reports whether an expression names the type health.Reason.
func isReason(e ast.Expr, own bool) bool {
	if name, ok := e.(*ast.Ident); ok {
		return own && name.Name == "Reason"
	}
	selector, ok := e.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Reason" {
		return false
	}
	name, ok := selector.X.(*ast.Ident)
	return ok && name.Name == "health"
}

// setsCode reports whether an element of a literal sets the field Code.
func setsCode(e ast.Expr) bool {
	field, ok := e.(*ast.KeyValueExpr)
	if !ok {
		return false
	}
	name, ok := field.Key.(*ast.Ident)
	return ok && name.Name == "Code"
}
