package pages

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/url"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
)

//go:embed page.html page.css
var files embed.FS

// style is in every page, so that a page needs to load nothing.
var style = func() template.CSS {
	text, err := files.ReadFile("page.css")
	if err != nil {
		panic(err) // it is embedded
	}
	return template.CSS(text)
}()

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"style": func() template.CSS { return style }, "home": func() string {
		return Prefix +
			"/"
	}, "issuerPage": issuerPage,
}).ParseFS(files, "page.html"))

// pageHeader are the headers of a page. It may load nothing and run no script.
var pageHeader = func() map[string]string {
	sum := sha256.Sum256([]byte(style))
	return map[string]string{
		"Content-Type":     "text/html; charset=utf-8",
		"Content-Language": "es",
		"Cache-Control":    "no-cache", // a page changes with the next report
		"Content-Security-Policy": "default-src 'none'; style-src 'sha256-" +
			base64.StdEncoding.EncodeToString(sum[:]) + "'; " +
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		"Referrer-Policy":            "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin",
	}
}()

// page is the content of a page, of which the template shows what is set.
type page struct {
	Title   string
	Report  *entry // the only one of the page
	Issuer  *disclosure.Issuer
	Entries []entry
	Missing bool // there is no such page
}

// entry is a report as a page shows it.
type entry struct {
	*archive.Report
	archive *archive.Archive
}

// At returns when it was published, in Madrid.
func (e entry) At() time.Time { return e.PublishedAt.In(disclosure.Madrid) }

// Page returns the path of its page.
func (e entry) Page() string { return Link(e.SourceURL) }

// File returns the path of its document, or "".
func (e entry) File() string { return Link(e.PDFURL) }

// TypeName returns what its series is called.
func (e entry) TypeName() string {
	return [...]string{"Información privilegiada", "Hecho relevante", "Otra información relevante"}[e.Type.Index()]
}

// relation is another report that a report refers to.
type relation struct{ Text, Page string }

// Relations returns the reports that it refers to.
func (e entry) Relations() (out []relation) {
	for _, other := range e.Related {
		one := relation{Text: other.Text}
		if series, number, ok := disclosure.ParseReportID(other.ID); ok {
			if f := e.archive.Find(series, number); f != nil {
				one.Page = Link(f.SourceURL)
			}
		}
		out = append(out, one)
	}
	return out
}

// issuerPage returns the path of the page of an issuer.
func issuerPage(i *disclosure.Issuer) string {
	return Prefix + "/portal/consultas/datosentidad.aspx?nif=" + url.QueryEscape(i.NIF)
}
