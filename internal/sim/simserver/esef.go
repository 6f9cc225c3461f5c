package simserver

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

// Annual reports come as pages whose figures are marked up for machines, alone
// or in a package: the European single electronic format. What is in ix:header
// is not for people.

// makeXHTML writes a paper as such a page.
func makeXHTML(f *filing, p *paper) []byte {
	year := f.PublishedAt.In(disclosure.Madrid).Year() - 1
	code := entityCode(f)
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
`, xmlText(p.title), xmlText(f.CompanyName), code, code, year, code, year, year, xmlText(p.head))
	x := xhtml{Buffer: &b}
	for n := range p.blocks {
		x.block(&p.blocks[n])
	}
	fmt.Fprintf(&b, "<div class=\"foot\">%s</div>\n</body>\n</html>\n", xmlText(p.foot))
	return b.Bytes()
}

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
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}

// entityCode stands in for the code by which such reports name their entity;
// no such code is real.
func entityCode(f *filing) string {
	var key uint64
	for _, c := range f.CompanyName {
		key = scatter(key ^ uint64(c))
	}
	return "SIMULADO" + pad(int(key%1_000_000_000_000), 12)
}

// makePackage puts the page into a package with what belongs to it.
func makePackage(f *filing, p *paper) []byte {
	code := entityCode(f)
	stem := code + "-" + strconv.Itoa(f.PublishedAt.In(disclosure.Madrid).Year()-1) + "-12-31"
	top := stem + "-es/"
	return zipped([]member{
		{top + "META-INF/reportPackage.json", []byte(`{"documentInfo":{"documentType":"https://xbrl.org/report-package/2023"}}`)},
		{top + "META-INF/catalog.xml", []byte(`<?xml version="1.0"?><catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog"/>`)},
		{top + "META-INF/taxonomyPackage.xml", []byte(`<?xml version="1.0"?><tp:taxonomyPackage xmlns:tp="http://xbrl.org/2016/taxonomy-package"><tp:identifier>` + code + `</tp:identifier></tp:taxonomyPackage>`)},
		{top + "mercado.example/" + stem + ".xsd", []byte(`<?xml version="1.0"?><xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"/>`)},
		{top + "reports/" + stem + "-es.xhtml", makeXHTML(f, p)},
	})
}

type member struct {
	name string
	body []byte
}

// zipped makes a ZIP file: the same one every time.
func zipped(members []member) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: time.Date(2020, 2, 8, 0, 0, 0, 0, time.UTC)})
		if err == nil {
			_, err = w.Write(e.body)
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}
