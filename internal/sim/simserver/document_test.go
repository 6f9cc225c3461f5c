package simserver_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pregon/internal/sim/market"
	"pregon/internal/sim/paper/pdf/pdftest"
)

// printed is the host that links print.
const printed = "https://regulator.example"

func TestDocuments(t *testing.T) {
	s := open(t, early, "")
	s.publish(`{"type":"ip","title":"` + strings.Repeat("Larguísima(palabra)", 60) + ` «y» 5 € \\ “más”","document":true}`)
	seen, n := map[string]int{}, 0
	all := s.reports("from=2020-10-20")
	all = append(all, s.reports("type=oir&from=2020-02-20&to=2020-02-28")...) // when governance reports are published
	for _, f := range all {
		if n++; f.PDFURL == "" || n%4 != 0 && (seen["token"] > 30 || !strings.Contains(f.PDFURL, "?e=")) {
			continue
		}
		path := strings.TrimPrefix(f.PDFURL, printed)
		r := s.do("GET", path, "")
		if r.StatusCode != 200 {
			t.Fatalf("%s: %d", f.ID, r.StatusCode)
		}
		if n%5 == 0 && s.get(path) != r.body {
			t.Errorf("%s: got different bytes on the second request", f.ID)
		}
		seen[r.Header.Get("Content-Type")]++
		report := strings.Contains(f.PDFURL, "?e=")
		if report {
			seen["token"]++
		}
		if r.Header.Get("Content-Type") != "application/pdf" {
			continue
		}
		if strings.Contains(r.body, "/Subtype /Image") {
			seen["scan"]++
			continue
		}
		pages := pdftest.Text(t, r.body)
		checkPages(t, f.ID, pages)
		count(seen, r.body, pages)
		if report && len(pages) >= 10 {
			seen["long report"]++
		}
		if words := strings.Fields(strings.TrimPrefix(f.Title, market.Mark)); len(words[0]) < 40 &&
			!strings.Contains(pages[0], words[0]+" "+words[1]) {
			t.Errorf("%s does not have its subject", f.ID)
		}
	}
	for _, what := range []string{
		"application/pdf", "application/xhtml+xml", "application/zip", "token", "scan", "Times-Roman", "Helvetica", "Courier",
		"FlateDecode", "plain", "] TJ", "outline", "short", "two", "ten",
	} {
		if seen[what] == 0 {
			t.Errorf("no %s among %v", what, seen)
		}
	}
	if seen["ten"]-seen["long report"] > seen["short"]/10 || seen["scan"] > seen["short"]/10 {
		t.Errorf("rare forms are too frequent: %v", seen)
	}
}

// checkPages checks that every page is marked as simulated.
func checkPages(t *testing.T, id string, pages []string) {
	t.Helper()
	for k, page := range pages {
		for _, want := range []string{
			"— DOCUMENTO SIMULADO\n", "Simulación: ni la entidad",
			fmt.Sprintf("Página %d de %d\n", k+1, len(pages)),
		} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: page %d does not say %q: %s", id, k+1, want, page)
			}
		}
	}
	notices := []string{"Aviso legal", "Avís legal", "Disclaimer", "Documento simulado:"} // the last one in two columns
	isThere := func(notice string) bool { return strings.Contains(strings.Join(pages, ""), notice) }
	if !slices.ContainsFunc(notices, isThere) {
		t.Errorf("%s has no legal notice", id)
	}
}

// count counts the properties of a file.
func count(seen map[string]int, file string, pages []string) {
	for _, what := range []string{"Times-Roman", "Helvetica", "Courier", "FlateDecode", "] TJ"} {
		if strings.Contains(file, what) {
			seen[what]++
		}
	}
	if !strings.Contains(file, "FlateDecode") {
		seen["plain"]++
	}
	if strings.Contains(file, "/Type /Outlines") {
		seen["outline"]++
	}
	switch {
	case len(pages) >= 10:
		seen["ten"]++
	case len(pages) > 1:
		seen["two"]++
	default:
		seen["short"]++
	}
}

func TestOutline(t *testing.T) {
	s := open(t, early, "")
	for range 4 { // in every style
		p := pdftest.Open(t, s.published(`{"document":"long","title":"Informe de resultados del ejercicio 2019"}`).body)
		root := p.Dicts[p.Ref(p.Trailer, "Root")]
		outline := p.Dicts[p.Ref(root, "Outlines")]
		chapters, sections := 0, 0
		for n := p.Ref(outline, "First"); n != 0; n = p.Ref(p.Dicts[n], "Next") {
			chapters++
			for k := p.Ref(p.Dicts[n], "First"); k != 0; k = p.Ref(p.Dicts[k], "Next") {
				sections++
				if to := p.Ref(strings.Replace(p.Dicts[k], "[", "", 1), "Dest"); !strings.HasPrefix(p.Dicts[to], "<< /Type /Page ") {
					t.Errorf("%s leads to %s", p.Dicts[k], p.Dicts[to])
				}
			}
		}
		if chapters < 4 || sections < 3*chapters || !strings.Contains(outline, fmt.Sprintf("/Count %d ", chapters)) || len(p.Pages()) < 4 {
			t.Errorf("%d chapters, %d sections, %d pages: %s", chapters, sections, len(p.Pages()), outline)
		}
	}
}

func TestXHTML(t *testing.T) {
	s := open(t, early, "")
	r := s.published(`{"document":"xhtml","type":"oir","text":"Uno <dos> & \"tres\" \u0001 日本\n\nCuatro"}`)
	if r.Header.Get("Content-Type") != "application/xhtml+xml" {
		t.Error(r.Header)
	}
	var seen []string
	for d := xml.NewDecoder(strings.NewReader(r.body)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			seen = append(seen, x.Name.Local)
		case xml.CharData:
			seen = append(seen, string(x))
		}
	}
	all := strings.Join(seen, "|")
	for _, want := range []string{
		"header|", "hidden|", "DATO-OCULTO", "nonNumeric|Uno <dos> & \"tres\" � 日本|",
		"DOCUMENTO SIMULADO", "Aviso legal",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
}

func TestAsides(t *testing.T) {
	s := open(t, early, "")
	i := testMarket().Issuers()[5]
	for _, path := range []string{
		"/portal/consultas/ifa/listadoifa?id=0&nif=", "/portal/consultas/datosentidad?nif=",
		"/portal/otra-informacion-regulada-corporativa/derechos-voto-capital?Nif=",
		"/portal/otra-informacion-regulada-corporativa/resultado-oirc?TipoInf=23&Nif=",
	} {
		if page := s.get(path + i.NIF); !strings.Contains(page, i.Name) {
			t.Errorf("%s does not name %s", path, i.Name)
		}
		if page := s.get(path + "X0000000"); !strings.Contains(page, "No existen datos") {
			t.Errorf("%s accepts any NIF", path)
		}
	}
	if !strings.Contains(s.get("/portal/aldia/detalleifialdia?nReg=2026028165"), "2026028165") {
		t.Error("no half-year report")
	}
}
