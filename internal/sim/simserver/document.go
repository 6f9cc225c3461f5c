package simserver

import (
	"strconv"

	"pregon/internal/sim/archive"
	"pregon/internal/sim/paper"
)

// document answers a link to a document, by its identifier or by a token.
func (s *Server) document(r *request) answer {
	q := r.URL.Query()
	if f := s.archive.ByDocument(q); f != nil {
		return s.file(f)
	}
	kind, a, b, ok := archive.ParseToken(s.seed, q.Get("e"))
	switch {
	case ok && kind == archive.TokenMonth:
		return s.registerZip(int(a)+firstYear, int(b))
	case ok && (kind == archive.TokenDealing || kind == archive.TokenHolding):
		return s.noticeDocument(r, kind, b)
	}
	return forbidden
}

// file returns the document of a report.
func (s *Server) file(r *archive.Report) answer {
	if r.Form == paper.WebPage {
		return maintenance()
	}
	f := s.archive.Document(r)
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
	return plain("Servicio en mantenimiento",
		"<p>El servicio de consulta de documentos se encuentra en mantenimiento. Disculpe las molestias.</p>")
}

// halfYearReport answers a page to which some rows lead instead of a document.
func (s *Server) halfYearReport(r *request) answer {
	number := param(r.URL.Query(), "nreg")
	if _, err := strconv.ParseUint(number, 10, 64); err != nil {
		return badRequest
	}
	return plain("Información financiera intermedia", `<p class="TituloDatos">Registro `+number+"</p>")
}

// about returns the answer of a small page about an issuer, to which other rows lead.
// The site knows one spelling of its NIF only.
func (s *Server) about(title string) func(*request) answer {
	return func(r *request) answer {
		nif := param(r.URL.Query(), "nif")
		if nif == "" {
			return badRequest
		}
		i := s.archive.Directory.ByNIF(nif)
		if i == nil {
			return plain(title, "<p>No existen datos para la entidad.</p>")
		}
		return plain(title+" - "+i.Name, `<p class="TituloDatos">`+siteText.Replace(i.Name)+"</p><p>NIF: "+i.NIF+"</p>")
	}
}
