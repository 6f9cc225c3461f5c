package store

import (
	"context"

	"pregon/internal/fault"
)

// BindSource sets the source of a new store, or fails, Conflict, when the store
// belongs to another source. The simulated market never shares a store with
// another source.
func BindSource(ctx context.Context, db Store, simulated bool) error {
	want := "cnmv"
	if simulated {
		want = "demo"
	}
	mark, err := db.Source(ctx)
	if err != nil {
		return err
	}
	if simulated && mark == "" {
		newest, err := db.Newest(ctx)
		if err != nil {
			return err
		}
		if newest > 0 {
			return fault.New(fault.Conflict, "the simulated market needs a store of its own: this one holds reports that are not simulated")
		}
	}
	if mark, err = db.ClaimSource(ctx, want); err != nil {
		return err
	}
	if mark != want {
		return fault.New(fault.Conflict, "this store belongs to the source %s: give %s a store of its own", mark, want)
	}
	return nil
}
