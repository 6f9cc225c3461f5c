package clone_test

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/clone"
	"pregon/internal/store/storetest"
)

func dealing(number, name string) disclosure.Position {
	return disclosure.Position{
		ID:           disclosure.PositionID(disclosure.Dealing, number, 1),
		Kind:         disclosure.Dealing,
		Name:         name,
		Natural:      true,
		Number:       number,
		RegisteredOn: "2026-10-01",
	}
}

// openings are the names and salts of a store, by position and seal, and the hashes of its
// leaves.
func openings(t *testing.T, db store.Store) (names []store.SealedName, leaves []tlog.Hash) {
	t.Helper()
	for _, c := range storetest.CheckLog(t, db) {
		n, found, err := db.NameOpening(t.Context(), c.Position.Sealed)
		must(t, err)
		if found {
			names = append(names, n)
		}
	}
	must(t, db.LeafHashes(t.Context(), 0, func(h tlog.Hash) error {
		leaves = append(leaves, h)
		return nil
	}))
	return names, leaves
}

// copyAndClose copies a store and closes the copy, so that its file has everything.
func copyAndClose(t *testing.T, from, to string) clone.Result {
	t.Helper()
	target, err := parse(t, to).OpenCopy(t.Context(), true)
	must(t, err)
	defer target.Close()
	result, err := clone.Copy(t.Context(), clone.Options{
		From:       openCopy(t, from),
		To:         target,
		Progress:   func(int, int64, int64) {},
		FromSQLite: parse(t, from).Path() != "",
		ToSQLite:   parse(t, to).Path() != "",
	})
	must(t, err)
	return result
}

// TestNames: names are copied with their salts, so that the copy is the same log. A name that
// is erased is not copied, and is removed from an earlier copy, also from its file.
func TestNames(t *testing.T) {
	const erased, erasedLater, kept = "Elena Ruiz Salvatierra", "Marta Gil Olmedo", "Ana Prado Vidal"
	eachPair(t, func(t *testing.T, from, to string) {
		source := open(t, from)
		batch := store.Batch{Positions: []disclosure.Position{
			dealing("1", erased),
			dealing("3", kept),
			{
				ID:           "holding-4",
				Kind:         disclosure.Holding,
				Name:         "CASAMAR PATRIMONIAL, S.L.",
				Number:       "4",
				RegisteredOn: "2026-10-01",
			},
		}}
		var later []string // so many that whole pages of a file are freed
		for n := range 1000 {
			p := dealing(strconv.Itoa(100+n), erasedLater)
			later = append(later, p.ID)
			batch.Positions = append(batch.Positions, p)
		}
		_, err := source.Append(t.Context(), batch)
		must(t, err)
		_, err = source.EraseNames(t.Context(), nil, "dealing-1")
		must(t, err)
		copyAndClose(t, from, to)
		check := func(want ...string) {
			t.Helper()
			target := openCopy(t, to)
			ours, leaves := openings(t, source)
			theirs, copied := openings(t, target)
			same := func(a, b store.SealedName) bool {
				return a.Sealed == b.Sealed && a.Name == b.Name && bytes.Equal(a.Salt, b.Salt)
			}
			if !slices.EqualFunc(ours, theirs, same) || !slices.Equal(leaves, copied) {
				t.Errorf("the names are %v, copied %v, or the leaves differ", ours, theirs)
			}
			var names []string
			for _, n := range theirs {
				names = append(names, n.Name)
			}
			slices.Sort(names)
			if names = slices.Compact(names); !slices.Equal(names, want) {
				t.Errorf("the copy has the names %q, want %q", names, want)
			}
			storetest.Verify(t, target)
			must(t, target.Close())
		}
		check(kept, erasedLater)
		if r := copyAndClose(t, from, to); r.Written != 0 {
			t.Errorf("a second copy wrote %d rows", r.Written)
		}
		_, err = source.EraseNames(t.Context(), nil, later...)
		must(t, err)
		copyAndClose(t, from, to)
		check(kept)
		path := parse(t, to).Path()
		if path == "" {
			return
		}
		for _, file := range []string{path, path + "-wal"} {
			body, err := os.ReadFile(file)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			for _, name := range []string{erased, erasedLater} {
				if bytes.Contains(body, []byte(name)) {
					t.Errorf("%s has the name %q", file, name)
				}
			}
			if file == path && !bytes.Contains(body, []byte(kept)) {
				t.Errorf("%s does not have the name that is kept", file)
			}
		}
	})
}
