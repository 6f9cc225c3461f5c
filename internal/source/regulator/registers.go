package regulator

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/source/markup"
)

// Entity is a row of an official register.
type Entity struct {
	Register   string // in lower case: "fi", "sgiic"
	Number     int64  // in that register
	Name       string
	NIF        string // as the site spells it; not always a NIF
	Kind       disclosure.Kind
	Manager    string // name of the manager of a fund
	Depositary string // name of the depositary of a fund
}

// Issuer returns the entity as an issuer of the directory.
func (e *Entity) Issuer() disclosure.Issuer {
	registration := fmt.Sprintf("%s-%d", e.Register, e.Number)
	i := disclosure.Issuer{
		ID:         registration,
		Name:       e.Name,
		NIF:        e.NIF,
		Kind:       e.Kind,
		Manager:    e.Manager,
		Depositary: e.Depositary,
	}
	if nif, ok := disclosure.ParseNIF(e.NIF); ok {
		i.ID, i.Aliases = string(nif), []string{registration}
	}
	return i
}

// Entities is one page of a register.
type Entities struct {
	Entities []Entity
	Page     int // from 0
	Pages    int // 1 when there is no pager
}

// Register is an official register, or the part of one that has its own list.
type Register struct {
	Name string // as in Entity
	List int    // number of the list on the site
	Kind disclosure.Kind
}

// FundRegisters are the lists of funds and investment companies.
var FundRegisters = []Register{
	{"fi", 3, disclosure.Fund},     // harmonised
	{"fi", 17, disclosure.Fund},    // not harmonised
	{"sicav", 7, disclosure.Fund},  // harmonised
	{"sicav", 18, disclosure.Fund}, // not harmonised
	{"fil", 5, disclosure.Fund},    // hedge funds
	{"fil", 6, disclosure.Fund},    // funds of hedge funds
	{"fii", 4, disclosure.Fund},    // real estate, funds
	{"sii", 8, disclosure.Fund},    // real estate, companies
}

var managers = Register{"sgiic", 2, disclosure.Manager}

// Managers reads the register of fund managers, a single page.
func (c *Client) Managers(ctx context.Context) (Entities, error) {
	return c.entities(ctx, managers, fmt.Sprintf("/portal/consultas/listadoentidad?id=%d&tipoent=0", managers.List), 0)
}

// Funds reads a page of a register of funds.
func (c *Client) Funds(ctx context.Context, r Register, page int) (Entities, error) {
	return c.entities(ctx, r, fmt.Sprintf("/portal/consultas/mostrarlistados?id=%d&page=%d", r.List, page), page)
}

func (c *Client) entities(ctx context.Context, r Register, path string, page int) (Entities, error) {
	a, err := c.get(ctx, path, c.limits.page)
	if isGone(err) {
		return Entities{}, fault.Wrap(fault.NotFound, err,
			"the regulator does not have the register %s (list %d)", r.Name, r.List)
	}
	if err != nil {
		return Entities{}, err
	}
	out, err := parseEntities(r, a.body, page)
	return out, c.checkRedirects(&a, err)
}

func parseEntities(r Register, body []byte, page int) (Entities, error) {
	p, err := readPage(fmt.Sprintf("register %s (list %d)", r.Name, r.List), body)
	out := Entities{Page: p.number, Pages: p.pages}
	if err != nil {
		return out, err
	}
	if !p.listed {
		p.defects.fail(0, "it has no list")
		return out, p.defects.err()
	}
	p.expect(page)
	for n, row := range p.rows {
		e, lacks := r.entity(row)
		if lacks != "" {
			p.defects.add(p.line(row), "row %d %s", n+1, lacks)
			continue
		}
		out.Entities = append(out.Entities, e)
	}
	p.defects.count(len(out.Entities), len(p.rows)-len(out.Entities))
	return out, p.defects.err()
}

var (
	registeredForm = regexp.MustCompile(`(?i)^n[úu]mero(?: y fecha)? de registro(?: oficial)?\s*:\s*(\d{1,18})\b`)
	// The number after a name is the manager's own, not the fund's.
	managerForm    = regexp.MustCompile(`(?i)^(?:sociedad )?gestora\s*:\s*(.+)`)
	depositaryForm = regexp.MustCompile(`(?i)^(?:entidad )?depositari[oa]\s*:\s*(.+)`)
	ownNumberForm  = regexp.MustCompile(`(?i)\s*\(\s*n[úu]mero de registro(?: oficial)?\s*:?\s*\d+\s*\)\s*\.?$`)
)

// otherName returns the name of a related entity without its number.
func otherName(s string) string { return strings.Clone(ownNumberForm.ReplaceAllString(s, "")) }

// entity reads a row, and returns what it lacks.
func (r Register) entity(row *html.Node) (e Entity, lacks string) {
	e = Entity{Register: r.Name, Kind: r.Kind}
	e.Name, e.NIF = cellsOf(row).issuer()
	markup.Visit(row, func(n *html.Node) bool {
		if n == row || !markup.IsItem(n) {
			return true
		}
		line := markup.Text(n, markup.IsItem)
		if m := registeredForm.FindStringSubmatch(line); m != nil && e.Number == 0 {
			e.Number, _ = disclosure.ParseNumber(m[1])
		}
		if m := managerForm.FindStringSubmatch(line); m != nil && e.Manager == "" {
			e.Manager = otherName(m[1])
		}
		if m := depositaryForm.FindStringSubmatch(line); m != nil && e.Depositary == "" {
			e.Depositary = otherName(m[1])
		}
		return true
	})
	switch {
	case e.Name == "":
		return e, "has no name"
	case e.Number == 0:
		return e, "has no number in the register"
	}
	issuer := e.Issuer()
	if err := issuer.Validate(); err != nil {
		return e, "is not valid: " + err.Error()
	}
	return e, ""
}
