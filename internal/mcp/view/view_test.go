package view

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestAll(t *testing.T) {
	var uris []string
	for _, v := range All() {
		uris = append(uris, v.URI)
		if v.Name == "" || v.Title == "" || v.Description == "" {
			t.Errorf("%s lacks a name, title or description: %+v", v.URI, v)
		}
	}
	want := []string{"ui://pregon/filings-feed", "ui://pregon/analytics", "ui://pregon/issuer"}
	if !slices.Equal(uris, want) {
		t.Errorf("views are %v, want %v", uris, want)
	}
}

func TestDocuments(t *testing.T) {
	for _, v := range All() {
		t.Run(v.Name, func(t *testing.T) {
			if n := len(v.HTML); n >= 60_000 {
				t.Errorf("has %d bytes, want less than 60,000: hosts load it with every result", n)
			}
			if !strings.HasPrefix(v.HTML, "<!doctype html>\n<html lang=\"en\">\n") || !strings.HasSuffix(v.HTML, "</html>\n") {
				t.Error("is not a complete HTML document")
			}
			for _, part := range []string{
				`<meta charset="utf-8">`,
				`<meta http-equiv="Content-Security-Policy" content="` + policy(v.HTML[strings.Index(v.HTML, "<script>")+len("<script>"):strings.Index(v.HTML, "</script>")]) + `">`,
				`<meta name="viewport" content="width=device-width, initial-scale=1">`,
				"<title>Pregón · " + v.Title + "</title>",
				"<style>", "</style>", "<script>", "</script>",
			} {
				if n := strings.Count(v.HTML, part); n != 1 {
					t.Errorf("has %s %d times, want once", part, n)
				}
			}
			if left := regexp.MustCompile(`\{\{\w*\}\}`).FindString(v.HTML); left != "" {
				t.Errorf("has a placeholder left: %s", left)
			}
		})
	}
}

// Lines lose their indentation, which a text over several lines would show.
func TestSources(t *testing.T) {
	names, err := fs.Glob(sources, "*.js")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		for line := range strings.Lines(read(name)) {
			if strings.Count(line, "`")%2 != 0 {
				t.Errorf("%s has a text over several lines: %s", name, line)
			}
		}
	}
}

// A view shows text of filers, and hosts allow it to load nothing. It never uses
// text as markup or code, and sends no requests itself.
func TestForbidden(t *testing.T) {
	forbidden := regexp.MustCompile(`(?i)innerHTML|outerHTML|insertAdjacentHTML|setHTML|srcdoc|DOMParser|createContextualFragment|` +
		`document\.write|eval\(|new Function|setTimeout\(['"]|\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|\bimport\b|` +
		`http-equiv="[^C]|src=|href=|@import|(?-i:url\()|localStorage|sessionStorage|document\.cookie`)
	for _, v := range All() {
		if found := forbidden.FindAllString(v.HTML, -1); found != nil {
			t.Errorf("%s uses %q", v.Name, found)
		}
	}
}

// Both languages have the same keys, and every key that a script uses exists.
func TestWords(t *testing.T) {
	for _, v := range All() {
		t.Run(v.Name, func(t *testing.T) {
			english, spanish := words(t, v.HTML, "en"), words(t, v.HTML, "es")
			for _, key := range slices.Sorted(maps.Keys(english)) {
				if _, ok := spanish[key]; !ok {
					t.Errorf("%q has no Spanish", key)
				} else if e, s := blanks(english[key]), blanks(spanish[key]); !slices.Equal(e, s) {
					t.Errorf("%q fills in %v in English and %v in Spanish", key, e, s)
				}
			}
			for key := range spanish {
				if _, ok := english[key]; !ok {
					t.Errorf("%q has no English", key)
				}
			}
			for _, m := range regexp.MustCompile(`\b(t|counted|new Failure)\('(\w+)'`).FindAllStringSubmatch(v.HTML, -1) {
				keys := []string{m[2]}
				if m[1] == "counted" {
					keys = []string{m[2] + "_one", m[2] + "_other"}
				}
				for _, key := range keys {
					if _, ok := english[key]; !ok {
						t.Errorf("no text for %q", key)
					}
				}
			}
		})
	}
}

// words returns the texts of a language in a document: the lines of the blocks
// that begin with its name.
func words(t *testing.T, html, language string) map[string]string {
	t.Helper()
	blocks := regexp.MustCompile(`(?m)^(?:`+language+`: \{|Object\.assign\(WORDS\.`+language+`, \{)\n((?:\w+: '.*',\n)+)\}`).FindAllStringSubmatch(html, -1)
	if len(blocks) != 2 {
		t.Fatalf("found %d blocks of words in %s, want those of all views and those of this one", len(blocks), language)
	}
	found := map[string]string{}
	for _, block := range blocks {
		for _, m := range regexp.MustCompile(`(?m)^(\w+): '(.+)',$`).FindAllStringSubmatch(block[1], -1) {
			if _, ok := found[m[1]]; ok {
				t.Errorf("%q is defined twice in %s", m[1], language)
			}
			found[m[1]] = m[2]
		}
	}
	return found
}

// blanks returns the placeholders of a text.
func blanks(text string) []string {
	return slices.Sorted(slices.Values(regexp.MustCompile(`\{\w+\}`).FindAllString(text, -1)))
}
