package simserver

import (
	"strconv"
	"strings"

	"pregon/internal/disclosure"
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

// file makes the document of a report: always the same one.
func (f *filing) file(seed uint64) answer {
	p, dice, form := writePaper(f, seed), diceOf(f, seed, forLayout), f.form(seed)
	a := answer{kind: "application/pdf", filed: true}
	switch form {
	case "xhtml":
		a.kind, a.body = "application/xhtml+xml", makeXHTML(f, p)
	case "zip":
		a.kind, a.body = "application/zip", makePackage(f, p)
	case "scan":
		a.body = makeScan(p, dice)
	default:
		look := drawStyle(p, dice)
		if form == "columns" {
			look.fold()
		}
		a.body = makePDF(p, look)
	}
	if spoil := hostile[form]; spoil != nil {
		return spoil(a)
	}
	return a
}

// form is what sort of document a report has: nearly always an ordinary PDF.
// Of a thousand some are otherwise, and annual reports more often than not.
func (f *filing) form(seed uint64) string {
	if f.Form != "" || f.Text != "" {
		return f.Form
	}
	x := scatter(seed^uint64(f.Number)<<3^uint64(f.Type.Index())) % 1000
	switch {
	case strings.HasPrefix(f.Category, "Informe anual de "):
		return spread(x, 150, 80)
	case strings.HasPrefix(f.Category, "Informes financieros anuales"):
		return spread(x, 300, 400)
	case strings.HasPrefix(f.Category, "Sobre resultados"):
		return spread(x, 8, 4)
	case x >= 985 && !strings.Contains(f.Title, "nforme"):
		return "scan"
	}
	return "pdf"
}

// spread shares a thousand out among pages, packages and ordinary documents.
func spread(x, pages, packages uint64) string {
	switch {
	case x < pages:
		return "xhtml"
	case x < pages+packages:
		return "zip"
	}
	return "pdf"
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
