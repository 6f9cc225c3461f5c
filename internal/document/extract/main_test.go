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

// TestMain builds the child without the race detector, which needs more memory
// than the limits allow.
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

// shared returns the reader that most tests share.
func shared(t *testing.T) *sandbox.Reader {
	t.Helper()
	begin.Do(func() {
		warm = sandbox.NewReader(options(t))
	})
	return warm
}

// options returns options with a cache that all tests share.
func options(t *testing.T) sandbox.Options {
	t.Helper()
	return sandbox.Options{Command: command, CacheDir: cacheDir, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
}

// newReader returns a new reader for tests that kill it or change its options.
func newReader(t *testing.T, change func(*sandbox.Options)) *sandbox.Reader {
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
		t.Fatalf("got %d pages, want 1", len(text.Pages))
	}
	return text.Pages[0].Text
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// unreadable reads a document that must be unreadable for a reason.
func unreadable(t *testing.T, r *sandbox.Reader, body []byte, reason string) {
	t.Helper()
	text, err := r.Read(t.Context(), body)
	if err == nil {
		t.Fatalf("got %.200v, want an Unreadable because %s", text.Pages, reason)
	}
	if !extract.IsUnreadable(err) || !strings.Contains(err.Error(), reason) {
		t.Fatalf("got error %q, want an Unreadable because %s", err, reason)
	}
}
