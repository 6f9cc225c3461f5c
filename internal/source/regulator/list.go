package regulator

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/source/markup"
)

// List is one page of a list of reports, newest first.
type List struct {
	Rows     []Row
	Page     int // from 0, as shown on the page
	Pages    int // 1 when there is no pager
	Received time.Time
	Unknown  []Defect // cells of rows that are not read, each id once
}

// List reads a page of the reports between two days in Madrid, both included.
// Past the last page the site may repeat rows.
func (c *Client) List(ctx context.Context, t disclosure.Type, from, to disclosure.Day, page int) (List, error) {
	s, err := findSeries(t)
	if err != nil {
		return List{}, err
	}
	if s.list == "" {
		return List{}, fault.New(fault.Invalid, "the regulator does not have a list of %s by dates", t)
	}
	path := fmt.Sprintf("%s?fechaDesde=%s&fechaHasta=%s&page=%d", s.list, formatDay(from), formatDay(to), page)
	return c.list(ctx, path, listing{
		surface: "list of " + string(t),
		t:       t,
		series:  s,
		dir:     s.dir,
		page:    page,
	})
}

// formatDay writes a day as the site's queries have it.
func formatDay(d disclosure.Day) string { return d.Start().Format("02/01/2006") }

// The pages of the latest relevant facts. There is no list by dates.
const (
	HRFunds          = "/portal/menu/utimos-hechos-relevantes-iic" // spelled as on the site
	HRVentureCapital = "/portal/menu/utimos-hechos-relevantes-capital-riesgo"
)

// LatestHRPages are the pages that LatestHR reads.
var LatestHRPages = []string{HRFunds, HRVentureCapital}

// LatestHR reads one of the LatestHRPages.
func (c *Client) LatestHR(ctx context.Context, surface string) (List, error) {
	if !slices.Contains(LatestHRPages, surface) {
		return List{}, fault.New(fault.Invalid, "%q is not a page of relevant facts", surface)
	}
	return c.list(ctx, surface, listing{
		surface: "page " + path.Base(surface),
		t:       disclosure.HR,
		series:  hrOf(Funds),
		dir:     path.Dir(surface) + "/",
	})
}

// EntityHR reads a page of the relevant facts of an entity. nif must be spelled
// as on the site.
func (c *Client) EntityHR(ctx context.Context, d Division, nif string, page int) (List, error) {
	nif = strings.TrimSpace(nif)
	if nif == "" {
		return List{}, fault.New(fault.Invalid, "relevant facts are asked for by NIF")
	}
	of := hrOf(d)
	address := fmt.Sprintf("/portal/hr/resultadobusquedahr?division=%d&nif=%s&page=%d", d, url.QueryEscape(nif), page)
	return c.list(ctx, address, listing{
		surface: "list of HR",
		t:       disclosure.HR,
		series:  of,
		dir:     of.dir,
		nif:     nif,
		page:    page,
	})
}

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

// ParseList parses a page of reports. Links get the public origin.
func ParseList(t disclosure.Type, body []byte, public string) (List, error) {
	s := seriesOf[t]
	l := listing{
		surface: "list of " + string(t),
		t:       t,
		series:  s,
		dir:     s.dir,
		page:    anyPage,
		site:    site{public: public},
	}
	return l.parse(body)
}

// listing describes how the pages of one surface are parsed.
type listing struct {
	site    site
	surface string
	t       disclosure.Type
	series  series
	dir     string // base of relative links
	nif     string // of the entity that the page was requested for, if any
	page    int    // requested page, or anyPage
}

func (l listing) parse(body []byte) (List, error) {
	p, rows, err := l.read(body)
	return List{
		Rows:    rows,
		Page:    p.number,
		Pages:   p.pages,
		Unknown: p.unknown,
	}, err
}

// read returns the complete rows, and an error that names the others.
func (l listing) read(body []byte) (*page, []Row, error) {
	p, err := readPage(l.surface, body)
	if err != nil {
		return p, nil, err
	}
	if !p.listed {
		p.defects.fail(0, "it has no list")
		return p, nil, p.defects.err()
	}
	p.expect(l.page)
	var rows []Row
	for i, n := range p.rows {
		c := cellsOf(n)
		p.noteUnknown(c)
		row, lacks := l.row(n, c, p.owner)
		if lacks == "" {
			rows = append(rows, row)
			continue
		}
		name := fmt.Sprintf("row %d", i+1)
		if row.Number > 0 {
			name = disclosure.ReportID(row.Type, row.Number)
		}
		p.defects.add(p.line(n), "%s %s", name, lacks)
	}
	p.defects.count(len(rows), len(p.rows)-len(rows))
	return p, rows, p.defects.err()
}

// cells are the elements of a row by the suffix of their id.
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
	// The labels differ in their verb ("Relacionado con la comunicación",
	// "Rectifica", "Anula") and agree in the rest.
	relationForm = regexp.MustCompile(`(?i)\bn(?:\.?\s*[º°ª]|[úu]m(?:ero)?\.?|ro\.?)\s*(\d{1,18})\s+del?\s+` +
		`(\d{1,2}/\d{1,2}/\d{4})(?:\s*\(?\s*(\d{1,2}:\d{2}))?`)
)

// passed are the ids of elements that only contain others, and of relations.
var passed = []string{rowPart, "sublistaizquierda", "lirelacionado", "hlrelacionado"}

// noteUnknown records the cells that no part of the parser reads.
func (p *page) noteUnknown(c cells) {
	for name, n := range c {
		switch name {
		case datePart, timePart, issuerPart, issuerLink, issuerSpan, categoryPart, categoryCell, subjectLink, subjectPart:
			continue
		}
		text := "the cell " + name + " is not known"
		if !slices.Contains(passed, name) &&
			!slices.ContainsFunc(p.unknown, func(d Defect) bool { return d.Text == text }) &&
			len(p.unknown) < maxDefects {
			p.unknown = append(p.unknown, Defect{p.line(n), text})
		}
	}
}

func cellsOf(row *html.Node) cells {
	c := cells{}
	markup.Visit(row, func(n *html.Node) bool {
		if name := markup.IDSuffix(n); name != "" && c[name] == nil {
			c[name] = n
		}
		return true
	})
	return c
}

// text returns the first text that is not empty.
func (c cells) text(names ...string) string {
	for _, name := range names {
		if n := c[name]; n != nil {
			if s := markup.Text(n); s != "" {
				return s
			}
		}
	}
	return ""
}

// issuer returns the name and the NIF of the entity of a row, as spelled on the site.
func (c cells) issuer() (name, nif string) {
	name = c.text(issuerLink, issuerSpan, issuerPart)
	if n := c[issuerLink]; n != nil {
		nif = query(markup.Attr(n, "href"), "nif")
		if name == "" {
			name = markup.Collapse(markup.Attr(n, "title"))
		}
	}
	return name, nif
}

// row converts a row, and returns what it lacks.
func (l listing) row(n *html.Node, c cells, owner string) (row Row, lacks string) {
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
		row.Title = markup.Text(subject)
	}
	if cell := c[subjectPart]; cell != nil && row.Title == "" {
		row.Title = markup.Text(cell, markup.IsLink)
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

// trimCategory drops the dash that joins a category to an empty second one, as
// after most categories of HR.
func trimCategory(s string) string {
	for {
		cut, ok := strings.CutSuffix(s, " -")
		if !ok {
			return s
		}
		s = strings.TrimSpace(cut)
	}
}

// subject returns the link of the subject, or nil.
func (c cells) subject() *html.Node {
	if n := c[subjectLink]; n != nil {
		return n
	}
	cell, link := c[subjectPart], (*html.Node)(nil)
	if cell == nil {
		return nil
	}
	markup.Visit(cell, func(n *html.Node) bool {
		if link != nil || !markup.IsLink(n) {
			return link == nil
		}
		if !relationForm.MatchString(markup.Text(n)) {
			link = n
		}
		return false
	})
	return link
}

// links sets the links to the document and to the page of the report. Without a
// page link the permalink is used.
func (l listing) links(row *Row, subject *html.Node) {
	if subject != nil {
		link, document := l.site.link(l.dir, markup.Attr(subject, "href"))
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

// registration returns the number after its label. It ignores subjects and links,
// which may contain numbers of other reports.
func registration(row *html.Node, c cells) int64 {
	var found int64
	markup.Visit(row, func(n *html.Node) bool {
		if n == c[subjectPart] || n == c[categoryCell] || found != 0 {
			return false
		}
		if n != row && markup.IsItem(n) {
			if m := numberForm.FindStringSubmatch(markup.Text(n, markup.IsLink, markup.IsItem)); m != nil {
				found, _ = disclosure.ParseNumber(m[1])
			}
		}
		return true
	})
	return found
}

// relations reads the labels that name other reports. They are links, or plain
// items when the other report has no document.
func relations(row, subject, issuer *html.Node) []disclosure.Relation {
	const most = 100 // far more than in any report
	var out []disclosure.Relation
	markup.Visit(row, func(n *html.Node) bool {
		if n == subject || n == issuer || len(out) == most {
			return false
		}
		bare := n != row && markup.IsItem(n) && markup.IDSuffix(n) == "" && !hasElement(n)
		if !markup.IsLink(n) && !bare {
			return true
		}
		label := markup.Text(n)
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

// missingFields returns what a row lacks, or "".
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
