package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
)

// The head and the foot of the simulator's pages, which we omit on purpose.
var (
	simulatedHead = regexp.MustCompile(`(?m)^.* — DOCUMENTO SIMULADO$`)
	simulatedFoot = regexp.MustCompile(`Simulación: ni la entidad ni los hechos de este documento son reales\.|Página \d+ de \d+`)
)

// booklets creates the files and reads them with pdftotext. The files remain until
// the next run for inspection. Files without text are images, and are omitted.
func (b *bench) booklets() ([]booklet, error) {
	dir := filepath.Join(b.dir, "text")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	if err := b.simulated(files); err != nil {
		return nil, fmt.Errorf("simulated reports: %w", err)
	}
	written(files)
	if err := produced(files, dir); err != nil {
		return nil, err
	}
	var books []booklet
	for name, body := range files {
		book := booklet{name: name, path: filepath.Join(dir, name+".pdf")}
		if err := os.WriteFile(book.path, body, 0o644); err != nil {
			return nil, err
		}
		var err error
		if book.pages, err = pagesOf(book.path); err != nil {
			return nil, err
		}
		if book.raw, err = pagesOf(book.path, "-raw"); err != nil {
			return nil, err
		}
		if len(extracttest.Words(strings.Join(book.pages, ""))) > 0 {
			books = append(books, book)
		}
	}
	slices.SortFunc(books, func(a, b booklet) int { return cmp.Compare(a.name, b.name) })
	return books, nil
}

// pagesOf returns the output of pdftotext by page, without page heads and feet.
func pagesOf(path string, options ...string) ([]string, error) {
	pages, err := extracttest.PDFToText(path, options...)
	for i, page := range pages {
		pages[i] = simulatedFoot.ReplaceAllString(simulatedHead.ReplaceAllString(page, ""), "")
	}
	return pages, err
}

// simulated adds all documents of a busy day of the simulated market, and some
// in two columns.
func (b *bench) simulated(files map[string][]byte) error {
	const day, columns = "2025-02-27", 12
	sim, err := launch(b.program, "sim", "--listen", "127.0.0.1:0", "--rate", "0", "--seed", strconv.Itoa(seed))
	if err != nil {
		return err
	}
	defer sim.stop()
	for n := range columns {
		form := []string{"columns", "columns", "long"}[n%3]
		order := fmt.Sprintf(`{"type":"oir","document":%q,"number":"%d","published_at":"%sT10:00:00Z"}`, form, 900_000_001+n, day)
		if err := post(sim.url+"/_sim/publish", "", order); err != nil {
			return err
		}
	}
	resp, err := http.Get(sim.url + "/_sim/filings?from=" + day + "&to=" + day)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		var report struct {
			ID     string `json:"id"`
			PDFURL string `json:"pdf_url"`
		}
		if err := json.Unmarshal(lines.Bytes(), &report); err != nil {
			return err
		}
		if report.PDFURL == "" {
			continue
		}
		body, err := fetchFile(sim.url, report.PDFURL)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(body, []byte("%PDF")) { // others are packages and pages
			files["sim-"+report.ID] = body
		}
	}
	return nil
}

// fetchFile downloads from the simulator a file with an address of the regulator.
func fetchFile(origin, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodGet, origin+u.RequestURI(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "*/*")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: got status %s", address, resp.Status)
	}
	return body, err
}

var sentences = []string{
	"El Consejo de Administración ha acordado, en su reunión de esta fecha, convocar Junta General Ordinaria de Accionistas en el domicilio social.",
	"La cifra de negocios del ejercicio ascendió a 1.234,5 millones de euros, un 7,3 % más que en el ejercicio precedente.",
	"El resultado bruto de explotación (EBITDA) mejoró en 15 puntos básicos y la deuda financiera neta se redujo hasta 876 millones.",
	"La oficina de atención al accionista —con sede en A Coruña— facilitará la documentación preceptiva a quien la solicite.",
	"Conforme al artículo 228 de la Ley 6/2023, de 17 de marzo, se comunica la siguiente información al mercado.",
	"El calendario de pago del dividendo, sujeto a la aprobación de la Junta, será el que figura en el anexo.",
	"Los flujos de caja y la eficiencia operativa permiten confirmar los objetivos fijados en el plan estratégico.",
	"«La difusión de estas previsiones no constituye oferta de valores», añadió la entidad.",
}

func prose(rng *rand.Rand, n int) string {
	var out []string
	for range n {
		out = append(out, sentences[rng.IntN(len(sentences))])
	}
	return strings.Join(out, " ")
}

func paragraphs(rng *rand.Rand, n int) (out []string) {
	for range n {
		out = append(out, prose(rng, 1+rng.IntN(3)))
	}
	return out
}

// figures returns rows of a table of results.
func figures(rng *rand.Rand, n int) [][]string {
	rows := [][]string{{"Concepto", "2025", "2024", "Variación"}}
	for _, name := range []string{"Ingresos", "Gastos de personal", "Amortizaciones", "Resultado financiero", "Resultado neto"} {
		for k := range n / 5 {
			a, b := rng.IntN(900)+100, rng.IntN(900)+100
			rows = append(rows, []string{fmt.Sprintf("%s %d", name, k+1), fmt.Sprintf("1.%d,%d", a, k), fmt.Sprintf("2.%d,%d", b, k), fmt.Sprintf("%d,%d %%", a%40, k)})
		}
	}
	return rows
}

// written adds files that we generate: columns whose text is written across them,
// tables, and fonts that need a character map, with ligatures.
func written(files map[string][]byte) {
	rng := rand.New(rand.NewPCG(seed, 3))
	const middle, narrow = extracttest.PageWidth / 2, extracttest.PageWidth/2 - extracttest.Margin - 10
	column := func(x, y float64) []extracttest.Line {
		return extracttest.Column(x, narrow, y, prose(rng, 4), prose(rng, 5), prose(rng, 3))
	}
	for n := range 8 {
		const top = extracttest.PageHeight - extracttest.Margin
		title := []extracttest.Line{{X: extracttest.Margin, Y: top, Size: 16, Text: "Informe de gestión intermedio"}}
		across := extracttest.Across(column(extracttest.Margin, top-50), column(middle+10, top-50))
		files[fmt.Sprintf("written-columns-%d", n)] = extracttest.PDF(append(title, across...))
		table := extracttest.Table(top-300, []float64{extracttest.Margin, 260, 350, 440}, figures(rng, 15))
		files[fmt.Sprintf("written-table-%d", n)] = extracttest.PDF(append(extracttest.Column(extracttest.Margin, 450, top, paragraphs(rng, 3)...), table...))
		letters := strings.Split(strings.NewReplacer("fi", "ﬁ", "fl", "ﬂ").Replace(prose(rng, 1)), "")
		for i := range letters {
			if n%2 == 0 { // some maps list the letters of a ligature, some its own character
				letters[i] = extract.Normalize(letters[i])
			}
		}
		files[fmt.Sprintf("written-font-%d", n)] = extracttest.Unicode(letters[:min(80, len(letters))]...)
	}
}

// produced adds files of other programs, if they are installed.
func produced(files map[string][]byte, dir string) error {
	rng := rand.New(rand.NewPCG(seed, 4))
	const start = ".fam H\n.hy 6\n.ds CH\n"
	var roff, tbl strings.Builder
	for _, p := range paragraphs(rng, 100) {
		roff.WriteString(".PP\n" + p + "\n")
	}
	for n, p := range paragraphs(rng, 40) {
		tbl.WriteString(".PP\n" + p + "\n")
		if n%5 == 0 {
			tbl.WriteString(".TS\nallbox;\nl r r r.\n")
			for _, row := range figures(rng, 10) {
				tbl.WriteString(strings.Join(row, "\t") + "\n")
			}
			tbl.WriteString(".TE\n")
		}
	}
	groff := func(input string, args ...string) []string {
		return append([]string{input, "groff", "-Kutf8", "-ms"}, args...)
	}
	for _, made := range []struct {
		name string
		run  []string // standard input and command
	}{
		{"groff", groff(start+roff.String(), "-Tpdf")},
		{"groff-columns", groff(".2C\n"+start+roff.String(), "-Tpdf")},
		{"groff-times-columns", groff(".2C\n.hy 6\n.ds CH\n"+roff.String(), "-Tpdf")},
		{"groff-tables", groff(start+tbl.String(), "-t", "-Tpdf")},
		{"ghostscript-columns", groff(".2C\n"+start+roff.String(), "-Tps")},
		{"cairo-serif", []string{"", "pango-view", "--no-display", "-q", "--font=DejaVu Serif 9", "--width=450", "--justify", "--text=" + strings.Join(paragraphs(rng, 30), "\n\n")}},
		{"cairo-sans", []string{"", "pango-view", "--no-display", "-q", "--font=DejaVu Sans 10", "--width=400", "--text=" + strings.Join(paragraphs(rng, 30), "\n\n")}},
	} {
		body, err := produce(made.run, filepath.Join(dir, made.name+".pdf"))
		if errors.Is(err, exec.ErrNotFound) {
			fmt.Fprintf(os.Stderr, "# without %s: %v\n", made.name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", made.name, err)
		}
		files[made.name] = body
	}
	return nil
}

// produce runs a command that writes a PDF file or PostScript, to its output or to
// a path in its arguments.
func produce(run []string, path string) ([]byte, error) {
	if run[1] == "pango-view" {
		if _, err := filter(nil, append(run[1:], "--output="+path)...); err != nil {
			return nil, err
		}
		return os.ReadFile(path)
	}
	body, err := filter([]byte(run[0]), run[1:]...)
	if err == nil && bytes.HasPrefix(body, []byte("%!PS")) {
		return filter(body, "ps2pdf", "-", "-")
	}
	return body, err
}

func filter(input []byte, command ...string) ([]byte, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin = bytes.NewReader(input)
	return cmd.Output()
}
