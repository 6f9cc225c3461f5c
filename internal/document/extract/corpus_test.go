package extract_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"pregon/internal/document/extract/extracttest"
	"pregon/internal/test/longtest"
)

// TestCorpus compares files of Debian packages, which scripts/install-test-needs
// installs, with the output of pdftotext: a manual, and cards of three columns with
// tables. make corpus compares many more.
func TestCorpus(t *testing.T) {
	longtest.Skip(t, "it needs documents of others and pdftotext")
	for _, path := range []string{
		"/usr/share/doc/maint-guide-es/maint-guide.es.pdf",
		"/usr/share/doc/debian-refcard/refcard-es-a4.pdf",
		"/usr/share/doc/debian-refcard/refcard-en-a4.pdf",
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			body := unzipped(t, path)
			plain := filepath.Join(t.TempDir(), "file.pdf")
			if err := os.WriteFile(plain, body, 0o600); err != nil {
				t.Fatal(err)
			}
			peer, err := extracttest.ReadPeer(plain)
			if err != nil {
				t.Fatal(err)
			}
			a := peer.Compare(read(t, body).Pages)
			const most = 0.995 // other versions of the files and of pdftotext differ a little
			if a.Want < 500 || a.Recall() < most || a.Precision() < most || a.Order() < most {
				t.Errorf("got recall %.4f, precision %.4f, order %.4f of %d words, want at least %.4f of 500:\n%q",
					a.Recall(), a.Precision(), a.Order(), a.Want, most, a.Where)
			}
		})
	}
}

// unzipped returns a file, which may be compressed.
func unzipped(t *testing.T, path string) []byte {
	t.Helper()
	body, err := os.ReadFile(path)
	if err == nil {
		return body
	}
	packed, err := os.ReadFile(path + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if body, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return body
}
