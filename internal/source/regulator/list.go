package regulator

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// List is one page of a list of reports, the newest first.
type List struct {
	Rows     []Row
	Page     int // from 0, as the page itself says
	Pages    int // 1 when there is no pager
	Received time.Time
}

// List reads a page of the reports of two Madrid days and the days between.
// Past the last page the site may go on answering with rows that were already
// seen.
func (c *Client) List(ctx context.Context, t disclosure.Type, from, to disclosure.Day, page int) (List, error) {
	s, err := findSeries(t)
	if err != nil {
		return List{}, err
	}
	if s.list == "" {
		return List{}, fault.New(fault.Invalid, "the regulator has no list of %s by dates", t)
	}
	path := fmt.Sprintf("%s?fechaDesde=%s&fechaHasta=%s&page=%d", s.list, formatDay(from), formatDay(to), page)
	return c.list(ctx, path, listing{surface: "list of " + string(t), t: t, series: s, dir: s.dir, page: page})
}

// slashed writes a day as the site wants it, slashes and all.
func formatDay(d disclosure.Day) string { return d.Start().Format("02/01/2006") }

func (c *Client) list(ctx context.Context, path string, l listing) (List, error) {
	a, err := c.get(ctx, path, c.limits.page)
	if err != nil {
		return List{}, err
	}
	l.site = c.site()
	out, err := l.parse(a.body)
	out.Received = a.received
	return out, c.checkRedirects(&a, err)
}

// ParseList reads a page of reports. Links are shown on the public origin.
func ParseList(t disclosure.Type, body []byte, public string) (List, error) {
	s := seriesOf[t]
	l := listing{surface: "list of " + string(t), t: t, series: s, dir: s.dir, page: anyPage, site: site{public: public}}
	return l.parse(body)
}

// listing is how the pages of one surface are read.
type listing struct {
	site    site
	surface string
	t       disclosure.Type
	series  series
	dir     string // that relative links start from
	nif     string // of the entity that the whole page is about, if it was asked for
	page    int    // that was asked for, or anyPage
}

func (l listing) parse(body []byte) (List, error) {
	p, rows, err := l.read(body)
	return List{Rows: rows, Page: p.number, Pages: p.pages}, err
}

// read returns the rows that are whole, and an error that names the others.
func (l listing) read(body []byte) (*page, []Row, error) {
	p, err := readPage(l.surface, body)
	if err != nil {
		return p, nil, err
	}
	if !p.listed {
		p.defects.fail("it has no list")
		return p, nil, p.defects.err()
	}
	p.expect(l.page)
	var rows []Row
	for i, n := range p.rows {
		row, lacks := l.row(n, p.owner)
		if lacks == "" {
			rows = append(rows, row)
			continue
		}
		name := fmt.Sprintf("row %d", i+1)
		if row.Number > 0 {
			name = disclosure.ReportID(row.Type, row.Number)
		}
		p.defects.add("%s %s", name, lacks)
	}
	p.defects.count(len(rows), len(p.rows)-len(rows))
	return p, rows, p.defects.err()
}

// cells are the parts of a row, by the name that their ids end in.
type cells map[string]*html.Node

const (
	datePart     = "lifecharegistro"
	timePart     = "lihora"
	issuerPart   = "lititulocabecera"
	issuerLink   = "hltitulocabecera"
	issuerSpan   = "spantitulocabecera"
	categoryPart = "descripcionsubtitulocabecera"
	categoryCell = "lisubtitulocabecera"
	subjectLink  = "subtituloregistroenlace"
	subjectPart  = "lisubtituloregistro"
)

var (
	numberForm = regexp.MustCompile(`(?i)^n[úu]mero de registro(?: oficial)?\s*:?\s*(\d{1,18})\b`)
	// The regulator's labels differ in their verb ("Relacionado con la
	// comunicación", "Rectifica", "Anula") and agree in what follows.
	relationForm = regexp.MustCompile(`(?i)\bn(?:\.?\s*[º°ª]|[úu]m(?:ero)?\.?|ro\.?)\s*(\d{1,18})\s+del?\s+` +
		`(\d{1,2}/\d{1,2}/\d{4})(?:\s*\(?\s*(\d{1,2}:\d{2}))?`)
)

func cellsOf(row *html.Node) cells {
	c := cells{}
	visit(row, func(n *html.Node) bool {
		if name := idSuffix(n); name != "" && c[name] == nil {
			c[name] = n
		}
		return true
	})
	return c
}

// text returns the text of the first of the parts that has any.
func (c cells) text(names ...string) string {
	for _, name := range names {
		if n := c[name]; n != nil {
			if s := text(n); s != "" {
				return s
			}
		}
	}
	return ""
}

// issuer returns the name of the entity that a row is about, and the site's
// key of it.
func (c cells) issuer() (name, nif string) {
	name = c.text(issuerLink, issuerSpan, issuerPart)
	if n := c[issuerLink]; n != nil {
		nif = query(attr(n, "href"), "nif")
		if name == "" {
			name = collapse(attr(n, "title"))
		}
	}
	return name, nif
}

// row reads a row, and says what it lacks.
func (l listing) row(n *html.Node, owner string) (row Row, lacks string) {
	c := cellsOf(n)
	row = Row{Surface: disclosure.FromList, Type: l.t, Category: trimCategory(c.text(categoryPart, categoryCell))}
	row.Name, row.NIF = c.issuer()
	if row.Name == "" {
		row.Name = owner
	}
	if row.NIF == "" {
		row.NIF = l.nif
	}
	subject := c.subject()
	if subject != nil {
		row.Title = text(subject)
	}
	if cell := c[subjectPart]; cell != nil && row.Title == "" {
		row.Title = text(cell, isAnchor)
	}
	if row.Title == "" {
		row.Title = row.Category
	}
	row.Number = registration(n, c)
	if w, ok := parseWallTime(c.text(datePart), c.text(timePart, datePart)); ok {
		row.At, row.Later = w.instants()
	}
	row.Relations = relations(n, subject, c[issuerLink])
	l.links(&row, subject)
	return row, missingFields(&row)
}

// heading drops the dash that joins a category to an empty second one: HR has
// it after almost every category.
func trimCategory(s string) string {
	for {
		cut, ok := strings.CutSuffix(s, " -")
		if !ok {
			return s
		}
		s = strings.TrimSpace(cut)
	}
}

// subject is the link of the subject, if it has one.
func (c cells) subject() *html.Node {
	if n := c[subjectLink]; n != nil {
		return n
	}
	cell, link := c[subjectPart], (*html.Node)(nil)
	if cell == nil {
		return nil
	}
	visit(cell, func(n *html.Node) bool {
		if link != nil || !isAnchor(n) {
			return link == nil
		}
		if !relationForm.MatchString(text(n)) {
			link = n
		}
		return false
	})
	return link
}

// links tells the document from a page about the report. A report without a
// page of its own is found by its permalink.
func (l listing) links(row *Row, subject *html.Node) {
	if subject != nil {
		link, document := l.site.link(l.dir, attr(subject, "href"))
		if document {
			row.PDFURL = link
		} else {
			row.SourceURL = link
		}
	}
	if row.SourceURL == "" {
		row.SourceURL = l.site.permalink(l.series, row.Number)
	}
}

// registration finds the number by its label. A subject may speak of another
// report's number, and so may a link to it.
func registration(row *html.Node, c cells) int64 {
	var found int64
	visit(row, func(n *html.Node) bool {
		if n == c[subjectPart] || n == c[categoryCell] || found != 0 {
			return false
		}
		if n != row && isItem(n) {
			if m := numberForm.FindStringSubmatch(text(n, isAnchor, isItem)); m != nil {
				found, _ = disclosure.ParseNumber(m[1])
			}
		}
		return true
	})
	return found
}

// relations reads the labels that name other reports. They are links to them,
// or bare where the other has no document.
func relations(row, subject, issuer *html.Node) []disclosure.Relation {
	const most = 100 // far more than any report has
	var out []disclosure.Relation
	visit(row, func(n *html.Node) bool {
		if n == subject || n == issuer || len(out) == most {
			return false
		}
		bare := n != row && isItem(n) && idSuffix(n) == "" && !hasElement(n)
		if !isAnchor(n) && !bare {
			return true
		}
		label := text(n)
		if m := relationForm.FindStringSubmatch(label); m != nil {
			out = addRelation(out, m, label)
		}
		return false
	})
	return out
}

func hasElement(n *html.Node) bool {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.Type == html.ElementNode {
			return true
		}
	}
	return false
}

func addRelation(to []disclosure.Relation, m []string, label string) []disclosure.Relation {
	number, ok := disclosure.ParseNumber(m[1])
	if !ok {
		return to
	}
	r := disclosure.Relation{Number: number, Text: label}
	if w, ok := parseWallTime(m[2], m[3]); ok && w.year >= 1988 && w.year < 2100 {
		r.At, _ = w.instants()
	}
	if slices.Contains(to, r) {
		return to
	}
	return append(to, r)
}

// check says what a row lacks.
func missingFields(row *Row) string {
	var missing []string
	for _, field := range []struct {
		name string
		lack bool
	}{
		{"registration number", row.Number == 0},
		{"issuer", row.Name == ""},
		{"subject", row.Title == ""},
		{"date and time", row.At.IsZero()},
	} {
		if field.lack {
			missing = append(missing, field.name)
		}
	}
	if len(missing) > 0 {
		return "has no " + strings.Join(missing, ", no ")
	}
	report := row.Report(row.At)
	if err := report.Validate(); err != nil {
		return "is not valid: " + err.Error()
	}
	return ""
}
