package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/fault"
)

// PreviousSchema is the schema version of the previous release, which docs/release.md
// names. Every later migration can be undone without losing anything but what the
// program derives from the rest, so that an operator can return to that release. One is
// refused if that is not so: see MayUndo.
const PreviousSchema = 8

// Migration is one numbered step of an engine's schema.
type Migration struct {
	Version int
	Name    string
	SQL     string
	Undo    string // SQL that undoes it; empty if it cannot be undone
}

// Migrations reads an engine's embedded files, named migrations/0001_what.sql
// and so on without gaps. What undoes one has the same name in migrations/undo.
func Migrations(files fs.FS) ([]Migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var all []Migration
	for _, file := range names {
		name := path.Base(file)
		number, what, _ := strings.Cut(strings.TrimSuffix(name, ".sql"), "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number", name)
		}
		sql, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		undo, err := fs.ReadFile(files, "migrations/undo/"+name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		all = append(all, Migration{
			Version: version,
			Name:    what,
			SQL:     string(sql),
			Undo:    string(undo),
		})
	}
	slices.SortFunc(all, func(a, b Migration) int { return cmp.Compare(a.Version, b.Version) })
	for i, m := range all {
		if m.Version != i+1 {
			return nil, fmt.Errorf("migration %d is missing", i+1)
		}
	}
	return all, nil
}

// Pending returns the migrations that a database at a version still needs. It
// fails, Conflict, for a database that a newer program has migrated.
func Pending(all []Migration, version int) ([]Migration, error) {
	if version > len(all) {
		return nil, fault.New(fault.Conflict,
			"the store has schema version %[1]d and this program knows %[2]d: use a newer pregon, "+
				"or go back with `pregon migrate --to %[2]d` of the newer one", version, len(all))
	}
	return all[version:], nil
}

// Schema has the schema version of a store, and those that the program knows.
type Schema struct {
	Version int // of the store, 0 if it is empty
	Oldest  int // that a store can go back to
	Latest  int // that every command which opens the store brings it to
}

// SchemaOf returns the schema of a store at a version.
func SchemaOf(all []Migration, version int) Schema {
	oldest := len(all)
	for oldest > 0 && all[oldest-1].Undo != "" {
		oldest--
	}
	return Schema{Version: version, Oldest: oldest, Latest: len(all)}
}

// GoesBack returns an error if the store cannot go back to a version.
func (s Schema) GoesBack(to int) error {
	switch {
	case to > s.Version:
		return fault.New(fault.Invalid,
			"the store has schema version %d, and --to %d is above it: name an earlier version; "+
				"without --to the store is migrated to %d",
			s.Version, to, s.Latest)
	case to < s.Oldest:
		return fault.New(fault.Invalid,
			"the store has schema version %d and can go back to %d at the earliest, not to %d: for an older "+
				"program restore a backup that it made",
			s.Version, s.Oldest, to)
	}
	return nil
}

// positionMigration is the name of the migration after which the log can have positions.
const positionMigration = "position"

// MayUndo returns an error if undoing a migration would lose something. positions returns
// the number of positions in the log. Earlier programs take their changes for reports.
func MayUndo(m Migration, positions func() (int64, error)) error {
	if m.Name != positionMigration {
		return nil
	}
	n, err := positions()
	if err == nil && n > 0 {
		return fault.New(fault.Conflict, "the log has %d positions (of short positions, holdings and dealings), "+
			"which a program of schema version %d cannot read: restore a backup from before the first of them, or "+
			"stay with this program", n, m.Version-1)
	}
	return err
}

// Undoing returns the migrations to undo, newest first, so that a database goes back
// from a version to an earlier one.
func Undoing(all []Migration, version, to int) ([]Migration, error) {
	if _, err := Pending(all, version); err != nil {
		return nil, err
	}
	if err := SchemaOf(all, version).GoesBack(to); err != nil {
		return nil, err
	}
	steps := slices.Clone(all[to:version])
	slices.Reverse(steps)
	return steps, nil
}
