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

// TestFileTakenAway: after the file of an open store was deleted or replaced, reads
// and writes fail.
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
				t.Error("Created() = false for a new store, want true")
			}
			take(t, path)
			if _, err := s.Newest(t.Context()); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("Newest = %v, want unavailable", err)
			}
			b := store.Batch{Issuers: []disclosure.Issuer{{ID: "A1", Name: "Uno", Kind: disclosure.Company}}}
			if _, err := s.Append(t.Context(), b); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("Append = %v, want unavailable", err)
			}
			if _, err := s.AcquireLease(t.Context(), "ingest", "ana", 1); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("AcquireLease = %v, want unavailable", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			// A -wal would be applied to the other file.
			if _, err := os.Stat(path + "-wal"); err == nil && name == "replaced" {
				t.Error("the -wal of the former file is still beside the new one")
			}
		})
	}
}

// TestFileIsNotMadeAnew: a connection that is opened after the file was deleted
// does not create a new one.
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
		t.Error("a new connection reads from a deleted file")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was created")
	}
}

func TestMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pregon.db")
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("opening no file = %v, want not found", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was created")
	}
}
