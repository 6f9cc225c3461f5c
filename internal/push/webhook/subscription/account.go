package subscription

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/store"
)

const (
	recordSeenInterval = 24 * time.Hour   // how often the last use of an account is written
	accountsInterval   = time.Minute      // how often uses written by other processes are read
	seenPrefix         = "webhook-owner " // of the store's marks
)

// maxKeysBehind is the age of the known keys up to which deliveries are sent to webhooks
// that were made with one: none begins two seconds after its key was revoked, however
// slow the store is.
const maxKeysBehind = 1900 * time.Millisecond

// Keys knows which keys are valid; access.Keyring is one.
type Keys interface {
	// State returns what a key may do now.
	State(id string) (o access.AccountState, known bool)
	// Behind returns the time since all keys were last known.
	Behind() time.Duration
}

// AccountStatus says whether an account is served, and what it may read.
type AccountStatus struct {
	Gone      string       // why it is not served; empty while it is
	Since     time.Time    // since when, if known
	Permanent bool         // it cannot return: its webhooks are removed
	Issuer    string       // of the token of a subject, which is also gone if unused for AccountTimeout
	Scope     access.Scope // what it may read
}

// MayRead reports whether an account may receive an event.
func (s AccountStatus) MayRead(event string) bool {
	return events.MayRead(s.Scope, disclosure.Event(event))
}

// accounts knows which accounts are served, and when each was last seen.
type accounts struct {
	store   store.Usage
	status  func(account string) AccountStatus
	keys    Keys
	timeout time.Duration // Options.AccountTimeout

	// mu guards seen and unsaved, which requests change (see) and the background task
	// reads and replaces (sync). It is never held during a call of the store, so that a
	// slow store delays no request.
	mu      sync.Mutex
	seen    map[string]time.Time // when accounts and issuers were last seen, to the day
	unsaved map[string]time.Time // the part that is not written yet
}

func newAccounts(o Options) *accounts {
	return &accounts{
		store:   o.Store,
		status:  o.AccountStatus,
		keys:    o.Keys,
		timeout: o.AccountTimeout,
		seen:    map[string]time.Time{},
		unsaved: map[string]time.Time{},
	}
}

// statusOf returns the status of an account, including its last use.
func (a *accounts) statusOf(account string) AccountStatus {
	s := a.status(account)
	if s.Issuer == "" {
		return s
	}
	a.mu.Lock()
	last := a.seen[account]
	trusted := a.seen[s.Issuer]
	a.mu.Unlock()
	switch {
	case s.Gone != "":
		s.Since = trusted // day precision
	case a.timeout > 0 && !last.IsZero() && time.Since(last) > a.timeout:
		s.Gone = "its owner was not seen since " + last.UTC().Format(time.DateOnly)
		s.Since = last.Add(a.timeout)
	}
	return s
}

// withKey returns the status of a webhook that was made with a key, from the status of
// its account.
func (a *accounts) withKey(s AccountStatus, key string) AccountStatus {
	if key == "" || s.Gone != "" || a.keys == nil {
		return s
	}
	k, known := a.keys.State(key)
	s.Scope &= k.Scope
	if reason := whyInvalid(k, known); reason != "" {
		s.Gone = fmt.Sprintf("the key %s that created it is not valid (%s): adopt the webhook to resume it",
			key, reason)
		s.Since = k.Since
	}
	return s
}

// whyInvalid returns why a key is not valid, and nothing if it is. A key that is not known
// may be valid soon: perhaps another process created it a moment ago.
func whyInvalid(k access.AccountState, known bool) string {
	if k.Gone == "" && !known {
		return "it is not known"
	}
	return k.Gone
}

// see records that an account was seen now. It does so once a day.
func (a *accounts) see(account string) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.seen[account]) > recordSeenInterval {
		a.note(account, now)
	}
}

// note records that an account or an issuer was seen at a time. The caller holds mu.
func (a *accounts) note(name string, at time.Time) {
	a.seen[name] = at
	a.unsaved[name] = at
}

// sync writes when accounts were seen and their issuers trusted, and reads the records of
// other processes. An account without a record counts as seen now.
func (a *accounts) sync(ctx context.Context, known map[string]bool) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	uses, err := a.store.Uses(ctx)
	if err != nil {
		return err
	}
	for name, at := range a.merge(uses, known) {
		if _, failed := a.store.RecordUse(ctx, seenPrefix+name, at); failed != nil {
			err = failed
			a.mu.Lock()
			a.unsaved[name] = at
			a.mu.Unlock()
		}
	}
	return err
}

// merge adds what other processes recorded, and returns what is to be written.
func (a *accounts) merge(uses map[string]store.Use, known map[string]bool) (unsaved map[string]time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	record := func(name string, seenNow bool) {
		if last := uses[seenPrefix+name].Last; last.After(a.seen[name]) {
			a.seen[name] = last
		}
		if a.seen[name].IsZero() || seenNow && now.Sub(a.seen[name]) > recordSeenInterval {
			a.note(name, now)
		}
	}
	for account := range known {
		if s := a.status(account); s.Issuer != "" {
			record(account, false)
			record(s.Issuer, s.Gone == "")
		}
	}
	unsaved = a.unsaved
	a.unsaved = map[string]time.Time{}
	return unsaved
}

// AccountStatus returns the status of an account, including its last use.
func (r *Registry) AccountStatus(account string) AccountStatus { return r.accounts.statusOf(account) }

// WithKey returns the status of a webhook that was made with a key, from the status of
// its account. The account can adopt the webhook, so that it is never removed for its key.
func (r *Registry) WithKey(s AccountStatus, key string) AccountStatus {
	return r.accounts.withKey(s, key)
}

// Status returns whether a webhook is served: its account must be valid, and the key with
// which it was made.
func (r *Registry) Status(w *Webhook) AccountStatus {
	return r.WithKey(r.AccountStatus(w.Account), w.Key)
}

// KeysBehind reports whether the keys are not known as they are now, so that nothing is sent
// that was made with this one. What was made without a key does not wait for them.
func (r *Registry) KeysBehind(key string) bool {
	return key != "" && r.o.Keys != nil && r.o.Keys.Behind() > maxKeysBehind
}

// Serves reports whether deliveries are sent to a webhook now, and returns its status.
func (r *Registry) Serves(h *Hook) (s AccountStatus, ok bool) {
	if h == nil || !h.Enabled {
		return s, false
	}
	if r.KeysBehind(h.Key) {
		return s, false
	}
	s = r.Status(&h.Webhook)
	return s, s.Gone == ""
}

// PausedReason returns why nothing is sent to a webhook, apart from being disabled. It
// is empty while the webhook is served.
func (r *Registry) PausedReason(w *Webhook) string { return r.Status(w).Gone }

// Seen records that an account used the service. It writes at most once a day,
// for accounts with webhooks only.
func (r *Registry) Seen(account string) {
	if r.Known().HasAccount(account) {
		r.accounts.see(account)
	}
}

// syncAccounts reads and writes when accounts were last seen, and reports whether
// that succeeded.
func (r *Registry) syncAccounts(ctx context.Context) bool {
	err := r.accounts.sync(ctx, r.Known().accounts)
	if err != nil && ctx.Err() == nil {
		r.log.WarnContext(ctx, "cannot read when owners of webhooks were seen", "err", err)
	}
	return err == nil
}
