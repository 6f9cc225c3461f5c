package layering_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// goMod is the output of go mod edit -json.
type goMod struct {
	Require []requirement
	Tool    []tool
}

type requirement struct {
	Path     string
	Indirect bool
}

type tool struct{ Path string }

// documentLine is a row of a table of docs/dependencies.md.
var documentLine = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

func TestDependenciesAreExplained(t *testing.T) {
	document, err := os.ReadFile("../../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, match := range documentLine.FindAllStringSubmatch(string(document), -1) {
		named = append(named, match[1])
	}
	for _, complaint := range unexplained(readGoMod(t), named) {
		t.Error(complaint)
	}
}

// unexplained compares the requirements of go.mod with the names in the document. In a
// go.mod that was never tidied every requirement may be a direct one.
func unexplained(mod goMod, named []string) []string {
	var direct, all, tools []string
	for _, r := range mod.Require {
		all = append(all, r.Path)
		if !r.Indirect {
			direct = append(direct, r.Path)
		}
	}
	for _, t := range mod.Tool {
		tools = append(tools, t.Path)
	}
	allowed := slices.Concat(direct, tools)
	if len(direct) == 0 {
		allowed = slices.Concat(all, tools)
	}
	var found []string
	for _, path := range slices.Concat(direct, tools) {
		if !slices.Contains(named, path) {
			found = append(found, fmt.Sprintf("go.mod asks for %s: add a line to a table of docs/dependencies.md "+
				"with its role and the reason, or do without it", path))
		}
	}
	for _, path := range named {
		if !slices.Contains(allowed, path) {
			found = append(found, fmt.Sprintf("docs/dependencies.md names %s, which is no direct requirement "+
				"and no tool of go.mod: remove its line, or run go mod tidy", path))
		}
	}
	return found
}

func readGoMod(t *testing.T) goMod {
	t.Helper()
	if _, err := os.Stat("../../../go.mod"); err != nil { // as in noteSources
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go mod edit: %v", err)
	}
	var mod goMod
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	return mod
}

func TestUnexplained(t *testing.T) {
	tidy := goMod{
		Require: []requirement{{Path: "example.org/direct"}, {Path: "example.org/indirect", Indirect: true}},
		Tool:    []tool{{Path: "example.org/indirect/cmd/lint"}},
	}
	untidy := goMod{Require: []requirement{{Path: "example.org/direct", Indirect: true}}}
	for _, test := range []struct {
		name  string
		mod   goMod
		named string
		want  string // part of the only complaint; none when empty
	}{
		{"all explained", tidy, "example.org/direct example.org/indirect/cmd/lint", ""},
		{"a requirement is not", tidy, "example.org/indirect/cmd/lint", "go.mod asks for example.org/direct:"},
		{"a tool is not", tidy, "example.org/direct", "go.mod asks for example.org/indirect/cmd/lint:"},
		{"gone", tidy, "example.org/direct example.org/indirect/cmd/lint example.org/gone", "names example.org/gone,"},
		{"indirect", tidy, "example.org/direct example.org/indirect/cmd/lint example.org/indirect", "names example.org/indirect,"},
		{"not tidied", untidy, "example.org/direct", ""},
		{"not tidied and gone", untidy, "example.org/gone", "names example.org/gone,"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := unexplained(test.mod, strings.Fields(test.named))
			if test.want == "" && len(got) > 0 {
				t.Errorf("complaints %q, want none", got)
			}
			if test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)) {
				t.Errorf("complaints %q, want one with %q", got, test.want)
			}
		})
	}
}
