package fact_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSections checks that each class of words is in one file only: of two with the same
// name, one would be lost.
func TestSections(t *testing.T) {
	files, err := filepath.Glob("words/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no words: %v", err)
	}
	in := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			name, ok := strings.CutPrefix(strings.TrimSpace(line), "[")
			if !ok {
				continue
			}
			if other := in[name]; other != "" {
				t.Errorf("[%s is in %s and in %s", name, other, file)
			}
			in[name] = file
		}
	}
}
