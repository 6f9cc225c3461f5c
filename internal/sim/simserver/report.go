package simserver

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
)

// origin is the host that absolute links name, whatever host serves them.
const origin = "https://regulator.example"

// report is a report as the site knows it. It does not change once served.
type filing struct {
	disclosure.Report
	Link     string `json:"link,omitempty"`     // where its row leads, as the row prints it
	Corrects string `json:"corrects,omitempty"` // the id of the report that it rectifies
	Other    string `json:"other,omitempty"`    // where its relation leads
	Form     string `json:"form,omitempty"`     // what its document was asked to be
	Text     string `json:"text,omitempty"`     // what its document was asked to say

	who *disclosure.Issuer // nobody's is nil
}

// directory finds issuers by what reports print of them.
type directory struct {
	all    []disclosure.Issuer
	byID   map[string]*disclosure.Issuer
	byNIF  map[string]*disclosure.Issuer // the literal: the site finds nobody by another spelling
	byName map[string]*disclosure.Issuer // folded; former names too
}

func newDirectory(m *market.Market) *directory {
	d := &directory{
		all: m.Issuers(), byID: map[string]*disclosure.Issuer{},
		byNIF: map[string]*disclosure.Issuer{}, byName: map[string]*disclosure.Issuer{},
	}
	for n := range d.all {
		i := &d.all[n]
		d.byID[i.ID], d.byNIF[i.NIF], d.byName[fold(i.Name)] = i, i, i
		for _, name := range i.FormerNames {
			d.byName[fold(name)] = i
		}
	}
	return d
}

// of returns who filed. Some rows print no NIF.
func (d *directory) of(r *disclosure.Report) *disclosure.Issuer {
	if i := d.byID[r.IssuerKey()]; i != nil {
		return i
	}
	return d.byName[fold(r.CompanyName)]
}

func fold(name string) string {
	return unaccented.Replace(strings.ToUpper(strings.Join(strings.Fields(name), " ")))
}

var unaccented = strings.NewReplacer("Á", "A", "É", "E", "Í", "I", "Ó", "O", "Ú", "U", "Ü", "U", "Ñ", "N")

// complete gives a report the link of its row. Reports under some headings
// lead to a page, and never to a document; governance reports to a document of
// another form; a few to nothing.
func (f *filing) complete(seed uint64) {
	nif := f.NIF
	if nif == "" && f.who != nil {
		nif = f.who.NIF
	}
	switch {
	case f.Link != "":
	case f.PDFURL != "":
		if strings.HasPrefix(f.Category, "Informe anual de ") {
			f.PDFURL = token(seed, tokenReport, uint64(f.Type.Index()), uint64(f.Number))
		}
		f.Link = f.PDFURL
	case strings.HasPrefix(f.Category, "Informes financieros anuales"):
		f.Link = "../consultas/ifa/listadoifa.aspx?id=0&nif=" + url.QueryEscape(nif)
	case strings.HasPrefix(f.Category, "Informes financieros semestrales"):
		// A report and its amendment share the page.
		f.Link = "../aldia/detalleifialdia.aspx?nReg=" + strconv.Itoa(f.PublishedAt.In(disclosure.Madrid).Year()) +
			pad(int(filler.Mix(seed^uint64(f.Number/3))%100_000), 6)
	case strings.HasPrefix(f.Category, "Total número de derechos"):
		f.Link = "../otra-informacion-regulada-corporativa/derechos-voto-capital.aspx?Nif=" + url.QueryEscape(nif)
	case strings.HasPrefix(f.Category, "Reglamentos del Consejo"):
		f.Link = "../otra-informacion-regulada-corporativa/resultado-oirc.aspx?TipoInf=23&Nif=" + url.QueryEscape(nif)
	}
}

// page is the absolute address of the page that a row leads to, if it is one.
func (f *filing) page() string {
	if rest, relative := strings.CutPrefix(f.Link, "../"); relative {
		return origin + "/portal/" + rest
	}
	if f.Link == f.PDFURL {
		return ""
	}
	return f.Link
}

// relate notes that a report has to do with an earlier one.
func (f *filing) relate(to *filing) {
	at := to.PublishedAt.In(disclosure.Madrid)
	f.Related = []disclosure.Relation{{
		ID: to.ID, Number: to.Number, At: to.PublishedAt.UTC().Truncate(time.Minute),
		Text: "Relacionado con la comunicación nº " + strconv.FormatInt(to.Number, 10) + at.Format(" del 02/01/2006 (15:04)"),
	}}
	f.Other = cmp.Or(to.Link, to.SourceURL)
}

// rectifies reports whether a report says of itself that it mends another.
func (f *filing) rectifies() bool { return strings.HasPrefix(f.Category, "Rectificación") }

// What a token of a link ver?e= stands for.
const (
	tokenReport uint64 = iota + 1
	tokenMonth
)

// token makes a link to a document that is named by three small numbers. It
// looks opaque, and a changed one is found out.
func token(seed uint64, kind, a, b uint64) string {
	var raw [24]byte
	plain := kind<<56 | a<<48 | b
	check := filler.Mix(seed ^ plain)
	binary.BigEndian.PutUint64(raw[:], check)
	binary.BigEndian.PutUint64(raw[8:], plain^filler.Mix(check))
	binary.BigEndian.PutUint64(raw[16:], filler.Mix(check^plain))
	text := strings.NewReplacer("+", "%2b", "/", "%2f", "=", "%3d").Replace(base64.StdEncoding.EncodeToString(raw[:]))
	return origin + "/webservices/verdocumento/ver?e=" + text
}

func readToken(seed uint64, text string) (kind, a, b uint64, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != 24 {
		return 0, 0, 0, false
	}
	check := binary.BigEndian.Uint64(raw)
	plain := binary.BigEndian.Uint64(raw[8:]) ^ filler.Mix(check)
	ok = check == filler.Mix(seed^plain) && binary.BigEndian.Uint64(raw[16:]) == filler.Mix(check^plain)
	return plain >> 56, plain >> 48 & 0xff, plain & (1<<48 - 1), ok
}

const documents = origin + "/webservices/verdocumento/ver?t=%7b"

// guid returns the identifier of a report's document, if it has one of its own.
func (f *filing) guid() string {
	rest, ok := strings.CutPrefix(f.PDFURL, documents)
	if !ok {
		return ""
	}
	return strings.TrimSuffix(rest, "%7d")
}

// stem is the part of an identifier by which it is looked up.
func stem(guid string) uint64 {
	var raw [8]byte
	text := strings.ReplaceAll(guid, "-", "")
	if len(text) != 32 {
		return 0
	}
	if _, err := hex.Decode(raw[:], []byte(text[:16])); err != nil {
		return 0
	}
	return binary.BigEndian.Uint64(raw[:])
}

// makeGUID makes an identifier for a document that the market drew none for.
func makeGUID(x uint64) string {
	a, b := filler.Mix(x), filler.Mix(^x)
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:], a&^0xf000|0x4000)
	binary.BigEndian.PutUint64(raw[8:], b&^(3<<62)|2<<62)
	h := hex.EncodeToString(raw[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func pad(n, width int) string {
	s := strconv.Itoa(n)
	return strings.Repeat("0", max(0, width-len(s))) + s
}
