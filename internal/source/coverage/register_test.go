package coverage_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/fault"
	"pregon/internal/source/coverage"
)

// TestRegister: how a register was read is known to the process that read it at once,
// and to the others after Refresh. What is proved of the reports does not depend on it.
func TestRegister(t *testing.T) {
	a, b := two(t)
	if r, ok := a.Register("shorts"); ok {
		t.Errorf("a register that was never read = %+v, want none", r)
	}
	version := a.Version()
	want := coverage.Register{
		ReadAt:     instant("2026-10-06T20:25:00Z"),
		WholeUntil: instant("2026-10-06T18:18:29Z"),
		Entries:    14688,
	}
	must(t, a.SetRegister(t.Context(), nil, "shorts", want))
	must(t, b.Refresh(t.Context()))
	for name, tracker := range map[string]*coverage.Tracker{"the reader": a, "another process": b} {
		got, ok := tracker.Register("shorts")
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s (-want +got, ok %v):\n%s", name, ok, diff)
		}
		if r, ok := tracker.Register("dealings"); ok {
			t.Errorf("%s knows a register that was never read: %+v", name, r)
		}
	}
	if got := a.Version(); got != version {
		t.Errorf("version = %d after a register was read, want %d", got, version)
	}
}

// TestRegisterNeedsLease: a process that lost its lease does not change what is known.
func TestRegisterNeedsLease(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "pregon.db"))
	l := coverage.New(db)
	lease, err := db.AcquireLease(t.Context(), "ingest", "ana", time.Hour)
	must(t, err)
	must(t, db.ReleaseLease(t.Context(), lease))
	err = l.SetRegister(t.Context(), &lease, "shorts", coverage.Register{Entries: 1})
	if _, ok := l.Register("shorts"); ok || fault.KindOf(err) != fault.Conflict {
		t.Errorf("SetRegister = %v, known %v; want a conflict and nothing known", err, ok)
	}
}
