package simserver

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
	"pregon/internal/sim/paper"
)

// entry is an entry of a register.
type entry struct {
	list    int    // the id of its list
	Family  string // has numbers of its own
	Number  int
	Date    disclosure.Day
	Name    string
	Page    string // of the issuer
	Address string // of a manager

	Fund          *market.Fund
	ManagerNumber int // of a fund
}

// register returns all investment funds, distributed over the lists of the site and
// ordered by name.
func (s *Server) register() []entry {
	managers := map[string]int{}
	for _, e := range s.managerEntries() {
		managers[e.Name] = e.Number
	}
	var out []entry
	for n, f := range s.market.Funds() {
		e := entry{
			list:          3,
			Family:        "FI",
			Number:        100 + n*29,
			Date:          s.registered(n),
			Name:          f.Name,
			Page:          "iic/fondo.aspx?nif=" + f.NIF + "&vista=0",
			Fund:          &f,
			ManagerNumber: managers[f.Manager.Name],
		}
		switch {
		case strings.HasSuffix(f.Name, "FIL"):
			e.list, e.Family = 5, "FHF"
		case n%10 == 6 || n%10 == 7:
			e.list = 17
		case n%10 == 8:
			e.list, e.Family = 7, "SICAV"
		case n%10 == 9:
			e.list, e.Family = 18, "SICAV"
		}
		out = append(out, e)
	}
	return sortedByName(out)
}

// registered returns the day on which the nth issuer was registered.
func (s *Server) registered(n int) disclosure.Day {
	return market.Epoch - disclosure.Day(filler.Mix(s.seed^uint64(n))%9000)
}

func sortedByName(entries []entry) []entry {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(archive.Fold(a.Name), archive.Fold(b.Name)) })
	return entries
}

// managers answers the list of managers on one page. The other lists of this form are
// empty.
func (s *Server) managers(r *request) answer {
	p := page{Title: "Sociedades gestoras de IIC"}
	if q := r.URL.Query(); q.Get("id") == "2" && cmp.Or(q.Get("tipoent"), "0") == "0" {
		p.Entries = s.managerEntries()
	}
	return p.answer("register")
}

func (s *Server) managerEntries() (rows []entry) {
	for n, i := range s.archive.Directory.All {
		if i.Kind == disclosure.Manager {
			rows = append(rows, entry{
				Number:  1 + n,
				Date:    s.registered(n),
				Name:    i.Name,
				Page:    "iic/gestora.aspx?nif=" + i.NIF,
				Address: s.address(1 + n),
			})
		}
	}
	return sortedByName(rows)
}

// funds answers a page of a list of funds.
func (s *Server) funds(r *request) answer {
	q := r.URL.Query()
	number, ok := pageNumber(q)
	id, err := strconv.Atoi(q.Get("id"))
	if err != nil || !ok {
		return badRequest
	}
	rows := slices.DeleteFunc(s.register(), func(e entry) bool { return e.list != id })
	pages := (len(rows) + archive.PerPage - 1) / archive.PerPage
	return page{
		Title:   "Listado de entidades",
		Entries: rows[min(len(rows), number*archive.PerPage):min(len(rows), (number+1)*archive.PerPage)],
		Pager:   newPager(number, pages, "consultas/mostrarlistados.aspx?id="+strconv.Itoa(id)),
	}.answer("register")
}

// address returns an invented address.
func (s *Server) address(n int) string {
	x := filler.Mix(s.seed ^ uint64(n))
	return fmt.Sprintf("CALLE SIMULADA, %d %dº - 00%03d %s", x%90+1, x>>8%9+1, x>>16%1000,
		strings.ToUpper(paper.Towns[x>>32%uint64(len(paper.Towns))]))
}

// firstYear is the first year of the open data.
const firstYear = 2012

// month is a monthly file of the open data.
type month struct{ Name, Link string }

// downloads answers the page with the monthly files of a year. The current month has
// none yet.
func (s *Server) downloads(r *request) answer {
	now := r.now.In(disclosure.Madrid)
	year := now.Year()
	if text := r.URL.Query().Get("ejercicio"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return badRequest
		}
		year = n
	}
	p := page{Title: "Descarga de información individual"}
	for n, name := range filler.Months {
		next := time.Date(year, time.Month(n+2), 1, 0, 0, 0, 0, disclosure.Madrid)
		if year < firstYear || !next.Before(now) {
			break
		}
		link := archive.Token(s.seed, archive.TokenMonth, uint64(year-firstYear), uint64(n+1))
		p.Months = append(p.Months, month{strings.ToUpper(name[:1]) + name[1:], link})
	}
	return p.answer("downloads")
}

// registerZip answers the file of a month: the register and two other members.
func (s *Server) registerZip(year, month int) answer {
	if month < 1 || month > 12 {
		return forbidden
	}
	stamp := fmt.Sprintf("_%04d%02d.xml", year, month)
	return answer{kind: "application/zip", body: paper.Zip([]paper.Member{
		{Name: "LEAME.txt", Body: []byte("Datos de un mercado simulado.\r\n")},
		{Name: "FONDMENS" + stamp, Body: []byte("<FondMens></FondMens>\n")},
		{Name: "FONDREGISTRO" + stamp, Body: execute(&bytes.Buffer{}, "FondRegistro", s.register())},
	})}
}
