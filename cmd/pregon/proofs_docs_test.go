package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pregon/internal/test/longtest"
)

// TestProofsDocs runs what docs/proofs.md shows against the demo market: the commands,
// and the two programs, which must accept the proof of a report and no other text.
func TestProofsDocs(t *testing.T) {
	longtest.Skip(t, "it needs Python")
	text, err := os.ReadFile("../../docs/proofs.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"jq", "curl", "python3", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	store := "PREGON_STORE=" + engines["sqlite"](t)
	s, err := startService([]string{store}, t.TempDir(), "--source", "demo")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.cmd.Process.Kill() }()
	dir := t.TempDir()
	replace := strings.NewReplacer("http://127.0.0.1:8080", s.url, "bin/pregon", program)
	blocks := regexp.MustCompile("(?s)```console\n.*?```").FindAllString(string(text), -1)
	if len(blocks) < 5 {
		t.Fatalf("docs/proofs.md has %d blocks of commands", len(blocks))
	}
	for _, block := range blocks {
		// A report may change between two downloads, as the page says.
		eventually(t, func() error { return runBlock(dir, replace.Replace(block)) })
	}

	good := filepath.Join(dir, "proof.json")
	proof, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.json") // with another byte in the leaf
	at := strings.Index(string(proof), `"leaf":"`) + 100
	other := byte('A')
	if proof[at] == other {
		other = 'B'
	}
	proof[at] = other
	if err := os.WriteFile(bad, proof, 0o600); err != nil {
		t.Fatal(err)
	}
	for language, command := range map[string][]string{"go": {"go", "run", "main.go"}, "python": {"python3", "main.python"}} {
		source := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(string(text))
		if source == nil {
			t.Fatalf("docs/proofs.md has no program in %s", language)
		}
		main := filepath.Join(dir, "main."+language)
		if err := os.WriteFile(main, []byte(source[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		command[len(command)-1] = main
		verify := func(proof string) (string, error) {
			cmd := exec.Command(command[0], append(command[1:], proof, filepath.Join(dir, "vkey"))...)
			if language == "python" {
				cmd.Dir = dir // it writes files
			}
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		if out, err := verify(good); err != nil {
			t.Errorf("the program in %s fails: %v\n%s", language, err, out)
		}
		if out, err := verify(bad); err == nil {
			t.Errorf("the program in %s accepts a proof that was changed:\n%s", language, out)
		}
	}
}

// runBlock runs the commands of a block from the first on, and compares their output.
func runBlock(dir, block string) error {
	for _, old := range []string{"checkpoint", "checkpoint.hashes", "checkpoint.vkey"} {
		_ = os.Remove(filepath.Join(dir, old)) // of a try before
	}
	for _, e := range readmeExamples(block) {
		shell := exec.Command("sh", "-c", e.command)
		shell.Dir = dir
		if out, err := shell.CombinedOutput(); err != nil || !e.matches(out) {
			return fmt.Errorf("%s\nprints\n%s\n%v, want\n%s", e.command, out, err, e.output)
		}
	}
	return nil
}
