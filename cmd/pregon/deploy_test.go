package main_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestKitSettings checks that each setting in deploy/ and docs/deploy.md exists.
func TestKitSettings(t *testing.T) {
	reference, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]bool{"PREGON_DOMAIN": true, "PREGON_REPLICAS": true} // of the compose file itself
	variable, found := regexp.MustCompile(`PREGON_[A-Z0-9_]+`), 0
	check := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range variable.FindAllString(string(text), -1) {
			if found++; !ours[name] && !bytes.Contains(reference, []byte("`"+strings.TrimSuffix(name, "_FILE")+"`")) {
				t.Errorf("%s: %s is not a setting", path, name)
			}
		}
	}
	for _, dir := range []string{"systemd", "container", "compose", "kubernetes", "helm"} {
		err := filepath.WalkDir("../../deploy/"+dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				check(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check("../../docs/deploy.md")
	if found < 20 {
		t.Errorf("found %d settings, want more", found)
	}
}
