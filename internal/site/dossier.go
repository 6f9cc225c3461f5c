package site

import (
	"net/url"
	"strings"

	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/site/chart"
	"pregon/internal/site/render"
)

// Sizes of the dossier of an issuer. The pages of the registers have all.
const (
	dossierHoldings = 40
	dossierShorts   = 30
	dossierDealings = 10
)

// showNames is the value of the parameter names with which the page of an issuer has the
// names of natural persons. That page is not for search engines; the one without is.
const showNames = "show"

// dossier is what the registers of positions have of an issuer.
type dossier struct {
	Holdings *chart.Chart
	OwnShare *positionRow // the newest of own shares, or nil
	Shorts   shortSection
	Dealings dealingSection
	Names    string // address of the page with or without the names of natural persons, or ""
	Shown    bool   // they are shown
	All      string // address of everything as JSON
	Feeds    []render.Link
}

// shortSection is the part of a dossier about short positions.
type shortSection struct {
	Chart *chart.Chart // nil if there was never one
	Rows  []positionRow
	Total string // of the present ones, or ""
	Names int    // of how many holders
	List  string // address of the page with all
}

// dealingSection is the part of a dossier about managers' dealings.
type dealingSection struct {
	Chart *chart.Chart // nil if no month has a purchase or sale in euros
	Rows  []positionRow
	Total int
	List  string // address of the page with all
}

// hasPositions reports whether the registers have something of an issuer.
func hasPositions(b *position.Book, key string) bool {
	for _, kind := range disclosure.PositionKinds {
		for range b.Of(key, kind) {
			return true
		}
	}
	return false
}

// dossier returns what the registers have of an issuer, or nil if they have nothing.
func (s *Site) dossier(q *request, id string) (*dossier, error) {
	book := q.snapshot.Positions()
	key, ok := book.Key(id)
	if !ok || !hasPositions(book, key) {
		return nil, nil
	}
	path := q.URL.EscapedPath()
	d := &dossierReader{
		request: q,
		book:    book,
		key:     key,
		id:      id,
		shown:   q.values.Get("names") == showNames,
	}
	out := &dossier{
		Shown: d.shown,
		All:   "/api/v1" + issuerPath(id) + "/ownership",
	}
	for _, r := range registers {
		out.Feeds = append(out.Feeds, render.Link{
			Text: q.edition.Text("register.tab." + string(r.kind)),
			URL:  r.path + "/feed.atom" + queryOf("issuer", id),
		})
	}
	var err error
	if err = d.addHoldings(out, s.Query); err != nil {
		return nil, err
	}
	if err = d.addShorts(out, s.Query); err != nil {
		return nil, err
	}
	if err = d.addDealings(out, s.Query); err != nil {
		return nil, err
	}
	switch {
	case d.shown:
		out.Names = q.with(path, "names", "")
	case d.hidden:
		out.Names = q.with(path, "names", showNames)
	}
	return out, nil
}

// dossierReader collects the parts of a dossier.
type dossierReader struct {
	*request

	book   *position.Book
	key    string // of the issuer in the book
	id     string // of the issuer
	shown  bool   // names of natural persons are shown
	hidden bool   // some were left out
}

// list returns the address of the page with all positions of a register.
func (d *dossierReader) list(r *register) string {
	return d.edition.Link(r.path + queryOf("issuer", d.id))
}

// data returns the address of the data of a register in a format, such as ".csv".
func (d *dossierReader) data(path string, more ...string) string {
	values := url.Values{"issuer": {d.id}}
	for i := 0; i+1 < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	return "/api/v1" + path + ".csv?" + values.Encode()
}

// rows returns positions as rows, without the names that are not shown.
func (d *dossierReader) rows(r *register, entries []position.Entry) ([]positionRow, error) {
	moves, err := d.book.MovesOf(d.Context(), entries)
	if err != nil {
		return nil, err
	}
	out := make([]positionRow, len(moves))
	for i, m := range moves {
		p := m.Entry.Decode()
		out[i] = d.newPositionRow(r, m, p)
		if name := d.nameOf(p); name != p.Name {
			out[i].Name = name
			out[i].hideName()
		}
	}
	return out, nil
}

// nameOf returns the name of a position as the page has it.
func (d *dossierReader) nameOf(p *disclosure.Position) string {
	if p.Name == "" || !p.Natural || d.shown {
		return p.Name
	}
	d.hidden = true
	return d.edition.Text("dossier.hidden")
}

// hideName writes why a manager had to notify in place of the name.
func (r *positionRow) hideName() {
	if r.dealingRow == nil || r.Relation == "" {
		return
	}
	r.Name = strings.ToUpper(r.Relation[:1]) + r.Relation[1:] // which begins with a Latin letter
	r.Relation = ""
}

// addHoldings adds who holds the issuer.
func (d *dossierReader) addHoldings(out *dossier, service *query.Service) error {
	own := service.CurrentPositions(d.book, d.key, disclosure.OwnShares)
	if len(own) > 0 {
		rows, err := d.rows(ownSharesRegister, own[:1])
		if err != nil {
			return err
		}
		out.OwnShare = &rows[0]
	}
	found := service.CurrentPositions(d.book, d.key, disclosure.Holding)
	rows, err := d.rows(holdingRegister, found[:min(len(found), dossierHoldings)])
	if err != nil {
		return err
	}
	out.Holdings = d.holdingsChart(found[:len(rows)], rows)
	return nil
}

// addShorts adds the short positions in the issuer.
func (d *dossierReader) addShorts(out *dossier, service *query.Service) error {
	out.Shorts.List = d.list(shortRegister)
	lines := d.book.ShortLines(d.key)
	if len(lines) == 0 {
		return nil
	}
	total := service.ShortTotal(d.book, d.key)
	if total.Names > 0 {
		out.Shorts.Total = d.edition.percentage(total.Percent)
		out.Shorts.Names = total.Names
	}
	found := service.CurrentPositions(d.book, d.key, disclosure.Short)
	var err error
	out.Shorts.Rows, err = d.rows(shortRegister, found[:min(len(found), dossierShorts)])
	out.Shorts.Chart = d.shortChart(lines, d.naturalNames())
	return err
}

// naturalNames returns the names in short positions that may be those of natural persons.
func (d *dossierReader) naturalNames() map[string]bool {
	names := map[string]bool{}
	for e := range d.book.Of(d.key, disclosure.Short) {
		if e.Natural() {
			names[e.Name()] = true
		}
	}
	return names
}

// addDealings adds the dealings of managers.
func (d *dossierReader) addDealings(out *dossier, service *query.Service) error {
	found, err := d.book.List(d.Context(), position.Filter{
		Kinds:   []disclosure.PositionKind{disclosure.Dealing},
		Issuers: []string{d.key},
	}, 1, dossierDealings)
	if err != nil {
		return err
	}
	out.Dealings.List = d.list(dealingRegister)
	out.Dealings.Total = found.Total
	out.Dealings.Chart = d.dealingsChart(service.DealingMonths(d.book, d.key))
	out.Dealings.Rows, err = d.rows(dealingRegister, found.Entries)
	return err
}
