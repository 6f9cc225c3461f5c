package main_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pregon/internal/test/longtest"
)

// library is a client as its users install it.
type library struct {
	name      string // in clients, and of the release command
	archive   string // a pattern
	languages string // of the examples, as an alternative
	file      string // the name of an example; %d is its number
	readme    string
	// install returns the commands that install the archive into the current directory.
	install func(archive string) [][]string
	// run returns the command that runs a file there.
	run func(file string) []string
}

var libraries = []library{
	{
		name:      "python",
		archive:   "*.whl",
		languages: "python",
		file:      "example_%d.py",
		readme:    "../../clients/python/README.md",
		install: func(archive string) [][]string {
			return [][]string{
				{"/usr/bin/python3", "-m", "venv", "--system-site-packages", "env"},
				{"env/bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", archive},
			}
		},
		run: func(file string) []string { return []string{"env/bin/python", "-W", "error", file} },
	},
	{
		name:      "typescript",
		archive:   "*.tgz",
		languages: "js|javascript",
		file:      "example_%d.mjs",
		readme:    "../../clients/typescript/README.md",
		install: func(archive string) [][]string {
			return [][]string{
				{"npm", "init", "--yes", "--silent"},
				{"npm", "install", "--offline", "--no-audit", "--no-fund", "--silent", archive},
			}
		},
		run: func(file string) []string { return []string{"node", file} },
	},
}

// TestClientArchives builds the archives of the clients as a release does, installs each
// into an empty environment, and runs the examples of docs/clients.md and of its README
// there against the program.
func TestClientArchives(t *testing.T) {
	longtest.Skip(t, "it needs Python and npm")
	for _, lib := range libraries {
		t.Run(lib.name, func(t *testing.T) {
			dist := filepath.Join(t.TempDir(), "dist")
			runIn(t, "../..", nil, "go", "run", "./scripts/release", "-platforms=", "-clients="+lib.name, "-out="+dist)
			archives, err := filepath.Glob(filepath.Join(dist, lib.archive))
			if err != nil || len(archives) != 1 {
				t.Fatalf("the release has %v, %v; want one archive", archives, err)
			}
			l := newClientLab(t)
			if _, err := l.snapshot(); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, command := range lib.install(archives[0]) {
				runIn(t, dir, nil, command...)
			}
			for _, page := range []string{"../../docs/clients.md", lib.readme} {
				for i, program := range examples(t, page, lib.languages) {
					program = strings.NewReplacer("http://127.0.0.1:8080", l.front.URL, "http://localhost:8080", l.front.URL).Replace(program)
					file := fmt.Sprintf(lib.file, i)
					if err := os.WriteFile(filepath.Join(dir, file), []byte(program), 0o600); err != nil {
						t.Fatal(err)
					}
					t.Logf("%s, program %d", page, i+1)
					runIn(t, dir, []string{"PREGON_KEY=" + l.key, "PREGON_URL=" + l.front.URL}, lib.run(file)...)
				}
			}
		})
	}
}

// examples returns the programs of a page. A block that imports begins a program; those
// after it continue it. In docs/clients.md one program has all blocks of a language.
func examples(t *testing.T, page, languages string) (programs []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(?:"+languages+")\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	one := strings.HasSuffix(page, "docs/clients.md")
	for _, b := range blocks {
		begins := strings.HasPrefix(b[1], "import ") || strings.HasPrefix(b[1], "from ")
		if len(programs) == 0 || begins && !one {
			programs = append(programs, "")
		}
		programs[len(programs)-1] += b[1] + "\n"
	}
	if len(programs) == 0 {
		t.Fatalf("%s has no example", page)
	}
	return programs
}

// runIn runs a command in a directory, and fails with its output if it fails.
func runIn(t *testing.T, dir string, env []string, command ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	if err := runOther(ctx, dir, env, command...); err != nil {
		t.Fatal(err)
	}
}
