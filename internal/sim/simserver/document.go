package simserver

import (
	"strconv"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/paper"
)

// document answers a link to a document, by its identifier or by a token.
func (s *Server) document(r *request) answer {
	q := r.URL.Query()
	if text := q.Get("e"); text != "" {
		return s.byToken(text)
	}
	guid := strings.ToLower(strings.Trim(q.Get("t"), "{}"))
	if f := s.archive.ByGUID(guid); f != nil {
		return s.file(f)
	}
	return forbidden
}

// file returns the document of a report.
func (s *Server) file(r *archive.Report) answer {
	if r.Form == paper.WebPage {
		return maintenance()
	}
	f := paper.Make(paper.Source{Report: &r.Report, Form: r.Form, Text: r.Text}, s.seed)
	return answer{kind: f.ContentType, body: f.Body, isDocument: true}
}

// damaged returns a document in a hostile form.
func damaged(form string, good answer) answer {
	if form == paper.WebPage {
		return maintenance()
	}
	f := paper.Damage(form, paper.File{ContentType: good.kind, Body: good.body})
	return answer{kind: f.ContentType, body: f.Body, isDocument: true}
}

// maintenance returns a page with the status of a success, as all pages of the site have.
func maintenance() answer {
	return page{
		title:   "Servicio en mantenimiento",
		content: []byte("<p>El servicio de consulta de documentos se encuentra en mantenimiento. Disculpe las molestias.</p>"),
	}.answer()
}

func (s *Server) byToken(text string) answer {
	kind, a, b, ok := archive.ParseToken(s.seed, text)
	switch {
	case ok && kind == archive.TokenReport && a < 3:
		if f := s.archive.Find(disclosure.Types[a], int64(b)); f != nil {
			return s.file(f)
		}
	case ok && kind == archive.TokenMonth:
		return s.registerZip(int(a)+firstYear, int(b))
	}
	return forbidden
}

// annualReports answers a page to which some rows lead instead of a document.
func (s *Server) annualReports(r *request) answer {
	nif := param(r.URL.Query(), "nif")
	if nif == "" {
		return badRequest
	}
	return s.issuerPage("Informes financieros anuales", nif)
}

func (s *Server) votingRights(r *request) answer {
	return s.issuerPage("Otra información regulada corporativa", param(r.URL.Query(), "nif"))
}

func (s *Server) halfYearReport(r *request) answer {
	number := param(r.URL.Query(), "nreg")
	if _, err := strconv.ParseUint(number, 10, 64); err != nil {
		return badRequest
	}
	b := appendText([]byte("<p class=\"TituloDatos\">Registro "), number)
	return page{title: "Información financiera intermedia", content: append(b, "</p>"...)}.answer()
}

func (s *Server) entity(r *request) answer {
	return s.issuerPage("Datos de la entidad", r.URL.Query().Get("nif"))
}

// issuerPage returns a small page about an issuer. The site knows one spelling of
// its NIF only.
func (s *Server) issuerPage(title, nif string) answer {
	i := s.archive.Directory.ByNIF(nif)
	if i == nil {
		return page{title: title, content: []byte("<p>No existen datos para la entidad.</p>")}.answer()
	}
	b := appendText([]byte("<p class=\"TituloDatos\">"), i.Name)
	b = appendText(append(b, "</p><p>NIF: "...), i.NIF)
	return page{title: title + " - " + i.Name, content: append(b, "</p>"...)}.answer()
}
