package account

import (
	"context"
	"time"

	"pregon/internal/auth/access"
	accounts "pregon/internal/auth/account"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/store"
)

// live returns an account with what is valid of it. It is empty when nobody has signed
// in to it.
func (s *Service) live(ctx context.Context, by access.Principal, account, what string) (accounts.Account, error) {
	id, err := wholeSubject(by, account, what)
	if err != nil {
		return accounts.Account{}, err
	}
	if err := store.Within(ctx, s.o.Accounts.Refresh); err != nil { // another replica may have ended something
		return accounts.Account{}, err
	}
	one, _ := s.o.Accounts.Live(id)
	return one, nil
}

// Session is a browser that is signed in to an account.
type Session struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	SeenAt    time.Time `json:"seen_at"`
	ExpiresAt time.Time `json:"expires_at"`
	Agent     string    `json:"agent"`
	Current   bool      `json:"current"`
	Key       *string   `json:"key"`
}

// SessionList is the open sessions of an account, oldest first.
type SessionList struct {
	Sessions []Session `json:"sessions"`
}

// ListSessions returns the open sessions of an account: of the caller's own for an empty
// id.
func (s *Service) ListSessions(ctx context.Context, by access.Principal, account string) (SessionList, error) {
	one, err := s.live(ctx, by, account, allSessions)
	if err != nil {
		return SessionList{}, err
	}
	out := SessionList{Sessions: make([]Session, 0, len(one.Sessions))}
	for _, open := range one.Sessions {
		out.Sessions = append(out.Sessions, Session{
			ID:        open.ID,
			CreatedAt: query.Madrid(open.CreatedAt),
			SeenAt:    query.Madrid(open.SeenAt),
			ExpiresAt: query.Madrid(open.ExpiresAt),
			Agent:     open.Agent,
			Current:   by.Mode == access.BySession && open.ID == by.Credential,
			Key:       query.OrNull(open.Key),
		})
	}
	return out, nil
}

// EndSessions ends all sessions of an account.
func (s *Service) EndSessions(ctx context.Context, by access.Principal, account string) error {
	id, err := wholeSubject(by, account, allSessions)
	if err != nil {
		return err
	}
	err = store.Within(ctx, func(ctx context.Context) error { return s.o.Accounts.EndSessions(ctx, id) })
	if fault.KindOf(err) == fault.NotFound { // nobody has signed in
		return nil
	}
	return err
}

// EndSession ends one session of an account.
func (s *Service) EndSession(ctx context.Context, by access.Principal, account, id string) error {
	account, err := wholeSubject(by, account, allSessions)
	if err != nil {
		return err
	}
	err = store.Within(ctx, func(ctx context.Context) error { return s.o.Accounts.EndSession(ctx, account, id) })
	return missing(err, "session", id)
}

// missing returns an error of a change. One about the account itself is replaced: the
// caller named what the account has.
func missing(err error, what, id string) error {
	if fault.KindOf(err) == fault.NotFound {
		return fault.New(fault.NotFound, "There is no %s %q.", what, id)
	}
	return err
}

// Application is an application that may act for an account.
type Application struct {
	ID         string    `json:"id"`
	ClientID   string    `json:"client_id"`
	Name       string    `json:"name"`
	Host       string    `json:"host"`
	Scopes     []string  `json:"scopes"`
	Resource   string    `json:"resource"`
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at"`
	ExpiresAt  time.Time `json:"expires_at"`
}

// ApplicationList is the applications of an account, oldest first.
type ApplicationList struct {
	Applications []Application `json:"apps"`
}

// ListApplications returns the applications that may act for an account: for the
// caller's own for an empty id.
func (s *Service) ListApplications(ctx context.Context, by access.Principal, account string) (ApplicationList, error) {
	one, err := s.live(ctx, by, account, allApplications)
	if err != nil {
		return ApplicationList{}, err
	}
	out := ApplicationList{Applications: make([]Application, 0, len(one.Grants))}
	for _, g := range one.Grants {
		out.Applications = append(out.Applications, Application{
			ID:         g.ID,
			ClientID:   g.ClientID,
			Name:       g.ClientName,
			Host:       g.ClientHost,
			Scopes:     g.Scopes.Names(),
			Resource:   g.Resource,
			CreatedAt:  query.Madrid(g.CreatedAt),
			LastUsedAt: query.Madrid(g.UsedAt),
			ExpiresAt:  query.Madrid(g.ExpiresAt),
		})
	}
	return out, nil
}

// RevokeApplication ends the access of an application to an account.
func (s *Service) RevokeApplication(ctx context.Context, by access.Principal, account, id string) error {
	account, err := wholeSubject(by, account, allApplications)
	if err != nil {
		return err
	}
	err = store.Within(ctx, func(ctx context.Context) error { return s.o.Accounts.EndGrant(ctx, account, id) })
	return missing(err, "application", id)
}
