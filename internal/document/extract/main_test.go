package extract_test

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
)

// TestMain builds the child, which is not watched for races.
func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	var err error
	if cacheDir, err = os.MkdirTemp("", "extract-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(cacheDir)
	if command, err = extracttest.BuildWorker(cacheDir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if warm != nil {
		warm.Close()
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

var (
	begin    sync.Once
	command  []string // of the child
	cacheDir string
	warm     *sandbox.Reader
)

// shared is the reader of most tests, so that there is one start for all.
func shared(t *testing.T) *sandbox.Reader {
	t.Helper()
	begin.Do(func() {
		warm = sandbox.NewReader(options(t))
	})
	return warm
}

// options lead to the child, with code that is compiled once.
func options(t *testing.T) sandbox.Options {
	t.Helper()
	return sandbox.Options{Command: command, CacheDir: cacheDir, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
}

// own is a reader for a test that does it harm.
func own(t *testing.T, change func(*sandbox.Options)) *sandbox.Reader {
	t.Helper()
	shared(t) // for the compiled code
	if err := warm.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := options(t)
	if change != nil {
		change(&o)
	}
	r := sandbox.NewReader(o)
	t.Cleanup(func() { r.Close() })
	return r
}

// read reads a document that must be readable.
func read(t *testing.T, body []byte) *extract.Text {
	t.Helper()
	text, err := shared(t).Read(t.Context(), body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// readPage reads a document of one page.
func readPage(t *testing.T, body []byte) string {
	t.Helper()
	text := read(t, body)
	if len(text.Pages) != 1 {
		t.Fatalf("%d pages, want one", len(text.Pages))
	}
	return text.Pages[0].Text
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// unreadable reads a document that must not be readable for a reason.
func unreadable(t *testing.T, r *sandbox.Reader, body []byte, reason string) {
	t.Helper()
	text, err := r.Read(t.Context(), body)
	if err == nil {
		t.Fatalf("it was read: %.200v", text.Pages)
	}
	if !extract.IsUnreadable(err) || !strings.Contains(err.Error(), reason) {
		t.Fatalf("the error is %q, want one that it is unreadable: %s", err, reason)
	}
}
