package paper

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
)

// makeXHTML returns a document in the European single electronic format of annual
// reports: a page whose figures are marked up for programs. The content of
// ix:header is not displayed.
func makeXHTML(r *disclosure.Report, d *document) []byte {
	year := r.PublishedAt.In(disclosure.Madrid).Year() - 1
	code := issuerCode(r)
	var b bytes.Buffer
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="utf-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL" xmlns:ixt="http://www.xbrl.org/inlineXBRL/transformation/2020-02-12" xmlns:xbrli="http://www.xbrl.org/2003/instance" xmlns:xbrldi="http://xbrl.org/2006/xbrldi" xmlns:iso4217="http://www.xbrl.org/2003/iso4217" xmlns:link="http://www.xbrl.org/2003/linkbase" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:ifrs-full="https://xbrl.ifrs.org/taxonomy/2024-03-27/ifrs-full" xml:lang="es">
<head>
<title>%s</title>
<style type="text/css">body { font-family: sans-serif; } table { border-collapse: collapse; } td.n { text-align: right; } /* p { display: block } */</style>
</head>
<body>
<div style="display:none">
<ix:header>
<ix:hidden><ix:nonNumeric name="ifrs-full:NameOfReportingEntityOrOtherMeansOfIdentification" contextRef="c1" id="h1">%s</ix:nonNumeric><ix:nonNumeric name="ifrs-full:DomicileOfEntity" contextRef="c1" id="h2">DATO-OCULTO-%s</ix:nonNumeric></ix:hidden>
<ix:references><link:schemaRef xlink:type="simple" xlink:href="%s-%d-12-31.xsd" /></ix:references>
<ix:resources>
<xbrli:context id="c1"><xbrli:entity><xbrli:identifier scheme="http://standards.iso.org/iso/17442">%s</xbrli:identifier></xbrli:entity><xbrli:period><xbrli:startDate>%d-01-01</xbrli:startDate><xbrli:endDate>%d-12-31</xbrli:endDate></xbrli:period></xbrli:context>
<xbrli:unit id="u1"><xbrli:measure>iso4217:EUR</xbrli:measure></xbrli:unit>
</ix:resources>
</ix:header>
</div>
<div class="head">%s</div>
`, xmlText(d.title), xmlText(r.CompanyName), code, code, year, code, year, year, xmlText(d.head))
	x := xhtml{Buffer: &b}
	for n := range d.blocks {
		x.block(&d.blocks[n])
	}
	fmt.Fprintf(&b, "<div class=\"foot\">%s</div>\n</body>\n</html>\n", xmlText(d.foot))
	return b.Bytes()
}

// xhtml writes the blocks of a document and numbers its facts.
type xhtml struct {
	*bytes.Buffer
	facts int
}

func (x *xhtml) block(b *block) {
	text := xmlText(b.text)
	switch b.kind {
	case letterhead:
		fmt.Fprintf(x, "<h1>%s</h1>\n", text)
	case heading, chapter:
		fmt.Fprintf(x, "<h2>%s</h2>\n", text)
	case section:
		fmt.Fprintf(x, "<h3>%s</h3>\n", text)
	case item:
		fmt.Fprintf(x, "<ul><li>%s</li></ul>\n", text)
	case table:
		x.table(b)
	case paragraph:
		x.facts++
		fmt.Fprintf(x, "<p><ix:nonNumeric name=\"ifrs-full:DescriptionOfNatureOfEntitysOperationsAndPrincipalActivities\" contextRef=\"c1\" id=\"f%d\" escape=\"true\">%s</ix:nonNumeric></p>\n", x.facts, text)
	default:
		fmt.Fprintf(x, "<p>%s</p>\n", text)
	}
}

func (x *xhtml) table(b *block) {
	x.WriteString("<table>\n")
	for n, row := range b.rows {
		x.WriteString("<tr>")
		for k, text := range row {
			switch {
			case b.head && n == 0:
				fmt.Fprintf(x, "<th>%s</th>", xmlText(text))
			case k > 0 && strings.Trim(text, "0123456789.,") == "":
				x.facts++
				fmt.Fprintf(x, "<td class=\"n\"><ix:nonFraction name=\"ifrs-full:Revenue\" contextRef=\"c1\" unitRef=\"u1\" decimals=\"-5\" scale=\"6\" format=\"ixt:num-comma-decimal\" id=\"f%d\">%s</ix:nonFraction></td>", x.facts, text)
			default:
				fmt.Fprintf(x, "<td>%s</td>", xmlText(text))
			}
		}
		x.WriteString("</tr>\n")
	}
	x.WriteString("</table>\n")
}

func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder never fails
	return b.String()
}

// issuerCode returns an invented legal entity identifier.
func issuerCode(r *disclosure.Report) string {
	return fmt.Sprintf("SIMULADO%012d", issuerKey(r)%1_000_000_000_000)
}

// makePackage returns the page in a report package.
func makePackage(r *disclosure.Report, d *document) []byte {
	code := issuerCode(r)
	stem := code + "-" + strconv.Itoa(r.PublishedAt.In(disclosure.Madrid).Year()-1) + "-12-31"
	top := stem + "-es/"
	return Zip([]Member{
		{top + "META-INF/reportPackage.json", []byte(`{"documentInfo":{"documentType":"https://xbrl.org/report-package/2023"}}`)},
		{top + "META-INF/catalog.xml", []byte(`<?xml version="1.0"?><catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog"/>`)},
		{top + "META-INF/taxonomyPackage.xml", []byte(`<?xml version="1.0"?><tp:taxonomyPackage xmlns:tp="http://xbrl.org/2016/taxonomy-package"><tp:identifier>` + code + `</tp:identifier></tp:taxonomyPackage>`)},
		{top + "mercado.example/" + stem + ".xsd", []byte(`<?xml version="1.0"?><xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"/>`)},
		{top + "reports/" + stem + "-es.xhtml", makeXHTML(r, d)},
	})
}

// Member is a file in a ZIP file.
type Member struct {
	Name string
	Body []byte
}

// Zip returns a ZIP file whose bytes depend on its members alone.
func Zip(members []Member) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.Name, Method: zip.Deflate, Modified: time.Date(2020, 2, 8, 0, 0, 0, 0, time.UTC)})
		if err == nil {
			_, err = w.Write(e.Body)
		}
		if err != nil {
			panic(err) // a buffer never fails
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}
