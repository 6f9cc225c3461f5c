package extract_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// readingWord returns options with a tesseract that recognizes the word "leído" in
// every picture.
func readingWord(t *testing.T) func(*sandbox.Options) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "tesseract")
	const source = "#!/bin/sh\n[ \"$1\" = --list-langs ] && echo spa && exit\ncat >/dev/null\n" +
		`printf '5\t1\t1\t1\t1\t1\t0\t0\t0\t0\t95\tleído\n'` + "\n"
	if err := os.WriteFile(script, []byte(source), 0o700); err != nil {
		t.Fatal(err)
	}
	return func(o *sandbox.Options) { o.Tesseract = script }
}

// pagesAre reads a document and compares its pages and notes.
func pagesAre(t *testing.T, r *sandbox.Reader, body []byte, pages []string, notes ...string) {
	t.Helper()
	text, err := r.Read(t.Context(), body)
	if err != nil {
		t.Errorf("got error %v, want %d pages", err, len(pages))
		return
	}
	var got []string
	for _, p := range text.Pages {
		got = append(got, p.Text)
	}
	if !slices.Equal(got, pages) {
		t.Errorf("got pages %.300q, want %.300q", got, pages)
	}
	if !slices.Equal(text.Notes, notes) {
		t.Errorf("got notes %q, want %q", text.Notes, notes)
	}
}

// TestPictures reads pictures of 300 dots per inch, one of them with a mask of its
// opacity, with a child that has read other documents.
func TestPictures(t *testing.T) {
	longtest.Skip(t, "it needs Tesseract")
	r := newReader(t, readingWord(t))
	text := func(n int) extracttest.Page { return extracttest.TextPage(fmt.Sprintf("Texto de la página %d", n)) }
	many := make([][]string, 100)
	for i := range many {
		many[i] = []string{first, second, third}
	}
	long := extracttest.Paragraphs(many...)
	opaque, masked := extracttest.PicturePage(2480, 3508, false), extracttest.PicturePage(2480, 3508, true)
	body := extracttest.Pages(text(1), opaque, text(3), masked)
	for range 2 {
		if _, err := r.Read(t.Context(), long); err != nil {
			t.Fatal(err)
		}
		pagesAre(t, r, body, []string{"Texto de la página 1", "leído", "Texto de la página 3", "leído"})
	}
}

// TestLayeredPicture reads a picture that PDFium can only draw with a lower
// resolution.
func TestLayeredPicture(t *testing.T) {
	longtest.Skip(t, "it needs Tesseract")
	r := newReader(t, readingWord(t))
	pagesAre(t, r, extracttest.Pages(extracttest.TextPage("Uno"), extracttest.LayeredPage(3)), []string{"Uno", "leído"})
}

// TestLargePicture reads a picture that PDFium cannot draw within its memory. The
// other pages are read.
func TestLargePicture(t *testing.T) {
	longtest.Skip(t, "it needs Tesseract")
	word := readingWord(t)
	r := newReader(t, func(o *sandbox.Options) {
		word(o)
		o.Limits.Memory = 120 << 20
	})
	body := extracttest.Pages(extracttest.TextPage("Uno"), extracttest.PicturePage(2480, 3508, true), extracttest.PicturePage(10, 10, false))
	pagesAre(t, r, body, []string{"Uno", "", "leído"}, "Pages that could not be read: 2. The reason: reading it needed more than 120 MB.")
}

// TestBombAmongPages has pages that need more memory than there is.
func TestBombAmongPages(t *testing.T) {
	longtest.Skip(t, "it reads hostile documents until they are ended")
	body := extracttest.Pages(extracttest.TextPage("Uno"), extracttest.BombPage, extracttest.TextPage("Tres"), extracttest.BombPage)
	pagesAre(t, shared(t), body, []string{"Uno", "", "Tres", ""}, "Pages that could not be read: 2, 4. The reason: reading it needed more than 300 MB.")

	short := extracttest.Pages(extracttest.BombPage, extracttest.TextPage("Dos"))
	text := read(t, extracttest.ZIP(extracttest.Member{Name: "a.pdf", Body: extracttest.Bomb()}, extracttest.Member{Name: "b.pdf", Body: short}))
	if len(text.Pages) != 2 || text.Pages[0].Method != extract.Not || text.Pages[1].Method != extract.ByText || text.Method != extract.Mixed {
		t.Errorf("got pages %v by %s, want one by none and one by text", text.Pages, text.Method)
	}
	notes := []string{
		"Of the package, a.pdf could not be read. The reason: reading it needed more than 300 MB.",
		"b.pdf: Pages that could not be read: 1. The reason: reading it needed more than 300 MB.",
	}
	if !slices.Equal(text.Notes, notes) {
		t.Errorf("got notes %q, want %q", text.Notes, notes)
	}
}

// TestLargestDocument reads a document of the largest size: pages of text over
// pictures that cannot be compressed. In a package the archive is in memory too.
func TestLargestDocument(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	const count = 100
	data := make([]byte, (extract.MaxBody-100<<10)/count/1000*1000)
	rand.NewChaCha8([32]byte{}).Read(data)
	var pages []extracttest.Page
	var want []string
	for n := range count {
		want = append(want, fmt.Sprintf("Texto sobre la imagen de la página %d", n+1))
		pages = append(pages, extracttest.HeavyPage(want[n], data))
	}
	body := extracttest.Pages(pages...)
	if len(body) < extract.MaxBody*99/100 || len(body) > extract.MaxBody {
		t.Fatalf("got a document of %d bytes, want about %d", len(body), extract.MaxBody)
	}
	pagesAre(t, shared(t), body, want)
	// The package must not be larger than a document either.
	pagesAre(t, shared(t), extracttest.ZIP(extracttest.Member{Name: "a.pdf", Body: extracttest.Pages(pages[1:]...)}), want[1:])
}

// TestEndlessAmongPages has a page that is drawn forever. The parent kills the
// child, and another one reads the other pages.
func TestEndlessAmongPages(t *testing.T) {
	longtest.Skip(t, "it reads hostile documents until they are ended")
	word := readingWord(t)
	r := newReader(t, func(o *sandbox.Options) {
		word(o)
		o.Limits.Time, o.Limits.OCRTime = 6*time.Second, time.Second
	})
	body := extracttest.Pages(extracttest.TextPage("Uno"), extracttest.EndlessPage, extracttest.TextPage("Tres"), extracttest.PicturePage(10, 10, false))
	pagesAre(t, r, body, []string{"Uno", "", "Tres", "leído"}, "Pages that could not be read: 2. The reason: reading it took more than 4 s.")
	readsGood(t, r)
}

// TestCrashAmongPages crashes the child in a page.
func TestCrashAmongPages(t *testing.T) {
	r := newReader(t, readingWord(t))
	pid := childOf(t, r)
	body := extracttest.Pages(extracttest.TextPage("Uno"), extracttest.EndlessPage, extracttest.PicturePage(10, 10, false))
	before := processorTime(t, pid)
	done := make(chan bool)
	go func() {
		defer close(done)
		pagesAre(t, r, body, []string{"Uno", "", "leído"}, "Pages that could not be read: 2. The reason: it crashes the program that reads it.")
	}()
	waittest.For(t, "the child draws the page", func() bool { return processorTime(t, pid) > before+busy })
	if err := syscall.Kill(pid, syscall.SIGABRT); err != nil {
		t.Error(err)
	}
	<-done
}

// TestRetriesAreLimited has a child that fails in another step each time.
func TestRetriesAreLimited(t *testing.T) {
	starts := filepath.Join(t.TempDir(), "starts")
	script := fmt.Sprintf(`printf 'R\0\0\0\0\0\0\0\0'; echo >>%[1]s; head -c 2000 >/dev/null
printf 'P\0\0\0\1\0\0\0\4\0\0\0'; printf "\\$(wc -l <%[1]s)"; exit 1`, starts)
	r := newReader(t, func(o *sandbox.Options) { o.Command = []string{"/bin/sh", "-c", script} })
	unreadable(t, r, []byte("%PDF-"+strings.Repeat(" ", 5000)), "it crashes the program that reads it")
	got, err := os.ReadFile(starts)
	if err != nil || len(got) != 4 {
		t.Errorf("got %d starts, %v, want 4", len(got), err)
	}
}

// TestLargeChildIsReplaced has a limit of which an idle child takes more than half.
func TestLargeChildIsReplaced(t *testing.T) {
	r := newReader(t, func(o *sandbox.Options) { o.Limits.Memory = 70 << 20 })
	pid := childOf(t, r)
	readsGood(t, r)
	if alive(pid) {
		t.Error("got the same child after a document, want it to end")
	}
	readsGood(t, r)
}
