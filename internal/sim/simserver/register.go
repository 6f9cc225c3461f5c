package simserver

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
	"pregon/internal/sim/paper"
)

// entry is an entry of a register.
type entry struct {
	list      int    // the id of its list
	family    string // has numbers of its own
	number    int
	date      disclosure.Day
	name, nif string
	page      string // of the issuer
	fund      *market.Fund
}

// register returns all investment funds, distributed over the lists of the site and
// ordered by name.
func (s *Server) register() []entry {
	var out []entry
	funds := s.market.Funds()
	for n := range funds {
		f := &funds[n]
		e := entry{list: 3, family: "FI", name: f.Name, nif: f.NIF, page: "iic/fondo.aspx?nif=" + f.NIF + "&vista=0", fund: f}
		switch {
		case strings.HasSuffix(f.Name, "FIL"):
			e.list, e.family = 5, "FHF"
		case n%10 == 6 || n%10 == 7:
			e.list = 17
		case n%10 == 8:
			e.list, e.family = 7, "SICAV"
		case n%10 == 9:
			e.list, e.family = 18, "SICAV"
		}
		e.number, e.date = 100+n*29, market.Epoch-disclosure.Day(filler.Mix(s.seed^uint64(n))%9000)
		out = append(out, e)
	}
	sortByName(out)
	return out
}

func sortByName(entries []entry) {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(archive.Fold(a.name), archive.Fold(b.name)) })
}

// managers answers the list of managers on one page. The other lists of this form are
// empty.
func (s *Server) managers(r *request) answer {
	var rows []entry
	if q := r.URL.Query(); q.Get("id") == "2" && cmp.Or(q.Get("tipoent"), "0") == "0" {
		rows = s.managerEntries()
	}
	return page{title: "Sociedades gestoras de IIC", content: s.appendEntries(nil, rows)}.answer()
}

func (s *Server) managerEntries() []entry {
	var rows []entry
	for n, i := range s.archive.Directory.All {
		if i.Kind == disclosure.Manager {
			rows = append(rows, entry{
				family: "SGIIC", number: 1 + n, date: market.Epoch - disclosure.Day(filler.Mix(s.seed^uint64(n))%9000),
				name: i.Name, nif: i.NIF, page: "iic/gestora.aspx?nif=" + i.NIF,
			})
		}
	}
	sortByName(rows)
	return rows
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
	shown := rows[min(len(rows), number*archive.PerPage):min(len(rows), (number+1)*archive.PerPage)]
	b := s.appendEntries(nil, shown)
	if pages > 1 && len(shown) > 0 {
		b = append(b, "<span id=\"ctl00_ContentPrincipal_wucRelacionRegistros_MF_lblInfoPaginacion\" class=\"PagActivaTXT\">Página "+
			strconv.Itoa(number+1)+" de "+strconv.Itoa(pages)+"</span>\r\n<ul class=\"pagination\">"...)
		for n := range pages {
			text := strconv.Itoa(n + 1)
			b = append(b, "<li><a class=\"submit\" href=\"https://internet.regulator.example/portal/consultas/mostrarlistados.aspx?id="+strconv.Itoa(id)+
				"&amp;page="+strconv.Itoa(n)+"\" title=\"Ir a p&#225;gina "+text+" \">"+text+"</a></li>"...)
		}
		b = append(b, "</ul>\r\n"...)
	}
	return page{title: "Listado de entidades", content: b}.answer()
}

// appendEntries appends the entries of a register, which are like the rows of a list
// with other ids.
func (s *Server) appendEntries(b []byte, rows []entry) []byte {
	b = append(b, "<ul id=\"listaElementosPrimernivel\">\r\n"...)
	for n, e := range rows {
		id := "ctl00_ContentPrincipal_wucRelacionRegistros_MF_repListaPrincipal_ctl" + fmt.Sprintf("%02d", n+1)
		b = append(b, " <li id=\""+id+"_elementoPrimerNivel\" class=\"blocks-single\">\r\n  <ul id=\""+id+"_sublistaIzquierda\" class=\"col-12 col-sm-12 single\">\r\n"+
			"   <li id=\""+id+"_liTituloCabecera\">\r\n     <a id=\""+id+"_hlTituloCabecera\" href=\""...)
		b = appendAttr(b, e.page)
		b = appendAttr(append(b, "\" title=\""...), e.name)
		b = append(b, "\"><span id=\""+id+"_spanTituloCabecera\" class=\"tit-small\">"...)
		b = appendText(b, e.name)
		b = append(b, "</span></a>\r\n   </li>\r\n   <li id=\""+id+"_liSubtituloRegistro\" class=\"padding-r resumen\">Número y fecha de registro oficial: "+
			strconv.Itoa(e.number)+" - "+e.date.Start().Format("02/01/2006")+"</li>\r\n"...)
		b = append(s.appendAbout(b, &e), "  </ul>\r\n </li>\r\n"...)
	}
	return append(b, "</ul>\r\n"...)
}

// appendAbout appends the manager and the depositary of a fund, or the address of
// another issuer.
func (s *Server) appendAbout(b []byte, e *entry) []byte {
	const line = "   <li class=\"padding-r resumen\">"
	if e.fund == nil {
		return append(b, line+"Dirección: "+s.address(e.number)+"</li>\r\n"...)
	}
	b = appendText(append(b, line+" Gestora: "...), e.fund.Manager.Name)
	b = append(b, " (número de registro: "+strconv.Itoa(1+int(filler.Mix(s.seed^numberOf(e.fund.Manager.ID[1:]))%300))+"). </li>\r\n"+line+" Depositario: "...)
	return append(appendText(b, e.fund.Depositary.Name), " </li>\r\n"...)
}

// address returns an invented address.
func (s *Server) address(n int) string {
	x := filler.Mix(s.seed ^ uint64(n))
	return "CALLE SIMULADA, " + strconv.Itoa(int(x%90)+1) + " " + strconv.Itoa(int(x>>8%9)+1) + "º - 00" + fmt.Sprintf("%03d", x>>16%1000) + " " +
		strings.ToUpper(paper.Towns[x>>32%uint64(len(paper.Towns))])
}
