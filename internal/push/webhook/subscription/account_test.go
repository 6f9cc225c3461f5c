package subscription_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/store"
)

const day = 24 * time.Hour

// standing sets a fixed status of the owner in Options.
func standing(s subscription.AccountStatus) func(*subscription.Options) {
	return func(o *subscription.Options) {
		s.Scope = access.AllScopes
		o.AccountStatus = func(string) subscription.AccountStatus { return s }
		o.AccountTimeout = 30 * day
	}
}

// issuer of an owner, where it is the subject of a token.
const issuer = "https://id.example"

// A webhook whose owner is gone is kept for a week. Then it is removed with its
// rows if the owner cannot return, and disabled otherwise.
func TestOwnersThatAreGone(t *testing.T) {
	for name, test := range map[string]struct {
		standing subscription.AccountStatus
		seen     time.Duration // time since the owner was last seen
		trusted  time.Duration // time since its issuer was last trusted
		want     string        // reason why it is disabled; empty: it stays enabled; "removed"
	}{
		"a key that is good":               {},
		"a key revoked six days ago":       {standing: subscription.AccountStatus{Gone: "its key was revoked", Since: time.Now().Add(-6 * day), Permanent: true}},
		"a key revoked eight days ago":     {standing: subscription.AccountStatus{Gone: "its key was revoked", Since: time.Now().Add(-8 * day), Permanent: true}, want: "removed"},
		"a key that expired":               {standing: subscription.AccountStatus{Gone: "its key has expired", Since: time.Now().Add(-8 * day)}, want: "its key has expired"},
		"a subject that was seen":          {standing: subscription.AccountStatus{Issuer: issuer}, seen: 36 * day},
		"a subject that was not":           {standing: subscription.AccountStatus{Issuer: issuer}, seen: 38 * day, want: "was not seen since"},
		"an issuer trusted six days ago":   {standing: subscription.AccountStatus{Issuer: issuer, Gone: "its issuer"}, seen: 20 * day, trusted: 6 * day},
		"an issuer trusted eight days ago": {standing: subscription.AccountStatus{Issuer: issuer, Gone: "its issuer"}, seen: 20 * day, trusted: 8 * day, want: "its issuer"},
		"an issuer never trusted":          {standing: subscription.AccountStatus{Issuer: issuer, Gone: "its issuer"}, seen: 20 * day},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			hook, _ := create(t, w.process(t, nil))
			p := w.process(t, standing(test.standing)) // a process that has not seen the owner
			if err := p.db.Enqueue(t.Context(), store.Delivery{Webhook: hook.ID, Seq: 1, Event: "report.published"}); err != nil {
				t.Fatal(err)
			}
			for name, ago := range map[string]time.Duration{accountID: test.seen, issuer: test.trusted} {
				if ago == 0 {
					continue
				}
				if _, err := p.db.RecordUse(t.Context(), "webhook-owner "+name, time.Now().Add(-ago)); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.EndGone(t.Context())
			got, err := p.Find(t.Context(), owner, hook.ID)
			e := endpoint(t, p.db, hook.ID)
			switch {
			case test.want == "removed":
				left, _ := p.db.Endpoints(t.Context(), hook.ID)
				if fault.KindOf(err) != fault.NotFound || len(left) != 0 || p.audit.count("webhook.removed") != 1 {
					t.Errorf("%+v, %v, %v: %s", got, err, left, p.audit)
				}
			case test.want == "":
				if err != nil || !got.Enabled || e.Pending != 1 {
					t.Errorf("%+v, %+v, %v", got, e, err)
				}
			case err != nil || got.Enabled || !strings.Contains(got.DisabledReason, test.want) || e.Pending != 0 || p.audit.count("webhook.disabled") != 1:
				t.Errorf("%+v, %+v, %v: %s", got, e, err, p.audit)
			}
		})
	}
}

// counted is a store that counts writes about owners.
type counted struct {
	subscription.Store
	uses atomic.Int32
}

func (c *counted) RecordUse(ctx context.Context, name string, at time.Time) (time.Time, error) {
	c.uses.Add(1)
	return c.Store.RecordUse(ctx, name, at)
}

// The use of an owner is written once a day, as is that of its issuer. It is never
// written for an owner without webhooks.
func TestSeenIsWrittenRarely(t *testing.T) {
	w := newWorld(t)
	db := &counted{}
	p := w.process(t, func(o *subscription.Options) {
		standing(subscription.AccountStatus{Issuer: issuer})(o)
		db.Store, o.Store = o.Store, db
	})
	create(t, p)
	for range 3 {
		for range 100 {
			p.Seen(accountID)
			p.Seen("https://id.example#somebody")
		}
		p.EndGone(t.Context())
	}
	uses, err := p.db.Uses(t.Context())
	if err != nil || db.uses.Load() != 2 || len(uses) != 2 || time.Since(uses["webhook-owner "+accountID].Last) > time.Hour {
		t.Errorf("%d writes, %v, %v", db.uses.Load(), uses, err)
	}
}

// states is a set of keys whose states are given.
type states func(id string) (access.AccountState, bool)

func (s states) State(id string) (access.AccountState, bool) { return s(id) }
func (s states) Behind() time.Duration                       { return 0 }

// callerWith is the caller that sends a key.
func callerWith(k access.Key) access.Principal {
	return access.Principal{
		ID:         k.Account(),
		Mode:       access.ByKey,
		Scope:      k.Scopes,
		Credential: k.ID,
		Key:        k.ID,
		Plan:       k.Plan,
	}
}

// A webhook whose key has ended for a week is disabled, and never removed, since its
// owner can adopt it. One that was adopted meanwhile stays enabled with its deliveries.
func TestKeysThatAreGone(t *testing.T) {
	for name, test := range map[string]struct {
		since   time.Duration
		adopted bool
		want    bool // it stays enabled
	}{
		"six days ago":                {since: 6 * day, want: true},
		"eight days ago":              {since: 8 * day},
		"eight days ago, and adopted": {since: 8 * day, adopted: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.process(t, nil)
			keys := access.NewKeyring(p.db, nil)
			root, _, err := keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
			if err != nil {
				t.Fatal(err)
			}
			child, _, err := keys.CreateFor(t.Context(), callerWith(root), access.Key{})
			if err != nil {
				t.Fatal(err)
			}
			hook, _, err := p.Create(t.Context(), keys.Reach(callerWith(child)), subscription.Draft{URL: address, Enabled: true})
			if err != nil {
				t.Fatal(err)
			}
			var adopt func()
			gone := w.process(t, func(o *subscription.Options) {
				o.Keys = states(func(string) (access.AccountState, bool) {
					if adopt != nil {
						adopt() // after the check has begun
					}
					return access.AccountState{Gone: "this key was revoked", Since: time.Now().Add(-test.since)}, true
				})
			})
			if err := gone.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := gone.db.Enqueue(t.Context(), store.Delivery{Webhook: hook.ID, Seq: 1, Event: "report.published"}); err != nil {
				t.Fatal(err)
			}
			whole := access.WholeAccount(root.ID)
			if test.adopted {
				adopt = sync.OnceFunc(func() {
					if _, err := p.Adopt(t.Context(), whole, hook.ID, nil); err != nil {
						t.Error(err)
					}
				})
			}
			gone.EndGone(t.Context())
			got, err := gone.Find(t.Context(), whole, hook.ID)
			if err != nil {
				t.Fatal(err)
			}
			e := endpoint(t, gone.db, hook.ID)
			if got.Enabled != test.want || (e.Pending == 1) != test.want || (got.DisabledReason == "") != test.want {
				t.Errorf("%+v, %+v, %v", got, e, err)
			}
		})
	}
}

// The reason of a pause says what is wrong with the key, also if this process does not
// know the key yet. It does not change what the keys say.
func TestPausedReason(t *testing.T) {
	w := newWorld(t)
	var state access.AccountState
	var known bool
	p := w.process(t, func(o *subscription.Options) {
		o.Keys = states(func(string) (access.AccountState, bool) { return state, known })
	})
	since := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		state access.AccountState
		known bool
		want  string // part of the reason; empty: it is served
	}{
		"valid":       {state: access.AccountState{Scope: access.ReadReports}, known: true},
		"revoked":     {state: access.AccountState{Gone: "this key was revoked", Since: since}, known: true, want: "(this key was revoked)"},
		"not known":   {want: "(it is not known)"},
		"known to be": {state: access.AccountState{Gone: "it was removed"}, want: "(it was removed)"},
	} {
		t.Run(name, func(t *testing.T) {
			state, known = test.state, test.known
			s := p.Status(&subscription.Webhook{Account: accountID, Key: "key_1"})
			reason := p.PausedReason(&subscription.Webhook{Account: accountID, Key: "key_1"})
			if s.Gone != reason || (reason == "") != (test.want == "") || !strings.Contains(reason, test.want) {
				t.Errorf("the reason is %q, want %q", reason, test.want)
			}
			if s.Scope != test.state.Scope || !s.Since.Equal(test.state.Since) {
				t.Errorf("%+v", s)
			}
			if reason := p.PausedReason(&subscription.Webhook{Account: accountID}); reason != "" {
				t.Errorf("a webhook of the account itself is paused: %s", reason)
			}
		})
	}
}
