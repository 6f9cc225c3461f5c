package extract

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Validate returns an error if t breaks a promise of this package. The parent
// process calls it on every text, because a hostile document may control the
// process that read it.
func (t *Text) Validate(l Limits) error {
	size := 0
	for _, p := range t.Pages {
		size += len(p.Text)
		switch {
		case !slices.Contains([]Method{ByText, ByOCR, Not}, p.Method):
			return fmt.Errorf("page method %q is unknown", p.Method)
		case !(p.Confidence >= 0 && p.Confidence <= 100):
			return fmt.Errorf("confidence %v is not between 0 and 100", p.Confidence)
		case !clean(p.Text):
			return errors.New("a page contains invisible characters")
		}
	}
	for _, h := range t.Outline {
		validTitle := clean(h.Title) && utf8.RuneCountInString(h.Title) <= MaxTitle
		validPage := h.Page >= 1 && h.Page <= len(t.Pages)
		if !validTitle || !validPage || h.Level < 1 {
			return errors.New("a heading is invalid")
		}
	}
	switch {
	case !slices.Contains([]Type{PDF, HTML, ZIP}, t.Type):
		return fmt.Errorf("document type %q is unknown", t.Type)
	case t.Method != MethodOf(t.Pages):
		return fmt.Errorf("method %q differs from that of the pages", t.Method)
	case len(t.Pages) == 0 || len(t.Pages) > l.Pages:
		return fmt.Errorf("%d pages, want 1 to %d", len(t.Pages), l.Pages)
	case size > l.TextBytes:
		return fmt.Errorf("%d bytes of text, want at most %d", size, l.TextBytes)
	case len(t.Outline) > MaxHeadings || len(t.Notes) > MaxNotes:
		return errors.New("too many headings or notes")
	case t.Language != "" && !slices.Contains(languages, t.Language):
		return fmt.Errorf("language %q is unknown", t.Language)
	case !clean(strings.Join(t.Notes, "")):
		return errors.New("a note contains invisible characters")
	}
	return nil
}

// clean reports whether s is valid UTF-8 without invisible characters.
func clean(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s,
		func(r rune) bool { return r != '\n' && r != '\t' && invisible(r) })
}

// MethodOf returns the method of the pages, Mixed if they differ.
func MethodOf(pages []Page) Method {
	if len(pages) == 0 {
		return Not
	}
	for _, p := range pages {
		if p.Method != pages[0].Method {
			return Mixed
		}
	}
	return pages[0].Method
}
