package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/test/waittest"
)

// TestReadme runs the examples of README.md against the demo market and
// compares their output, where … matches anything.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	store := "PREGON_STORE=" + engines["sqlite"](t)
	s, err := startService([]string{store}, t.TempDir(), "--source", "demo")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.cmd.Process.Kill() }()

	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	examples := readmeExamples(string(text))
	if len(examples) < 4 {
		t.Fatalf("README.md has %d examples", len(examples))
	}
	replace := strings.NewReplacer("http://127.0.0.1:8080", s.url, "bin/pregon", program)
	for _, e := range examples {
		// The market is ready when its reports are loaded; the directory follows.
		for end := time.Now().Add(patient); ; waittest.Pace(t.Context(), 100*time.Millisecond) {
			shell := exec.Command("sh", "-c", replace.Replace(e.command))
			shell.Dir, shell.Env = dir, append(os.Environ(), store)
			out, err := shell.CombinedOutput()
			if err == nil && e.matches(out) {
				break
			}
			if time.Now().After(end) {
				t.Errorf("%s\nprints\n%s\n%v, want\n%s", e.command, out, err, e.output)
				break
			}
		}
	}
	hasSummaries(t, s.url)
	namesProofs(t, s.url, string(text))
}

// namesProofs checks that the table of the README names for each series what the
// service says proves it.
func namesProofs(t *testing.T, url, readme string) {
	t.Helper()
	var got struct {
		Series []struct {
			Type string
			By   []string
		}
	}
	if _, err := fetch(url, "/api/v1/completeness", &got); err != nil || len(got.Series) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, s := range got.Series {
		row := regexp.MustCompile("(?m)^\\| [^|]*`" + s.Type + "`[^|]* \\| ([^|]*) \\|").FindStringSubmatch(readme)
		if row == nil {
			t.Errorf("README.md has no row for %s", s.Type)
			continue
		}
		var named []string
		for _, name := range regexp.MustCompile("`(\\w+)`:").FindAllStringSubmatch(row[1], -1) {
			named = append(named, name[1])
		}
		if !slices.Equal(named, s.By) {
			t.Errorf("README.md says that %s is proved by %v, the service says %v", s.Type, named, s.By)
		}
	}
}

// hasSummaries waits until reports of the market's history have summaries, which a
// new user expects.
func hasSummaries(t *testing.T, url string) {
	t.Helper()
	yesterday := disclosure.DayOf(time.Now()) - 1
	eventually(t, func() error {
		var list struct{ Data []struct{ Summary *string } }
		if _, err := fetch(url, fmt.Sprintf("/api/v1/reports?type=OIR&from=%s&to=%s&limit=20", yesterday-6, yesterday), &list); err != nil {
			return err
		}
		found := 0
		for _, r := range list.Data {
			if r.Summary != nil {
				found++
			}
		}
		if found < 5 {
			return fmt.Errorf("got %d summaries of %d reports, want 5", found, len(list.Data))
		}
		return nil
	})
}

type example struct{ command, output string }

func (e example) matches(out []byte) bool {
	parts := strings.Split(e.output, "…")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `\n?$`).Match(out)
}

// readmeExamples finds the blocks marked console: a line that begins with $ is
// a command, and the lines after it are its output.
func readmeExamples(text string) []example {
	var found []example
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSuffix(line, "\n")
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				found = append(found, example{command: command})
				continue
			}
			last := &found[len(found)-1]
			last.output = strings.TrimPrefix(last.output+"\n"+line, "\n")
		}
	}
	return found
}
