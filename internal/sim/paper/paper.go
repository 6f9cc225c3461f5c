// Package paper makes the documents of the simulated market: PDF files of several
// producers' habits, scans, annual reports in XHTML, and hostile files.
//
// A document depends on its report and the seed alone, and its figures agree with
// one another and with the title of the report.
package paper

import (
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
)

// Source is a report, and what its document has to be.
type Source struct {
	*disclosure.Report
	Form string // one of Forms, or "" for what such a report usually has
	Text string // what the document says, or "" to make it up
}

// File is a finished document.
type File struct {
	ContentType string
	Body        []byte
}

// Forms returns the forms that a document can have, the hostile ones last.
func Forms() []string {
	all := []string{"pdf", "columns", "long", "scan", "xhtml", "zip"}
	for form := range hostile {
		all = append(all, form)
	}
	slices.Sort(all[6:])
	return all
}

// Make returns the document of a report.
func Make(s Source, seed uint64) File {
	d := s.write(seed)
	rng := s.random(seed, forLayout)
	form := s.form(seed)
	f := File{ContentType: contentPDF}
	switch form {
	case "xhtml":
		f.ContentType, f.Body = "application/xhtml+xml", makeXHTML(s.Report, d)
	case "zip":
		f.ContentType, f.Body = "application/zip", makePackage(s.Report, d)
	case "scan":
		f.Body = makeScan(d, rng)
	default:
		style := randomStyle(d, rng)
		if form == "columns" {
			style.setTwoColumns()
		}
		f.Body = makePDF(d, style)
	}
	return Damage(form, f)
}

const contentPDF = "application/pdf"

// IsOrdinary reports whether the document is a PDF file as most reports have, of which
// nobody has said how it looks or what it says.
func (s *Source) IsOrdinary(seed uint64) bool {
	return s.Form == "" && s.Text == "" && len(s.Related) == 0 && s.form(seed) == "pdf"
}

// form returns the form of the document. Of a thousand reports, most of which
// have an ordinary PDF file, some have another form. Annual reports often do.
func (s *Source) form(seed uint64) string {
	if s.Form != "" || s.Text != "" {
		return s.Form
	}
	x := filler.Mix(seed^uint64(s.Number)<<3^uint64(s.Type.Index())) % 1000
	var pages, packages uint64
	switch {
	case strings.HasPrefix(s.Category, "Informe anual de "):
		pages, packages = 150, 80
	case strings.HasPrefix(s.Category, "Informes financieros anuales"):
		pages, packages = 300, 400
	case strings.HasPrefix(s.Category, "Sobre resultados"):
		pages, packages = 8, 4
	case x >= 985 && !strings.Contains(s.Title, "nforme"):
		return "scan"
	}
	switch {
	case x < pages:
		return "xhtml"
	case x < pages+packages:
		return "zip"
	}
	return "pdf"
}

// Each purpose has its own random numbers, so that a change of the layout leaves
// the text as it is.
const (
	forText uint64 = iota
	forLayout
)

func (s *Source) random(seed, purpose uint64) filler.Random {
	return filler.NewRandom(filler.Mix(seed^uint64(s.Type.Index())^purpose<<32), filler.Mix(uint64(s.Number)))
}

// issuerKey returns a hash of the name of the issuer.
func issuerKey(r *disclosure.Report) (key uint64) {
	for _, c := range r.CompanyName {
		key = filler.Mix(key ^ uint64(c))
	}
	return key
}
