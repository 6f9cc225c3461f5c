package notices_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pregon/internal/server/notices"
)

var update = flag.Bool("update", false, "write notices.txt anew")

// module is what go list says of one.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// linked returns the modules that are part of the program on some systems, by
// their paths.
func linked(t *testing.T, systems ...string) map[string]module {
	t.Helper()
	found := map[string]module{}
	for _, system := range systems {
		cmd := exec.Command("go", "list", "-deps", "-json=Module", "pregon/cmd/pregon")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct{ Module *module }
			err := dec.Decode(&p)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if p.Module != nil && !p.Module.Main {
				found[p.Module.Path] = *p.Module
			}
		}
	}
	return found
}

var isLicence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|authors)[^/]*$`)

// written returns the notices: the modules, then each text once with those that
// have it.
func written(t *testing.T, modules map[string]module) string {
	t.Helper()
	var list strings.Builder
	list.WriteString("Pregón contains these modules, whose licences follow.\n\n")
	texts := map[string][]string{}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		m := modules[path]
		fmt.Fprintf(&list, "%s %s\n", m.Path, m.Version)
		entries, err := os.ReadDir(m.Dir)
		if err != nil {
			t.Fatal(err)
		}
		has := false
		for _, e := range entries {
			if e.IsDir() || !isLicence.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			raw, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(raw), "\r", ""))
			texts[text] = append(texts[text], m.Path+" "+e.Name())
			has = true
		}
		if !has {
			t.Errorf("%s has no licence that this test finds: it cannot be shipped without one", m.Path)
		}
	}
	byFirst := map[string]string{}
	for text, of := range texts {
		byFirst[of[0]] = text
	}
	for _, first := range slices.Sorted(maps.Keys(byFirst)) {
		text := byFirst[first]
		fmt.Fprintf(&list, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 78), strings.Join(texts[text], "\n"), text)
	}
	// PDFium's own licences are no module's: the file is written by hand.
	pdfium, err := os.ReadFile("pdfium.txt")
	if err != nil {
		t.Fatal(err)
	}
	return list.String() + "\n" + strings.Repeat("=", 78) + "\n" + string(pdfium)
}

// TestNotices compares the text with what is linked on this system, whose
// modules are available, and with go.mod, which has the others too.
func TestNotices(t *testing.T) {
	if *update {
		text := written(t, linked(t, "linux", "darwin", "windows"))
		if err := os.WriteFile("notices.txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	list, _, _ := strings.Cut(notices.Text, "\n===")
	here := linked(t, runtime.GOOS)
	for _, m := range here {
		if !strings.Contains(list, "\n"+m.Path+" "+m.Version+"\n") {
			t.Errorf("%s %s is not in notices.txt; run: make notices", m.Path, m.Version)
		}
	}
	for _, part := range strings.Split(written(t, here), strings.Repeat("=", 78)+"\n")[1:] {
		if _, text, _ := strings.Cut(part, "\n\n"); !strings.Contains(notices.Text, strings.TrimSpace(text)) {
			t.Errorf("a licence is not in notices.txt, run make notices: %.200s", part)
		}
	}
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, named, _ := strings.Cut(list, "\n\n")
	for line := range strings.Lines(named) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(string(mod), "\t"+line) {
			t.Errorf("notices.txt names %s, which is not in go.mod; run: make notices", line)
		}
	}
}
