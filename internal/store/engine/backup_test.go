package engine

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestBackupNames: backups in one second, also by processes at once, and after the
// clock was set back, are all there, and sort in the order in which they were made.
func TestBackupNames(t *testing.T) {
	address, err := ParseAddress("sqlite:" + filepath.Join(t.TempDir(), "pregon.db"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := address.Open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	dir := t.TempDir()
	now := time.Date(2026, 11, 18, 2, 0, 0, 500_000_000, time.UTC)
	backup := func(at time.Time, keep int) string {
		t.Helper()
		b, err := address.Backup(t.Context(), BackupOptions{To: dir, Keep: keep, Now: at})
		if err != nil {
			t.Error(err)
		}
		return filepath.Base(b.Path)
	}
	files := func() (names []string) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}

	var made []string
	for _, at := range []time.Time{now, now, now.Add(100 * time.Millisecond), now.Add(-time.Hour), now.Add(time.Hour)} {
		made = append(made, backup(at, 0))
	}
	want := []string{
		"pregon-20261118T020000Z.db", "pregon-20261118T020001Z.db", "pregon-20261118T020002Z.db",
		"pregon-20261118T020003Z.db", "pregon-20261118T030000Z.db",
	}
	if !slices.Equal(made, want) {
		t.Errorf("got the names %q, want %q", made, want)
	}

	var together sync.WaitGroup
	for range 5 {
		together.Go(func() { backup(now, 0) })
	}
	together.Wait()
	if got := files(); len(got) != 10 {
		t.Errorf("after five backups at once there are %q, want 10 backups and nothing else", got)
	}

	last := files()[9]
	newest := backup(now, 2) // the clock is an hour behind
	if got := files(); !slices.Equal(got, []string{last, newest}) {
		t.Errorf("two are kept: got %q, want %q", got, []string{last, newest})
	}
}
