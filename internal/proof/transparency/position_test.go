package transparency_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/proof"
	"pregon/internal/proof/transparency"
	"pregon/internal/store"
)

// TestProvePosition: the leaf of a position has a seal in place of the name, which the proof
// opens until the name is erased. Proofs of earlier changes, old and new ones, stay valid.
func TestProvePosition(t *testing.T) {
	const name = "Elena Ruiz Salvatierra"
	w := newWorld(t)
	_, err := w.db.Append(t.Context(), store.Batch{Positions: []disclosure.Position{
		{
			ID:           "dealing-2026000001",
			Kind:         disclosure.Dealing,
			Name:         name,
			Natural:      true,
			Number:       "2026000001",
			RegisteredOn: "2026-10-01",
		},
		{
			ID:      "short-es0100000001-2026-10-02-1",
			Kind:    disclosure.Short,
			Name:    "ATALAYA CAPITAL LLP",
			ISIN:    "ES0100000001",
			Date:    "2026-10-02",
			Percent: "0.49",
		},
	}})
	w.must(err)
	p := w.updated(transparency.Root{})
	record := func(found proof.Proof) (record disclosure.Position) {
		t.Helper()
		key, err := p.VerifierKey()
		w.must(err)
		verifier, err := note.NewVerifier(key)
		w.must(err)
		leaf, _, err := found.Verify(note.VerifierList(verifier))
		w.must(err)
		w.must(json.Unmarshal(leaf.Record, &record))
		if bytes.Contains(leaf.Record, []byte(name)) {
			t.Errorf("the leaf has the name: %s", leaf.Record)
		}
		return record
	}
	before, err := p.ProvePosition(t.Context(), "dealing-2026000001")
	w.must(err)
	sealed := record(before).Sealed
	if before.Seq != 1 || len(before.Salt) != 32 || disclosure.Seal(before.Salt, name) != sealed ||
		disclosure.Seal(before.Salt, name+"x") == sealed {
		t.Errorf("%+v does not open the seal %s", before, sealed)
	}
	legal, err := p.ProvePosition(t.Context(), "short-es0100000001-2026-10-02-1")
	w.must(err)
	if record(legal).Name != "ATALAYA CAPITAL LLP" || legal.Salt != nil {
		t.Errorf("a legal person: %+v", legal)
	}
	if _, err := p.ProvePosition(t.Context(), "dealing-1"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a position that does not exist: %v", err)
	}

	_, err = w.db.EraseNames(t.Context(), nil, "dealing-2026000001")
	w.must(err)
	w.must(p.Update(t.Context()))
	again, err := p.Prove(t.Context(), before.Seq)
	w.must(err)
	if record(again).Sealed != sealed || again.Salt != nil || !bytes.Equal(again.Leaf, before.Leaf) {
		t.Errorf("after the name was erased: %+v", again)
	}
	record(before) // which a client has kept
	newest, err := p.ProvePosition(t.Context(), "dealing-2026000001")
	w.must(err)
	if r := record(newest); newest.Seq != 3 || !r.Erased || newest.Salt != nil {
		t.Errorf("the change that erases it: %+v", newest)
	}
}
