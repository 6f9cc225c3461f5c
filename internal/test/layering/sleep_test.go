package layering_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNoSleeps: a test waits for a condition with waittest, or sleeps in a
// bubble of synctest, where time is simulated.
func TestNoSleeps(t *testing.T) {
	for dir, files := range testFiles(t) {
		if strings.HasSuffix(dir, "/waittest") {
			continue
		}
		for _, complaint := range sleeps(files) {
			t.Errorf("%s sleeps, want a condition: use waittest.For, or testing/synctest", filepath.Join(dir, complaint))
		}
	}
}

// testFiles returns the sources of tests by folder and file name.
func testFiles(t *testing.T) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	for _, root := range []string{"../../../cmd", "../../../internal"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			dir, name := filepath.Split(path)
			dir = filepath.Clean(dir)
			if err != nil || !strings.HasSuffix(name, ".go") || !strings.HasSuffix(name, "_test.go") && !forTests(dir) {
				return err
			}
			text, err := os.ReadFile(path)
			if out[dir] == nil {
				out[dir] = map[string]string{}
			}
			out[dir][name] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// function is what the check knows of a function: which others it calls, by
// name alone, and whether it sleeps or starts a bubble.
type function struct {
	name, file      string
	calls           map[string]bool
	sleeps, bubbled bool
}

// sleeps names the functions of a package that sleep outside of a bubble. A
// function is in a bubble if it starts one, itself or through another, or if
// all that call it are.
func sleeps(files map[string]string) []string {
	var all []*function
	for name, text := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			return []string{err.Error()}
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				all = append(all, read(name, f))
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, f := range all {
			starts := slices.ContainsFunc(all, func(g *function) bool { return g.bubbled && f.calls[g.name] })
			if !f.bubbled && (starts || inBubble(f, all)) {
				f.bubbled, changed = true, true
			}
		}
	}
	var found []string
	for _, f := range all {
		if f.sleeps && !f.bubbled {
			found = append(found, f.file+": "+f.name)
		}
	}
	slices.Sort(found)
	return found
}

// inBubble reports whether a function is called, and only from bubbles.
func inBubble(f *function, all []*function) bool {
	called := false
	for _, g := range all {
		if g != f && g.calls[f.name] {
			if called = true; !g.bubbled {
				return false
			}
		}
	}
	return called
}

// read finds the calls of a function.
func read(file string, decl *ast.FuncDecl) *function {
	f := &function{name: decl.Name.Name, file: file, calls: map[string]bool{}}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			f.calls[n.Name] = true // also one that is passed on
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				f.sleeps = f.sleeps || x.Name == "time" && n.Sel.Name == "Sleep"
				f.bubbled = f.bubbled || x.Name == "synctest" && (n.Sel.Name == "Test" || n.Sel.Name == "Wait")
			}
		}
		return true
	})
	return f
}

// The check must be able to fail.
func TestSleeps(t *testing.T) {
	for name, test := range map[string]struct{ code, want string }{
		"plain":             {`func TestX() { time.Sleep(1) }`, "x_test.go: TestX"},
		"in a bubble":       {`func TestX() { synctest.Test(t, func(){ time.Sleep(1) }) }`, ""},
		"called in bubbles": {`func TestX() { synctest.Test(t, func(){ y() }) }; func y() { time.Sleep(1) }`, ""},
		"called elsewhere":  {`func TestX() { synctest.Test(t, func(){ y() }) }; func TestZ() { y() }; func y() { time.Sleep(1) }`, "x_test.go: y"},
		"starts a bubble":   {`func TestX() { in(func(){ time.Sleep(1) }) }; func in(f func()) { synctest.Test(t, f) }`, ""},
	} {
		got := strings.Join(sleeps(map[string]string{"x_test.go": "package x\n" + test.code}), ", ")
		if got != test.want {
			t.Errorf("%s: found %q, want %q", name, got, test.want)
		}
	}
}
