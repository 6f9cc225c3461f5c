package catalog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// Damage that is found while the index is built from texts in the file, for an issuer with
// another ticker or in a merge, does not end the process: the catalogue is built again.
func TestSaveDamagedWhileIndexing(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(path string) error
		later  func(saving) store.Batch
	}{
		"tickers": {damageTexts, otherTickers},
		"merge":   {func(path string) error { return os.Truncate(path, 0) }, manyReports},
	} {
		t.Run(name, func(t *testing.T) {
			db := newMarket(t)
			path := filepath.Join(t.TempDir(), "catalogue")
			openSaved(t, db, path, "").save(t)
			data, err := filepath.Glob(path + "-data-*")
			if err != nil || len(data) != 1 {
				t.Fatalf("the data files are %v, %v", data, err)
			}
			if err := os.Chmod(data[0], 0o600); err != nil {
				t.Fatal(err)
			}
			opened := openSaved(t, db, path, "")
			if !opened.opened() {
				t.Fatalf("it was not opened: %s", opened.log)
			}
			if err := test.damage(data[0]); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Append(t.Context(), test.later(opened)); err != nil {
				t.Fatal(err)
			}
			want := openSaved(t, db, filepath.Join(t.TempDir(), "other"), "").state(t)
			follow(t, opened, want)
		})
	}
}

// damageTexts damages the blocks at the beginning of a data file, which has texts there.
func damageTexts(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for at := 100; at < 500_000; at += 1000 {
		text[at] ^= 4
	}
	return os.WriteFile(path, text, 0o600)
}

// otherTickers returns a batch that changes the ticker of all issuers.
func otherTickers(s saving) store.Batch {
	batch := store.Batch{New: disclosure.Published}
	for _, i := range s.Snapshot().Directory().Issuers() {
		other := *i.Issuer
		other.Ticker = "X" + other.Ticker
		batch.Issuers = append(batch.Issuers, other)
	}
	return batch
}

// manyReports returns so many reports that the whole index is merged.
func manyReports(saving) store.Batch {
	batch := store.Batch{New: disclosure.Published}
	for n := range int64(4500) {
		batch.Reports = append(batch.Reports, newReport(disclosure.OIR, 900_000+n, "2026-11-01T08:00:00Z", bodegas))
	}
	return batch
}

// follow has a catalogue follow its log until it has a state.
func follow(t *testing.T, s saving, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	var following sync.WaitGroup
	following.Go(func() { _ = s.Follow(ctx) })
	defer following.Wait()
	defer cancel()
	for {
		got, broken := s.tryState(t)
		if !broken && got == want && strings.Contains(s.log.String(), "built from the log again") {
			return
		}
		if ctx.Err() != nil {
			t.Fatal("it was not built again")
		}
	}
}

// What is changed in a block that was verified already is noticed before anything is sent, until
// the catalogue is built again. Nothing of it is saved.
func TestChangedWhileInUse(t *testing.T) {
	log := newMemoryLog()
	log.append(published(newReport(disclosure.OIR, 1, "2026-03-02T10:00:00Z", bodegas)))
	path := filepath.Join(t.TempDir(), "catalogue")
	openSaved(t, log, path, "").save(t)
	s := openSaved(t, log, path, "")
	verified := func() bool {
		defer func() {
			if p := recover(); p != nil && !s.Broken(p) {
				panic(p)
			}
		}()
		s.Verify()
		return true
	}
	s.state(t) // every block was verified
	if !s.opened() || !verified() {
		t.Fatalf("before the change: %s", s.log)
	}
	data, err := filepath.Glob(path + "-data-*")
	if err != nil || len(data) != 1 {
		t.Fatalf("the data files are %v, %v", data, err)
	}
	if err := os.Chmod(data[0], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := damageFirst(data[0]); err != nil {
		t.Fatal(err)
	}
	if verified() {
		t.Error("the change is not noticed")
	}
	if !s.Broken(errors.New("an index out of range")) {
		t.Error("what wrong numbers lead to is not due to the file")
	}
	if done, err := s.Save(); !done || err == nil {
		t.Errorf("it is saved: %v, %v", done, err)
	}
	follow(t, s, openSaved(t, log, filepath.Join(t.TempDir(), "other"), "").state(t))
	if !verified() {
		t.Error("the change is noticed after the catalogue was built again")
	}
	if s.Broken(errors.New("an index out of range")) {
		t.Error("a fault of the program is due to the file")
	}
}

// damageFirst changes a byte in place.
func damageFirst(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte{0xff}, 3)
	return errors.Join(err, f.Close())
}
