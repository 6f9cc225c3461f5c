package remote_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pregon/internal/proof"
	"pregon/internal/proof/prooftest"
	"pregon/internal/proof/remote"
)

// TestInterruptedSave: whatever part of a save was done when the process ended, the
// next check continues.
func TestInterruptedSave(t *testing.T) {
	s := prooftest.New(t, 500)
	c := newClient(t, s)
	c.ok()
	before := c.files()
	s.Grow(800, "")
	c.ok()
	after := c.files()
	for name, files := range map[string]map[string]string{
		"a part of a hash":         {"": before[""], ".hashes": before[".hashes"] + after[".hashes"][500*32:][:33]},
		"other bytes":              {"": before[""], ".hashes": before[".hashes"] + strings.Repeat("x", 1000)},
		"all hashes":               {"": before[""], ".hashes": after[".hashes"]},
		"a part of the checkpoint": {"": before[""], ".hashes": after[".hashes"], ".123.partial": after[""][:20]},
		"no hashes":                {"": before[""]},
		"few hashes":               {"": before[""], ".hashes": before[".hashes"][:100]},
		"wrong hashes":             {"": before[""], ".hashes": flip(before[".hashes"])},
		"hashes only":              {".hashes": after[".hashes"]},
	} {
		for name := range c.files() {
			if err := os.Remove(c.file + name); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range files {
			if err := os.WriteFile(c.file+name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c.restart()
		if warned := c.check.History.Warning != ""; warned != (name == "few hashes" || name == "wrong hashes") {
			t.Errorf("%s: the warning is %q", name, c.check.History.Warning)
		}
		c.ok()
		if got := c.files(); got[""] != after[""] || got[".hashes"] != after[".hashes"] || got[".vkey"] != after[".vkey"] {
			t.Errorf("%s: the files differ from those of a save that was not interrupted", name)
		}
	}
}

func TestWrongHistory(t *testing.T) {
	s := prooftest.New(t, 500)
	c := newClient(t, s)
	for name, text := range map[string]string{
		"empty": "", "text": "text", "long": strings.Repeat("x", proof.MaxCheckpoint+1),
	} {
		if err := os.WriteFile(c.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := remote.LoadHistory(c.file); err == nil || !strings.Contains(err.Error(), c.file) {
			t.Errorf("%s: %v", name, err)
		}
	}
	changed := strings.Replace(string(s.Checkpoint()), "\n500\n", "\n400\n", 1)
	if err := os.WriteFile(c.file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	c.restart()
	if _, err := c.check.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("a checkpoint that the log did not sign: %v", err)
	}
	if err := os.WriteFile(c.file+".vkey", []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := remote.LoadHistory(c.file); err == nil || !strings.Contains(err.Error(), ".vkey") {
		t.Errorf("a wrong key: %v", err)
	}
}

// TestFirstEvidenceStays: a later conflict does not replace the first, and has a file
// of its own. There are at most nine.
func TestFirstEvidenceStays(t *testing.T) {
	s := prooftest.New(t, 500)
	c := newClient(t, s)
	c.ok()
	s.Rewrite(300, 600, "x")
	first := string(s.Checkpoint())
	c.wrong(remote.Rewritten)
	for n := 2; n <= 9; n++ {
		s.Rewrite(200, 700+n, "y")
		for range 2 { // the second finds it kept
			name := fmt.Sprintf(".conflict.%d", n)
			if m := c.wrong(remote.Rewritten); !strings.Contains(m.Error(), "kept in "+c.file+name) || c.files()[name] != string(s.Checkpoint()) {
				t.Errorf("%v; the evidence is %q", m, c.files()[name])
			}
		}
	}
	s.Rewrite(200, 800, "y")
	if _, err := c.check.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "was not saved, because") {
		t.Errorf("the tenth: %v", err)
	}
	c.wrong(remote.Rewritten)
	if files := c.files(); files[".conflict"] != first || len(files) != 3+9 {
		t.Errorf("the evidence is %q", files)
	}
}

func TestCheckpointsThatAgree(t *testing.T) {
	s := prooftest.New(t, 500)
	c := newClient(t, s)
	c.ok()
	at := func(size int, mark string) proof.Checkpoint {
		other := prooftest.New(t, 100)
		other.Grow(size, mark)
		checkpoint, err := proof.ParseCheckpoint(other.Checkpoint())
		if err != nil {
			t.Fatal(err)
		}
		return checkpoint
	}
	c.restart()
	for _, size := range []int{100, 400, 500, 600} {
		if err := c.check.History.Agrees(at(size, "")); err != nil {
			t.Errorf("%d: %v", size, err)
		}
	}
	for _, size := range []int{101, 400, 500} {
		if err := c.check.History.Agrees(at(size, "x")); err == nil {
			t.Errorf("another history of %d changes agrees", size)
		}
	}
	renamed := at(500, "")
	renamed.Origin = "other.example/log"
	if err := c.check.History.Agrees(renamed); err == nil {
		t.Error("another log agrees")
	}
}
