package machine

import (
	"os"
	"path/filepath"
	"testing"

	"pregon/internal/source/doctor"
	"pregon/internal/store/engine"
)

// TestDoctorFindsLostStore: the file of a store that was served is missing, so that
// serve would not start.
func TestDoctorFindsLostStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pregon.db")
	address, err := engine.ParseAddress("sqlite:" + path)
	if err != nil {
		t.Fatal(err)
	}
	m := &Checks{Store: address}
	check := func() (c doctor.Check) {
		m.store(t.Context(), &c)
		return c
	}
	if c := check(); c.Loses {
		t.Errorf("a store that does not exist yet: %+v", c)
	}
	if err := os.WriteFile(path+".served", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := check(); !c.Loses {
		t.Errorf("a lost store is not found: %+v", c)
	}
	m.Store = address.BeginAnew()
	if c := check(); c.Loses {
		t.Errorf("a store that is begun anew: %+v", c)
	}
}
