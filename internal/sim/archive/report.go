package archive

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
)

// Origin is the host of absolute links, whatever host serves them.
const Origin = disclosure.SimulatedOrigin

// Report is a report as the site shows it. It is immutable once published.
type Report struct {
	disclosure.Report
	Link     string `json:"link,omitempty"`     // the target of its row, as the row prints it
	Corrects string `json:"corrects,omitempty"` // the id of the report that it rectifies
	Other    string `json:"other,omitempty"`    // the target of its relation
	Form     string `json:"form,omitempty"`     // the form requested for its document: see paper.Source
	Text     string `json:"text,omitempty"`     // the text requested for its document

	Issuer *disclosure.Issuer `json:"-"` // nil if it is not in the directory
}

// Directory finds issuers by their names and numbers.
type Directory struct {
	All    []disclosure.Issuer
	byID   map[string]*disclosure.Issuer
	byNIF  map[string]*disclosure.Issuer // as printed: the site finds no other spelling
	byName map[string]*disclosure.Issuer // folded, former names too
}

func newDirectory(m *market.Market) *Directory {
	d := &Directory{
		All:    m.Issuers(),
		byID:   map[string]*disclosure.Issuer{},
		byNIF:  map[string]*disclosure.Issuer{},
		byName: map[string]*disclosure.Issuer{},
	}
	for n := range d.All {
		i := &d.All[n]
		d.byID[i.ID] = i
		d.byNIF[i.NIF] = i
		d.byName[Fold(i.Name)] = i
		for _, name := range i.FormerNames {
			d.byName[Fold(name)] = i
		}
	}
	return d
}

// ByNIF returns the issuer of a NIF as the site prints it, or nil.
func (d *Directory) ByNIF(nif string) *disclosure.Issuer { return d.byNIF[nif] }

// of returns the issuer of a report, or nil. Some reports have no NIF.
func (d *Directory) of(r *disclosure.Report) *disclosure.Issuer {
	if i := d.byID[r.IssuerKey()]; i != nil {
		return i
	}
	return d.byName[Fold(r.CompanyName)]
}

// Fold returns a name without case, accents and repeated spaces.
func Fold(name string) string {
	return unaccented.Replace(strings.ToUpper(strings.Join(strings.Fields(name), " ")))
}

var unaccented = strings.NewReplacer("Á", "A", "É", "E", "Í", "I", "Ó", "O", "Ú", "U", "Ü", "U", "Ñ", "N")

// complete sets the link of a report. Reports of some categories lead to a page and
// never to a document, governance reports to a document with a token, and a few
// reports have no link.
func (r *Report) complete(seed uint64) {
	nif := r.NIF
	if nif == "" && r.Issuer != nil {
		nif = r.Issuer.NIF
	}
	switch {
	case r.Link != "":
	case r.PDFURL != "":
		if strings.HasPrefix(r.Category, "Informe anual de ") {
			r.PDFURL = Token(seed, TokenReport, uint64(r.Type.Index()), uint64(r.Number))
		}
		r.Link = r.PDFURL
	case strings.HasPrefix(r.Category, "Informes financieros anuales"):
		r.Link = "../consultas/ifa/listadoifa.aspx?id=0&nif=" + url.QueryEscape(nif)
	case strings.HasPrefix(r.Category, "Informes financieros semestrales"):
		// A report and its amendment share the page.
		r.Link = "../aldia/detalleifialdia.aspx?nReg=" + strconv.Itoa(r.PublishedAt.In(disclosure.Madrid).Year()) +
			fmt.Sprintf("%06d", filler.Mix(seed^uint64(r.Number/3))%100_000)
	case strings.HasPrefix(r.Category, "Total número de derechos"):
		r.Link = "../otra-informacion-regulada-corporativa/derechos-voto-capital.aspx?Nif=" + url.QueryEscape(nif)
	case strings.HasPrefix(r.Category, "Reglamentos del Consejo"):
		r.Link = "../otra-informacion-regulada-corporativa/resultado-oirc.aspx?TipoInf=23&Nif=" + url.QueryEscape(nif)
	}
}

// page returns the address of the page to which the row leads, or "" for a document.
func (r *Report) page() string {
	if rest, relative := strings.CutPrefix(r.Link, "../"); relative {
		return Origin + "/portal/" + rest
	}
	if r.Link == r.PDFURL {
		return ""
	}
	return r.Link
}

// relate sets the relation of a report to an earlier one.
func (r *Report) relate(to *Report) {
	at := to.PublishedAt.In(disclosure.Madrid)
	r.Related = []disclosure.Relation{{
		ID:     to.ID,
		Number: to.Number,
		At:     to.PublishedAt.UTC().Truncate(time.Minute),
		Text: "Relacionado con la comunicación nº " +
			strconv.FormatInt(to.Number, 10) + at.Format(" del 02/01/2006 (15:04)"),
	}}
	r.Other = cmp.Or(to.Link, to.SourceURL)
}

// follow relates a report to an earlier one, unless that is nil, and marks it as a
// correction if its category says so.
func (r *Report) follow(to *Report) {
	if to == nil {
		return
	}
	if r.relate(to); r.rectifies() {
		r.Corrects = to.ID
	}
}

// rectifies reports whether the category of a report says that it corrects another.
func (r *Report) rectifies() bool { return strings.HasPrefix(r.Category, "Rectificación") }

// relatedShare is the number of related reports in a hundred.
const relatedShare = 5

// relates reports whether a report relates to an earlier one of its issuer: some
// at random, and those that correct another.
func (r *Report) relates(seed uint64) bool {
	corrects := r.rectifies() || strings.Contains(r.Title, "Corrección de errores")
	return r.Issuer != nil && (corrects ||
		filler.Mix(seed^uint64(r.Number)<<2^uint64(r.Type.Index()))%100 < relatedShare)
}

// mayRelate reports whether a report may relate to one of a series. Those of funds
// relate to each other only.
func (r *Report) mayRelate(series disclosure.Type) bool {
	return (r.Type == disclosure.HR) == (series == disclosure.HR)
}

// What the token of a link ver?e= refers to.
const (
	TokenReport  uint64 = iota + 1 // a series and a number
	TokenMonth                     // a year and a month of the open data
	TokenDealing                   // zero and the number of a notice of dealings
	TokenHolding                   // zero and the number of a notice of a holding or of own shares
)

// Token returns a link to a document with an opaque, tamper-proof token for three
// numbers.
func Token(seed uint64, kind, a, b uint64) string {
	var raw [24]byte
	plain := kind<<56 | a<<48 | b
	check := filler.Mix(seed ^ plain)
	binary.BigEndian.PutUint64(raw[:], check)
	binary.BigEndian.PutUint64(raw[8:], plain^filler.Mix(check))
	binary.BigEndian.PutUint64(raw[16:], filler.Mix(check^plain))
	text := strings.NewReplacer("+", "%2b", "/", "%2f", "=", "%3d").Replace(base64.StdEncoding.EncodeToString(raw[:]))
	return Origin + "/webservices/verdocumento/ver?e=" + text
}

// ParseToken returns the numbers of a token made with the same seed.
func ParseToken(seed uint64, text string) (kind, a, b uint64, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != 24 {
		return 0, 0, 0, false
	}
	check := binary.BigEndian.Uint64(raw)
	plain := binary.BigEndian.Uint64(raw[8:]) ^ filler.Mix(check)
	ok = check == filler.Mix(seed^plain) && binary.BigEndian.Uint64(raw[16:]) == filler.Mix(check^plain)
	return plain >> 56, plain >> 48 & 0xff, plain & (1<<48 - 1), ok
}

const documents = Origin + "/webservices/verdocumento/ver?t=%7b"

// guid returns the identifier of the document of a report, or "".
func (r *Report) guid() string {
	rest, ok := strings.CutPrefix(r.PDFURL, documents)
	if !ok {
		return ""
	}
	return strings.TrimSuffix(rest, "%7d")
}

// Read returns the report as a perfect reader of the site would store it. Its
// source is the page to which its row leads, or else its permalink.
func (r *Report) Read() disclosure.Report {
	out := r.Report
	out.Category = strings.Join(strings.Fields(out.Category), " ")
	out.Ticker = ""
	out.SourceURL = cmp.Or(r.page(), out.SourceURL)
	return out
}
