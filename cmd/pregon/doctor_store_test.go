package main

import (
	"os"
	"path/filepath"
	"testing"

	"pregon/internal/source/doctor"
)

// TestDoctorFindsLostStore: the file of a store that was served is missing, so that
// serve would not start.
func TestDoctorFindsLostStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pregon.db")
	e := &examination{doctorCmd: &doctorCmd{}}
	e.Store = "sqlite:" + path
	check := func() (c doctor.Check) {
		e.store(t.Context(), &c)
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
	e.NewStore = true
	if c := check(); c.Loses {
		t.Errorf("a store that is begun anew: %+v", c)
	}
}
