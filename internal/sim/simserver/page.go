package simserver

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"text/template"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/filler"
)

const html = "text/html; charset=utf-8"

//go:embed site/page.html
var pageTemplates string

//go:embed site/feed.xml
var feedTemplates string

// templates are those of the site. It has its own way of escaping and ends lines
// with CR LF.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"text":    siteText.Replace,
	"attr":    siteAttr,
	"inc":     func(n int) int { return n + 1 },
	"date":    dateText,
	"grouped": filler.Grouped,
}).Parse(strings.ReplaceAll(pageTemplates+positionTemplates+feedTemplates, "\n", "\r\n")))

// siteText escapes text. The site does not escape an ampersand before a space.
var siteText = strings.NewReplacer("<", "&lt;", ">", "&gt;", "& ", "& ", "&", "&amp;")

var quotes = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;")

// siteAttr returns the value of an attribute, with numeric entities for characters
// outside ASCII.
func siteAttr(s string) string {
	var b strings.Builder
	for _, c := range quotes.Replace(s) {
		if c < 0x80 {
			b.WriteByte(byte(c))
		} else {
			fmt.Fprintf(&b, "&#%d;", c)
		}
	}
	return b.String()
}

// execute appends the text of a template.
func execute(b *bytes.Buffer, name string, data any) []byte {
	if err := templates.ExecuteTemplate(b, name, data); err != nil {
		panic(err) // a bug in site/*
	}
	return b.Bytes()
}

// page is the content of a page of the site, of which each template uses some.
type page struct {
	Title   string
	Content string // in HTML
	Name    string // of the issuer of a single report
	Rows    []*archive.Report
	Entries []entry
	Months  []month
	Pager   *pager
	Skew    time.Duration // is added to every time shown
}

func (p page) answer(template string) answer {
	b := bytes.NewBuffer(make([]byte, 0, 256<<10))
	execute(b, "head", p)
	b.WriteString(menu())
	return answer{kind: html, body: execute(b, template, p)}
}

// plain returns a page with a title and HTML.
func plain(title, content string) answer {
	return page{Title: title, Content: content}.answer("plain")
}

// At returns the time of a report that the page shows.
func (p page) At(r *archive.Report) time.Time { return r.PublishedAt.Add(p.Skew).In(disclosure.Madrid) }

// Newest returns the time of the first row, or "". It is local, with a wrong zone, as
// on the site.
func (p page) Newest() string {
	if len(p.Rows) == 0 {
		return ""
	}
	return p.At(p.Rows[0]).Format("2006-01-02T15:04:05Z")
}

// menu is the part of every page between its head and its content: styles, a menu and
// the state of its form. It is most of the page.
var menu = sync.OnceValue(func() string {
	state := make([]byte, 60_000)
	for n := range state {
		state[n] = byte(filler.Mix(uint64(n)) >> 11)
	}
	return string(execute(&bytes.Buffer{}, "menu", base64.StdEncoding.EncodeToString(state)))
})

// pager is the position of a page in a list.
type pager struct {
	Number, Pages int
	Link          string // to a page, without its number
}

// newPager returns the pager of a list, or nil if the page is empty or the only one.
// Links are to the other host of the site.
func newPager(number, pages int, link string) *pager {
	if pages < 2 || number >= pages {
		return nil
	}
	return &pager{number, pages, "https://internet.regulator.example/portal/" + link + "&amp;page="}
}

// Near returns the adjacent pages.
func (p *pager) Near() (out []int) {
	for n := max(0, p.Number-4); n < min(p.Pages, p.Number+6); n++ {
		out = append(out, n)
	}
	return out
}

// errorPage answers the target of the redirects forbidden and badRequest.
func errorPage(r *request) answer {
	a := plain("Error", `<div id="ctl00_ContentPrincipal_divError" class="error"><p>Verifique la ruta de acceso.</p></div>`)
	switch r.URL.Query().Get("errorcode") {
	case "CVFE":
		a.status = http.StatusForbidden
	case "HE":
		a.status = http.StatusBadRequest
	}
	return a
}
