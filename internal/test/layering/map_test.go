package layering_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const mapFile = "docs/architecture.md"

// TestMap: the map of docs/architecture.md has one line for each package of the
// program, and no other.
func TestMap(t *testing.T) {
	text, err := os.ReadFile("../../../" + mapFile)
	if err != nil {
		t.Fatal(err)
	}
	described, complaints := readMap(string(text))
	var packages []string
	for _, p := range list(t) {
		name, ours := shortName(p.ImportPath)
		if ours && !forTests(name) && !unmapped(name) {
			packages = append(packages, name)
		}
	}
	for _, complaint := range append(complaints, compareMap(described, packages)...) {
		t.Error(complaint)
	}
}

// unmapped reports whether a package is not part of the program: the rules that are
// tested here, and the scripts.
func unmapped(name string) bool {
	return name == "test/layering" || strings.HasPrefix(name, "scripts/")
}

// readMap returns the packages in the block of the map, and what is wrong in it.
func readMap(text string) (described, complaints []string) {
	block := regexp.MustCompile("(?s)\n```packages\n(.*?)\n```\n").FindStringSubmatch(text)
	if block == nil {
		return nil, []string{mapFile + " does not have a block that begins with ```packages"}
	}
	for line := range strings.Lines(block[1]) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) < 2 {
			complaints = append(complaints, fmt.Sprintf("%s does not describe %s: add a few words after its name", mapFile, fields[0]))
		}
		if slices.Contains(described, fields[0]) {
			complaints = append(complaints, fmt.Sprintf("%s has two lines for %s", mapFile, fields[0]))
		}
		described = append(described, fields[0])
	}
	return described, complaints
}

// compareMap compares the packages of the map with those of the program.
func compareMap(described, packages []string) []string {
	var complaints []string
	for _, name := range packages {
		if !slices.Contains(described, name) {
			complaints = append(complaints, fmt.Sprintf("%s does not have the package %s: add a line to its map, with what the package is for", mapFile, name))
		}
	}
	for _, name := range described {
		if !slices.Contains(packages, name) {
			complaints = append(complaints, fmt.Sprintf("the map of %s has %s, which is not a package: remove or rename the line", mapFile, name))
		}
	}
	return complaints
}

// The check must be able to fail.
func TestCompareMap(t *testing.T) {
	text := "# Map\n\n```packages\nstore   what is durable\n\nquery   answers\nstore   again\ngone    nothing\nrest\n```\n"
	described, complaints := readMap(text)
	complaints = append(complaints, compareMap(described, []string{"store", "query", "rest", "new"})...)
	for _, want := range []string{"two lines for store", "does not describe rest", "does not have the package new", "has gone, which is not a package"} {
		if !slices.ContainsFunc(complaints, func(c string) bool { return strings.Contains(c, want) }) {
			t.Errorf("complaints %q, want one with %q", complaints, want)
		}
	}
	if len(complaints) != 4 {
		t.Errorf("got %d complaints, want 4: %q", len(complaints), complaints)
	}
}
