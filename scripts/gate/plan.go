package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// static has no cgo, as the program. Whatever needs no race detector is compiled so, to
// compile every package once for all of it, and without a C compiler.
var static = []string{"CGO_ENABLED=0"}

// roomy lets the heap of the tests grow more, so that less time is spent on collecting
// garbage.
var roomy = []string{"CGO_ENABLED=0", "GOGC=200"}

// unhurried lets the heap of a short process grow without collecting garbage until it
// has a size that every machine for development has. It saves the compiler a tenth of its
// time, and staticcheck a third.
var unhurried = []string{"CGO_ENABLED=0", "GOGC=off", "GOMEMLIMIT=1GiB"}

// staticcheckHeap is unhurried for a process that needs more than 2 GiB in any case.
var staticcheckHeap = []string{"CGO_ENABLED=0", "GOGC=off", "GOMEMLIMIT=3GiB"}

// stripped leaves data for debuggers out of test programs, which are linked faster.
const stripped = "-ldflags=-s -w"

// wholeProgram is the package whose tests start the program. They wait more than they
// compute, so they run beside the others.
const wholeProgram = "pregon/cmd/pregon"

// quick returns the phases of `make test`, or the part of them that `make test-all`
// does not repeat.
func quick(all bool, temp []string) []phase {
	tests := phase{
		{suite{
			name:     "tests of the packages",
			env:      slices.Concat(roomy, temp),
			flags:    []string{"-short", "-p=3", stripped},
			packages: slices.Concat(slowFirst, []string{"./internal/...", "./scripts/..."}),
		}.step()},
		{command("staticcheck", staticcheckHeap, "go", "tool", "staticcheck", "./...")},
	}
	if !all {
		tests = append(tests, []step{suite{
			name:     "tests of the whole program",
			env:      slices.Concat(roomy, temp),
			flags:    []string{"-short", "-timeout=20m", stripped},
			packages: []string{wholeProgram},
			each:     true,
		}.step()})
	}
	return []phase{
		{
			{
				needs("PostgreSQL, if it is missing", "--quick"),
				command("go mod tidy", static, "go", "mod", "tidy", "-diff"),
			},
			{
				empty("formatting", "not formatted; run: go tool gofumpt -w", static, "go", "tool", "gofumpt",
					"-l", "."),
				command("go vet", unhurried, "go", "vet", "./..."),
			},
		},
		tests,
	}
}

// slowFirst are the packages whose tests wait longest. They begin first, so that the
// others run beside them.
var slowFirst = []string{
	"pregon/internal/source/ingest",
	"pregon/internal/store/postgres",
	"pregon/internal/rest",
	"pregon/internal/push/webhook/delivery",
	"pregon/internal/push/alert/delivery",
	"pregon/internal/verify",
}

// turn returns when a package begins: the index in slowFirst, or after all of them.
func turn(name string) int {
	if i := slices.Index(slowFirst, name); i >= 0 {
		return i
	}
	return len(slowFirst)
}

// needs returns a step that installs what the tests need. Its output is printed at once,
// since it takes long.
func needs(what string, args ...string) step {
	return step{"install " + what, func(ctx context.Context, r *report) error {
		cmd := prepare(ctx, "", nil, append([]string{"scripts/install-test-needs"}, args...)...)
		cmd.Stdout = os.Stdout
		cmd.Stderr = os.Stderr
		return cmd.Run()
	}}
}

// longer returns the phases that `make test-all` adds.
func longer(ctx context.Context, temp []string) ([]phase, error) {
	pkgs, err := list(ctx)
	if err != nil {
		return nil, err
	}
	var race, slow []string
	for _, p := range pkgs {
		switch {
		case p.ImportPath == wholeProgram:
		case p.concurrent() && unwatched[p.ImportPath] == "":
			race = append(race, p.ImportPath)
		case p.long:
			slow = append(slow, p.ImportPath)
		}
	}
	slices.SortStableFunc(race, func(a, b string) int { return cmp.Compare(turn(a), turn(b)) })
	return []phase{
		{{
			needs("everything that the other tests need"),
			command("clients of others, with npm", nil, "make", "--no-print-directory", "checkers/node_modules"),
			command("the client for TypeScript", nil, "make", "--no-print-directory", "clients/typescript/dist"),
		}},
		{
			{
				suite{
					name:     "tests of the whole program",
					env:      roomy,
					flags:    []string{"-timeout=60m", "-parallel=3"},
					packages: []string{wholeProgram},
					each:     true,
				}.step(),
			},
			{
				suite{
					name:     "race detector",
					env:      append([]string{"CGO_ENABLED=1", "GOGC=200"}, temp...),
					flags:    append([]string{"-race", "-p=2", "-timeout=30m"}, notDetected...),
					packages: race,
				}.step(),
				suite{
					name:     "long tests of the other packages",
					env:      roomy,
					flags:    []string{"-p=1", "-timeout=30m"},
					packages: slow,
				}.step(),
				// The race detector makes these too slow.
				suite{
					name:     "the index against loops",
					env:      roomy,
					packages: []string{"pregon/internal/search"},
					tests:    []string{"TestIndexAgreesWithLoops"},
				}.step(),
				suite{
					name:     "alerts of many, for hours",
					env:      roomy,
					packages: []string{"pregon/internal/push/alert/delivery"},
					tests:    []string{"TestMailboxes", "TestFailedGroup"},
				}.step(),
				// go test does not notice changes of files that another program reads,
				// or of another module: what follows runs every time.
				suite{
					name:     "platforms",
					env:      static,
					flags:    []string{"-count=1"},
					packages: []string{"pregon/scripts/release"},
					tests:    []string{"TestPlatforms"},
				}.step(),
				suite{
					name:     "manifests",
					dir:      "deploy/check",
					env:      static,
					flags:    []string{"-count=1"},
					packages: []string{"./..."},
				}.step(),
				commandIn("vet of the benchmarks", "bench", static, "go", "vet", "./..."),
				commandIn("tests of the benchmarks", "bench", static, "go", "test", "-vet=off", "-count=1", "./..."),
			},
		},
	}, nil
}

// notDetected are packages that are compiled without the race detector, which would
// double the time of many tests: SQLite, which is C turned into Go, its allocator, and
// the HTML tokenizer, which no two goroutines share. Not more: the linker keeps one copy
// of a generic function, and it may be the copy of such a package.
var notDetected = []string{
	"-gcflags=modernc.org/sqlite/lib=-race=false",
	"-gcflags=modernc.org/memory=-race=false",
	"-gcflags=golang.org/x/net/html=-race=false",
}

// unwatched are packages that have goroutines or locks and whose tests run without the
// race detector, each with the reason.
var unwatched = map[string]string{
	"pregon/internal/source/doctor":        "its lock guards a list of answers, and its tests parse hundreds of pages",
	"pregon/internal/document/extract/pdf": "WebAssembly under the detector takes minutes; one goroutine uses a reader",
}

// pkg is a package of the module, with what decides how its tests run.
type pkg struct {
	ImportPath   string
	Dir          string
	GoFiles      []string
	Imports      []string
	TestImports  []string
	XTestImports []string

	long bool // it has tests that `make test` leaves out
}

// list returns the packages of the module that have tests.
func list(ctx context.Context) ([]pkg, error) {
	cmd := prepare(ctx, "", static,
		"go", "list", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports", "./...")
	var stderr strings.Builder // the go command says there what it downloads
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &stderr)
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	// Packages for tests, such as redistest, skip tests too.
	skips := map[string]bool{"pregon/internal/test/longtest": true}
	for _, p := range all {
		if slices.ContainsFunc(p.Imports, func(name string) bool { return skips[name] }) {
			skips[p.ImportPath] = true
		}
	}
	var tested []pkg
	for _, p := range all {
		imports := slices.Concat(p.TestImports, p.XTestImports)
		p.long = slices.ContainsFunc(imports, func(name string) bool { return skips[name] })
		if len(imports) > 0 {
			tested = append(tested, p)
		}
	}
	return tested, nil
}

// goroutine matches what shows that goroutines meet in a package: it starts one, or it
// has a lock or an atomic value.
var goroutine = regexp.MustCompile(`(?m)^\s*go (func|\w)|\.Go\(|sync\.(Mutex|RWMutex|Once|Map|Cond|WaitGroup)\b|atomic\.`)

// concurrent reports whether goroutines meet in the package.
func (p pkg) concurrent() bool {
	return slices.ContainsFunc(p.GoFiles, func(name string) bool {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		return err == nil && goroutine.Match(text)
	})
}
