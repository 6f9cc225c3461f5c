package subscription

import (
	"context"
	"time"

	"pregon/internal/retry"
)

const (
	endInterval  = time.Minute // how often what accounts left that ended is removed
	storeTimeout = 5 * time.Second
)

// RemoveEnded removes the channels and alerts of accounts that ended for good, until the
// context ends. One process does it.
func (r *Registry) RemoveEnded(ctx context.Context) error {
	retry.Every(ctx, endInterval, r.removeEnded)
	return ctx.Err()
}

func (r *Registry) removeEnded(ctx context.Context) {
	r.forgetRemoved(ctx)
	if r.o.Ended == nil {
		return
	}
	for account := range r.Known().accounts() {
		if ctx.Err() != nil || !r.o.Ended(account) {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, storeTimeout)
		err := r.DropAccount(limited, account)
		cancel()
		if err != nil {
			r.log.WarnContext(ctx, "cannot remove the alerts of a deleted account; will retry", "err", err)
			return
		}
	}
}

// linksValid is how long the link in a message works after its channel was deleted.
const linksValid = 90 * 24 * time.Hour

// forgetRemoved removes what is kept of channels that were deleted long ago.
func (r *Registry) forgetRemoved(ctx context.Context) {
	for id, gone := range r.Known().removed {
		if ctx.Err() != nil || time.Since(gone.RemovedAt) < linksValid {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, storeTimeout)
		_, err := r.write(limited, id, "", gone.revision)
		cancel()
		if err != nil {
			r.log.WarnContext(ctx, "cannot remove the rest of a deleted channel; will retry", "channel", id, "err", err)
			return
		}
	}
}

// accounts returns the accounts that have a channel or an alert.
func (s *Snapshot) accounts() map[string]bool {
	all := map[string]bool{}
	for _, c := range s.Channels {
		all[c.Account] = true
	}
	for _, a := range s.Alerts {
		all[a.Account] = true
	}
	return all
}
