// Package sitetest checks that the texts, templates and style of pages are those that
// the pages use.
package sitetest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Pages are the sources of pages. The files are relative to the folder of the test.
type Pages struct {
	Code  []string // patterns of the files that use texts and classes
	Style []string // patterns of the style sheets
	Texts map[string][2]string
	// Outside begin the keys of texts for values that the code computes or that other
	// packages define. Each of the values that are named here must have a text, and if
	// any are named, no other may.
	Outside map[string][]string
	// Known reports whether there is a text, here or in what these pages build on.
	Known func(key string) bool
}

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

// TextsAreUsed expects that a page uses every text.
func (p Pages) TextsAreUsed(t *testing.T) {
	source := sourceOf(t, p.Code...)
	quoted := func(s string) bool { return strings.Contains(source, `"`+s+`"`) }
	used := func(key string) bool {
		for _, form := range []string{".one", ".other"} {
			if base, ok := strings.CutSuffix(key, form); ok && quoted(base) {
				return true
			}
		}
		for prefix, values := range p.Outside {
			value, ok := strings.CutPrefix(key, prefix)
			if ok && quoted(prefix) && (len(values) == 0 || slices.Contains(values, value)) {
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
	for key := range p.Texts {
		if !used(key) {
			t.Errorf("no page uses the text %q", key)
		}
	}
}

// TextsExist expects that every text that a page uses exists, in both languages.
func (p Pages) TextsExist(t *testing.T) {
	for prefix, values := range p.Outside {
		for _, value := range values {
			if !p.Known(prefix + value) {
				t.Errorf("there is no text %q", prefix+value)
			}
		}
	}
	for key, text := range p.Texts {
		if text[0] == "" || text[1] == "" {
			t.Errorf("the text %q lacks a language", key)
		}
	}
	source := sourceOf(t, p.Code...)
	for _, m := range regexp.MustCompile(`(?:\b(?:e|edition)\.Text\(|\bt )"([\w.]*\w)"`).FindAllStringSubmatch(source, -1) {
		if !p.Known(m[1]) {
			t.Errorf("there is no text %q", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?:\.N\(|\bn )"([\w.]*\w)"`).FindAllStringSubmatch(source, -1) {
		for _, form := range []string{".one", ".other"} {
			if !p.Known(m[1] + form) {
				t.Errorf("there is no text %q", m[1]+form)
			}
		}
	}
}

// ClassesAreUsed expects that every class of the style is one that pages have.
func (p Pages) ClassesAreUsed(t *testing.T) {
	names := map[string]bool{}
	for _, list := range regexp.MustCompile(`class(?:Name = '|List\.add\('|=")([^"']+)["']|"(wide|narrow)"|Class: "([^"]+)"`).FindAllStringSubmatch(sourceOf(t, p.Code...), -1) {
		text := regexp.MustCompile(`\{\{[^}]*\}\}`).ReplaceAllString(list[1]+list[2]+list[3], " ")
		for name := range strings.FieldsSeq(text) {
			names[name] = true
		}
	}
	style := regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(sourceOf(t, p.Style...), "")
	for _, m := range regexp.MustCompile(`\.([a-z][a-z-]*(?:[A-Z]+)?\d?)`).FindAllStringSubmatch(style, -1) {
		name := m[1]
		prefix := name[:strings.LastIndexByte(name, '-')+1] // of-IP, state-live, level-3
		if !names[name] && (prefix == "" || !names[prefix]) {
			t.Errorf("no page has the class %q", name)
		}
	}
}

// TemplatesAreUsed expects that every template is a page or part of one.
func (p Pages) TemplatesAreUsed(t *testing.T) {
	source := sourceOf(t, p.Code...)
	for _, m := range regexp.MustCompile(`\{\{-? ?define "([^"]+)"`).FindAllStringSubmatch(source, -1) {
		if strings.Count(source, `"`+m[1]+`"`) < 2 {
			t.Errorf("nothing uses the template %q", m[1])
		}
	}
}
