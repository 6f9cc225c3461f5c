package catalog_test

import (
	"testing"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

// TestKnownBeforeLoad: ingest may ask before the catalogue is loaded.
func TestKnownBeforeLoad(t *testing.T) {
	known := catalog.New(&memoryLog{}, quiet).Known()
	if _, ok := known.Issuer("A69001238"); ok {
		t.Error("an issuer is known, want none")
	}
	if n := len(known.Issuers()) + len(known.Since(time.Time{})) + len(known.Unread(time.Time{})) + known.Len(); n != 0 {
		t.Errorf("got %d issuers and reports, want none", n)
	}
	for number := range known.Numbers(disclosure.IP) {
		t.Errorf("got number %d, want none", number)
	}
	err := known.Published(t.Context(), 1, 2, func(r *disclosure.Report) { t.Errorf("got %s, want none", r.ID) })
	if err != nil {
		t.Error(err)
	}
}
