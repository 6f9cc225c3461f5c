package layering_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestLogFields compares the fields of all log lines with the table in
// docs/metrics.md.
func TestLogFields(t *testing.T) {
	used := map[string]string{} // the first place, by field
	for _, root := range []string{"../../../cmd", "../../../internal"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || forTests(filepath.Dir(path)) {
				return err
			}
			return logFields(path, used)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	documented := documentedFields(t)
	conventional := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	for field, place := range used {
		if !conventional.MatchString(field) {
			t.Errorf("%s: the log field %q is not in lower case with underscores", place, field)
		}
		if !documented[field] {
			t.Errorf("%s: the log field %q is not in docs/metrics.md: use a field that is, or add it", place, field)
		}
	}
	for field := range documented {
		if used[field] == "" {
			t.Errorf("docs/metrics.md has the log field %q, which no line uses", field)
		}
	}
}

func documentedFields(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "\n## Log fields\n")
	if !ok {
		t.Fatal("docs/metrics.md has no table of log fields")
	}
	out := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]+) \\|").FindAllStringSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			out[name[1]] = true
		}
	}
	return out
}

var (
	// logging are the methods whose arguments after the message are fields.
	logging = map[string]int{
		"Debug": 1, "Info": 1, "Warn": 1, "Error": 1, "Failed": 1, "Recovered": 1,
		"DebugContext": 2, "InfoContext": 2, "WarnContext": 2, "ErrorContext": 2, "Log": 3,
	}
	attributes = map[string]bool{"String": true, "Int": true, "Int64": true, "Uint64": true, "Bool": true, "Any": true, "Duration": true, "Float64": true, "Time": true}
	// encoded are the methods of the encoder of requests.
	encoded = map[string]bool{"text": true, "number": true, "seconds": true, "address": true}
)

// logFields adds the names of the fields in a file. It knows calls by their names
// alone: a method of a logger with a constant message and field, an attribute of
// log/slog, and the lists attrs and append(attrs, "field", value).
func logFields(path string, used map[string]string) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, 0)
	if err != nil {
		return err
	}
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if name, err := strconv.Unquote(lit.Value); err == nil && used[name] == "" {
				used[name] = fset.Position(lit.Pos()).String()
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if set, ok := n.(*ast.AssignStmt); ok && exprName(set.Lhs[0]) == "attrs" {
			if list, ok := set.Rhs[0].(*ast.CompositeLit); ok {
				for i := 0; i+1 < len(list.Elts); i += 2 {
					add(list.Elts[i])
				}
			}
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if appended, ok := call.Fun.(*ast.Ident); ok && appended.Name == "append" && len(call.Args) > 2 && strings.Contains(exprName(call.Args[0]), "attrs") {
			for i := 1; i+1 < len(call.Args); i += 2 {
				add(call.Args[i])
			}
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		receiver := exprName(selector.X)
		switch first, logs := logging[selector.Sel.Name]; {
		case receiver == "slog" && attributes[selector.Sel.Name], receiver == "e" && encoded[selector.Sel.Name] && strings.HasSuffix(path, "telemetry/request.go"):
			add(call.Args[0])
		case logs && receiver != "t" && receiver != "math" && receiver != "http":
			for i := first; i+1 < len(call.Args); i += 2 {
				add(call.Args[i])
			}
		}
		return true
	})
	return nil
}

// exprName returns the last name of an expression such as s.log.
func exprName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.SliceExpr:
		return exprName(e.X)
	}
	return ""
}
