package history_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"pregon/internal/catalog"
	"pregon/internal/catalog/history"
	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// A state that was made from a catalogue is not used with one that was built again, since the
// files of the former may be damaged. It does not return either.
func TestStatesOfAnotherCatalogue(t *testing.T) {
	db := open(t, "sqlite:"+filepath.Join(t.TempDir(), "pregon.db"))
	m := market{rand.New(rand.NewPCG(1, 2))}
	var seq int64
	for range 3 {
		seq = mustAppend(t, db, store.Batch{Reports: []disclosure.Report{m.report()}, New: disclosure.Published})
	}
	archive := history.New(db)
	for name, c := range map[string]*catalog.Catalog{"first": load(t, db), "second": load(t, db)} {
		var before *catalog.Snapshot
		for range 2 {
			past, err := archive.State(t.Context(), c.Snapshot(), seq-1)
			if err != nil {
				t.Fatal(err)
			}
			if !c.Snapshot().Shares(past) {
				t.Errorf("the %s catalogue: a state of another one", name)
			}
			if before != nil && past != before {
				t.Errorf("the %s catalogue: a state is made twice", name)
			}
			before = past
		}
	}
}
