// Package pages shows the simulated market to people: the documents and the pages
// to which the links of its reports lead.
//
// Package simserver imitates the markup of the regulator, for the client that reads
// it. These pages are for browsers, and say that nothing on them is real. They only
// read: the faults and the control of the simulator cannot be reached through them.
package pages

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/server/content"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/paper"
)

// Prefix is the path of the service under which the pages are. The path of the
// regulator follows it.
const Prefix = disclosure.SimulatedPath

// Link returns the path of a link of the simulated regulator in the service, or ""
// if it is not the regulator's.
func Link(link string) string {
	if rest, ok := strings.CutPrefix(link, archive.Origin+"/"); ok {
		return Prefix + "/" + rest
	}
	return ""
}

// Site serves the pages. It is safe for concurrent use.
type Site struct {
	archive *archive.Archive
	routes  map[string]route
}

// route returns the page of a request, or nil if there is none.
type route func(*http.Request) *page

// New returns the pages of an archive.
func New(a *archive.Archive) *Site {
	s := &Site{archive: a}
	s.routes = map[string]route{
		"/": s.home,
		"/portal/informacion-privilegiada/resultado-ip":    s.report(disclosure.IP),
		"/portal/hr/resultadobusquedahr":                   s.report(disclosure.HR),
		"/portal/otra-informacion-relevante/resultado-oir": s.report(disclosure.OIR),
		"/portal/consultas/datosentidad":                   s.issuer,

		// Rows without a document lead to these. Several rows may lead to one.
		"/portal/consultas/ifa/listadoifa":                                    s.shared("Informes financieros anuales", s.ofIssuer),
		"/portal/aldia/detalleifialdia":                                       s.shared("Información financiera intermedia", s.ofYear),
		"/portal/otra-informacion-regulada-corporativa/derechos-voto-capital": s.shared("Derechos de voto y capital", s.ofIssuer),
		"/portal/otra-informacion-regulada-corporativa/resultado-oirc":        s.shared("Otra información regulada", s.ofIssuer),
	}
	return s
}

// documentPath is the path of all documents.
const documentPath = "/webservices/verdocumento/ver"

// ServeHTTP serves a path under Prefix. Letter case and the ending .aspx do not
// matter, as on the regulator's site.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Robots-Tag", "noindex") // invented news is not for search engines
	path := strings.TrimSuffix(strings.ToLower(strings.TrimPrefix(r.URL.Path, Prefix)), ".aspx")
	if path == documentPath {
		if f := s.archive.ByDocument(r.URL.Query()); f != nil && f.Form != paper.WebPage {
			serveDocument(w, r, f.ID, s.archive.Document(f))
			return
		}
	}
	p := (*page)(nil)
	if show := s.routes[path]; show != nil {
		p = show(r)
	}
	writePage(w, r, p)
}

// newest is the number of reports on a page.
const newest = 30

// home returns the newest reports of all series.
func (s *Site) home(*http.Request) *page {
	const days = 30
	var all []*archive.Report
	for _, series := range disclosure.Types {
		all = append(all, s.archive.Newest(series, newest, s.archive.LastDay()-days,
			func(*archive.Report) bool { return true })...)
	}
	slices.SortFunc(all, func(x, y *archive.Report) int { return disclosure.CompareReports(&x.Report, &y.Report) })
	return &page{Title: "Mercado simulado", Entries: s.entries(all)}
}

// report returns the route of the pages of single reports.
func (s *Site) report(series disclosure.Type) route {
	return func(r *http.Request) *page {
		number, _ := disclosure.ParseNumber(parameter(r, "nreg"))
		f := s.archive.Find(series, number)
		if f == nil {
			return nil
		}
		return &page{Title: f.Title, Report: &entry{f, s.archive}}
	}
}

// issuer returns who an issuer is, and its newest reports.
func (s *Site) issuer(r *http.Request) *page {
	i := s.archive.Directory.ByNIF(parameter(r, "nif"))
	if i == nil {
		return nil
	}
	return &page{Title: i.Name, Issuer: i, Entries: s.entries(s.archive.Filed(i))}
}

// shared returns the route of pages to which several rows may lead. A page shows the
// candidates whose row leads to it.
func (s *Site) shared(title string, candidates func(*http.Request) []*archive.Report) route {
	return func(r *http.Request) *page {
		link := "../" + strings.TrimPrefix(r.URL.RequestURI(), Prefix+"/portal/")
		found := slices.DeleteFunc(candidates(r), func(f *archive.Report) bool { return f.Link != link })
		if len(found) == 0 {
			return nil
		}
		return &page{Title: title, Issuer: found[0].Issuer, Entries: s.entries(found)}
	}
}

// ofIssuer returns the reports of the issuer that a request names.
func (s *Site) ofIssuer(r *http.Request) []*archive.Report {
	i := s.archive.Directory.ByNIF(parameter(r, "nif"))
	if i == nil {
		return nil
	}
	return s.archive.Filed(i)
}

// ofYear returns the reports of the year with which the number of a request begins.
func (s *Site) ofYear(r *http.Request) (out []*archive.Report) {
	number := parameter(r, "nreg")
	year, err := strconv.Atoi(number[:min(4, len(number))])
	if err != nil || year < 0 {
		return nil
	}
	first := time.Date(year, 1, 1, 12, 0, 0, 0, disclosure.Madrid)
	for day := disclosure.DayOf(first.AddDate(1, 0, 0)) - 1; day >= disclosure.DayOf(first); day-- {
		out = append(out, s.archive.On(disclosure.OIR, day)...)
	}
	return out
}

// parameter returns a parameter whose name may be in any letter case.
func parameter(r *http.Request, name string) string {
	for key, values := range r.URL.Query() {
		if strings.EqualFold(key, name) {
			return values[0]
		}
	}
	return ""
}

// entries returns what a page shows of reports.
func (s *Site) entries(reports []*archive.Report) (out []entry) {
	for _, f := range reports[:min(len(reports), newest)] {
		out = append(out, entry{f, s.archive})
	}
	return out
}

// endings are those of the names of files. A browser shows the files of the types
// in shown, and stores others.
var (
	endings = map[string]string{
		"application/pdf": ".pdf", "application/xhtml+xml": ".xhtml",
		"application/zip": ".zip", "application/msword": ".doc",
	}
	shown = []string{"application/pdf", "application/xhtml+xml"}
)

// serveDocument writes a document.
func serveDocument(w http.ResponseWriter, r *http.Request, id string, f paper.File) {
	h := w.Header()
	disposition := "attachment"
	if slices.Contains(shown, f.ContentType) {
		disposition = "inline"
	}
	// The viewers of PDF files of some browsers are not shown under a policy with a sandbox.
	// The page of a report shows these files in a frame.
	policy := "frame-ancestors 'self'"
	if f.ContentType != "application/pdf" {
		policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
	}
	h.Set("Content-Security-Policy", policy)
	h.Set("Content-Type", f.ContentType)
	h.Set("Content-Disposition", disposition+`; filename="`+id+endings[f.ContentType]+`"`)
	h.Set("Cache-Control", "public, max-age=300")
	serveBytes(w, r, f.Body)
}

// writePage writes a page, or the page for no page.
func writePage(w http.ResponseWriter, r *http.Request, p *page) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page",
		cmp.Or(p, &page{Title: "Esta página no existe", Missing: true})); err != nil {
		panic(err) // a bug in page.html
	}
	h := w.Header()
	for name, value := range pageHeader {
		h.Set(name, value)
	}
	if p == nil {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(b.Bytes()) // the client may be gone
		return
	}
	serveBytes(w, r, b.Bytes())
}

func serveBytes(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("ETag", content.Tag(content.Hash(body)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
