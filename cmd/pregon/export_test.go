package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document/index"
	"pregon/internal/search"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/transfer"
)

// command runs the program and returns its output.
func command(t *testing.T, stdin string, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	p := &process{args: args, stdin: strings.NewReader(stdin), stdout: &out, stderr: &said}
	if err := p.run(t.Context()); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &said)
	}
	return out.String(), said.String()
}

// liveStore creates a store with a live report, a back-filled one, and the text of a
// document.
func liveStore(t *testing.T, path string) store.Document {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d := store.Document{
		SHA256: strings.Repeat("ab", 32), Bytes: 1234, Head: `{"edition":1,"pages":[{},{},{}]}`,
		Pages: []string{"El dividendo se pagará en mayo.", "", strings.Repeat("ñandú <€> ", 40_000)},
	}
	d.Index = index.Build(d.SHA256, d.Pages)
	if err := db.PutDocument(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	report := func(number int64) disclosure.Report {
		r := disclosure.Report{Type: disclosure.OIR, Number: number, CompanyName: "X", Title: "T", PublishedAt: time.Now().Add(-time.Minute).UTC().Truncate(time.Second), TimeFrom: disclosure.FromFeed}
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		return r
	}
	live, history := report(1), report(2)
	live.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: d.SHA256, Type: "pdf", Bytes: 1234, Pages: 3, Method: "text"}
	live.PDFURL = "https://regulator.example/1.pdf"
	live.TextReadyAt = time.Now().UTC().Truncate(time.Microsecond)
	if _, err := db.Append(t.Context(), store.Batch{Reports: []disclosure.Report{live}}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Append(t.Context(), store.Batch{Reports: []disclosure.Report{history}, New: disclosure.Backfilled}); err != nil {
		t.Fatal(err)
	}
	return d
}

// An export imported into another store gives the same bytes when exported again:
// times, origin and, if requested, texts.
func TestExportRoundTrip(t *testing.T) {
	dir := t.TempDir()
	first, second := "sqlite:"+filepath.Join(dir, "first.db"), "sqlite:"+filepath.Join(dir, "second.db")
	d := liveStore(t, filepath.Join(dir, "first.db"))
	lines, said := command(t, "", "export", "reports", "--documents", "--store", first)
	if !strings.HasPrefix(said, "2 reports as of change 2; source: none; with the texts of 1 documents") {
		t.Errorf("export prints %q", said)
	}
	if strings.Count(lines, `"backfilled":"true"`) != 1 || strings.Count(lines, `"available_at"`) != 2 {
		t.Errorf("times or origin are missing:\n%.3000s", lines)
	}
	for line := range strings.Lines(lines) {
		if len(line) > transfer.MaxLine {
			t.Errorf("a line has %d bytes", len(line))
		}
	}
	out, _ := command(t, lines, "import", "reports", "-", "--store", second)
	if out != "2 new, 0 updated, 0 unchanged, 0 bad\n" {
		t.Errorf("the import prints %q", out)
	}
	again, _ := command(t, "", "export", "reports", "--documents", "--store", second)
	if again != lines {
		t.Errorf("second export: got\n%.3000s\nwant\n%.3000s", again, lines)
	}
	if out, _ := command(t, lines, "import", "reports", "-", "--store", second); out != "0 new, 0 updated, 2 unchanged, 0 bad\n" {
		t.Errorf("the second import prints %q", out)
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "second.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	hash, _ := search.ParseHash(d.SHA256)
	numbers := &search.Numbers{}
	found, err := index.New(db, numbers).Find(t.Context(), index.Query{All: [][]index.Phrase{{{Words: []string{"dividendo"}}}}})
	if err != nil || !found.Has(numbers.Of(hash)[0]) {
		t.Errorf("search for the text of %s: got %v, %v, want it", d.SHA256, found, err)
	}
	without, said := command(t, "", "export", "reports", "--store", first)
	if strings.Contains(without, "document_text") || !strings.Contains(said, "without the texts of documents (--documents)") {
		t.Errorf("export without --documents prints %q", said)
	}
}

func TestImportBrokenTexts(t *testing.T) {
	head := `{"document_text":{"sha256":"` + strings.Repeat("ab", 32) + `","head":"{}","page":0}}`
	for name, lines := range map[string]string{
		"not as written":  `{"document_text":{"pages":1}}`,
		"null":            `{"document_text":null}`,
		"without a head":  strings.Replace(head, `,"head":"{}","page":0`, `,"page":1,"text":"x","last":true`, 1),
		"of another":      head + "\n" + `{"document_text":{"sha256":"other","page":1,"text":"x","last":true}}`,
		"a page left out": head + "\n" + strings.Replace(head, `,"head":"{}","page":0`, `,"page":2,"text":"x","last":true`, 1),
		"no hash":         `{"document_text":{"sha256":"x","head":"{}","page":0,"last":true}}`,
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, err := runImport(t, t.Context(), strings.NewReader(lines+"\n"+importLine("1", "T")+"\n"))
			if err == nil || stdout != "1 new, 0 updated, 0 unchanged, 1 bad\n" || strings.Count(stderr, "line ") < 1 {
				t.Errorf("%q, %q, %v", stdout, stderr, err)
			}
		})
	}
}
