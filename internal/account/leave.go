package account

import (
	"context"
	"slices"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/store"
)

// allOfAccount is what CheckWhole says that an export and a deletion concern.
const allOfAccount = "The data of an account"

// Export is what the service keeps of an account, without secrets of keys and webhooks,
// without the links of watchlists, and without addresses of channels that are secrets.
type Export struct {
	ExportedAt time.Time     `json:"exported_at"`
	Account    Profile       `json:"account"`
	Keys       []Key         `json:"keys"`
	Sessions   []Session     `json:"sessions"`
	Apps       []Application `json:"apps"`
	Webhooks   []Webhook     `json:"webhooks"`
	Watchlists []Watchlist   `json:"watchlists"`
	Alerts     []Alert       `json:"alerts"`
	Channels   []Channel     `json:"channels"`
}

// Export returns everything of the caller's account.
func (s *Service) Export(ctx context.Context, by access.Principal) (Export, error) {
	if err := by.CheckWhole(allOfAccount); err != nil {
		return Export{}, err
	}
	out := Export{
		ExportedAt: query.Madrid(time.Now().Truncate(time.Second)),
		Account:    s.Profile(by),
	}
	keys, err := s.ListKeys(ctx, by, "")
	if err != nil {
		return Export{}, err
	}
	sessions, err := s.ListSessions(ctx, by, "")
	if err != nil {
		return Export{}, err
	}
	apps, err := s.ListApplications(ctx, by, "")
	if err != nil {
		return Export{}, err
	}
	hooks, err := s.ListWebhooks(ctx, by)
	if err != nil {
		return Export{}, err
	}
	lists, err := s.ListWatchlists(ctx, by)
	if err != nil {
		return Export{}, err
	}
	alerts, err := s.ListAlerts(ctx, by)
	if err != nil {
		return Export{}, err
	}
	channels, err := s.ListChannels(ctx, by)
	if err != nil {
		return Export{}, err
	}
	out.Keys = keys.Keys
	out.Sessions = sessions.Sessions
	out.Apps = apps.Applications
	out.Webhooks = hooks.Data
	for i := range lists.Data { // a person who finds the file must not be able to read the lists
		lists.Data[i].Share = nil
		lists.Data[i].Feed = nil
	}
	out.Watchlists = lists.Data
	out.Alerts = alerts.Data
	out.Channels = channels.Data
	return out, nil
}

// Deletion is a request to delete the caller's account.
type Deletion struct {
	// Confirm is the id of the account.
	Confirm string `json:"confirm"`
}

// DeleteAccount removes everything of the caller's account, and ends its access. Keys stay
// in the store as revoked, so that they can be refused.
//
// The access of the caller ends after all else is removed, so that a request that failed can
// be repeated. What other requests made meanwhile is removed afterwards, and what is made
// later by a request that was admitted before is removed by that request: see keep.
func (s *Service) DeleteAccount(ctx context.Context, by access.Principal, asked Deletion) error {
	if err := by.CheckWhole(allOfAccount); err != nil {
		return err
	}
	if asked.Confirm != by.ID {
		return rejected("confirm", "", "must be the id of the account that is to be deleted, %s", by.ID)
	}
	steps := []func(ctx context.Context, account string) error{
		s.o.Alerts.DropAccount,
		s.o.Watchlists.DropAccount,
		s.dropWebhooks,
		s.endGrants,
		s.revokeKeys,
		s.o.Accounts.Delete,
		s.o.Alerts.DropAccount,
		s.o.Watchlists.DropAccount,
		s.dropWebhooks,
	}
	for _, drop := range steps {
		err := store.Within(ctx, func(ctx context.Context) error { return drop(ctx, by.ID) })
		if err != nil {
			return err
		}
	}
	return nil
}

// keep removes what a request has just made if the account has ended meanwhile.
func (s *Service) keep(
	ctx context.Context, by access.Principal, remove func(context.Context, access.Reach) error,
) error {
	return store.Within(ctx, func(ctx context.Context) error {
		gone, err := s.hasEnded(ctx, by)
		if err != nil || !gone {
			return err
		}
		err = remove(ctx, access.WholeAccount(by.ID))
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		return fault.New(fault.Conflict, "This account was deleted: nothing can be added to it.")
	})
}

// hasEnded reports whether the account of a caller who was admitted has ended.
func (s *Service) hasEnded(ctx context.Context, by access.Principal) (bool, error) {
	if err := s.o.Keys.Refresh(ctx); err != nil {
		return false, err
	}
	if access.IsKeyID(by.ID) {
		return s.isRevoked(by.ID), nil
	}
	if by.Credential == "" && by.Key == "" { // the caller has a token of another issuer: nothing here ends
		return false, nil
	}
	if err := s.o.Accounts.Refresh(ctx); err != nil {
		return false, err
	}
	_, known := s.o.Accounts.Account(by.ID)
	return !known && (by.Mode != access.ByKey || s.isRevoked(by.Key)), nil
}

func (s *Service) isRevoked(key string) bool {
	k, known := s.o.Keys.Key(key)
	return known && !k.RevokedAt.IsZero()
}

func (s *Service) dropWebhooks(ctx context.Context, account string) error {
	whole := access.WholeAccount(account)
	hooks, err := s.o.Webhooks.List(ctx, whole)
	if err != nil {
		return err
	}
	for _, w := range hooks {
		if err := s.o.Webhooks.Delete(ctx, whole, w.ID); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	return nil
}

// endGrants ends the access of applications, so that each end is audited.
func (s *Service) endGrants(ctx context.Context, account string) error {
	if err := s.o.Accounts.Refresh(ctx); err != nil {
		return err
	}
	one, _ := s.o.Accounts.Account(account)
	for _, g := range one.Grants {
		if err := s.o.Accounts.EndGrant(ctx, account, g.ID); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	return nil
}

// revokeKeys revokes the keys of an account, the first one last: the others were made with
// it, and the caller may have sent it.
func (s *Service) revokeKeys(ctx context.Context, account string) error {
	keys, err := s.o.Keys.Owned(ctx, access.WholeAccount(account))
	if err != nil {
		return err
	}
	slices.SortStableFunc(keys, func(a, b access.ListedKey) int {
		switch {
		case a.ID == account:
			return 1
		case b.ID == account:
			return -1
		}
		return 0
	})
	for _, k := range keys {
		if !k.RevokedAt.IsZero() {
			continue
		}
		if k.ID == account { // the account of a key ends before the key does
			if err := s.o.Accounts.Delete(ctx, account); err != nil {
				return err
			}
		}
		if _, err := s.o.Keys.Revoke(ctx, k.ID); err != nil {
			return err
		}
	}
	return nil
}
