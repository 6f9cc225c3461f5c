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
	number, fine := pageNumber(q)
	if !ok || !fine {
		return badRequest
	}
	return s.listing(r, s.archive.List(query), number)
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
	number, _ := disclosure.ParseNumber(text)
	var rows []*archive.Report
	var b []byte
	if f := s.archive.Find(r.series, number); f != nil {
		rows = append(rows, f)
		b = append(b, "<p id=\"ctl00_ContentPrincipal_wucRelacionRegistros_tituloDatos\" class=\"TituloDatos\">"...)
		b = append(appendText(b, f.CompanyName), "</p>\r\n"...)
	}
	return page{title: titles[r.series.Index()], newest: newestOf(rows, r), content: appendRows(b, rows, r)}.answer()
}

// runawayPages is the number of pages of a list under the fault runaway.
const runawayPages = 1000

// listing answers one page of a list.
func (s *Server) listing(r *request, all []*archive.Report, number int) answer {
	pages := (len(all) + archive.PerPage - 1) / archive.PerPage
	first := min(number*archive.PerPage, len(all))
	if r.runaway && pages > 0 {
		if number >= runawayPages {
			return badRequest
		}
		pages, first = runawayPages, min(first, max(0, len(all)-archive.PerPage))
	}
	rows := all[first:min(first+archive.PerPage, len(all))]
	b := appendRows(nil, rows, r)
	if pages > 1 && len(rows) > 0 {
		b = appendPager(b, r, number, pages)
	}
	return page{title: titles[r.series.Index()], newest: newestOf(rows, r), content: b}.answer()
}

func newestOf(rows []*archive.Report, r *request) time.Time {
	if len(rows) == 0 {
		return time.Time{}
	}
	return rows[0].PublishedAt.Add(r.skew)
}

// today answers the reports of the feed as a list.
func (s *Server) today(r *request) answer {
	rows := s.window(r)
	return page{title: titles[r.series.Index()] + " del día", newest: newestOf(rows, r), content: appendRows(nil, rows, r)}.answer()
}

// appendPager appends the links to the adjacent pages, which are on the other host of
// the site.
func appendPager(b []byte, r *request, number, pages int) []byte {
	q := r.URL.Query()
	link := func(b []byte, to int, title, text string) []byte {
		b = append(b, "<li><a class=\"submit\" href=\"https://internet.regulator.example/portal/"...)
		b = append(b, paths[r.series.Index()]...)
		b = append(b, "?lang=es"...)
		for _, name := range []string{"division", "nif", "fechaDesde", "fechaHasta", "dias"} {
			if value := param(q, name); value != "" {
				b = append(b, "&amp;"+name+"="...)
				b = appendAttr(b, strings.ReplaceAll(url.QueryEscape(value), "%2F", "/"))
			}
		}
		b = append(b, "&amp;page="...)
		b = strconv.AppendInt(b, int64(to), 10)
		b = append(b, "\" title=\""...)
		b = appendAttr(b, title)
		return append(b, "\">"+text+"</a></li>"...)
	}
	b = append(b, "<div class=\"paginacion\"><span id=\"ctl00_ContentPrincipal_wucRelacionRegistros_lblInfoPaginacion\" class=\"PagActivaTXT\">Página "...)
	b = strconv.AppendInt(b, int64(number+1), 10)
	b = append(b, " de "...)
	b = strconv.AppendInt(b, int64(pages), 10)
	b = append(b, "</span>\r\n<ul class=\"pagination\">"...)
	for n := max(0, number-4); n < min(pages, number+6); n++ {
		text := strconv.Itoa(n + 1)
		if n == number {
			b = append(b, "<li class=\"active\"><span>"+text+"</span></li>"...)
			continue
		}
		b = link(b, n, "Ir a página "+text+" ", text)
	}
	if number+1 < pages {
		b = link(b, number+1, "Ir a página siguiente ", "»")
	}
	return append(b, "</ul></div>\r\n"...)
}
