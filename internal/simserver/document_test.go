package simserver_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pregon/internal/sim"
)

var (
	objectForm = regexp.MustCompile(`^(\d+) 0 obj\n`)
	streamForm = regexp.MustCompile(`(?s)<< /Length (\d+)( /Filter /FlateDecode)? >>\nstream\n`)
	shownForm  = regexp.MustCompile(`\(((?:\\.|[^\\)])*)\) Tj`)
)

// readPDF checks the skeleton of a file and returns the text of its pages.
func readPDF(t *testing.T, file string) (pages []string) {
	t.Helper()
	if !strings.HasPrefix(file, "%PDF-1.4\n") || !strings.HasSuffix(file, "%%EOF\n") {
		t.Fatalf("no PDF: %.40q", file)
	}
	_, tail, _ := strings.Cut(file, "\nstartxref\n")
	start, err := strconv.Atoi(strings.Split(tail, "\n")[0])
	if err != nil || !strings.HasPrefix(file[start:], "xref\n0 ") {
		t.Fatalf("startxref %q leads astray", tail)
	}
	lines := strings.SplitAfter(file[start:], "\n")
	count, _ := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(lines[1], "0 ")))
	for n := 1; n < count; n++ {
		line := lines[2+n]
		at, err := strconv.Atoi(line[:10])
		if m := objectForm.FindStringSubmatch(file[at:]); len(line) != 20 || err != nil || m == nil || m[1] != strconv.Itoa(n) {
			t.Fatalf("object %d is not at %q", n, line)
		}
	}
	if !strings.Contains(file[start:], fmt.Sprintf("/Size %d /Root 1 0 R", count)) {
		t.Error("the trailer does not fit")
	}
	for _, m := range streamForm.FindAllStringSubmatchIndex(file, -1) {
		length, _ := strconv.Atoi(file[m[2]:m[3]])
		content := file[m[1] : m[1]+length]
		if !strings.HasPrefix(file[m[1]+length:], "\nendstream") {
			t.Error("a stream has another length")
		}
		if m[4] >= 0 {
			z, err := zlib.NewReader(strings.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			content = string(plain)
		}
		var text bytes.Buffer
		for _, shown := range shownForm.FindAllStringSubmatch(content, -1) {
			for n := range len(shown[1]) {
				if c := shown[1][n]; c != '\\' {
					text.WriteRune(rune(c)) // the encoding agrees with Latin 1 but for quotes
				}
			}
			text.WriteByte(' ')
		}
		pages = append(pages, text.String())
	}
	return pages
}

func TestDocuments(t *testing.T) {
	s := open(t, early, "")
	s.publish(`{"type":"ip","title":"` + strings.Repeat("Larguísima(palabra)", 60) + ` «y» 5 € \\ “más”","document":true}`)
	sizes, packed, n := map[int]int{}, map[bool]int{}, 0
	all := s.filings("from=2020-10-20")
	all = append(all, s.filings("type=oir&from=2020-02-24&to=2020-02-28")...) // when governance reports come
	tokens := 0
	for _, f := range all {
		if f.PDFURL == "" {
			continue
		}
		if strings.Contains(f.PDFURL, "?e=") {
			if tokens++; tokens > 3 {
				continue
			}
		} else if n++; n%11 != 0 && f.Type != "IP" {
			continue
		}
		path := strings.TrimPrefix(f.PDFURL, "https://regulator.example")
		r := s.do("GET", path, "")
		if r.StatusCode != 200 || r.Header.Get("Content-Type") != "application/pdf" {
			t.Fatalf("%s: %d", f.ID, r.StatusCode)
		}
		if again := s.get(path); again != r.body {
			t.Errorf("%s changes", f.ID)
		}
		packed[strings.Contains(r.body, "FlateDecode")]++
		pages := readPDF(t, r.body)
		sizes[len(pages)]++
		for k, page := range pages {
			if !strings.Contains(page, "DOCUMENTO SIMULADO") && !strings.Contains(page, "Simulación: ni la entidad") || !strings.Contains(page, fmt.Sprintf("Página %d de %d", k+1, len(pages))) {
				t.Errorf("%s: page %d does not say what it is: %s", f.ID, k+1, page)
			}
		}
		if words := strings.Fields(strings.TrimPrefix(f.Title, sim.Mark)); len(words[0]) < 40 && !strings.Contains(pages[0], words[0]+" "+words[1]) {
			t.Errorf("%s does not have its subject", f.ID)
		}
	}
	if sizes[1] == 0 || sizes[2] == 0 || sizes[3] == 0 || len(sizes) > 4 || sizes[0]+sizes[5]+sizes[6] > 0 || packed[true] == 0 || packed[false] == 0 || tokens == 0 {
		t.Errorf("pages %v, packed %v, %d with a token", sizes, packed, tokens)
	}
}

func TestAsides(t *testing.T) {
	s := open(t, early, "")
	i := market().Issuers()[5]
	for _, path := range []string{
		"/portal/consultas/ifa/listadoifa?id=0&nif=", "/portal/consultas/datosentidad?nif=",
		"/portal/otra-informacion-regulada-corporativa/derechos-voto-capital?Nif=", "/portal/otra-informacion-regulada-corporativa/resultado-oirc?TipoInf=23&Nif=",
	} {
		if page := s.get(path + i.NIF); !strings.Contains(page, i.Name) {
			t.Errorf("%s does not name %s", path, i.Name)
		}
		if page := s.get(path + "X0000000"); !strings.Contains(page, "No existen datos") {
			t.Errorf("%s knows everybody", path)
		}
	}
	if !strings.Contains(s.get("/portal/aldia/detalleifialdia?nReg=2026028165"), "2026028165") {
		t.Error("no half-year report")
	}
}
