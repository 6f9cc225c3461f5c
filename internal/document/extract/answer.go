package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// judge turns the child's answer into what Read returns. A document may have
// got hold of the child, so that nothing that it says is taken on trust.
func judge(f frame, l Limits) (*Text, error) {
	switch f.kind {
	case text:
		var t Text
		if err := json.Unmarshal(f.body, &t); err != nil {
			return nil, fmt.Errorf("%w: %w", errMad, err)
		}
		if err := check(&t, l); err != nil {
			return nil, fmt.Errorf("%w: %w", errMad, err)
		}
		return &t, nil
	case unreadable:
		return nil, &Unreadable{Reason: tidy(string(f.body))}
	case sitePage:
		return nil, ErrSitePage
	case trouble:
		return nil, errors.New(tidy(string(f.body)))
	}
	return nil, errMad
}

// check reports whether a text keeps what this package promises.
func check(t *Text, l Limits) error {
	size := 0
	for _, p := range t.Pages {
		size += len(p.Text)
		switch {
		case !slices.Contains([]Method{ByText, ByOCR, Not}, p.Method):
			return fmt.Errorf("a page got by %q", p.Method)
		case !(p.Confidence >= 0 && p.Confidence <= 100):
			return fmt.Errorf("a confidence of %v", p.Confidence)
		case !clean(p.Text):
			return errors.New("a page with characters that are none")
		}
	}
	for _, h := range t.Outline {
		if !clean(h.Title) || utf8.RuneCountInString(h.Title) > mostTitle || h.Level < 1 || h.Page < 1 || h.Page > len(t.Pages) {
			return errors.New("a heading that is none")
		}
	}
	switch {
	case !slices.Contains([]Type{PDF, HTML, ZIP}, t.Type):
		return fmt.Errorf("a text of type %q", t.Type)
	case t.Method != methodOf(t.Pages):
		return fmt.Errorf("a text got by %q", t.Method)
	case len(t.Pages) == 0 || len(t.Pages) > l.Pages:
		return fmt.Errorf("%d pages", len(t.Pages))
	case size > l.TextBytes:
		return fmt.Errorf("%d bytes of text", size)
	case len(t.Outline) > mostHeadings || len(t.Notes) > mostNotes:
		return errors.New("too many headings or notes")
	case t.Language != "" && !slices.Contains(languages, t.Language):
		return fmt.Errorf("the language %q", t.Language)
	case !clean(strings.Join(t.Notes, "")):
		return errors.New("a note with characters that are none")
	}
	return nil
}

// clean reports whether a text has only characters that a person may see.
func clean(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && unwanted(r) })
}

// methodOf is how the pages together were got.
func methodOf(pages []Page) Method {
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
