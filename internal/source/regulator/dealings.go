package regulator

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"golang.org/x/net/html"

	"pregon/internal/disclosure"
	"pregon/internal/source/markup"
	"pregon/internal/text"
)

// Dealing is a notice of a manager's dealings as the list shows it. What was dealt is
// in the document only.
type Dealing struct {
	Number       int64
	RegisteredOn disclosure.Day
	Name         string // of the issuer
	NIF          string // of the issuer, as spelled on the site; not always a NIF
	Declarant    string // who dealt, as written
	Relation     disclosure.Relationship
	Rectifies    []int64 // earlier notices
	RectifiedBy  []int64 // later notices
	DocumentURL  string  // public link; empty if the row has none
}

// Dealings is one page of the list of dealings, newest first.
type Dealings struct {
	Rows     []Dealing
	Page     int // from 0, as shown on the page
	Pages    int // 1 when there is no pager
	Received time.Time
	Unknown  []Defect // cells that are not read, each id once
}

// perPage is the number of rows on every page of a list but the last.
const perPage = 10

const dealingsDir = "/portal/consultas/"

// DealingsURL is the path of the list of dealings of all issuers.
const DealingsURL = dealingsDir + "directivos-resultado"

// IssuerDealingsURL is the public link of the dealings in the shares of an issuer.
func (c *Client) IssuerDealingsURL(nif string) string {
	return c.site().public + DealingsURL + ".aspx?nif=" + url.QueryEscape(nif)
}

// Dealings reads a page of the dealings of all issuers that were registered between two
// days, both included. A page with another number of rows than its pager announces is a
// MarkupError: the list has changed while it was read, or rows are lost.
func (c *Client) Dealings(ctx context.Context, from, to disclosure.Day, page int) (Dealings, error) {
	path := fmt.Sprintf("%s?fechad=%s&fechah=%s&page=%d", DealingsURL, formatDay(from), formatDay(to), page)
	a, err := c.get(ctx, path, c.limits.page)
	if err != nil {
		return Dealings{}, err
	}
	out, err := parseDealings(a.body, page, c.site())
	out.Received = a.received
	return out, c.checkRedirects(&a, err)
}

func parseDealings(body []byte, number int, s site) (Dealings, error) {
	p, err := readPage("list of dealings", body)
	if err != nil {
		return Dealings{Pages: 1}, err
	}
	out := Dealings{Page: p.number, Pages: p.pages}
	if !p.listed {
		p.defects.fail(0, "it has no list")
		return out, p.defects.err()
	}
	p.expect(number)
	p.expectRows(number)
	seen := map[int64]bool{}
	for i, n := range p.rows {
		c := cellsOf(n)
		p.noteUnknown(c)
		row, lacks := readDealing(n, c, s)
		if lacks == "" && seen[row.Number] {
			lacks = "comes twice"
		}
		if lacks != "" {
			p.defects.add(p.line(n), "row %d %s", i+1, lacks)
			continue
		}
		seen[row.Number] = true
		out.Rows = append(out.Rows, row)
	}
	out.Unknown = p.unknown
	p.defects.count(len(out.Rows), len(p.rows)-len(out.Rows))
	return out, p.defects.err()
}

// expectRows records a defect when the number of rows does not agree with the pager.
func (p *page) expectRows(requested int) {
	n := len(p.rows)
	isLast := p.number >= p.pages-1
	switch {
	case p.truncated:
	case p.numbered && !isLast && n != perPage:
		p.defects.fail(p.pagerLine(), "page %d of %d has %d rows instead of %d", p.number+1, p.pages, n, perPage)
	case p.numbered && (n == 0 || n > perPage):
		p.defects.fail(p.pagerLine(), "the last of %d pages has %d rows", p.pages, n)
	case !p.numbered && n > perPage:
		p.defects.fail(0, "it has %d rows and no pager", n)
	case !p.numbered && n > 0 && requested > 0:
		p.defects.fail(0, "page %d was requested, and it has no pager", requested+1)
	}
}

var (
	declarantForm = regexp.MustCompile(`(?i)^declarante\s*:\s*(.+)`)
	reasonForm    = regexp.MustCompile(`(?i)^motivo de la notificaci[óo]n\s*:\s*(.*)`)
	// rectifiesForm has the direction, rectifica or rectificada, and the numbers.
	rectifiesForm = regexp.MustCompile(`(?i)\b(rectifica|rectificad[ao])\s+(?:a|por)\s+(?:la\s+|las\s+|los\s+|el\s+)?` +
		`(?:n\S{0,8}\s+de\s+)?registros?\s*:?\s*(\d[\d\s,;yY]*)$`)
	digitsForm = regexp.MustCompile(`\d+`)
)

// readDealing reads a row, and returns what it lacks.
func readDealing(row *html.Node, c cells, s site) (d Dealing, lacks string) {
	d.Name, d.NIF = c.issuer()
	d.RegisteredOn, _ = parseDay(c.text(datePart))
	d.Number = dealingNumber(row)
	reason := ""
	for _, n := range lines(row) {
		line := markup.Text(n)
		if m := declarantForm.FindStringSubmatch(line); m != nil && d.Declarant == "" {
			d.Declarant = strings.Clone(m[1])
			continue
		}
		if m := reasonForm.FindStringSubmatch(line); m != nil && reason == "" {
			reason = m[1]
			d.Relation = relationOf(reason)
			if a := firstLink(n); a != nil {
				link, document := s.link(dealingsDir, markup.Attr(a, "href"))
				if !document {
					return d, "has a link that is no document"
				}
				d.DocumentURL = link
			}
			continue
		}
		if lacks := d.rectification(line); lacks != "" {
			return d, lacks
		}
	}
	switch {
	case d.Number == 0:
		return d, "has no registration number"
	case d.RegisteredOn == 0:
		return d, "has no date"
	case d.Name == "":
		return d, "has no issuer"
	case d.Declarant == "":
		return d, "does not say who dealt"
	case d.Relation == "":
		return d, fmt.Sprintf("has a reason that is not known: %.60q", reason)
	}
	return d, ""
}

// dealingNumber returns the number after its label.
func dealingNumber(row *html.Node) (number int64) {
	for _, n := range lines(row) {
		if m := numberForm.FindStringSubmatch(markup.Text(n)); m != nil && number == 0 {
			number, _ = disclosure.ParseNumber(m[1])
		}
	}
	return number
}

// lines returns the items of a row that contain no others.
func lines(row *html.Node) (out []*html.Node) {
	const most = 50
	markup.Visit(row, func(n *html.Node) bool {
		if n == row || !markup.IsItem(n) {
			return true
		}
		inner := false
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			markup.Visit(child, func(n *html.Node) bool {
				inner = inner || markup.IsItem(n)
				return !inner
			})
		}
		if !inner && len(out) < most {
			out = append(out, n)
		}
		return inner
	})
	return out
}

func relationOf(reason string) disclosure.Relationship {
	switch folded := text.Fold(reason); {
	case strings.HasPrefix(folded, "persona con responsabilidad"):
		return disclosure.RelationManager
	case strings.Contains(folded, "vinculad"):
		return disclosure.RelationAssociated
	}
	return ""
}

// rectification adds the notices that a line names, and returns what is wrong with it.
func (d *Dealing) rectification(line string) (lacks string) {
	if !strings.Contains(strings.ToLower(line), "rectific") || text.Fold(line) == text.Fold(d.Name) {
		return ""
	}
	m := rectifiesForm.FindStringSubmatch(line)
	if m == nil {
		return fmt.Sprintf("has a rectification that cannot be read: %.80q", line)
	}
	to := &d.RectifiedBy
	if strings.EqualFold(m[1], "rectifica") {
		to = &d.Rectifies
	}
	for _, digits := range digitsForm.FindAllString(m[2], -1) {
		number, ok := disclosure.ParseNumber(digits)
		if !ok {
			return fmt.Sprintf("rectifies a number that is none: %.20q", digits)
		}
		*to = append(*to, number)
	}
	return ""
}
