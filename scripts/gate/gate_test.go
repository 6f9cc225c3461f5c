package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module writes a module with tests and returns its directory.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.org/tested\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const testFile = `package x

import (
	"os"
	"testing"
)

func TestGood(t *testing.T) {}

// TestOnce fails at the first run only.
func TestOnce(t *testing.T) {
	if _, err := os.Stat("seen"); err != nil {
		os.WriteFile("seen", nil, 0o600)
		t.Run("part", func(t *testing.T) { t.Fatal("too early") })
	}
}
`

// TestSuite runs suites of a small module: what fails, what is printed, and what is run
// again.
func TestSuite(t *testing.T) {
	for _, test := range []struct {
		name  string
		file  string
		want  string // a part of the final error, or nothing
		print []string
	}{
		{
			"passes at the second run",
			testFile,
			"",
			[]string{
				"ok     example.org/tested TestGood",
				"FAIL   example.org/tested TestOnce/part",
				"too early",
				"once more: example.org/tested TestOnce",
				"passed at the second try only: example.org/tested TestOnce",
			},
		},
		{
			"always fails",
			"package x\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Error(\"wrong\") }\n",
			"example.org/tested TestBad failed",
			[]string{"once more: example.org/tested TestBad"},
		},
		{
			"panics",
			"package x\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { panic(\"broken\") }\n",
			"its output has panic:",
			[]string{"panic: broken"},
		},
		{
			"does not build",
			"package x\n\nfunc helper() { missing() }\n",
			"it failed outside its tests",
			[]string{"undefined: missing"},
		},
		{
			"passes",
			"package x\n\nimport \"testing\"\n\nfunc TestGood(t *testing.T) {}\n",
			"",
			[]string{"ok     example.org/tested "},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			r := &report{out: &out}
			s := suite{
				name:     "tests",
				dir:      module(t, map[string]string{"x_test.go": test.file}),
				env:      append(static, "GOFLAGS=-mod=mod"),
				packages: []string{"./..."},
				each:     true,
			}
			err := runAll(t.Context(), r, []phase{{{s.step()}}})
			if test.want == "" && err != nil {
				t.Errorf("got %v, want no error", err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			for _, want := range test.print {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not printed:\n%s", want, &out)
				}
			}
			again := strings.Contains(out.String(), "once more")
			if want := slices.ContainsFunc(test.print, func(s string) bool { return strings.HasPrefix(s, "once more") }); again != want {
				t.Errorf("run again: %t, want %t", again, want)
			}
		})
	}
}

// TestLanes: a failed step ends its lane, the other lanes and the phases after it.
func TestLanes(t *testing.T) {
	var out bytes.Buffer
	r := &report{out: &out}
	broken := errors.New("broken")
	ended := false
	err := runPhases(t.Context(), r, []phase{
		{
			{
				{"first", func(context.Context, *report) error { return broken }},
				{"second", func(context.Context, *report) error { t.Error("the second step ran"); return nil }},
			},
			{
				{"other", func(ctx context.Context, _ *report) error { <-ctx.Done(); ended = true; return ctx.Err() }},
			},
		},
		{{{"later", func(context.Context, *report) error { t.Error("the next phase began"); return nil }}}},
	})
	if !errors.Is(err, broken) || !ended {
		t.Errorf("got %v, the other lane ended: %t", err, ended)
	}
}

// TestLimit: when the time has passed, what was running is named, and what failed before.
func TestLimit(t *testing.T) {
	passed := errors.New("not finished after 1h")
	ctx, cancel := context.WithCancelCause(t.Context())
	var out bytes.Buffer
	r := &report{out: &out}
	hangs := func(ctx context.Context, r *report) error {
		r.mu.Lock()
		r.failed = append(r.failed, failure{name: "example.org/tested", tests: []string{"TestBad"}})
		r.mu.Unlock()
		cancel(passed)
		<-ctx.Done()
		return ctx.Err()
	}
	err := runAll(ctx, r, []phase{{{{"endless tests", hangs}}}})
	if !errors.Is(err, passed) {
		t.Errorf("got %v, want %v", err, passed)
	}
	for _, want := range []string{"failed endless tests", "failed: example.org/tested TestBad"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not printed:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "once more") {
		t.Errorf("a failed test was run again:\n%s", &out)
	}
}

// TestPlan: the race detector runs where goroutines meet, and packages with long tests
// are known.
func TestPlan(t *testing.T) {
	t.Chdir("../..")
	pkgs, err := list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		name             string
		concurrent, long bool
	}{
		{"pregon/internal/server/ratelimit", true, true}, // through redistest
		{"pregon/internal/document/extract", false, true},
		{"pregon/internal/catalog", true, false},
		{"pregon/internal/text", false, false},
	} {
		i := slices.IndexFunc(pkgs, func(p pkg) bool { return p.ImportPath == want.name })
		if i < 0 {
			t.Fatalf("%s is not in the list", want.name)
		}
		if got := pkgs[i]; got.concurrent() != want.concurrent || got.long != want.long {
			t.Errorf("%s: goroutines meet: %t, long tests: %t", want.name, got.concurrent(), got.long)
		}
	}
	for name := range unwatched {
		if !slices.ContainsFunc(pkgs, func(p pkg) bool { return p.ImportPath == name && p.concurrent() }) {
			t.Errorf("%s does not need to be in unwatched", name)
		}
	}
}

// TestEmpty: only the standard output of a check must be empty.
func TestEmpty(t *testing.T) {
	for _, test := range []struct {
		script string
		want   bool
	}{
		{"true", true},
		{"echo downloading >&2", true},
		{"echo wrong.go", false},
		{"false", false},
	} {
		var out bytes.Buffer
		err := empty("check", "repair it", nil, "sh", "-c", test.script).run(t.Context(), &report{out: &out})
		if (err == nil) != test.want {
			t.Errorf("%s: got %v", test.script, err)
		}
	}
}
