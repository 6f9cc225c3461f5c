package paper

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"strings"
	"text/template"
	"time"

	"pregon/internal/disclosure"
)

//go:embed esef.xhtml
var xhtmlText string

var xhtmlTemplate = template.Must(template.New("").Parse(xhtmlText))

// makeXHTML returns a document in the European single electronic format of annual
// reports: a page whose figures are marked up for programs. The content of
// ix:header is not displayed.
func makeXHTML(r *disclosure.Report, d *document) []byte {
	var x xhtml
	for n := range d.blocks {
		x.block(&d.blocks[n])
	}
	var out bytes.Buffer
	err := xhtmlTemplate.Execute(&out, map[string]any{
		"Title": xmlText(d.title), "Name": xmlText(r.CompanyName), "Head": xmlText(d.head), "Foot": xmlText(d.foot),
		"Code": issuerCode(r), "Year": reportYear(r), "Body": x.String(),
	})
	if err != nil {
		panic(err) // a bug in esef.xhtml
	}
	return out.Bytes()
}

// reportYear returns the year that an annual report is about.
func reportYear(r *disclosure.Report) int { return r.PublishedAt.In(disclosure.Madrid).Year() - 1 }

// xhtml writes the blocks of a document and numbers its facts.
type xhtml struct {
	strings.Builder
	facts int
}

// fact returns the start tag of the next fact.
func (x *xhtml) fact(kind, name, attributes string) string {
	x.facts++
	return fmt.Sprintf(`<ix:%s name="ifrs-full:%s" contextRef="c1" %sid="f%d"`, kind, name, attributes, x.facts)
}

// tags are the elements of blocks that are no facts.
var tags = map[blockKind]string{
	letterhead: "<h1>%s</h1>\n",
	heading:    "<h2>%s</h2>\n",
	chapter:    "<h2>%s</h2>\n",
	section:    "<h3>%s</h3>\n",
	item:       "<ul><li>%s</li></ul>\n",
	small:      "<p>%s</p>\n",
}

func (x *xhtml) block(b *block) {
	switch b.kind {
	case table:
		x.table(b)
	case paragraph:
		start := x.fact("nonNumeric", "DescriptionOfNatureOfEntitysOperationsAndPrincipalActivities", "")
		fmt.Fprintf(x, "<p>%s escape=\"true\">%s</ix:nonNumeric></p>\n", start, xmlText(b.text))
	default:
		fmt.Fprintf(x, tags[b.kind], xmlText(b.text))
	}
}

func (x *xhtml) table(b *block) {
	x.WriteString("<table>\n")
	for n, row := range b.rows {
		x.WriteString("<tr>")
		for k, text := range row {
			switch {
			case b.head && n == 0:
				x.WriteString("<th>" + xmlText(text) + "</th>")
			case k > 0 && strings.Trim(text, "0123456789.,") == "":
				start := x.fact("nonFraction", "Revenue", `unitRef="u1" decimals="-5" scale="6" format="ixt:num-comma-decimal" `)
				x.WriteString(`<td class="n">` + start + ">" + text + "</ix:nonFraction></td>")
			default:
				x.WriteString("<td>" + xmlText(text) + "</td>")
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
	stem := fmt.Sprintf("%s-%d-12-31", code, reportYear(r))
	top := stem + "-es/"
	const declaration = `<?xml version="1.0"?>`
	return Zip([]Member{
		{top + "META-INF/reportPackage.json", []byte(`{"documentInfo":{"documentType":"https://xbrl.org/report-package/2023"}}`)},
		{top + "META-INF/catalog.xml", []byte(declaration + `<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog"/>`)},
		{top + "META-INF/taxonomyPackage.xml", []byte(declaration +
			`<tp:taxonomyPackage xmlns:tp="http://xbrl.org/2016/taxonomy-package"><tp:identifier>` +
			code + `</tp:identifier></tp:taxonomyPackage>`)},
		{
			top + "mercado.example/" + stem + ".xsd",
			[]byte(declaration + `<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"/>`),
		},
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
		w, err := z.CreateHeader(&zip.FileHeader{
			Name:     e.Name,
			Method:   zip.Deflate,
			Modified: time.Date(2020, 2, 8, 0, 0, 0, 0, time.UTC),
		})
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
