package account

import (
	"context"

	"pregon/internal/fault"
	"pregon/internal/store"
)

// Delete removes an account with its sessions and grants. It does nothing if there is none.
// What else belongs to the account is removed before, by the caller. A person who signs in
// again gets a new account.
func (a *Accounts) Delete(ctx context.Context, id string) error {
	return store.Within(ctx, func(ctx context.Context) error {
		for {
			if err := a.Refresh(ctx); err != nil {
				return err
			}
			one, known := a.Account(id)
			if !known {
				return nil
			}
			_, err := store.PutRecord(ctx, a.o.Store, store.Record{Kind: kind, ID: id, Revision: one.revision})
			if fault.KindOf(err) == fault.Conflict { // it was changed meanwhile
				continue
			}
			if err != nil {
				return err
			}
			_ = a.Refresh(ctx) // the account is removed in any case
			a.audit(ctx, "account.deleted", id)
			return nil
		}
	})
}
