package regulator

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// Identity is what the page of general data says of an issuer. What it leaves empty is
// empty.
type Identity struct {
	Name      string // as the page titles it
	NIF       string // the spelling that answered; to be asked for first the next time
	LEI       string
	ShortName string
	Sector    string // as written, such as "MEDIOS DE COMUNICACIÓN"
	Capital   string // in euros, decimal with a point
	SourceURL string // public link
	Received  time.Time
	Unknown   []Defect // columns that are not read
}

const (
	identityPage = "/portal/consultas/ee/datosgenerales"
	identityGrid = "griddatos"
	nameLabel    = "lblsubtitulo"
)

// Names of the columns of general data, folded.
const (
	nifColumn     = "nif"
	leiColumn     = "lei"
	shortColumn   = "denominacion abreviada"
	sectorColumn  = "sector"
	capitalColumn = "capital social vigente"
)

// Identity reads the general data of an issuer. The site has them for one spelling of
// the NIF only: nif is asked for first, then its other spelling. It returns a
// fault.NotFound if the site knows neither.
func (c *Client) Identity(ctx context.Context, nif string) (Identity, error) {
	spellings := []string{nif}
	if other, ok := disclosure.OtherSpelling(nif); ok {
		spellings = append(spellings, other)
	}
	for _, spelling := range spellings {
		query := "?nif=" + url.QueryEscape(spelling)
		a, err := c.get(ctx, identityPage+query, c.limits.page)
		if err != nil {
			return Identity{}, err
		}
		out, found, err := parseIdentity(a.body, spelling)
		if found || err != nil {
			out.Received = a.received
			out.SourceURL = c.site().public + identityPage + ".aspx" + query
			return out, c.checkRedirects(&a, err)
		}
	}
	return Identity{}, fault.New(fault.NotFound, "the regulator does not have general data of the issuer %.40q", nif)
}

// parseIdentity reads the page that was requested for a NIF. A page without the table
// and without other cells is the one of an unknown spelling.
func parseIdentity(body []byte, nif string) (out Identity, found bool, err error) {
	s, err := openSheet("page of general data", body)
	if err != nil {
		return Identity{}, false, err
	}
	table := s.find(identityGrid)
	if table == nil {
		return Identity{}, false, s.noTable("table of general data")
	}
	g := s.readGrid(table, 1, []string{nifColumn, leiColumn, shortColumn, sectorColumn, capitalColumn}, nil)
	if len(g.rows) == 0 {
		return Identity{}, false, s.defects.err()
	}
	r := g.rows[0]
	out = Identity{
		Name:      cmp.Or(s.entity, s.text(nameLabel)),
		NIF:       nif,
		LEI:       strings.ToUpper(r.text(leiColumn)),
		ShortName: r.text(shortColumn),
		Sector:    r.text(sectorColumn),
		Unknown:   s.unknown,
	}
	if out.Name == "" {
		s.defects.fail(0, "it does not name the issuer")
	}
	if disclosure.IssuerKey(r.text(nifColumn)) != disclosure.IssuerKey(nif) {
		s.defects.fail(s.line(r.node), "it is of the NIF %.20q instead of %.20q", r.text(nifColumn), nif)
	}
	if out.LEI != "" && !disclosure.IsLEI(out.LEI) {
		s.defects.add(s.line(r.node), "%.40q is not an LEI", out.LEI)
		out.LEI = ""
	}
	if written := strings.TrimSpace(strings.TrimSuffix(r.text(capitalColumn), "€")); written != "" {
		capital, ok := parseDecimal(written)
		if !ok {
			s.defects.add(s.line(r.node), "%.40q is not an amount of capital", written)
		}
		out.Capital = capital
	}
	return out, true, s.defects.err()
}

// ShortPosition is a row of an issuer's page of net short positions.
type ShortPosition struct {
	Name    string // of who holds it, as written
	Percent string // of the capital
	On      disclosure.Day
}

const (
	percentColumn  = "sobre el capital"
	positionColumn = "fecha de la posicion"
	mostShorts     = 500
)

// ParseShortPositions reads an issuer's page of net short positions, the second source
// beside the workbook, and returns the name in its title.
func ParseShortPositions(body []byte) (name string, rows []ShortPosition, err error) {
	s, err := openSheet("page of short positions", body)
	if err != nil {
		return "", nil, err
	}
	table := s.tableOf(percentColumn)
	if table == nil {
		return s.entity, nil, s.noTable("table of short positions")
	}
	g := s.readGrid(table, mostShorts, []string{percentColumn, positionColumn}, nil)
	for _, r := range g.rows {
		p := ShortPosition{Name: firstCell(r.node)}
		ok := true
		p.Percent = s.percent(r, percentColumn, &ok)
		day, valid := parseDay(r.text(positionColumn))
		if !valid || p.Percent == "" || p.Name == "" {
			s.defects.add(s.line(r.node), "a row lacks its name, its percentage or its date")
			ok = false
		}
		if p.On = day; ok {
			rows = append(rows, p)
		}
	}
	s.defects.count(len(rows), len(g.rows)-len(rows))
	return s.entity, rows, s.defects.err()
}
