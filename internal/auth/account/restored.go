package account

import (
	"context"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// epochKind is the kind of the one record that has the epoch of the log in which
// sessions and grants were opened.
const epochKind = "account-epoch"

// EndRestored ends all sessions and grants when the epoch of the log is another than
// at the last call, and returns of how many accounts. A backup was restored: it has
// sessions that were ended since it was made, and refresh tokens that were used.
func (a *Accounts) EndRestored(ctx context.Context, log disclosure.Head) (ended int, err error) {
	records, err := a.o.Store.RecordsSince(ctx, epochKind, 0)
	if err != nil || len(records) == 1 && records[0].Body == log.Epoch {
		return 0, err
	}
	// An earlier version has no record, and may have made the backup.
	if len(records) == 1 || len(log.Past) > 0 {
		if ended, err = a.endAll(ctx); err != nil {
			return ended, err
		}
	}
	_, err = store.PutRecord(ctx, a.o.Store, store.Record{
		Kind:     epochKind,
		ID:       "log",
		Body:     log.Epoch,
		Revision: store.AnyRevision,
	})
	return ended, err
}

// endAll ends all sessions and grants.
func (a *Accounts) endAll(ctx context.Context) (ended int, err error) {
	all, err := a.All(ctx)
	if err != nil {
		return 0, err
	}
	for _, one := range all {
		if len(one.Sessions)+len(one.Grants) == 0 {
			continue
		}
		if err := a.change(ctx, one.ID, "session.all_ended", func(one *Account, _ time.Time) error {
			one.Sessions, one.Grants = nil, nil
			return nil
		}); err != nil {
			return ended, err
		}
		ended++
	}
	return ended, nil
}
