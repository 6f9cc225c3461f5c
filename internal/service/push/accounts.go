package push

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/push/webhook"
	"pregon/internal/store"
)

// Accounts knows whether the accounts of webhooks are valid.
type Accounts struct {
	Keys     *access.Keyring
	Accounts *account.Accounts
	Trusts   func(issuer string) bool // reports whether an issuer of tokens is trusted
}

// StoredAccounts returns the accounts of webhooks as far as the store knows them: the
// configuration of the service, which names providers and issuers, is not read.
func StoredAccounts(ctx context.Context, db store.Store) (Accounts, error) {
	keys := access.NewKeyring(db, nil)
	accounts := account.New(account.Options{
		Store:      db,
		Key:        keys.State,
		Configured: func(string, string) bool { return true },
		Logger:     slog.New(slog.DiscardHandler),
	})
	keys.SetAccounts(accounts)
	found := Accounts{
		Keys:     keys,
		Accounts: accounts,
		Trusts:   func(string) bool { return true },
	}
	return found, found.Refresh(ctx)
}

// Status returns whether webhooks of an account are served: somebody who signed in must
// still have access, a key be valid, or the issuer of tokens still be trusted.
func (o Accounts) Status(id string) webhook.AccountStatus {
	if !access.IsKeyID(id) {
		if person, known := o.Accounts.State(id); known {
			return webhook.AccountStatus{Gone: person.Gone, Since: person.Since, Scope: person.Scope}
		}
		issuer, _, _ := strings.Cut(id, "#")
		// The scope was checked when the webhook was created.
		status := webhook.AccountStatus{Issuer: issuer, Scope: access.AllScopes}
		if !o.Trusts(issuer) {
			status.Gone = "its owner's issuer is not in the configuration"
		}
		return status
	}
	key, ok := o.Keys.Key(id)
	status := webhook.AccountStatus{Scope: key.Scopes}
	switch {
	case !ok:
		status.Gone = "its key is not known" // perhaps not yet: another process may have created it a moment ago
	case key.State(time.Now()) == "revoked":
		status.Gone = "its key was revoked"
		status.Since = key.RevokedAt
		status.Permanent = true
	case key.State(time.Now()) == "expired":
		status.Gone = "its key has expired"
		status.Since = key.ExpiresAt
	}
	return status
}

// endedGrace is how long an account is gone before what it left is removed.
const endedGrace = 7 * 24 * time.Hour

// Ended reports whether an account ended for good, some days ago.
func (o Accounts) Ended(id string) bool {
	s := o.Status(id)
	return s.Permanent && !s.Since.IsZero() && time.Since(s.Since) > endedGrace
}

// Refresh loads the keys and accounts as they are now.
func (o Accounts) Refresh(ctx context.Context) error {
	return errors.Join(o.Keys.Refresh(ctx), o.Accounts.Refresh(ctx))
}

// Serves reports whether an account has access, and the key with which something of it was
// made, if there is one.
func (o Accounts) Serves(id, key string) bool {
	if o.Status(id).Gone != "" {
		return false
	}
	return key == "" || o.Keys.Valid(key)
}
