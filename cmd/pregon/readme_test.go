package main_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs the examples of README.md against the demo market and
// compares what they print, where … stands for anything.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	s, err := startService([]string{"PREGON_STORE=" + engines["sqlite"](t)}, t.TempDir(), "--source", "demo")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.cmd.Process.Kill() }()

	examples := readmeExamples(string(text))
	if len(examples) < 4 {
		t.Fatalf("README.md has %d examples", len(examples))
	}
	for _, e := range examples {
		command := strings.ReplaceAll(e.command, "http://127.0.0.1:8080", s.url)
		out, err := exec.Command("sh", "-c", command).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", e.command, err, out)
			continue
		}
		parts := strings.Split(e.output, "…")
		for i, p := range parts {
			parts[i] = regexp.QuoteMeta(p)
		}
		if want := regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `\n?$`); !want.Match(out) {
			t.Errorf("%s\nprints\n%s\nbut README.md says\n%s", e.command, out, e.output)
		}
	}
}

type example struct{ command, output string }

// readmeExamples finds the blocks marked console: a line that begins with $ is
// a command, what follows is what it prints.
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
