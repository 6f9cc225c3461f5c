package layering_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "pregon"

// rows is the table: a package may import only packages of lower rows. Names
// are below internal/, but for the command. A name may be listed before its
// package exists.
var rows = [][]string{
	0: {
		"fault",
		"fault/outage",
		"retry",
		"text",
		"source/throttle",
		"source/markup",
		"server/content",
		"server/private",
		"server/notices",
		"mcp/view",
		"mcp/decode",
		"sim/filler",
		"sim/paper/pdf",
		"server/origin",
		"openapi",
		"proof",
	},
	1: {
		"server/tracing",
		"disclosure",
		"search/segment",
		"server/outbound",
		"server/systemd",
		"auth/secret",
		"document/extract",
		"cli",
		"site/chart",
		"proof/remote",
	},
	2: {
		"document/extract/sandbox",
		"document/extract/pdf",
		"document/extract/html",
		"document/summary",
		"document/llm",
		"server/problem",
		"search",
		"store",
		"source/regulator",
		"source/exchange",
		"source/health",
		"sim/market",
		"auth/ratelimit",
		"auth/jwks",
	},
	3: {"source/doctor", "store/follow", "store/relational", "document/index", "document/bucket", "auth/usage"},
	4: {
		"store/sqlite",
		"store/postgres",
		"store/monitor",
		"store/highwater",
		"store/readreplica",
		"store/clone",
		"sim/paper",
		"source/coverage",
		"source/stored",
		"catalog",
		"document",
		"document/extract/worker",
		"auth/access",
	},
	5: {
		"source/directory",
		"source/docfetch",
		"auth/token",
		"auth/account",
		"auth/sealing",
		"events",
		"history",
		"sim/archive",
		"store/engine",
		"store/verify",
		"store/compact",
		"transfer",
		"transparency",
	},
	6: {
		"bulk",
		"source/ingest",
		"webhook",
		"auth/oauth",
		"auth/signin",
		"query",
		"mcp/cors",
		"mcp/queue",
		"mcp/quote",
		"sim/simserver",
		"sim/pages",
	},
	7: {
		"auth",
		"rest",
		"mcp/tools",
		"tail",
		"sim/demo",
	},
	8: {
		"mcp",
		"server/httpserver",
		"server/telemetry",
	},
	9:  {"discovery", "site"},
	10: {"console"},
	11: {
		"cmd/pregon",
		"scripts/release",
		"layering",
	},
}

// backends may be imported only by store/engine, so that everything else works
// with both.
var backends = []string{"store/sqlite", "store/postgres"}

// denied are imports that the rows would allow. Ingest asks what is already known
// through small interfaces, so that a back-fill needs no search index.
var denied = map[string][]string{
	"source/ingest":    {"catalog", "search"},
	"source/directory": {"catalog", "search"},
	"source/docfetch":  {"catalog", "search"},
}

// pkg is the output of go list for a package without its tests.
type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string // all it links, direct or not
}

func TestImports(t *testing.T) {
	for _, complaint := range violations(list(t)) {
		t.Error(complaint)
	}
}

// violations checks the packages of the program; pkgs also has their dependencies.
func violations(pkgs []pkg) []string {
	var found []string
	for _, p := range pkgs {
		name, ours := shortName(p.ImportPath)
		switch {
		case !ours || forTests(name):
			// What is made for tests may import anything of the program.
		case rowOf(name) < 0:
			found = append(found, fmt.Sprintf("%s is not in the table: add it to rows in internal/layering/layering_test.go, "+
				"in the lowest row that is above all it imports", name))
		default:
			found = append(found, wrongImports(name, p.Imports)...)
		}
		if name == "cmd/pregon" && slices.Contains(p.Deps, "testing") {
			found = append(found, fmt.Sprintf("cmd/pregon links the package testing, which is imported by %s: "+
				"move that code to a _test.go file or to a package whose name ends in test",
				strings.Join(importersOf("testing", p.Deps, pkgs), ", ")))
		}
	}
	return found
}

// wrongImports checks the imports of a package in the table.
func wrongImports(name string, imports []string) []string {
	var found []string
	for _, importPath := range imports {
		imported, ours := shortName(importPath)
		if !ours {
			continue
		}
		mine, its := rowOf(name), rowOf(imported)
		switch {
		case forTests(imported):
			found = append(found, fmt.Sprintf("%s imports %s, which is made for tests: import it only from _test.go files",
				name, imported))
		case its >= mine:
			found = append(found, fmt.Sprintf("%s (row %d) imports %s (row %d), but a package may import only lower rows: "+
				"move what both need to a lower row, or declare in %[1]s the small interface it needs and let cmd/pregon pass it in",
				name, mine, imported, its))
		case slices.Contains(denied[name], imported):
			found = append(found, fmt.Sprintf("%s imports %s: declare in %[1]s the small interface it needs and let cmd/pregon pass it in",
				name, imported))
		case slices.Contains(backends, imported) && name != "store/engine":
			found = append(found, fmt.Sprintf("%s imports %s, but only store/engine may import a backend: use the interfaces of store",
				name, imported))
		}
	}
	return found
}

// shortName returns the name of a package in the table, and whether it is ours.
func shortName(importPath string) (name string, ours bool) {
	if importPath == module {
		return ".", true
	}
	name, ours = strings.CutPrefix(importPath, module+"/")
	return strings.TrimPrefix(name, "internal/"), ours
}

// forTests reports whether only tests may import a package: storetest, pgtest.
func forTests(name string) bool {
	return strings.HasSuffix(path.Base(name), "test")
}

// rowOf returns the row of a package, or -1.
func rowOf(name string) int {
	return slices.IndexFunc(rows, func(row []string) bool { return slices.Contains(row, name) })
}

// importersOf returns the packages among deps, or the command, that import a package.
func importersOf(importPath string, deps []string, pkgs []pkg) []string {
	var importers []string
	for _, p := range pkgs {
		linked := p.ImportPath == module+"/cmd/pregon" || slices.Contains(deps, p.ImportPath)
		if linked && slices.Contains(p.Imports, importPath) {
			importers = append(importers, p.ImportPath)
		}
	}
	return importers
}

// list returns the packages of the module and their dependencies.
func list(t *testing.T) []pkg {
	t.Helper()
	noteSources(t)
	var stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = "../.."
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	return pkgs
}

// noteSources reads every source folder. The go command caches the result of a test
// while the files that the test opened are unchanged. It does not know the files that
// go list reads.
func noteSources(t *testing.T) {
	t.Helper()
	for _, root := range []string{"../../cmd", "../../internal", "../../scripts"} {
		err := filepath.WalkDir(root, func(string, fs.DirEntry, error) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The check must be able to fail.
func TestViolations(t *testing.T) {
	one := func(name string, imports ...string) []pkg {
		return []pkg{{ImportPath: module + "/" + name, Imports: imports}}
	}
	for _, test := range []struct {
		name string
		pkgs []pkg
		want string // part of the only complaint; none when empty
	}{
		{"lower rows", one("internal/rest", "fmt", "pregon/internal/catalog", "pregon/internal/fault", "example.org/x"), ""},
		{"engine imports a backend", one("internal/store/engine", "pregon/internal/store/sqlite"), ""},
		{"a higher row", one("internal/search", "pregon/internal/catalog"), "search (row 2) imports catalog (row 4)"},
		{"the same row", one("internal/catalog", "pregon/internal/auth/access"), "catalog (row 4) imports auth/access (row 4)"},
		{"another's backend", one("internal/rest", "pregon/internal/store/postgres"), "only store/engine may import a backend"},
		{"denied", one("internal/source/ingest", "pregon/internal/catalog"), "source/ingest imports catalog: declare"},
		{"no row", one("internal/util", "fmt"), "util is not in the table: add it"},
		{"no row for the root", []pkg{{ImportPath: module}}, ". is not in the table"},
		{"not ours", []pkg{{ImportPath: "pregonero/internal/util", Imports: []string{"pregon/internal/rest"}}}, ""},
		{"made for tests, imported", one("internal/store/sqlite", "pregon/internal/store/storetest"), "only from _test.go files"},
		{"made for tests, importing", one("internal/store/storetest", "testing", "pregon/internal/store", "pregon/internal/pgtest"), ""},
		{"testing linked", []pkg{
			{ImportPath: "pregon/cmd/pregon", Imports: []string{"example.org/x"}, Deps: []string{"example.org/x", "testing"}},
			{ImportPath: "example.org/x", Imports: []string{"testing"}},
			{ImportPath: "example.org/y", Imports: []string{"testing"}},
		}, "which is imported by example.org/x:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := violations(test.pkgs)
			if test.want == "" && len(got) > 0 {
				t.Errorf("complaints %q, want none", got)
			}
			if test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)) {
				t.Errorf("complaints %q, want one with %q", got, test.want)
			}
		})
	}
}
