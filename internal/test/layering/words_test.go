package layering_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// synonyms are words that exported names must not have, with the word of the section
// Words of docs/architecture.md that means the same.
var synonyms = []struct {
	word *regexp.Regexp
	use  string
}{
	{regexp.MustCompile(`Owners?($|[A-Z])`), "Account"},
	{regexp.MustCompile(`(Person|People)($|[A-Z])`), "Account"},
	{regexp.MustCompile(`Holders?($|[A-Z])`), "Account"},
	{regexp.MustCompile(`Filings?($|[A-Z])`), "Report"},
	{regexp.MustCompile(`Disclosures?($|[A-Z])`), "Report"},
}

// otherMeaning are names that have a synonym and mean something else, with the reason.
var otherMeaning = map[string]string{
	"document/dealing Notice.Person": dealer,
	"document/index Keeper.Holder":   leaseHolder,
	"service/sources Settings.Owner": "the source that a store belongs to",
	"sim/filler People":              fictional,
	"sim/filler Random.Person":       fictional,
	"sim/paper/notice Notice.Person": dealer,
	"source/ingest Options.Holder":   leaseHolder,
	"store Claim.Holder":             leaseHolder,
	"store Lease.Holder":             leaseHolder,
	"store LeaseHolder":              leaseHolder,
	"store LeaseHolder.Holder":       leaseHolder,
	"transfer/bulk Maker.Holder":     leaseHolder,
}

const (
	leaseHolder = "the process that has a lease or a claim"
	fictional   = "a name in the text of a simulated report"
	dealer      = "the manager or the associated person who notifies a dealing"
)

// TestWords: exported names use one word for one thing. Names on the wire and in the
// store, which are tags and texts, keep theirs.
func TestWords(t *testing.T) {
	found := map[string]bool{}
	err := filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		room, err := filepath.Rel("../..", filepath.Dir(file))
		if err != nil {
			return err
		}
		for _, name := range exportedNames(parsed) {
			use := betterWord(name)
			if use == "" {
				continue
			}
			full := filepath.ToSlash(room) + " " + name
			found[full] = true
			if otherMeaning[full] == "" {
				t.Errorf("%s: say %s, as the section Words of docs/architecture.md does; if it means something else, "+
					"add it to otherMeaning in internal/test/layering/words_test.go with the reason", full, use)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(otherMeaning)) {
		if !found[name] {
			t.Errorf("%s does not exist any more: remove it from otherMeaning", name)
		}
	}
}

// betterWord returns the word to use in the place of a synonym in a name, or "".
func betterWord(name string) string {
	last := name[strings.LastIndex(name, ".")+1:]
	for _, s := range synonyms {
		if s.word.MatchString(last) {
			return s.use
		}
	}
	return ""
}

// exportedNames returns the exported names of a file: of functions, types, values, and of
// the methods and fields of exported types.
func exportedNames(f *ast.File) (names []string) {
	add := func(of, name string) {
		if ast.IsExported(name) && (of == "" || ast.IsExported(of)) {
			names = append(names, strings.TrimPrefix(of+"."+name, "."))
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(receiver(d), d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add("", spec.Name.Name)
					for _, member := range members(spec.Type) {
						add(spec.Name.Name, member)
					}
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add("", name.Name)
					}
				}
			}
		}
	}
	return names
}

// receiver returns the name of the type that a method belongs to, or "".
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	expr := d.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if name, ok := expr.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// members returns the names of the fields or methods of a type.
func members(expr ast.Expr) (names []string) {
	var list *ast.FieldList
	switch expr := expr.(type) {
	case *ast.StructType:
		list = expr.Fields
	case *ast.InterfaceType:
		list = expr.Methods
	default:
		return nil
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

// The check must be able to fail.
func TestBetterWord(t *testing.T) {
	for name, want := range map[string]string{
		"Owner":              "Account",
		"Options.OwnerState": "Account",
		"ListOwners":         "Account",
		"Persons":            "",
		"PersonOf":           "Account",
		"KeyHolder":          "Account",
		"Filing":             "Report",
		"ParseFilings":       "Report",
		"Disclosure":         "Report",
		"AccountOf":          "",
		"Ownership":          "",
		"Report":             "",
	} {
		if got := betterWord(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	const source = "package x\ntype Key struct{ Owner, id string }\ntype key struct{ Owner string }\nfunc (k *Key) Holder() {}\nfunc (k key) Holder() {}\nvar Filing int"
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := exportedNames(f), []string{"Key", "Key.Owner", "Key.Holder", "Filing"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
