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

func TestUndoing(t *testing.T) {
	undo := func(names ...string) (all fstest.MapFS) {
		all = files("0001_a.sql", "0002_b.sql", "0003_c.sql", "0004_d.sql")
		for _, name := range names {
			all["migrations/undo/"+name] = &fstest.MapFile{Data: []byte("-- not " + name)}
		}
		return all
	}
	for name, test := range map[string]struct {
		files       fstest.MapFS
		version, to int
		want        []string
		err         string
	}{
		"two steps":     {undo("0003_c.sql", "0004_d.sql"), 4, 2, []string{"-- not 0004_d.sql", "-- not 0003_c.sql"}, ""},
		"one step":      {undo("0003_c.sql", "0004_d.sql"), 4, 3, []string{"-- not 0004_d.sql"}, ""},
		"none":          {undo("0003_c.sql", "0004_d.sql"), 4, 4, nil, ""},
		"too far":       {undo("0003_c.sql", "0004_d.sql"), 4, 1, nil, "to 2 at the earliest, not to 1"},
		"over a gap":    {undo("0002_b.sql", "0004_d.sql"), 4, 1, nil, "to 3 at the earliest"},
		"forward":       {undo("0004_d.sql"), 3, 4, nil, "has schema version 3, and --to 4 is above it"},
		"newer program": {undo("0004_d.sql"), 5, 3, nil, "use a newer pregon"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := store.Migrations(test.files)
			if err != nil {
				t.Fatal(err)
			}
			steps, err := store.Undoing(all, test.version, test.to)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			var got []string
			for _, m := range steps {
				got = append(got, m.Undo)
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v, -want +got\n%s", err, diff)
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
