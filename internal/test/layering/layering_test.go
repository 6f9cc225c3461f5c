package layering_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
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
		"document/extract/xls",
		"mcp/queue",
		"rest/openapi",
		"retry",
		"scripts/gate",
		"search/saved",
		"server/content",
		"server/notices",
		"server/origin",
		"server/private",
		"sim/filler",
		"sim/paper/pdf",
		"sim/paper/xls",
		"source/markup",
		"source/throttle",
		"store/durable",
		"text",
		"text/look",
		"text/mask",
		"text/strictjson",
	},
	1: {
		"auth/jwks",
		"auth/secret",
		"disclosure",
		"document/extract",
		"document/lexicon",
		"document/llm",
		"mcp/cors",
		"mcp/quote",
		"mcp/view",
		"search/segment",
		"server/listen",
		"server/outbound",
		"server/problem",
		"server/ratelimit",
		"server/systemd",
		"server/telemetry",
		"server/tracing",
		"service/lifecycle",
		"site/chart",
	},
	2: {
		"catalog/position",
		"disclosure/headline",
		"document/extract/html",
		"document/extract/pdf",
		"document/extract/sandbox",
		"document/passage",
		"document/value",
		"proof",
		"push/alert",
		"search",
		"server/httpserver",
		"sim/market",
		"sim/paper/notice",
		"source/exchange",
		"source/health",
		"source/regulator",
		"source/shorts",
		"store",
	},
	3: {
		"auth/usage",
		"catalog",
		"disclosure/calendar",
		"document/bucket",
		"document/dealing",
		"document/extract/worker",
		"document/fact",
		"document/index",
		"document/summary",
		"proof/remote",
		"search/question",
		"sim/paper",
		"sim/shorts",
		"sim/stake",
		"source/doctor",
		"source/stored",
		"store/follow",
		"store/highwater",
		"store/monitor",
		"store/readreplica",
		"store/relational",
	},
	4: {
		"auth/access",
		"auth/sealing",
		"document",
		"proof/transparency",
		"sim/paper/statement",
		"source/coverage",
		"store/clone",
		"store/compact",
		"store/postgres",
		"store/sqlite",
		"transfer",
	},
	5: {
		"auth/account",
		"auth/token",
		"catalog/history",
		"cli",
		"push/events",
		"service/observe",
		"sim/archive",
		"source/directory",
		"source/docfetch",
		"source/registers",
		"store/engine",
		"transfer/bulk",
		"verify",
	},
	6: {
		"auth/oauth",
		"auth/signin",
		"push/alert/message",
		"push/queue",
		"push/ticket",
		"push/watchlist",
		"push/webhook/subscription",
		"query",
		"scripts/release",
		"sim/pages",
		"sim/simserver",
		"source/ingest",
	},
	7: {
		"auth",
		"cli/machine",
		"cli/tail",
		"mcp/tools",
		"push/alert/channel",
		"push/webhook/delivery",
		"service/documents",
		"service/proofs",
		"sim/demo",
		"site/render",
	},
	8: {
		"mcp",
		"push/alert/subscription",
		"push/webhook",
		"service/authorization",
		"service/sources",
		"service/storage",
		"site",
	},
	9: {
		"account",
		"discovery",
		"push/alert/delivery",
		"service/backfill",
	},
	10: {
		"rest",
		"service/push",
		"site/console",
	},
	11: {
		"service/snapshots",
		"service/surfaces",
	},
	12: {
		"service",
	},
	13: {
		"cmd/pregon",
		"test/layering",
	},
}

// rooms is the same table for the folders in internal/: a package may import, of
// another folder, only packages of lower rows. It keeps two folders from importing
// each other, even if no two packages do.
var rooms = [][]string{
	0: {
		"fault",
		"retry",
		"test",
		"text",
	},
	1: {
		"disclosure",
		"server",
	},
	2: {
		"search",
		"store",
	},
	3: {
		"auth",
		"document",
	},
	4: {
		"catalog",
		"proof",
		"source",
		"transfer",
	},
	5: {
		"push",
		"sim",
		"verify",
	},
	6: {
		"query",
	},
	7: {
		"account",
		"cli",
		"mcp",
	},
	8: {
		"rest",
	},
	9: {
		"discovery",
		"site",
	},
	10: {
		"service",
	},
}

// mostRooms is how many folders internal/ may have, so that a newcomer can read the
// list of them.
const mostRooms = 25

// backends may be imported only by store/engine, so that everything else works
// with both.
var backends = []string{"store/sqlite", "store/postgres"}

// denied are imports that the rows would allow. Ingest asks what is already known
// through small interfaces, so that a back-fill needs no search index.
var denied = map[string][]string{
	"source/ingest":    {"catalog", "search"},
	"source/directory": {"catalog", "search"},
	"source/docfetch":  {"catalog", "search"},
	"source/registers": {"catalog", "search"},
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

// TestRooms: the folders of internal/ are those of the table, and not too many.
func TestRooms(t *testing.T) {
	noteSources(t)
	folders, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range folders {
		got = append(got, f.Name())
	}
	want := slices.Concat(rooms...)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the folders of internal/ are %q, the table rooms has %q", got, want)
	}
	if len(got) > mostRooms {
		t.Errorf("internal/ has %d folders, more than %d: put the new one into the folder where a newcomer would look for it",
			len(got), mostRooms)
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
		case rowOf(rows, name) < 0:
			found = append(found, fmt.Sprintf("%s is not in the table: add it to rows in internal/test/layering/layering_test.go, "+
				"in the lowest row that is above all it imports", name))
		case roomOf(name) != "" && rowOf(rooms, roomOf(name)) < 0:
			found = append(found, fmt.Sprintf("the folder %s is not in the table: add it to rooms in "+
				"internal/test/layering/layering_test.go, in the lowest row that is above all it imports", roomOf(name)))
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
		mine, its := rowOf(rows, name), rowOf(rows, imported)
		myRoom, itsRoom := roomOf(name), roomOf(imported)
		switch {
		case forTests(imported):
			found = append(found, fmt.Sprintf("%s imports %s, which is made for tests: import it only from _test.go files",
				name, imported))
		case its >= mine:
			found = append(found, fmt.Sprintf("%s (row %d) imports %s (row %d), but a package may import only lower rows: "+
				"move what both need to a lower row, or declare in %[1]s the small interface it needs and let internal/service pass it in",
				name, mine, imported, its))
		case myRoom != "" && myRoom != itsRoom && rowOf(rooms, itsRoom) >= rowOf(rooms, myRoom):
			found = append(found, fmt.Sprintf("%s imports %s, but the folder %s is not below %s in the table rooms: "+
				"move the package to a folder above both, or what it needs to one below", name, imported, itsRoom, myRoom))
		case slices.Contains(denied[name], imported):
			found = append(found, fmt.Sprintf("%s imports %s: declare in %[1]s the small interface it needs and let internal/service pass it in",
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

// roomOf returns the folder of internal/ that a package is in, or "" for a command.
func roomOf(name string) string {
	if name == "." || strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "scripts/") {
		return ""
	}
	room, _, _ := strings.Cut(name, "/")
	return room
}

// rowOf returns the row of a name in a table, or -1.
func rowOf(table [][]string, name string) int {
	return slices.IndexFunc(table, func(row []string) bool { return slices.Contains(row, name) })
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
	cmd.Dir = "../../.."
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
	for _, root := range []string{"../../../cmd", "../../../internal", "../../../scripts"} {
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
		{"a higher row", one("internal/search", "pregon/internal/catalog"), "search (row 2) imports catalog (row 3)"},
		{"the same row", one("internal/catalog", "pregon/internal/store/follow"), "catalog (row 3) imports store/follow (row 3)"},
		{"another's backend", one("internal/rest", "pregon/internal/store/postgres"), "only store/engine may import a backend"},
		{"denied", one("internal/source/ingest", "pregon/internal/search"), "source/ingest imports search: declare"},
		{"no row", one("internal/util", "fmt"), "util is not in the table: add it"},
		{"no row for the root", []pkg{{ImportPath: module}}, ". is not in the table"},
		{"not ours", []pkg{{ImportPath: "pregonero/internal/util", Imports: []string{"pregon/internal/rest"}}}, ""},
		{"a room above", one("internal/server/httpserver", "pregon/internal/auth/secret"), "the folder auth is not below server"},
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
