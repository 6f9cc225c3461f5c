package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestClaim(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "claimed")
	release, err := claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := claim(dir); err == nil {
		t.Error("two processes have the same directory")
	}
	if err := os.WriteFile(filepath.Join(dir, "left"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	release()
	if release, err = claim(dir); err != nil {
		t.Fatal(err)
	}
	defer release()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if _, err := claim(link); err == nil {
		t.Error("a link was followed")
	}
}
