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
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"pregon/internal/extract"
	"pregon/internal/extract/extracttest"
)

// booklet is a PDF file that both programs read.
type booklet struct {
	name, path string
	pages      []string // what pdftotext reads, page by page, without furniture
	raw        []string // the same in the order of the file
}

// text compares our reading of PDF files with that of poppler's pdftotext:
// how fast, and how much of what it finds.
func (b *bench) text() error {
	peer, err := exec.LookPath("pdftotext")
	if err != nil {
		fmt.Fprintln(os.Stderr, "# skipped, since there is no pdftotext: apt-get install poppler-utils")
		return nil
	}
	books, err := b.booklets(peer)
	if err != nil {
		return err
	}
	r := extract.NewReader(extract.Options{Command: []string{b.program, "extract-worker"}, CacheDir: b.cache()})
	defer r.Close()
	if err := r.Warm(b.ctx); err != nil {
		return err
	}
	if err := b.textQuality(r, books); err != nil { // reads all once, so that both are warm
		return err
	}
	var ours, theirs time.Duration
	const rounds = 3
	for range rounds {
		for _, book := range books { // in turns, so that noise hits both
			begin := time.Now()
			if _, err := b.read(r, book); err != nil {
				return err
			}
			between := time.Now()
			if err := exec.Command(peer, book.path, "-").Run(); err != nil {
				return fmt.Errorf("pdftotext %s: %w", book.path, err)
			}
			ours += between.Sub(begin)
			theirs += time.Since(between)
		}
	}
	pages := 0
	for _, book := range books {
		pages += len(book.pages)
	}
	fmt.Fprintf(os.Stderr, "# %d files of %d pages; pages a second: ours %.0f, pdftotext %.0f\n",
		len(books), pages, float64(rounds*pages)/ours.Seconds(), float64(rounds*pages)/theirs.Seconds())
	figure("text.vs_pdftotext", theirs.Seconds()/ours.Seconds(), "ratio")
	peak, err := workerPeak()
	if err != nil {
		return err
	}
	figure("text.memory", peak/1e6, "MB")
	return nil
}

// cache is where the compiled reader is kept between runs.
func (b *bench) cache() string { return filepath.Join(filepath.Dir(b.program), "cache") }

func (b *bench) read(r *extract.Reader, book booklet) (*extract.Text, error) {
	body, err := os.ReadFile(book.path)
	if err != nil {
		return nil, err
	}
	text, err := r.Read(b.ctx, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", book.path, err)
	}
	return text, nil
}

// workerPeak returns the most memory that the child of ours that reads documents
// has held, in bytes.
func workerPeak() (float64, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, dir := range dirs {
		command, _ := os.ReadFile(dir + "/cmdline")
		status, _ := os.ReadFile(dir + "/status") // either fails when the process just ended
		if !bytes.HasSuffix(command, []byte("\x00extract-worker\x00")) || !bytes.Contains(status, fmt.Appendf(nil, "\nPPid:\t%d\n", os.Getpid())) {
			continue
		}
		if _, rest, ok := bytes.Cut(status, []byte("\nVmHWM:")); ok {
			kb, err := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
			return kb * 1024, err
		}
	}
	return 0, errors.New("the child that reads documents is not found")
}

// verdict counts the words of a file, or of all.
type verdict struct {
	name    string
	words   int
	lost    int // not where pdftotext has them
	either  int // nor, page by page, where it has them with -raw
	nowhere int // not on the page at all
	peer    int // where pdftotext has them with -raw and not without
	where   string
}

func (v *verdict) add(o verdict) {
	v.words += o.words
	v.lost += o.lost
	v.either += o.either
	v.nowhere += o.nowhere
	v.peer += o.peer
	v.where += o.where
}

func (v *verdict) String() string {
	return fmt.Sprintf("of %d words %d are not in pdftotext's order, %d in neither of its orders, %d missing; its orders differ in %d",
		v.words, v.lost, v.either, v.nowhere, v.peer)
}

// judge compares a page with what pdftotext reads. Its own idea of the order goes
// wrong where paragraphs of two columns or cells of a table happen to be level;
// the order of the file, which -raw keeps, is right there with most programs.
func judge(n int, page, raw, ours string) verdict {
	want, file, have := words(page), words(raw), words(ours)
	missing, fromFile := outOfOrder(want, have), outOfOrder(file, have)
	v := verdict{words: len(want), lost: len(missing), nowhere: absent(want, have), peer: len(outOfOrder(file, want))}
	if len(fromFile) < len(missing) {
		missing = fromFile
	}
	if v.either = len(missing); v.either > 0 {
		v.where = fmt.Sprintf(" p%d: %s", n, strings.Join(missing, " "))
	}
	return v
}

// textQuality measures which share of pdftotext's words we find in the same
// order, page by page, and shows where most are missing.
func (b *bench) textQuality(r *extract.Reader, books []booklet) error {
	var sum verdict
	var all []verdict
	for _, book := range books {
		text, err := b.read(r, book)
		if err != nil {
			return err
		}
		if len(text.Pages) != len(book.pages) {
			return fmt.Errorf("%s has %d pages, and pdftotext says %d", book.path, len(text.Pages), len(book.pages))
		}
		v := verdict{name: book.name}
		for n, page := range book.pages {
			v.add(judge(n+1, page, book.raw[n], text.Pages[n].Text))
		}
		all = append(all, v)
		sum.add(v)
	}
	slices.SortFunc(all, func(a, b verdict) int { return cmp.Compare(b.either, a.either) })
	for _, v := range all[:min(10, len(all))] {
		if v.either > 0 {
			fmt.Fprintf(os.Stderr, "# %s: %v:%.300s\n", v.name, &v, v.where)
		}
	}
	fmt.Fprintf(os.Stderr, "# %v\n", &sum)
	figure("text.quality", 1-float64(sum.lost)/float64(sum.words), "share")
	figure("text.quality.either", 1-float64(sum.either)/float64(sum.words), "share")
	return nil
}

var (
	ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "\u00ad\n", "", "\u00ad", "")
	hyphen    = regexp.MustCompile(`([\pL\pN])-\n?([\pL\pN])`)
)

// words takes a text apart. Hyphens within words do not count, since nobody can
// be sure of those that stood at the end of a line.
func words(text string) []string {
	text = ligatures.Replace(norm.NFC.String(text))
	for range 2 { // the second time for words of one letter
		text = hyphen.ReplaceAllString(text, "$1$2")
	}
	return strings.Fields(text)
}

// outOfOrder returns the words of one text that are not in the longest common
// subsequence with another.
func outOfOrder(want, have []string) []string {
	wide := len(have) + 1
	longest := make([]uint16, (len(want)+1)*wide) // of what is left from a pair of words on
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(have) - 1; j >= 0; j-- {
			if want[i] == have[j] {
				longest[i*wide+j] = longest[(i+1)*wide+j+1] + 1
			} else {
				longest[i*wide+j] = max(longest[(i+1)*wide+j], longest[i*wide+j+1])
			}
		}
	}
	var missing []string
	for i, j := 0, 0; i < len(want); {
		switch {
		case j < len(have) && want[i] == have[j]:
			i, j = i+1, j+1
		case j < len(have) && longest[i*wide+j+1] >= longest[(i+1)*wide+j]:
			j++
		default:
			missing = append(missing, want[i])
			i++
		}
	}
	return missing
}

// absent counts the words that are in no order in another text.
func absent(want, have []string) (n int) {
	left := map[string]int{}
	for _, w := range have {
		left[w]++
	}
	for _, w := range want {
		if left[w]--; left[w] < 0 {
			n++
		}
	}
	return n
}

// The head and the foot of the simulator's pages, which we leave out on purpose.
var (
	simulatedHead = regexp.MustCompile(`(?m)^.* — DOCUMENTO SIMULADO$`)
	simulatedFoot = regexp.MustCompile(`Simulación: ni la entidad ni los hechos de este documento son reales\.|Página \d+ de \d+`)
)

// booklets makes the files, which stay until the next run to be looked at, and
// has pdftotext read them. Those without text are pictures, and left out.
func (b *bench) booklets(peer string) ([]booklet, error) {
	dir := filepath.Join(b.dir, "text")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	if err := b.simulated(files); err != nil {
		return nil, fmt.Errorf("simulated filings: %w", err)
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
		if book.pages, err = pagesOf(peer, book.path, "-"); err != nil {
			return nil, err
		}
		if book.raw, err = pagesOf(peer, "-raw", book.path, "-"); err != nil {
			return nil, err
		}
		if len(words(strings.Join(book.pages, ""))) > 0 {
			books = append(books, book)
		}
	}
	slices.SortFunc(books, func(a, b booklet) int { return cmp.Compare(a.name, b.name) })
	return books, nil
}

// pagesOf are what pdftotext writes, without furniture.
func pagesOf(peer string, args ...string) (pages []string, err error) {
	out, err := exec.Command(peer, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("pdftotext %s: %w", args, err)
	}
	for page := range bytes.SplitAfterSeq(out, []byte("\f")) {
		if page, ended := bytes.CutSuffix(page, []byte("\f")); ended {
			pages = append(pages, string(simulatedFoot.ReplaceAll(simulatedHead.ReplaceAll(page, nil), nil)))
		}
	}
	return pages, nil
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
		var filing struct {
			ID     string `json:"id"`
			PDFURL string `json:"pdf_url"`
		}
		if err := json.Unmarshal(lines.Bytes(), &filing); err != nil {
			return err
		}
		if filing.PDFURL == "" {
			continue
		}
		body, err := fetchFile(sim.url, filing.PDFURL)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(body, []byte("%PDF")) { // others are packages and pages
			files["sim-"+filing.ID] = body
		}
	}
	return nil
}

// fetchFile gets from the simulator what has an address at the regulator.
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
		err = fmt.Errorf("%s is answered %s", address, resp.Status)
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

// figures are rows of a table of results.
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

// written adds files by our own hand: text in columns that is written across
// them, tables, and fonts whose numbers only a map explains, with ligatures.
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
			if n%2 == 0 { // some maps say which letters are tied, some give the character that stands for both
				letters[i] = ligatures.Replace(letters[i])
			}
		}
		files[fmt.Sprintf("written-font-%d", n)] = extracttest.Unicode(letters[:min(80, len(letters))]...)
	}
}

// produced adds what programs of others make, of those that are installed.
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

// produce runs a command that makes a PDF file, PostScript that becomes one, or
// writes to where it is told.
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

// textReady measures how long after its publication a filing's text and summary
// are there, at the usual pace: with 12 filings a minute, which is the
// simulator's own rate and twice the peak of the real market; with five times as
// many; and with 15 at once. The pace does not shrink, so neither may the time:
// one a second already asks for all four requests a second that there are.
// What documents are is left to the simulator.
func (b *bench) textReady() error {
	sim, err := launch(b.program, "sim", "--listen", "127.0.0.1:0", "--rate", "0")
	if err != nil {
		return err
	}
	defer sim.stop()
	path, err := b.emptyStore()
	if err != nil {
		return err
	}
	defer b.scratch(emptyStore)
	p, err := b.reads(sim.url, "sqlite:"+path, "--cache-dir", b.cache())
	if err != nil {
		return err
	}
	defer p.stop()
	if err := settle(p); err != nil {
		return err
	}
	for _, phase := range []struct {
		suffix string
		order  func(*watched) error
	}{
		{"", func(w *watched) error { return w.orderSlowly(sim.url, 60) }},
		{".busy", func(w *watched) error { return w.order(sim.url, 60) }},
		{".burst", func(w *watched) error { return w.orderAtOnce(sim.url, 15) }},
	} {
		w := &watched{published: map[string]time.Time{}}
		if err := errors.Join(phase.order(w), w.showReady(p.url, phase.suffix)); err != nil {
			return err
		}
	}
	return nil
}

// orderSlowly publishes 12 filings a minute in the mean, which come as arrivals
// would have them: some with up to four others within a second.
func (w *watched) orderSlowly(origin string, n int) error {
	const slower = 5
	rng := rand.New(rand.NewPCG(seed, 5))
	start := time.Now()
	var first, last time.Duration
	for _, at := range arrivals(rng, n) {
		if at-last > time.Second/2 {
			first = at
		}
		last = at
		time.Sleep(time.Until(start.Add(first*slower + at - first)))
		if err := w.file(origin, rng.IntN(3)); err != nil {
			return err
		}
	}
	return nil
}

// orderAtOnce publishes filings all at the same moment.
func (w *watched) orderAtOnce(origin string, n int) error {
	var all sync.WaitGroup
	failed := make([]error, n)
	for i := range n {
		all.Go(func() { failed[i] = w.file(origin, i%3) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// file publishes a filing of a series by lot: one in three is inside
// information.
func (w *watched) file(origin string, lot int) error {
	began := time.Now() // the answer tells it in seconds only
	body := []string{`{"type":"ip"}`, `{"type":"oir"}`, `{"type":"oir"}`}[lot]
	resp, err := http.Post(origin+"/_sim/publish", "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var filing struct {
		ID string `json:"id"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&filing); err != nil || filing.ID == "" {
		return fmt.Errorf("publishing is answered %s: %w", resp.Status, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.published[filing.ID] = began
	return nil
}

// showReady waits for the texts and summaries, whose times the service tells: to
// ask for them meanwhile would disturb it.
func (w *watched) showReady(origin, suffix string) error {
	texts, summaries := map[string]time.Duration{}, map[string]time.Duration{}
	without := 0
	for begin := time.Now(); len(texts) < len(w.published) || len(summaries) < len(w.published); time.Sleep(time.Second) {
		if time.Since(begin) > 2*time.Minute {
			return fmt.Errorf("of %d filings %d have a text and %d a summary", len(w.published), len(texts), len(summaries))
		}
		for id, at := range w.missing(summaries) {
			var report struct {
				Document struct {
					Status string `json:"status"`
					Reason string `json:"reason"`
				} `json:"document"`
				TextAt    *time.Time `json:"text_ready_at"`
				SummaryAt *time.Time `json:"summary_ready_at"`
			}
			if getJSON(origin+"/api/v1/reports/"+id, &report) != nil {
				continue // it is not there yet
			}
			switch {
			case report.Document.Status == "failed":
				return fmt.Errorf("%s: %s", id, report.Document.Reason)
			case report.Document.Status == "none":
				delete(w.published, id)
				without++
				continue
			}
			if report.TextAt != nil {
				texts[id] = report.TextAt.Sub(at)
			}
			if report.SummaryAt != nil {
				summaries[id] = report.SummaryAt.Sub(at)
			}
		}
	}
	fmt.Fprintf(os.Stderr, "# %d filings with a document, and %d without\n", len(texts), without)
	for _, kind := range []struct {
		name string
		took map[string]time.Duration
	}{{"text.ready" + suffix, texts}, {"summary.ready" + suffix, summaries}} {
		var all []time.Duration
		for _, d := range kind.took {
			all = append(all, d)
		}
		slices.Sort(all)
		figure(kind.name, percentile(all, 0.95), "s")
		figure(kind.name+".p50", percentile(all, 0.50), "s")
		figure(kind.name+".max", percentile(all, 1), "s")
	}
	return nil
}
