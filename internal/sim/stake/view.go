package stake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
)

// Dealings returns the dealings that were registered between two days, newest first. An
// empty id selects all companies.
func (r *Register) Dealings(now time.Time, id string, from, to disclosure.Day) (out []Dealing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance(now)
	for _, d := range slices.Backward(r.dealings) {
		if d.On >= from && d.On <= to && (id == "" || d.Issuer.ID == id) {
			out = append(out, d.copied())
		}
	}
	return out
}

// Dealing returns the dealing with a number.
func (r *Register) Dealing(now time.Time, number int64) (Dealing, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance(now)
	n, found := slices.BinarySearchFunc(r.dealings, number, func(d *Dealing, number int64) int {
		return int(d.Number - number)
	})
	if !found {
		return Dealing{}, false
	}
	return r.dealings[n].copied(), true
}

// copied returns a copy that later events do not change.
func (d *Dealing) copied() Dealing {
	out := *d
	out.Rectifies, out.RectifiedBy = slices.Clone(d.Rectifies), slices.Clone(d.RectifiedBy)
	return out
}

// Table is what the register of holdings shows of a company.
type Table struct {
	Issuer  disclosure.Issuer
	Votes   int64
	Changed disclosure.Day // of the votes
	Present []Row          // by name
	Others  []Row          // whose last holding is not significant any more
	Own     []Notice       // newest first
	Concert bool           // the present table has a label for some who act together
}

// Row is a shareholder with its valid notices, newest first.
type Row struct {
	Name       string
	Notices    []Notice
	Annulments []Annulment // newest first
}

// Table returns what the register shows of a company, and false if it has none.
func (r *Register) Table(now time.Time, id string) (Table, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance(now)
	b := r.byID[id]
	if b == nil {
		return Table{}, false
	}
	t := Table{
		Issuer:  b.issuer,
		Votes:   b.votes,
		Changed: b.changed,
		Own:     newestFirst(b.own),
		Concert: b.concert,
	}
	for _, p := range b.parties {
		row := Row{Name: p.name, Notices: newestFirst(p.valid())}
		for _, a := range slices.Backward(p.annulments) {
			row.Annulments = append(row.Annulments, *a)
		}
		switch {
		case len(row.Notices) == 0:
		case row.Notices[0].Total() >= threshold:
			t.Present = append(t.Present, row)
		default:
			t.Others = append(t.Others, row)
		}
	}
	slices.SortFunc(t.Present, func(a, b Row) int { return strings.Compare(a.Name, b.Name) })
	return t, true
}

func newestFirst(notices []*Notice) (out []Notice) {
	for _, n := range slices.Backward(notices) {
		out = append(out, *n)
	}
	return out
}

// Changed is that a company had new notices of holdings or own shares on a day.
type Changed struct {
	Day    disclosure.Day
	Issuer disclosure.Issuer
}

// Changed returns the companies with new notices since a day, newest day first, each
// once for a day.
func (r *Register) Changed(now time.Time, since disclosure.Day) (out []Changed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance(now)
	for _, c := range slices.Backward(r.changes) {
		if c.day < since {
			break
		}
		same := func(o Changed) bool { return o.Day == c.day && o.Issuer.ID == c.book.issuer.ID }
		if !slices.ContainsFunc(out, same) {
			out = append(out, Changed{c.day, c.book.issuer})
		}
	}
	return out
}

// Identity is the general data of a company.
type Identity struct {
	Issuer    disclosure.Issuer
	LEI       string
	ShortName string
	Sector    string
	Capital   string // in euros, as the register writes it
}

// Identity returns the general data of a company, and false if there are none.
func (r *Register) Identity(now time.Time, id string) (Identity, bool) {
	t, ok := r.Table(now, id)
	if !ok {
		return Identity{}, false
	}
	return Identity{
		Issuer:    t.Issuer,
		LEI:       market.LEI(t.Issuer),
		ShortName: shortName(t.Issuer.Name),
		Sector:    r.options.Market.Sector(id),
		Capital:   filler.Grouped(t.Votes) + ",00 €",
	}, true
}

// Percent writes thousandths of a per cent as the register does.
func Percent(thousandths int) string {
	return strconv.Itoa(thousandths/1000) + "," + fmt.Sprintf("%03d", thousandths%1000)
}
