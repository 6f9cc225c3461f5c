package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
)

// TestReadme runs the examples of README.md and docs/api.md against the demo market
// and compares their output, where … matches anything.
func TestReadme(t *testing.T) {
	store := engines["sqlite"](t)
	s, err := startService(append(slices.Clone(withRegisters), "PREGON_STORE="+store), t.TempDir(), "--source", "demo")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.cmd.Process.Kill() }()
	t.Setenv("PREGON_STORE", store) // of pregon keys create

	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	replace := strings.NewReplacer("http://127.0.0.1:8080", s.url, "bin/pregon", program)
	for _, file := range []string{"../../README.md", "../../docs/api.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile("(?s)```console\n.*?```").FindAllString(string(text), -1)
		if len(blocks) < 5 {
			t.Fatalf("%s has %d blocks of examples", file, len(blocks))
		}
		for _, block := range blocks {
			// The market is ready when its reports are loaded; the directory follows, and
			// a report may change between two downloads.
			eventually(t, func() error { return runBlock(dir, replace.Replace(block)) })
		}
	}
	hasSummaries(t, s.url)
	namesProofs(t, s.url)
}

// namesProofs checks that the table of docs/api.md names for each series the proofs
// that the service names.
func namesProofs(t *testing.T, url string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
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
		row := regexp.MustCompile("(?m)^\\| [^|]*`" + s.Type + "`[^|]* \\| ([^|]*) \\|").FindStringSubmatch(string(page))
		if row == nil {
			t.Errorf("docs/api.md does not have a row for %s", s.Type)
			continue
		}
		var named []string
		for _, name := range regexp.MustCompile("`(\\w+)`:").FindAllStringSubmatch(row[1], -1) {
			named = append(named, name[1])
		}
		if !slices.Equal(named, s.By) {
			t.Errorf("docs/api.md says that %s is proved by %v, the service says %v", s.Type, named, s.By)
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
