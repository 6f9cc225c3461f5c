package site

import (
	"testing"

	"pregon/internal/site/sitetest"
	"pregon/internal/source/health"
)

var pages = sitetest.Pages{
	Code: []string{"*.go", "templates/*.html", "assets/*.js"}, Style: "style/*.css", Texts: words,
	Outside: []string{"type.", "kinds.", "kind.", "state.", "status.is.", "status.about.", "error.", "unknown.", "dev.tag.", "surface.", "status.surface.", "method.", "reason."},
	Known:   func(key string) bool { _, ok := words[key]; return ok },
}

func TestTextsAreUsed(t *testing.T)     { pages.TextsAreUsed(t) }
func TestTextsExist(t *testing.T)       { pages.TextsExist(t) }
func TestClassesAreUsed(t *testing.T)   { pages.ClassesAreUsed(t) }
func TestTemplatesAreUsed(t *testing.T) { pages.TemplatesAreUsed(t) }

// Every reason of the state has a text in both languages.
func TestReasonTexts(t *testing.T) {
	for _, code := range health.Codes {
		text := words["reason."+string(code)]
		if text[0] == "" || text[1] == "" {
			t.Errorf("the reason %s has the texts %q", code, text)
		}
	}
}
