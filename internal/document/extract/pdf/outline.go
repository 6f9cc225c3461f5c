package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/document/extract"
)

// titles collects the headings of a document without a table of contents:
// paragraphs in larger letters than the text.
type titles struct {
	body  float64 // font size of the text
	found []title
}

type title struct {
	extract.Heading
	size float64
}

const (
	larger    = 1.15 // size of a heading relative to the text
	maxLines  = 3    // of a heading
	maxLevels = 6
)

func (t *titles) add(list []paragraph, page int) {
	for _, p := range list {
		if p.row || p.size < larger*t.body || p.lines > maxLines || utf8.RuneCountInString(p.text) > extract.MaxTitle {
			continue
		}
		if !hasWord(p.text) || len(t.found) >= extract.MaxHeadings {
			continue
		}
		t.found = append(t.found, title{extract.Heading{Title: extract.Title(p.text), Page: page}, p.size})
	}
}

// hasWord reports whether a text has letters, unlike a large number.
func hasWord(s string) bool {
	letters := 0
	for _, r := range strings.TrimSpace(s) {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= 3
}

// headings returns the titles with their levels. The largest letters have level 1.
func (t *titles) headings() []extract.Heading {
	var sizes []float64
	for _, f := range t.found {
		if !slices.Contains(sizes, f.size) {
			sizes = append(sizes, f.size)
		}
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	var list []extract.Heading
	for _, f := range t.found {
		f.Level = min(slices.Index(sizes, f.size)+1, maxLevels)
		list = append(list, f.Heading)
	}
	return list
}
