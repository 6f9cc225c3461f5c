package console_test

import (
	"net/http/httptest"
	"testing"

	"pregon/internal/account/accounttest"
	"pregon/internal/site/console"
	"pregon/internal/site/sitetest"
)

func pages(t *testing.T) sitetest.Pages {
	edition := newSite(t, accounttest.New(t)).Edition(httptest.NewRequest("GET", "/", nil))
	return sitetest.Pages{
		Code: []string{"*.go", "templates/*.html", "assets/*.js"}, Style: []string{"style/*.css"}, Texts: console.Part().Texts,
		Outside: map[string][]string{
			"done.": nil, "alerts.title.": nil, "channel.why.": nil, "alerts.ask.": nil, "alerts.button.": nil, "alerts.done.": nil, "scope.": nil, "scope.short.": nil, "heading.": nil, "key.state.": nil, "event.": nil,
			"delivery.": nil, "delivery.state.": nil, "overlap.": nil, "consent.kind.": nil,
			"channel.kind.": nil, "channel.state.": nil, "rhythm.": nil, "alert.day.": nil,
			"builder.position.": nil, "builder.side.": nil,
		},
		Known: func(key string) bool { _, err := edition.T(key); return err == nil },
	}
}

func TestTextsAreUsed(t *testing.T)     { pages(t).TextsAreUsed(t) }
func TestTextsExist(t *testing.T)       { pages(t).TextsExist(t) }
func TestClassesAreUsed(t *testing.T)   { pages(t).ClassesAreUsed(t) }
func TestTemplatesAreUsed(t *testing.T) { pages(t).TemplatesAreUsed(t) }
