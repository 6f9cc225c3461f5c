package account

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/text"
)

// Lifetimes of a session.
const (
	sessionLifetime = 14 * 24 * time.Hour // from signing in
	sessionIdle     = 24 * time.Hour      // from the last use
	// seenInterval is how often the use of a session is stored.
	seenInterval  = 5 * time.Minute
	sessionSecret = 43 // characters: 256 bits
)

// Session is a browser in which a person is signed in.
type Session struct {
	ID        string    `json:"id"`
	Digest    digest    `json:"sha256"`
	Key       string    `json:"key,omitempty"` // the key with which it was opened, without which it is not valid
	Agent     string    `json:"agent,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	SeenAt    time.Time `json:"seen_at"` // to a few minutes
	ExpiresAt time.Time `json:"expires_at"`
}

// alive reports whether neither lifetime of the session is over.
func (s Session) alive(now time.Time) bool {
	return now.Before(s.ExpiresAt) && now.Before(s.SeenAt.Add(sessionIdle))
}

// SignIn opens a session of a person, whose account is created or brought up to date.
// It returns the secret of the session, which cannot be read again.
func (a *Accounts) SignIn(ctx context.Context, profile Account, s Session) (Session, string, error) {
	s.ID, s.Agent = newID("ses_"), clipped(s.Agent)
	raw := secret.RandomText(sessionSecret)
	s.Digest = digestOf(raw)
	if _, known := a.Account(profile.ID); !known {
		profile.CreatedAt = now()
		if err := a.create(ctx, profile); err != nil {
			return Session{}, "", err
		}
	}
	err := a.change(ctx, profile.ID, "", func(one *Account, now time.Time) error {
		if state := a.stateOf(one); state.Gone != "" {
			return gone(state)
		}
		if s.Key == "" { // a key says nothing new about a person
			one.Provider = profile.Provider
			one.Name = clipped(profile.Name)
			one.Email = clipped(profile.Email)
			one.Plan = profile.Plan
			one.Scopes = profile.Scopes
			one.Operator = profile.Operator
		}
		one.SignedInAt = now
		s.CreatedAt = now
		s.SeenAt = now
		s.ExpiresAt = now.Add(sessionLifetime)
		one.Sessions = append(slices.DeleteFunc(one.Sessions, func(old Session) bool { return a.over(old, now) }), s)
		one.Sessions = dropExtra(one.Sessions, s.Key)
		return nil
	})
	if err != nil {
		return Session{}, "", err
	}
	a.audit(ctx, "session.opened", profile.ID, slog.String("session", s.ID),
		slog.String("provider", profile.Provider), slog.String("key", s.Key))
	return s, raw, nil
}

// over reports whether a session has ended by itself, or with its key. A key that is not
// known yet may be new.
func (a *Accounts) over(s Session, now time.Time) bool {
	if !s.alive(now) {
		return true
	}
	if s.Key == "" {
		return false
	}
	key, known := a.o.Key(s.Key)
	return known && key.Gone != ""
}

// dropExtra returns the sessions without the least recently used ones that are over the
// bound of a key, or for an empty key over that of the provider.
func dropExtra(all []Session, key string) []Session {
	most := maxSessions
	if key != "" {
		most = maxKeySessions
	}
	same := slices.DeleteFunc(slices.Clone(all), func(s Session) bool { return s.Key != key })
	slices.SortStableFunc(same, func(x, y Session) int { return x.SeenAt.Compare(y.SeenAt) })
	extra := same[:max(0, len(same)-most)]
	return slices.DeleteFunc(all, func(s Session) bool {
		return slices.ContainsFunc(extra, func(e Session) bool { return e.ID == s.ID })
	})
}

// clipped returns a text from outside without what cannot be seen or changes the
// direction of writing: operators read it.
func clipped(s string) string {
	visible := strings.Map(func(c rune) rune {
		if text.Invisible(c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, ""))
	return text.ClipBytes(strings.Join(strings.Fields(visible), " "), maxText)
}

// create stores an account unless another process did.
func (a *Accounts) create(ctx context.Context, one Account) error {
	err := a.put(ctx, one)
	if err != nil {
		if refreshed := a.Refresh(ctx); refreshed != nil {
			return refreshed
		}
		if _, known := a.Account(one.ID); known {
			return nil
		}
		if fault.KindOf(err) == fault.Conflict { // the account was deleted
			one.revision = store.AnyRevision
			return a.put(ctx, one)
		}
	}
	return err
}

// FindSession returns an open session and its account. It records the use.
func (a *Accounts) FindSession(ctx context.Context, account, id, raw string) (Account, Session, bool) {
	find := func() (Account, Session, bool) {
		one, _ := a.Account(account)
		i := slices.IndexFunc(one.Sessions, func(s Session) bool { return s.ID == id })
		if i < 0 || !one.Sessions[i].Digest.is(raw) {
			return Account{}, Session{}, false
		}
		return one, one.Sessions[i], true
	}
	one, s, found := find()
	if !found {
		if a.Wake(ctx) != nil { // it may be new
			return Account{}, Session{}, false
		}
		if one, s, found = find(); !found {
			return Account{}, Session{}, false
		}
	}
	if !s.alive(time.Now()) || a.SessionState(one, s).Gone != "" {
		return Account{}, Session{}, false
	}
	if time.Since(s.SeenAt) >= seenInterval {
		a.touchSession(ctx, account, id)
	}
	return one, s, true
}

// touchSession stores that a session was used. A failure only makes it end earlier.
func (a *Accounts) touchSession(ctx context.Context, account, id string) {
	_ = a.change(ctx, account, "", func(one *Account, now time.Time) error {
		for i, s := range one.Sessions {
			if s.ID == id && now.Sub(s.SeenAt) >= seenInterval {
				one.Sessions[i].SeenAt = now
				return nil
			}
		}
		return errUnchanged
	})
}

// SessionState returns what a session may do: what its account may, and the key with
// which it was opened.
func (a *Accounts) SessionState(one Account, s Session) access.AccountState {
	return a.restricted(a.stateOf(&one), s.Key)
}

// restricted returns the rights that both an account and one of its keys have.
func (a *Accounts) restricted(o access.AccountState, key string) access.AccountState {
	if key == "" || o.Gone != "" {
		return o
	}
	k, known := a.o.Key(key)
	if !known {
		k.Gone = "its key is not known"
	}
	o.Gone = k.Gone
	o.Scope &= k.Scope
	o.Operator = k.Operator
	o.Plan = k.Plan
	o.Key = key
	return o
}

// EndSession signs a person out in one browser.
func (a *Accounts) EndSession(ctx context.Context, account, id string) error {
	return a.change(ctx, account, "session.ended", func(one *Account, _ time.Time) error {
		kept := slices.DeleteFunc(one.Sessions, func(s Session) bool { return s.ID == id })
		if len(kept) == len(one.Sessions) {
			return notThere("session", id)
		}
		one.Sessions = kept
		return nil
	})
}

// EndSessions signs a person out everywhere.
func (a *Accounts) EndSessions(ctx context.Context, account string) error {
	return a.change(ctx, account, "session.all_ended", func(one *Account, _ time.Time) error {
		one.Sessions = nil
		return nil
	})
}
