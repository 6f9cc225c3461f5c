//go:build !race

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/test/longtest"
)

// TestPlatforms checks the types of the program and all its dependencies for each
// platform of a release. It finds what would not compile, in seconds instead of the
// minutes of six builds: nothing is compiled.
func TestPlatforms(t *testing.T) {
	longtest.Skip(t, "it checks the program for six platforms")
	for _, platform := range allPlatforms {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			goos, goarch, _ := strings.Cut(platform, "/")
			if err := checkTypes(t, goos, goarch, "./cmd/pregon"); err != nil {
				t.Error(err)
			}
		})
	}
}

// importer finds a package by the path that a file has for it.
type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }

// checkTypes returns the errors of a program and its dependencies on a platform.
func checkTypes(t *testing.T, goos, goarch, program string) error {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=Dir,ImportPath,Module,GoFiles,ImportMap", program)
	list.Dir = "../.."
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		return err
	}
	if err := list.Start(); err != nil {
		return err
	}
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	for packages := json.NewDecoder(out); ; { // each after those that it imports
		var p struct {
			Dir, ImportPath string
			GoFiles         []string
			ImportMap       map[string]string
			Module          *struct{ Main bool }
		}
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			return list.Wait()
		} else if err != nil {
			return err
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		files := token.NewFileSet()
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			parsed = append(parsed, f)
		}
		config := types.Config{
			Importer: importer(func(path string) (*types.Package, error) {
				if checked := known[cmp.Or(p.ImportMap[path], path)]; checked != nil {
					return checked, nil
				}
				return nil, fmt.Errorf("package %s is not known", path)
			}),
			Sizes:            types.SizesFor("gc", goarch),
			IgnoreFuncBodies: p.Module == nil || !p.Module.Main, // those of dependencies: they take most of the time
		}
		checked, err := config.Check(p.ImportPath, files, parsed, nil)
		if err != nil {
			return err
		}
		known[p.ImportPath] = checked
	}
}
