package store

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/fault"
)

// Migration is one numbered step of an engine's schema.
type Migration struct {
	Version int
	Name    string
	SQL     string
}

// Migrations reads an engine's embedded files, named migrations/0001_what.sql
// and so on without gaps.
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
		all = append(all, Migration{Version: version, Name: what, SQL: string(sql)})
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
			"the store has schema version %d and this program knows %d: use a newer pregon", version, len(all))
	}
	return all[version:], nil
}
