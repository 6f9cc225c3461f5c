package render

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/server/content"
)

// Language is a language of the site.
type Language string

const (
	Spanish Language = "es"
	English Language = "en"
)

// languages are those of the site in the order of Texts, the default first.
var languages = []Language{Spanish, English}

// Edition is the site in one language: the texts, and how numbers, times and links
// are written. If the reader chose the language, links keep the choice in the
// parameter lang.
type Edition struct {
	Language Language
	chosen   bool
	*vocabulary
	set        *template.Template
	navigation map[int]template.HTML // by the section of the page
}

// vocabulary are the texts of one language.
type vocabulary struct {
	texts    map[string]string
	months   [12]string
	weekdays [7]string         // from Sunday on
	messages map[string]string // of errors, by their keys
}

// newVocabulary returns the texts of a language.
func newVocabulary(all Texts, l Language) (*vocabulary, error) {
	v := &vocabulary{texts: make(map[string]string, len(all))}
	for key, text := range all {
		v.texts[key] = text[slices.Index(languages, l)]
	}
	var err error
	if v.messages, err = spanishMessages(); err != nil {
		return nil, err
	}
	for n := range v.months {
		v.months[n], err = v.T("month." + strconv.Itoa(n+1))
		if err != nil {
			return nil, err
		}
	}
	for n := range v.weekdays {
		v.weekdays[n], err = v.T("weekday." + strconv.Itoa(n))
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// Edition returns the edition for a request: the language in the address, else the
// one that the browser prefers, else Spanish.
func (r *Renderer) Edition(req *http.Request) Edition {
	if raw := req.URL.RawQuery; strings.Contains(raw, "lang=") {
		if values, err := url.ParseQuery(raw); err == nil {
			for _, l := range languages {
				if values.Get("lang") == string(l) {
					return r.editions[editionKey{l, true}]
				}
			}
		}
	}
	best, highest := Spanish, 0.0
	for _, m := range content.ParseAccept(req.Header.Values("Accept-Language")) {
		tag, _, _ := strings.Cut(m.Type, "-")
		for _, l := range languages {
			if tag == string(l) && m.Quality > highest {
				best, highest = l, m.Quality
			}
		}
	}
	return r.editions[editionKey{best, false}]
}

// editionKey identifies an edition.
type editionKey struct {
	language Language
	chosen   bool
}

// Key identifies the edition in the keys of caches.
func (e Edition) Key() string {
	if e.chosen {
		return string(e.Language) + "!"
	}
	return string(e.Language)
}

// Link returns the address of a page, with the chosen language.
func (e Edition) Link(path string) string {
	if !e.chosen {
		return path
	}
	return withLanguage(path, e.Language)
}

// withLanguage adds the parameter lang to an address.
func withLanguage(path string, l Language) string {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	path, anchor, found := strings.Cut(path, "#")
	path += separator + "lang=" + string(l)
	if found {
		path += "#" + anchor
	}
	return path
}

// T returns a text in the language of the edition. The arguments are those of
// fmt.Sprintf. A count selects between the forms key.one and key.other: see N.
func (v *vocabulary) T(key string, args ...any) (string, error) {
	s, ok := v.texts[key]
	if !ok {
		return "", fmt.Errorf("there is no text %q", key)
	}
	if len(args) > 0 {
		s = fmt.Sprintf(s, args...)
	}
	return s, nil
}

// N returns a text with a count.
func (e Edition) N(key string, n int) (string, error) {
	form := ".other"
	if n == 1 {
		form = ".one"
	}
	return e.T(key+form, e.Number(n))
}

// Known reports whether there is a text.
func (v *vocabulary) Known(key string) bool {
	_, ok := v.texts[key]
	return ok
}

// Text is T for texts whose keys are constants of the code.
func (v *vocabulary) Text(key string, args ...any) string {
	s, err := v.T(key, args...)
	if err != nil {
		panic(err) // a test uses every key
	}
	return s
}
