package dealing_test

import (
	"errors"
	"os"
	"sync"
	"testing"

	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
)

// directory holds the program that reads files, and its cache.
var directory string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	var err error
	if directory, err = os.MkdirTemp("", "dealing"); err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(directory) }()
	return m.Run()
}

// worker builds the program that reads files, once.
var worker = sync.OnceValues(func() ([]string, error) {
	return extracttest.BuildWorker(directory)
})

// reader returns what reads files as the service does.
func reader(t *testing.T) func(file []byte) []string {
	t.Helper()
	command, err := worker()
	if err != nil {
		t.Fatal(err)
	}
	r := sandbox.NewReader(sandbox.Options{Command: command, CacheDir: directory, Tesseract: "-"})
	t.Cleanup(func() {
		if err := r.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return func(file []byte) (pages []string) {
		text, err := r.Read(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range text.Pages {
			pages = append(pages, p.Text)
		}
		return pages
	}
}
