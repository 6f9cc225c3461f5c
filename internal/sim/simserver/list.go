package simserver

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
)

// The titles and paths of the lists, in the order of disclosure.Types.
var (
	titles = [3]string{"Información privilegiada", "Hechos relevantes", "Otra información relevante"}
	paths  = [3]string{
		"informacion-privilegiada/resultado-ip.aspx", "hr/resultadobusquedahr.aspx", "otra-informacion-relevante/resultado-oir.aspx",
	}
)

// results answers a list of reports, or the page of one.
func (s *Server) results(r *request) answer {
	q := r.URL.Query()
	if q.Has("nreg") {
		return s.permalink(r, q.Get("nreg"))
	}
	query, ok := readQuery(r, q)
	if !ok {
		return badRequest
	}
	return s.listing(r, s.archive.List(query))
}

// funds is the division that still files relevant facts.
const funds = "2"

// relevantFacts answers the page of one report, or the list of one issuer. There is
// no list of all issuers. All relevant facts of the market are of funds.
func (s *Server) relevantFacts(r *request) answer {
	q := r.URL.Query()
	isFunds := q.Get("division") == funds
	switch {
	case q.Has("nreg") && q.Get("th") != "H", !q.Has("nreg") && q.Get("nif") == "":
		return badRequest
	case q.Has("nreg") && isFunds:
		return s.permalink(r, q.Get("nreg"))
	case q.Has("nreg"):
		return s.permalink(r, "")
	case q.Has("division") && !isFunds:
		return s.listing(r, nil)
	}
	return s.listing(r, s.archive.List(archive.Query{Series: disclosure.HR, NIF: q.Get("nif")}))
}

// readQuery parses the parameters of a list.
func readQuery(r *request, q url.Values) (query archive.Query, ok bool) {
	query = archive.Query{Series: r.series, NIF: q.Get("nif")}
	for name, into := range map[string]*disclosure.Day{"fechaDesde": &query.From, "fechaHasta": &query.To} {
		text := param(q, name)
		if text == "" {
			continue
		}
		at, err := time.ParseInLocation("02/01/2006", text, disclosure.Madrid)
		if err != nil || at.Year() < 1988 {
			return archive.Query{}, false
		}
		*into = disclosure.DayOf(at)
	}
	if text := q.Get("dias"); text != "" {
		days, err := strconv.Atoi(text)
		if err != nil || days < 0 || days > 100_000 {
			return archive.Query{}, false
		}
		query.From = disclosure.DayOf(r.now) - disclosure.Day(days)
	}
	return query, true
}

// param returns a parameter whose name may be in any letter case.
func param(q url.Values, name string) string {
	for key, values := range q {
		if strings.EqualFold(key, name) {
			return values[0]
		}
	}
	return ""
}

func pageNumber(q url.Values) (n int, ok bool) {
	text := q.Get("page")
	if text == "" {
		return 0, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n < 1_000_000
}

// permalink answers the page of one report: the name on top and no pager. An unknown
// number gives a list without rows.
func (s *Server) permalink(r *request, text string) answer {
	p := page{Title: titles[r.series.Index()], Skew: r.skew}
	number, _ := disclosure.ParseNumber(text)
	if f := s.archive.Find(r.series, number); f != nil {
		p.Name, p.Rows = f.CompanyName, []*archive.Report{f}
	}
	return p.answer("list")
}

// runawayPages is the number of pages of a list under the fault runaway.
const runawayPages = 1000

// listing answers one page of a list.
func (s *Server) listing(r *request, all []*archive.Report) answer {
	number, ok := pageNumber(r.URL.Query())
	if !ok {
		return badRequest
	}
	pages := (len(all) + archive.PerPage - 1) / archive.PerPage
	first := min(number*archive.PerPage, len(all))
	if r.runaway && pages > 0 {
		if number >= runawayPages {
			return badRequest
		}
		pages, first = runawayPages, min(first, max(0, len(all)-archive.PerPage))
	}
	return page{
		Title: titles[r.series.Index()],
		Skew:  r.skew,
		Rows:  all[first:min(first+archive.PerPage, len(all))],
		Pager: newPager(number, pages, listLink(r)),
	}.answer("list")
}

// listLink returns the path of a list with the parameters that select it.
func listLink(r *request) string {
	link := paths[r.series.Index()] + "?lang=es"
	for _, name := range []string{"division", "nif", "fechaDesde", "fechaHasta", "dias"} {
		if value := param(r.URL.Query(), name); value != "" {
			link += "&amp;" + name + "=" + siteAttr(strings.ReplaceAll(url.QueryEscape(value), "%2F", "/"))
		}
	}
	return link
}

// isPrivateEquity reports whether a report is of a manager of private equity, which
// have a list of their own.
func isPrivateEquity(f *archive.Report) bool {
	return f.Issuer != nil && strings.Contains(f.Issuer.Name, "S.G.E.I.C.")
}

func (s *Server) latestFunds(r *request) answer {
	return s.latest(r, "Últimos hechos relevantes de IIC", 0,
		func(f *archive.Report) bool { return !isPrivateEquity(f) })
}

// latestEquity answers the list of private equity, which covers two months and may
// be empty.
func (s *Server) latestEquity(r *request) answer {
	return s.latest(r, "Últimos hechos relevantes de capital riesgo", disclosure.DayOf(r.now)-60, isPrivateEquity)
}

func (s *Server) latest(r *request, title string, since disclosure.Day, matches func(*archive.Report) bool) answer {
	const most = 30
	return page{Title: title, Skew: r.skew, Rows: s.archive.Newest(disclosure.HR, most, since, matches)}.answer("list")
}
