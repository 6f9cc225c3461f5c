package render

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"regexp"
	"strings"

	"pregon/internal/disclosure"
)

// parse reads the templates, with functions that are bound to the edition.
func (r *Renderer) parse(e Edition) (*template.Template, error) {
	funcs := template.FuncMap{
		"t": e.T, "n": e.N, "link": e.Link, "number": e.Number, "percent": e.Percent,
		"clock": e.Clock, "day": e.Day, "dayAndMonth": e.DayAndMonth, "date": e.ShortDate, "moment": e.Moment,
		"minute": e.Minute, "exact": e.Exact, "said": e.Said, "sector": e.Sector,
		"typeName":    func(t any) (string, error) { return e.T("type." + fmt.Sprint(t)) },
		"displayName": disclosure.DisplayName,
		"path":        url.PathEscape, "query": url.QueryEscape, "list": func(items ...any) []any { return items },
	}
	maps.Copy(funcs, r.Funcs)
	set := template.New("").Funcs(funcs)
	for _, folder := range r.folders() {
		if err := r.parseFolder(set, e, folder, "templates/*.html"); err != nil {
			return nil, err
		}
	}
	for _, p := range r.Parts {
		if err := r.parseFolder(set, e, p.Templates, "*.html"); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// parseFolder adds the templates of a folder whose names match a pattern to a set.
func (r *Renderer) parseFolder(set *template.Template, e Edition, folder fs.FS, pattern string) error {
	names, err := fs.Glob(folder, pattern)
	if err != nil {
		return err
	}
	for _, name := range names {
		source, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		if source, err = r.constants(e, source); err != nil {
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
func (r *Renderer) constants(e Edition, source []byte) (out []byte, err error) {
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
			text, failed = r.assetURL(name)
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
