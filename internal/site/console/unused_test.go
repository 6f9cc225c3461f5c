package console_test

import (
	"net/http/httptest"
	"testing"

	"pregon/internal/site/console"
	"pregon/internal/site/sitetest"
)

func pages(t *testing.T) sitetest.Pages {
	edition := newSite(t).Edition(httptest.NewRequest("GET", "/", nil))
	return sitetest.Pages{
		Code: []string{"*.go", "templates/*.html", "assets/*.js"}, Style: "style/*.css", Texts: console.Part().Texts,
		Outside: []string{"done.", "scope.", "scope.short.", "heading.", "key.state.", "event.", "delivery.", "delivery.state.", "overlap.", "consent.kind."},
		Known:   func(key string) bool { _, err := edition.T(key); return err == nil },
	}
}

func TestTextsAreUsed(t *testing.T)     { pages(t).TextsAreUsed(t) }
func TestTextsExist(t *testing.T)       { pages(t).TextsExist(t) }
func TestClassesAreUsed(t *testing.T)   { pages(t).ClassesAreUsed(t) }
func TestTemplatesAreUsed(t *testing.T) { pages(t).TemplatesAreUsed(t) }
