package site

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/server/content"
)

// language is a language of the site.
type language string

const (
	spanish language = "es"
	english language = "en"
)

// languages are those of the site in the order of Texts, the default first.
var languages = []language{spanish, english}

// Edition is the site in one language: the texts, and how numbers, times and links
// are written. If the reader chose the language, links keep the choice in the
// parameter lang.
type Edition struct {
	Language language
	chosen   bool
	*vocabulary
	set *template.Template
}

// vocabulary are the texts of one language.
type vocabulary struct {
	texts    map[string]string
	months   [12]string
	weekdays [7]string // from Sunday on
}

// newVocabulary returns the texts of a language.
func newVocabulary(all Texts, l language) (*vocabulary, error) {
	v := &vocabulary{texts: make(map[string]string, len(all))}
	for key, text := range all {
		v.texts[key] = text[slices.Index(languages, l)]
	}
	var err error
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
func (s *Site) Edition(r *http.Request) Edition {
	if raw := r.URL.RawQuery; strings.Contains(raw, "lang=") {
		if values, err := url.ParseQuery(raw); err == nil {
			for _, l := range languages {
				if values.Get("lang") == string(l) {
					return s.editions[editionKey{l, true}]
				}
			}
		}
	}
	best, highest := spanish, 0.0
	for _, m := range content.ParseAccept(r.Header.Values("Accept-Language")) {
		tag, _, _ := strings.Cut(m.Type, "-")
		for _, l := range languages {
			if tag == string(l) && m.Quality > highest {
				best, highest = l, m.Quality
			}
		}
	}
	return s.editions[editionKey{best, false}]
}

// editionKey identifies an edition.
type editionKey struct {
	language language
	chosen   bool
}

// Link returns the address of a page, with the chosen language.
func (e Edition) Link(path string) string {
	if !e.chosen {
		return path
	}
	return withLanguage(path, e.Language)
}

// withLanguage adds the parameter lang to an address.
func withLanguage(path string, l language) string {
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

//go:embed templates
var sources embed.FS

// parse reads the templates, with functions that are bound to the edition.
func (s *Site) parse(e Edition) (*template.Template, error) {
	funcs := template.FuncMap{
		"t": e.T, "n": e.N, "link": e.Link, "number": e.Number, "percent": e.Percent,
		"clock": e.Clock, "day": e.Day, "date": e.ShortDate, "moment": e.Moment, "exact": e.Exact,
		"typeName": func(t any) (string, error) { return e.T("type." + fmt.Sprint(t)) },
		"prose":    prose, "inlines": inlines,
		"path": url.PathEscape, "query": url.QueryEscape, "list": func(items ...any) []any { return items },
	}
	set := template.New("").Funcs(funcs)
	own, err := fs.Sub(sources, "templates")
	if err != nil {
		return nil, err
	}
	folders := []fs.FS{own}
	for _, p := range s.Parts {
		folders = append(folders, p.Templates)
	}
	for _, folder := range folders {
		if err := s.parseFolder(set, e, folder); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// parseFolder adds the templates of a folder to a set.
func (s *Site) parseFolder(set *template.Template, e Edition, folder fs.FS) error {
	names, err := fs.Glob(folder, "*.html")
	if err != nil {
		return err
	}
	for _, name := range names {
		source, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		if source, err = s.constants(e, source); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, err := set.New(name).Parse(string(source)); err != nil {
			return err
		}
	}
	return nil
}

// constant matches the actions of a template whose result depends on the edition
// only.
var constant = regexp.MustCompile(`\{\{(t|link|asset) "([^"]*)"\}\}`)

// constants replaces these actions by their results. They are half of all actions,
// and calling a function takes longer than everything else in a template.
func (s *Site) constants(e Edition, source []byte) (out []byte, err error) {
	out = constant.ReplaceAllFunc(source, func(action []byte) []byte {
		m := constant.FindSubmatch(action)
		text, name := "", string(m[2])
		var failed error
		switch string(m[1]) {
		case "t":
			text, failed = e.T(name)
		case "link":
			text = e.Link(name)
		case "asset":
			text, failed = s.assetURL(name)
		}
		err = cmp.Or(err, failed)
		return []byte(html.EscapeString(text))
	})
	return out, err
}

// execute renders a page in the layout, or a fragment alone.
func (e Edition) execute(b *bytes.Buffer, name string, l *layout) error {
	if strings.HasPrefix(name, "fragment-") {
		return e.set.ExecuteTemplate(b, name, l.Page.Data)
	}
	l.Content = func() (template.HTML, error) {
		var body strings.Builder
		err := e.set.ExecuteTemplate(io.Writer(&body), name, l.Page.Data)
		return template.HTML(body.String()), err // it was escaped by its template
	}
	return e.set.ExecuteTemplate(b, "layout", l)
}
