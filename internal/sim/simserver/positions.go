package simserver

import (
	"bytes"
	_ "embed"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/paper"
	"pregon/internal/sim/paper/notice"
	"pregon/internal/sim/stake"
)

//go:embed site/positions.html
var positionTemplates string

// sheet is the content of a page of the registers of positions, of which each template
// uses some.
type sheet struct {
	page
	Dealings   []dealingRow
	Links      []hyperlink
	Table      stake.Table
	Rows       []holdingRow
	Notices    []noticeRow
	Annulments []stake.Annulment
	Others     string // link to another page
	Since      disclosure.Day
	Days       []dayLinks
	Identity   stake.Identity
}

type (
	hyperlink struct{ Href, Text string }
	dayLinks  struct {
		Day   disclosure.Day
		Links []hyperlink
	}
	dealingRow struct {
		stake.Dealing
		NIF  string // as this list spells it
		Link string
	}
	noticeRow struct {
		Number                     int64
		Shares, Instruments, Total string
		On, Link                   string
	}
	// holdingRow is a row of the present table. History and Annulled are links.
	holdingRow struct {
		noticeRow
		Name, Direct, Indirect, History, Annulled string
	}
)

func (s sheet) answer(template string) answer {
	b := bytes.NewBuffer(make([]byte, 0, 256<<10))
	execute(b, "head", s)
	b.WriteString(menu())
	return answer{kind: html, body: execute(b, template, s)}
}

// positionRoutes are the pages of the registers of positions.
func (s *Server) positionRoutes() map[string]func(*request) answer {
	const dir = "/portal/consultas/"
	return map[string]func(*request) answer{
		dir + "directivos-resultado":                        s.dealings,
		dir + "busquedaultimosdias":                         s.lastDays,
		dir + "ee/datosgenerales":                           s.identity,
		dir + "derechosvoto/ps_ac_ini":                      s.hub,
		dir + "derechosvoto/notificaciones-participaciones": s.visited(presentPage, s.present),
		dir + "derechosvoto/notificacionesanteriores":       s.visited(historyPage, s.history),
		dir + "derechosvoto/personasotrasnotificaciones":    s.visited(othersPage, s.others),
		dir + "derechosvoto/notificacionesanuladas":         s.visited(annulledPage, s.annulled),
		dir + "derechosvoto/autocartera":                    s.visited(ownPage, s.ownShares),
		dir + "derechosvoto/notificacionesanterioresac":     s.visited(ownHistoryPage, s.ownHistory),
		dir + "derechosvoto/sociedadesparticipa":            s.visited(interestsPage, s.interests),
	}
}

// spelled returns the NIF of an issuer as a page knows it. Each page has its own for
// each issuer.
func (s *Server) spelled(id, page string) string {
	x := s.seed
	for _, c := range []byte(id + page) {
		x = filler.Mix(x ^ uint64(c))
	}
	if x%2 == 0 || len(id) < 2 {
		return id
	}
	return id[:1] + "-" + id[1:]
}

// dealings answers a page of the list of dealings. For a number that is not known the
// site lists all issuers.
func (s *Server) dealings(r *request) answer {
	q := r.URL.Query()
	number, ok := pageNumber(q)
	from, to := disclosure.Day(0), disclosure.DayOf(r.now)
	for name, into := range map[string]*disclosure.Day{"fechad": &from, "fechah": &to} {
		text := param(q, name)
		if text == "" {
			continue
		}
		at, err := time.ParseInLocation("02/01/2006", text, disclosure.Madrid)
		if err != nil {
			return badRequest
		}
		*into = disclosure.DayOf(at)
	}
	if !ok {
		return badRequest
	}
	const page = "directivos"
	id := ""
	if nif := param(q, "nif"); nif != "" && s.spelled(disclosure.IssuerKey(nif), page) == nif {
		id = disclosure.IssuerKey(nif)
	}
	all := s.stakes.Dealings(r.now, id, from, to)
	pages := (len(all) + archive.PerPage - 1) / archive.PerPage
	link := "consultas/directivos-resultado.aspx?lang=es&amp;fechad=" + siteAttr(param(q, "fechad")) +
		"&amp;fechah=" + siteAttr(param(q, "fechah"))
	out := sheet{page: titled("Notificaciones de los directivos y personas vinculadas (Reglamento de Ejecución (UE) 2016/523)")}
	out.Pager = newPager(number, pages, link)
	for _, d := range all[min(len(all), number*archive.PerPage):min(len(all), (number+1)*archive.PerPage)] {
		out.Dealings = append(out.Dealings, dealingRow{
			Dealing: d,
			NIF:     s.spelled(d.Issuer.ID, page),
			Link:    archive.Token(s.seed, archive.TokenDealing, 0, uint64(d.Number)),
		})
	}
	return out.answer("dealings")
}

func titled(title string) page { return page{Title: title} }

// hub answers the first page of the register of holdings of an issuer: for one spelling
// of its NIF with links, for the other with its name only.
func (s *Server) hub(r *request) answer {
	nif := param(r.URL.Query(), "nif")
	id := disclosure.IssuerKey(nif)
	const title = "Participaciones significativas y autocartera"
	t, ok := s.stakes.Table(r.now, id)
	if !ok || nif != id && nif != id[:1]+"-"+id[1:] {
		return sheet{page: titled(title)}.answer("hub")
	}
	out := sheet{page: titled(title + " - " + t.Issuer.Name)}
	if nif == s.spelled(id, "ps_ac_ini") {
		for _, to := range []struct{ page, text string }{
			{presentPage, "Notificaciones de derechos de voto e instrumentos financieros"},
			{interestsPage, "Sociedades cotizadas donde participa"},
			{ownPage, "Notificaciones sobre acciones propias (Autocartera)"},
		} {
			if to.page != ownPage || len(t.Own) > 0 {
				out.Links = append(out.Links, hyperlink{s.sessions.link(r.now, visit{to.page, id, ""}), to.text})
			}
		}
		out.Links = append(out.Links, hyperlink{
			"../../HR/HSPactosParasociales.aspx?qS=" + s.sessions.begin(r.now, visit{"", id, ""}),
			"Comunicación de Pactos parasociales",
		})
	}
	return out.answer("hub")
}

// present answers the table of the present holdings.
func (s *Server) present(r *request, v visit, t stake.Table) answer {
	out := sheet{page: titled("Notificaciones de derechos de voto e instrumentos financieros - " + t.Issuer.Name), Table: t}
	if t.Concert && len(t.Present) > 1 {
		n := t.Present[0].Notices[0].Shares() + t.Present[1].Notices[0].Shares()
		out.Rows = append(out.Rows, holdingRow{Name: "ACCION CONCERTADA", noticeRow: noticeRow{Shares: stake.Percent(n)}})
	}
	for _, row := range t.Present {
		out.Rows = append(out.Rows, s.holdingRow(r.now, v.issuer, row))
	}
	if len(t.Others) > 0 {
		out.Others = s.sessions.link(r.now, visit{othersPage, v.issuer, ""})
	}
	return out.answer("present")
}

func (s *Server) holdingRow(now time.Time, id string, row stake.Row) holdingRow {
	newest := row.Notices[0]
	h := holdingRow{
		noticeRow: s.noticeRow(newest),
		Name:      row.Name,
		Direct:    stake.Percent(newest.Direct),
		Indirect:  stake.Percent(newest.Indirect),
		History:   s.sessions.link(now, visit{historyPage, id, row.Name}),
	}
	if newest.Instruments == 0 {
		h.Instruments = "" // the site leaves it empty
	}
	if len(row.Annulments) > 0 {
		h.Annulled = s.sessions.link(now, visit{annulledPage, id, row.Name})
	}
	return h
}

func (s *Server) noticeRow(n stake.Notice) noticeRow {
	return noticeRow{
		Number:      n.Number,
		Shares:      stake.Percent(n.Shares()),
		Instruments: stake.Percent(n.Instruments),
		Total:       stake.Percent(n.Total()),
		On:          dateText(n.On),
		Link:        archive.Token(s.seed, archive.TokenHolding, 0, uint64(n.Number)),
	}
}

func dateText(d disclosure.Day) string { return d.Start().Format("02/01/2006") }

// others answers the list of those whose holding is not significant any more.
func (s *Server) others(r *request, v visit, t stake.Table) answer {
	out := sheet{page: titled("Otras notificaciones - " + t.Issuer.Name)}
	for _, row := range t.Others {
		out.Rows = append(out.Rows, s.holdingRow(r.now, v.issuer, row))
	}
	return out.answer("others")
}

// row returns the row of a shareholder.
func row(t stake.Table, name string) (found stake.Row) {
	for _, rows := range [][]stake.Row{t.Present, t.Others} {
		for _, row := range rows {
			if row.Name == name {
				found = row
			}
		}
	}
	return found
}

func (s *Server) history(_ *request, v visit, t stake.Table) answer {
	return s.notices("Notificaciones anteriores - "+t.Issuer.Name, v.party, row(t, v.party).Notices)
}

func (s *Server) notices(title, caption string, notices []stake.Notice) answer {
	out := sheet{page: titled(title)}
	out.Name = caption
	for _, n := range notices {
		out.Notices = append(out.Notices, s.noticeRow(n))
	}
	return out.answer("history")
}

func (s *Server) annulled(_ *request, v visit, t stake.Table) answer {
	out := sheet{page: titled("Notificaciones anuladas - " + t.Issuer.Name), Annulments: row(t, v.party).Annulments}
	out.Name = v.party
	return out.answer("annulled")
}

func (s *Server) ownShares(r *request, v visit, t stake.Table) answer {
	return sheet{
		page:   titled("Autocartera - " + t.Issuer.Name),
		Others: s.sessions.link(r.now, visit{ownHistoryPage, v.issuer, ""}),
	}.answer("ownshares")
}

func (s *Server) ownHistory(_ *request, _ visit, t stake.Table) answer {
	return s.notices("Notificaciones anteriores de acciones propias - "+t.Issuer.Name, t.Issuer.Name, t.Own)
}

func (s *Server) interests(_ *request, _ visit, t stake.Table) answer {
	return plain("Sociedades cotizadas donde participa - "+t.Issuer.Name, "<p>No existen datos.</p>")
}

// lastDays answers what was registered on the last five days.
func (s *Server) lastDays(r *request) answer {
	out := sheet{page: titled("Últimas incorporaciones"), Since: disclosure.DayOf(r.now) - 5}
	for _, c := range s.stakes.Changed(r.now, out.Since) {
		if n := len(out.Days); n == 0 || out.Days[n-1].Day != c.Day {
			out.Days = append(out.Days, dayLinks{Day: c.Day})
		}
		day := &out.Days[len(out.Days)-1]
		day.Links = append(day.Links, hyperlink{
			"derechosvoto/ps_ac_ini.aspx?nif=" + url.QueryEscape(s.spelled(c.Issuer.ID, "busquedaultimosdias")),
			c.Issuer.Name,
		})
	}
	return out.answer("lastdays")
}

// identity answers the general data of an issuer, for one spelling of its NIF.
func (s *Server) identity(r *request) answer {
	nif := param(r.URL.Query(), "nif")
	id := disclosure.IssuerKey(nif)
	i, ok := s.stakes.Identity(r.now, id)
	if !ok || nif != s.spelled(id, "datosgenerales") {
		return plain("Datos generales", "<p>No existen datos para los criterios seleccionados.</p>")
	}
	return sheet{page: titled("Datos generales - " + i.Issuer.Name), Identity: i}.answer("identity")
}

// noticeDocument answers the document of a dealing or of a holding. One document is empty
// for ever.
func (s *Server) noticeDocument(r *request, kind, number uint64) answer {
	if kind == archive.TokenHolding {
		n := strconv.FormatUint(number, 10)
		report := disclosure.Report{ID: "holding-" + n, Title: "Notificación " + n, PublishedAt: s.Began()}
		f := paper.Make(paper.Source{
			Report: &report,
			Form:   "pdf",
			Text:   "Notificación de derechos de voto número " + n + " de un mercado simulado: nada de esto es real.",
		}, s.seed)
		return answer{kind: f.ContentType, body: f.Body, isDocument: true}
	}
	d, ok := s.stakes.Dealing(r.now, int64(number))
	switch {
	case !ok:
		return forbidden
	case d.Lost:
		return answer{kind: "application/pdf", isDocument: true}
	}
	return answer{kind: "application/pdf", body: notice.PDF(d.Notice), isDocument: true}
}

// enter publishes an entry of a register at once.
func (s *Server) enter(kind stake.Kind, issuer string) (any, error) {
	number, err := s.stakes.Publish(s.now(), stake.Kind(strings.ToLower(string(kind))), issuer)
	if err != nil {
		return nil, err
	}
	s.log.Debug("registered", "type", string(kind), "number", number)
	return struct {
		Number string `json:"number"`
	}{strconv.FormatInt(number, 10)}, nil
}
