package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// TestFileTakenAway: a file that was deleted or replaced under an open store is
// noticed by those who follow the log, and is not written to.
func TestFileTakenAway(t *testing.T) {
	for name, take := range map[string]func(t *testing.T, path string){
		"deleted": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"replaced": func(t *testing.T, path string) {
			other := path + ".new"
			if err := os.WriteFile(other, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(other, path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pregon.db")
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if !s.Created() {
				t.Error("a new store does not say that it is new")
			}
			take(t, path)
			if _, err := s.Newest(t.Context()); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("Newest ends with %v, want unavailable", err)
			}
			b := store.Batch{Issuers: []disclosure.Issuer{{ID: "A1", Name: "Uno", Kind: disclosure.Company}}}
			if _, err := s.Append(t.Context(), b); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("Append ends with %v, want unavailable", err)
			}
			if _, err := s.AcquireLease(t.Context(), "ingest", "ana", 1); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("AcquireLease ends with %v, want unavailable", err)
			}
		})
	}
}

// TestFileIsNotMadeAnew: a connection that is opened after the file was deleted
// does not make another.
func TestFileIsNotMadeAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pregon.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := s.ReadAnew(t.Context()); err == nil {
		t.Error("a new connection reads from a file that is not there")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made")
	}
}

func TestMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pregon.db")
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("opening no file ends with %v, want not found", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made")
	}
}
