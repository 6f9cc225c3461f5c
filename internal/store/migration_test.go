package store_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/fault"
	"pregon/internal/store"
)

func files(names ...string) fstest.MapFS {
	all := fstest.MapFS{}
	for _, name := range names {
		all["migrations/"+name] = &fstest.MapFile{Data: []byte("-- " + name)}
	}
	return all
}

func TestMigrations(t *testing.T) {
	got, err := store.Migrations(files("0002_more_things.sql", "0001_log.sql", "README", "old/0001_log.sql"))
	if err != nil {
		t.Fatal(err)
	}
	want := []store.Migration{
		{Version: 1, Name: "log", SQL: "-- 0001_log.sql"},
		{Version: 2, Name: "more_things", SQL: "-- 0002_more_things.sql"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMigrationsInOrderOfNumber(t *testing.T) {
	var names []string
	for _, n := range strings.Fields("1 2 3 4 5 6 7 8 9 10 11") {
		names = append(names, n+"_x.sql")
	}
	got, err := store.Migrations(files(names...))
	if err != nil || len(got) != 11 || got[10].Version != 11 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestMigrationsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"a gap":          {files("0001_a.sql", "0003_c.sql"), "migration 2 is missing"},
		"no first":       {files("0002_b.sql"), "migration 1 is missing"},
		"a number twice": {files("0001_a.sql", "0001_b.sql"), "migration 2 is missing"},
		"no number":      {files("0001_a.sql", "more.sql"), "migration more.sql has no number"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := store.Migrations(test.files); err == nil || err.Error() != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

func TestPending(t *testing.T) {
	all, err := store.Migrations(files("0001_a.sql", "0002_b.sql", "0003_c.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for version := range len(all) + 1 {
		got, err := store.Pending(all, version)
		if err != nil || len(got) != len(all)-version {
			t.Errorf("at version %d: %v, %v", version, got, err)
		}
		if len(got) > 0 && got[0].Version != version+1 {
			t.Errorf("after version %d comes %d", version, got[0].Version)
		}
	}
	_, err = store.Pending(all, 4)
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "version 4") || !strings.Contains(err.Error(), "newer pregon") {
		t.Errorf("Pending for a newer database = %v, want Conflict with the version", err)
	}
}
