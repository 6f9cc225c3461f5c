package site

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sourceOf returns the files that match the patterns, without tests, as one text.
func sourceOf(t *testing.T, patterns ...string) string {
	t.Helper()
	var b strings.Builder
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no file matches %s: %v", pattern, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(body)
		}
	}
	return b.String()
}

// outside begin the keys of texts for values that other packages define.
var outside = []string{"type.", "kinds.", "kind.", "state.", "status.is.", "status.about.", "error.", "dev.tag.", "surface.", "status.surface.", "method."}

// Every text is used.
func TestTextsAreUsed(t *testing.T) {
	source := regexp.MustCompile(`"[\w.]+":\s+\{`).ReplaceAllString(sourceOf(t, "*.go", "templates/*.html"), "") // without the texts themselves
	quoted := func(s string) bool { return strings.Contains(source, `"`+s+`"`) }
	used := func(key string) bool {
		for _, form := range []string{".one", ".other"} {
			if base, ok := strings.CutSuffix(key, form); ok && quoted(base) {
				return true
			}
		}
		for _, prefix := range outside {
			if strings.HasPrefix(key, prefix) && quoted(prefix) {
				return true
			}
		}
		for at := range key {
			rest := strings.TrimSuffix(key[at:], ".note")
			if at > 0 && key[at-1] == '.' && quoted(key[:at]) && quoted(rest) {
				return true
			}
		}
		return quoted(key)
	}
	for key := range words {
		if !used(key) {
			t.Errorf("no page uses the text %q", key)
		}
	}
}

// Every text that is used exists, in both languages.
func TestTextsExist(t *testing.T) {
	source := sourceOf(t, "*.go", "templates/*.html")
	for _, m := range regexp.MustCompile(`(?:\.text\(|\bt )"([\w.]*\w)"`).FindAllStringSubmatch(source, -1) {
		if w := words[m[1]]; w[0] == "" || w[1] == "" {
			t.Errorf("there is no text %q", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?:\.N\(|\bn )"([\w.]*\w)"`).FindAllStringSubmatch(source, -1) {
		for _, form := range []string{".one", ".other"} {
			if w := words[m[1]+form]; w[0] == "" || w[1] == "" {
				t.Errorf("there is no text %q", m[1]+form)
			}
		}
	}
}

// Every class of the style is one that pages have.
func TestClassesAreUsed(t *testing.T) {
	names := map[string]bool{}
	for _, list := range regexp.MustCompile(`class(?:Name = '|List\.add\('|=")([^"']+)["']|"(wide|narrow)"`).FindAllStringSubmatch(sourceOf(t, "*.go", "templates/*.html", "assets/*.js"), -1) {
		text := regexp.MustCompile(`\{\{[^}]*\}\}`).ReplaceAllString(strings.ReplaceAll(list[1]+list[2], "{{if", " {{if"), "")
		for name := range strings.FieldsSeq(text) {
			names[name] = true
		}
	}
	style := regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(sourceOf(t, "style/*.css"), "")
	for _, m := range regexp.MustCompile(`\.([a-z][a-z-]*(?:[A-Z]+)?\d?)`).FindAllStringSubmatch(style, -1) {
		name := m[1]
		prefix := name[:strings.LastIndexByte(name, '-')+1] // of-IP, state-live, level-3
		if !names[name] && (prefix == "" || !names[prefix]) {
			t.Errorf("no page has the class %q", name)
		}
	}
}
