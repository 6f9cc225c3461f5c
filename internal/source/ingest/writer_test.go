package ingest

import (
	"errors"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
	"pregon/internal/store"
)

// TestJoinByName: an issuer of the exchange without a NIF is found by its name,
// and gets its NIF from the first report.
func TestJoinByName(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	s := w.session()
	listed := disclosure.Issuer{ID: "exchange-91234", Name: "ALMAZARA FICTICIA, S.A.", Ticker: "ALMZ", Market: "SIBE", Kind: disclosure.Company}
	out, err := w.store.Append(t.Context(), store.Batch{Issuers: []disclosure.Issuer{listed}})
	if err != nil {
		t.Fatal(err)
	}
	w.catchUp(out.Seq)
	got := s.issuersOf([]disclosure.Report{
		{NIF: "A-69001238", CompanyName: "Almazara Ficticia SA"}, // one and the same
		{NIF: "A69001238", CompanyName: "ALMAZARA FICTICIA, S.A."},
		{NIF: "V69178358", CompanyName: "OTRA FICTICIA, FONDO DE TITULIZACIÓN"},
		{CompanyName: "SIN NIF, S.A."},
	})
	if len(got) != 2 {
		t.Fatalf("issuersOf: got %+v, want two issuers", got)
	}
	if got[0].ID != listed.ID || got[0].Name != listed.Name || got[0].NIF != "A-69001238" {
		t.Errorf("the issuer of the exchange: got %+v, want %s with the NIF", got[0], listed.ID)
	}
	if got[1].ID != "V69178358" || got[1].Kind != disclosure.Fund {
		t.Errorf("the fund: got %+v, want V69178358 of kind %s", got[1], disclosure.Fund)
	}
}

// TestRegulatorUnanswered: what cannot be stored because the regulator has not answered
// yet is not a failure of the store.
func TestRegulatorUnanswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.newIngest("first")
	lease, err := tryLease(t.Context(), w.store, i.Holder)
	if err != nil {
		t.Fatal(err)
	}
	s, err := i.newSession(t.Context(), &lease)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.appendIssuers(t.Context(), []disclosure.Issuer{{ID: "X", Name: "X"}}); !errors.Is(err, errUnanswered) {
			t.Fatalf("appendIssuers: got %v, want %v", err, errUnanswered)
		}
	}
	if i.monitor.Failing(health.Store) {
		t.Errorf("the store is failing: %+v", i.Status().Reasons)
	}
}
