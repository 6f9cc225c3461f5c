package account

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	accounts "pregon/internal/auth/account"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/store"
)

// Summary is an account as operators see it.
type Summary struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	Email        string     `json:"email"`
	Provider     string     `json:"provider"`
	Plan         string     `json:"plan"`
	Scopes       []string   `json:"scopes"`
	Operator     bool       `json:"operator"`
	Keys         int        `json:"keys"`
	Webhooks     int        `json:"webhooks"`
	Applications int        `json:"apps"`
	Sessions     int        `json:"sessions"`
	Limits       Limits     `json:"limits"`
	CreatedAt    time.Time  `json:"created_at"`
	SignedInAt   *time.Time `json:"signed_in_at"`
	LastUsedAt   *time.Time `json:"last_used_at"`
	BlockedAt    *time.Time `json:"blocked_at"`
}

// used records a use.
func (o *Summary) used(at time.Time) {
	if !at.IsZero() && (o.LastUsedAt == nil || at.After(*o.LastUsedAt)) {
		o.LastUsedAt = query.TimeOrNull(at)
	}
}

// MaxAccounts is the number of accounts on a page, unless the caller wants fewer.
const MaxAccounts = 500

// Page is a request for a part of a list.
type Page struct {
	Number int // from 1
	Limit  int
}

// bounds returns the indexes of the first element of the page and of the one after its
// last, in a list of n elements.
func (p Page) bounds(n int) (from, to int) {
	from = min(max(p.Number-1, 0)*max(p.Limit, 0), n)
	return from, min(from+max(p.Limit, 0), n)
}

// ReadPage reads a page of accounts from parameters.
func ReadPage(p *query.Params) Page {
	return Page{
		Number: p.Integer("page", 1, 1, query.MaxPage),
		Limit:  p.Integer("limit", MaxAccounts, 1, MaxAccounts),
	}
}

// AccountList is a page of accounts, those of keys included, the newest first.
type AccountList struct {
	Limit    int       `json:"limit"`
	Accounts []Summary `json:"owners"`
	Page     int       `json:"page"`
	Total    int       `json:"total"`
}

// ListAccounts returns a page of all accounts, for operators.
func (s *Service) ListAccounts(ctx context.Context, by access.Principal, page Page) (AccountList, error) {
	if err := CheckOperator(by); err != nil {
		return AccountList{}, err
	}
	all, err := s.directory(ctx)
	if err != nil {
		return AccountList{}, err
	}
	entries := all.sorted()
	from, to := page.bounds(len(entries))
	shown := entries[from:to]
	out := AccountList{
		Limit:    page.Limit,
		Accounts: make([]Summary, 0, len(shown)),
		Page:     page.Number,
		Total:    len(entries),
	}
	for _, e := range shown {
		out.Accounts = append(out.Accounts, s.summary(e, all))
	}
	return out, nil
}

// Account returns one account, for operators.
func (s *Service) Account(ctx context.Context, by access.Principal, id string) (Summary, error) {
	if err := CheckOperator(by); err != nil {
		return Summary{}, err
	}
	all, err := s.directory(ctx)
	if err != nil {
		return Summary{}, err
	}
	e := all.byID[id]
	if e == nil {
		return Summary{}, fault.New(fault.NotFound, "There is no account with that id.")
	}
	return s.summary(e, all), nil
}

// directory is what is in memory about all accounts.
type directory struct {
	byID     map[string]*entry
	webhooks map[string]int // by account
}

// entry is an account: of somebody who signed in, of a key, or of both.
type entry struct {
	id    string
	saved *accounts.Account   // nil if nobody signed in
	first *access.ListedKey   // nil if the account is not that of a key
	keys  []*access.ListedKey // that belong to it, the first included
}

// directory reads what other replicas wrote, and returns all accounts.
func (s *Service) directory(ctx context.Context) (directory, error) {
	return bounded(ctx, func(ctx context.Context) (directory, error) {
		saved, err := s.o.Accounts.All(ctx)
		if err != nil {
			return directory{}, err
		}
		keys, err := s.o.Keys.List(ctx)
		if err != nil {
			return directory{}, err
		}
		out := directory{byID: map[string]*entry{}, webhooks: s.o.Webhooks.CountByAccount()}
		for i := range saved {
			out.byID[saved[i].ID] = &entry{id: saved[i].ID, saved: &saved[i]}
		}
		for i := range keys {
			k := &keys[i]
			if k.AccountID != "" {
				continue
			}
			if out.byID[k.ID] == nil {
				out.byID[k.ID] = &entry{id: k.ID}
			}
			out.byID[k.ID].first = k
		}
		for i := range keys {
			if e := out.byID[keys[i].Account()]; e != nil {
				e.keys = append(e.keys, &keys[i])
			}
		}
		return out, nil
	})
}

// sorted returns the accounts, the newest first.
func (d directory) sorted() []*entry {
	all := make([]*entry, 0, len(d.byID))
	for _, e := range d.byID {
		all = append(all, e)
	}
	slices.SortFunc(all, func(x, y *entry) int {
		return cmp.Or(y.createdAt().Compare(x.createdAt()), strings.Compare(x.id, y.id))
	})
	return all
}

// createdAt returns when the account was created: the key is older than its first
// sign-in.
func (e *entry) createdAt() time.Time {
	if e.first != nil {
		return e.first.CreatedAt
	}
	return e.saved.CreatedAt
}

// summary returns what operators see of an account.
func (s *Service) summary(e *entry, all directory) Summary {
	out := Summary{
		ID:        e.id,
		CreatedAt: query.Madrid(e.createdAt()),
		Webhooks:  all.webhooks[e.id],
	}
	if k := e.first; k != nil { // which has the rights
		out.Name = k.Name
		out.Plan = k.Plan
		out.Scopes = k.Scopes.Names()
		out.Operator = k.Plan == access.OperatorPlan
	} else {
		out.Name = e.saved.Name
		out.Email = e.saved.Email
		out.Provider = e.saved.Provider
		out.Plan = e.saved.Plan
		out.Scopes = e.saved.Scopes.Names()
		out.Operator = e.saved.Operator
	}
	out.Limits = s.limitsOf(out.Plan)
	if e.saved != nil {
		out.SignedInAt = query.TimeOrNull(e.saved.SignedInAt)
		out.BlockedAt = query.TimeOrNull(e.saved.BlockedAt)
		live, _ := s.o.Accounts.Live(e.id)
		out.Applications = len(live.Grants)
		out.Sessions = len(live.Sessions)
		for _, open := range live.Sessions {
			out.used(open.SeenAt)
		}
		for _, g := range live.Grants {
			out.used(g.UsedAt)
		}
	}
	for _, k := range e.keys {
		out.used(k.Last.Truncate(time.Second))
		if s.o.Keys.Valid(k.ID) {
			out.Keys++
		}
	}
	return out
}

// Blocking is a request to end all access of an account, or to allow it again.
type Blocking struct {
	Account string `json:"owner"`
	Blocked *bool  `json:"blocked"`
}

// Block ends all access of an account, or allows it again, for operators.
func (s *Service) Block(ctx context.Context, by access.Principal, asked Blocking) error {
	if err := CheckOperator(by); err != nil {
		return err
	}
	switch {
	case asked.Account == "" || asked.Blocked == nil:
		return fault.New(fault.Invalid, "Give owner, the id of an account, and blocked, true or false.")
	case asked.Account == by.ID:
		return fault.New(fault.Conflict, "You cannot block yourself.")
	case access.IsKeyID(asked.Account):
		return fault.New(fault.Conflict, "This account belongs to an API key. "+
			"Revoke the key instead: that also ends its sessions, applications and webhooks.")
	}
	return store.Within(ctx, func(ctx context.Context) error {
		return s.o.Accounts.Block(ctx, asked.Account, *asked.Blocked)
	})
}
