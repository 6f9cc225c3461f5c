package simserver

import (
	"strconv"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/paper"
)

// document answers what a link ver? leads to: a report's document by its
// identifier, or one of the documents that have a token.
func (s *Server) document(r *request) answer {
	q := r.URL.Query()
	if text := q.Get("e"); text != "" {
		return s.byToken(r, text)
	}
	guid := strings.ToLower(strings.Trim(q.Get("t"), "{}"))
	if f := s.byGUID(guid); f != nil {
		return f.file(s.seed)
	}
	return lost
}

// file returns the document of a report.
func (f *filing) file(seed uint64) answer {
	form := paper.Make(paper.Source{Report: &f.Report, Form: f.Form, Text: f.Text}, seed)
	if f.Form == paper.WebPage {
		return maintenance()
	}
	return answer{kind: form.ContentType, body: form.Body, filed: true}
}

// damaged returns a document in a hostile form.
func damaged(form string, good answer) answer {
	if form == paper.WebPage {
		return maintenance()
	}
	f := paper.Damage(form, paper.File{ContentType: good.kind, Body: good.body})
	return answer{kind: f.ContentType, body: f.Body, filed: true}
}

// maintenance is a page with the status of a success, as all pages of the site have.
func maintenance() answer {
	return page{
		title:   "Servicio en mantenimiento",
		content: []byte("<p>El servicio de consulta de documentos se encuentra en mantenimiento. Disculpe las molestias.</p>"),
	}.answer()
}

func (s *Server) byGUID(guid string) *filing {
	s.mu.RLock()
	f := s.live.docs[guid]
	s.mu.RUnlock()
	if f != nil {
		return f
	}
	at, ok := s.archive.index().docs[stem(guid)]
	if !ok {
		return nil
	}
	f = s.archive.get(at.series(), int64(at.number))
	if f == nil || f.guid() != guid {
		return nil
	}
	return f
}

func (s *Server) byToken(r *request, text string) answer {
	kind, a, b, ok := readToken(s.seed, text)
	switch {
	case ok && kind == tokenReport && a < 3:
		if f := s.find(disclosure.Types[a], int64(b)); f != nil {
			return f.file(s.seed)
		}
	case ok && kind == tokenMonth:
		return s.registerZip(int(a)+firstYear, int(b))
	}
	return lost
}

// The pages that some rows lead to instead of a document.

func (s *Server) annualReports(r *request) answer {
	nif := param(r.URL.Query(), "nif")
	if nif == "" {
		return refuse
	}
	return s.aside("Informes financieros anuales", nif)
}

func (s *Server) votingRights(r *request) answer {
	return s.aside("Otra información regulada corporativa", param(r.URL.Query(), "nif"))
}

func (s *Server) halfYearReport(r *request) answer {
	number := param(r.URL.Query(), "nreg")
	if _, err := strconv.ParseUint(number, 10, 64); err != nil {
		return refuse
	}
	b := appendText([]byte("<p class=\"TituloDatos\">Registro "), number)
	return page{title: "Información financiera intermedia", content: append(b, "</p>"...)}.answer()
}

func (s *Server) entity(r *request) answer {
	return s.aside("Datos de la entidad", r.URL.Query().Get("nif"))
}

// aside is a small page about an issuer, whom the site knows by one spelling
// of its number only.
func (s *Server) aside(title, nif string) answer {
	i := s.people.byNIF[nif]
	if i == nil {
		return page{title: title, content: []byte("<p>No existen datos para la entidad.</p>")}.answer()
	}
	b := appendText([]byte("<p class=\"TituloDatos\">"), i.Name)
	b = appendText(append(b, "</p><p>NIF: "...), i.NIF)
	return page{title: title + " - " + i.Name, content: append(b, "</p>"...)}.answer()
}
