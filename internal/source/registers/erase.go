package registers

import (
	"context"
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
	"pregon/internal/store"
)

// mostErased is the number of names that are erased at once.
const mostErased = 200

// eraseOldNames erases the names of natural persons that are older than the retention
// allows.
func (r *Reader) eraseOldNames(ctx context.Context) error {
	for {
		if n, err := r.eraseExpired(ctx); err != nil && ctx.Err() == nil {
			r.Logger.Warn("names that are too old were not erased", "err", err)
		} else if n > 0 {
			r.Logger.Info("erased names that are too old", "positions", n)
		}
		if err := retry.Sleep(ctx, r.intervals.erase); err != nil {
			return err
		}
	}
}

// eraseExpired erases the names whose time is over, or that the register does not show any
// more because the notice was annulled, and returns their number.
func (r *Reader) eraseExpired(ctx context.Context) (n int, err error) {
	from := r.retainedFrom()
	var ids []string
	for _, kind := range disclosure.PositionKinds {
		for p := range r.Known.Positions(kind) {
			over := dayOf(p.Day()) < from || p.State == disclosure.StateAnnulled
			if p.Natural && p.Name != "" && over {
				ids = append(ids, p.ID)
			}
		}
	}
	return len(ids), r.eraseNames(ctx, ids)
}

func (r *Reader) eraseNames(ctx context.Context, ids []string) error {
	for some := range slices.Chunk(ids, mostErased) {
		if _, err := r.Store.EraseNames(ctx, r.Lease, some...); err != nil {
			return store.Unavailable(err)
		}
	}
	return nil
}
