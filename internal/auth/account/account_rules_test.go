package account_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/test/waittest"
)

const eva = "https://idp.example#eva"

func evaProfile() account.Account {
	other := profile
	other.ID = eva
	return other
}

// A record that cannot be read, or that names another account, is no account, and does
// not affect the others.
func TestUnreadableAccount(t *testing.T) {
	r := replicas(t, 1)[0]
	r.signIn(t, profile, account.Session{})
	r.signIn(t, evaProfile(), account.Session{})
	for n, body := range []string{"{", `{"id":"` + ana + `"}`} {
		record := store.Record{Kind: "account", ID: eva, Body: body, Revision: store.AnyRevision}
		if _, err := store.PutRecord(t.Context(), r.db, record); err != nil {
			t.Fatal(err)
		}
		if err := r.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, known := r.Account(eva); known {
			t.Errorf("the account with the record %s is known", body)
		}
		if r.audited("account.unreadable") != n+1 {
			t.Errorf("audited %q", r.events)
		}
	}
	if one, known := r.Account(ana); !known || len(one.Sessions) != 1 {
		t.Errorf("the other account is %+v, %v", one, known)
	}
}

// restored is a store of which a backup was restored: the epoch changes, and accounts
// are gone.
type restored struct {
	store.Store
	epoch string
}

func (r *restored) Epoch() string { return r.epoch }

func TestAccountsOfARestoredBackup(t *testing.T) {
	r := replicas(t, 1)[0]
	backup := replicas(t, 1)[0]
	backup.signIn(t, evaProfile(), account.Session{})
	db := &restored{r.db, "one"}
	accounts := account.New(account.Options{Store: db, Key: r.keys.State, Configured: func(string, string) bool { return true }})
	if _, _, err := accounts.SignIn(t.Context(), profile, account.Session{}); err != nil {
		t.Fatal(err)
	}
	db.Store = backup.db
	db.epoch = "two"
	if err := accounts.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, known := accounts.Account(ana); known {
		t.Error("an account is known that the backup does not have")
	}
	if _, known := accounts.Account(eva); !known {
		t.Error("the account of the backup is not known")
	}
}

// All accounts are listed, the newest first.
func TestAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := replicas(t, 1)[0]
		ids := []string{"https://idp.example#b", "https://idp.example#a", "https://idp.example#c"}
		for i, id := range ids {
			p := profile
			p.ID = id
			r.signIn(t, p, account.Session{})
			if i == 1 {
				time.Sleep(time.Minute) // a and b are of the same second
			}
		}
		all, err := r.All(t.Context())
		if err != nil || len(all) != 3 || all[0].ID != ids[2] || all[1].ID != ids[1] || all[2].ID != ids[0] {
			t.Errorf("%+v, %v", all, err)
		}
		if r.audited("session.opened") != 3 {
			t.Errorf("audited %q", r.events)
		}
	})
}

// An account that is gone has no state, cannot be changed, and gives no session.
func TestUnknownAccount(t *testing.T) {
	r := replicas(t, 1)[0]
	if o, known := r.State(ana); known || o != (access.AccountState{}) {
		t.Errorf("the owner is %+v, %v", o, known)
	}
	if one, known := r.Live(ana); known || one.ID != "" {
		t.Errorf("the account is %+v", one)
	}
	if _, _, ok := r.FindSession(t.Context(), ana, "ses_1", "secret"); ok {
		t.Error("a session of an unknown account is open")
	}
	for name, err := range map[string]error{
		"block":        r.Block(t.Context(), ana, true),
		"end a grant":  r.EndGrant(t.Context(), ana, "grt_1"),
		"end sessions": r.EndSessions(t.Context(), ana),
	} {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r.audited("app.revoked")+r.audited("session.all_ended") != 0 {
		t.Errorf("audited %q", r.events)
	}
}

// A replica that does not know an account yet can change it.
func TestChangeOfAnAccountOfAnotherReplica(t *testing.T) {
	rs := replicas(t, 2)
	s, raw := rs[0].signIn(t, profile, account.Session{})
	if err := rs[1].EndSessions(t.Context(), ana); err != nil {
		t.Fatal(err)
	}
	if err := rs[0].Refresh(t.Context()); err != nil || rs[0].open(t, s, raw) {
		t.Errorf("the session is open (%v)", err)
	}
}

// The holder of a key that is not known has no access.
func TestHolderOfAnUnknownKey(t *testing.T) {
	r := replicas(t, 1)[0]
	holder := account.Account{ID: "key_gone", Plan: "pro", Scopes: access.AllScopes}
	if _, _, err := r.SignIn(t.Context(), holder, account.Session{Key: "key_gone"}); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("the holder of an unknown key signs in: %v", err)
	}
	if o, known := r.State("key_gone"); !known || o.Gone != "its key is not known" {
		t.Errorf("the owner is %+v, %v", o, known)
	}
}

// What an account, a session or an application may do is what its key may do too.
func TestRightsOfTheKey(t *testing.T) {
	r := replicas(t, 1)[0]
	operator := profile
	operator.Operator = true
	operator.Plan = "enterprise"
	r.signIn(t, operator, account.Session{})
	key, _, err := r.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.ReadReports | access.ReadIssuers})
	if err != nil {
		t.Fatal(err)
	}
	one := mustAccount(t, r)
	for _, test := range []struct {
		name string
		key  string
		want access.AccountState
	}{
		{"without a key", "", access.AccountState{Scope: access.AllScopes, Plan: "enterprise", Operator: true}},
		{"with a key", key.ID, access.AccountState{Scope: access.ReadReports | access.ReadIssuers, Plan: "pro", Key: key.ID}},
		{"with an unknown key", "key_gone", access.AccountState{Gone: "its key is not known", Key: "key_gone"}},
	} {
		if got := r.SessionState(one, account.Session{Key: test.key}); got != test.want {
			t.Errorf("a session %s: %+v, want %+v", test.name, got, test.want)
		}
	}
	id := account.NewGrantID()
	if _, err := r.AddGrant(t.Context(), ana, account.Grant{ID: id, ClientID: "app", Key: key.ID, Scopes: access.ReadIssuers | access.ReadAnalytics}); err != nil {
		t.Fatal(err)
	}
	if got, known := r.Grant(ana, id); !known || got != (access.AccountState{Scope: access.ReadIssuers, Plan: "pro", Key: key.ID}) {
		t.Errorf("an application: %+v, %v", got, known)
	}
	plain := account.NewGrantID()
	if _, err := r.AddGrant(t.Context(), ana, account.Grant{ID: plain, ClientID: "app", Scopes: access.AllScopes}); err != nil {
		t.Fatal(err)
	}
	if got, known := r.Grant(ana, plain); !known || got.Operator || got.Plan != "enterprise" {
		t.Errorf("an application is an operator: %+v, %v", got, known)
	}
	if _, known := r.Grant(eva, plain); known {
		t.Error("the grant is that of another account too")
	}
	if _, err := r.AddGrant(t.Context(), ana, account.Grant{ID: plain, ClientID: "app"}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a grant that exists is added: %v", err)
	}
	if _, err := r.AddGrant(t.Context(), ana, account.Grant{ID: account.NewGrantID(), ClientID: "app", Key: "key_gone"}); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("a grant with an unknown key is added: %v", err)
	}
	if err := r.Block(t.Context(), ana, true); err != nil {
		t.Fatal(err)
	}
	if _, err := r.AddGrant(t.Context(), ana, account.Grant{ID: account.NewGrantID(), ClientID: "app"}); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("a blocked person authorizes an application: %v", err)
	}
}

// A person can end the access of one application. The others keep theirs.
func TestEndGrant(t *testing.T) {
	r := replicas(t, 1)[0]
	first, refresh := grant(t, r)
	second, other := grant(t, r)
	if err := r.EndGrant(t.Context(), ana, first.ID); err != nil {
		t.Fatal(err)
	}
	if _, known := r.Grant(ana, first.ID); known {
		t.Error("the application still has access")
	}
	if _, _, found := r.FindGrant(first.ID); found {
		t.Error("the grant is still there")
	}
	if _, known := r.Grant(ana, second.ID); !known {
		t.Error("another application has lost its access")
	}
	if r.audited("app.revoked") != 1 {
		t.Errorf("audited %q", r.events)
	}
	if err := r.EndGrant(t.Context(), ana, first.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("ended twice: %v", err)
	}
	for name, test := range map[string]struct {
		raw  string
		want bool
	}{
		"a token of a grant":             {other, true},
		"a token of a grant that ended":  {refresh, false},
		"a token with another family":    {other[:len(other)-44] + refresh[len(refresh)-44:], false},
		"half a token":                   {other[:len(other)-1], false},
		"a text that is not a token":     {"", false},
		"a token that was used, or will": {other[:len(other)-22] + refresh[len(refresh)-22:], true},
	} {
		if _, g, found := r.RefreshGrant(test.raw); found != test.want || found && g.ID != second.ID {
			t.Errorf("%s: %v, want %v", name, found, test.want)
		}
	}
	if n := r.ClientGrants("app"); n != 1 {
		t.Errorf("the client has %d grants", n)
	}
	if n := r.ClientGrants("another"); n != 0 {
		t.Errorf("another client has %d grants", n)
	}
}

// Live has only what is valid: sessions and grants that have not ended, with keys that
// have not either.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := replicas(t, 1)[0]
		key, _, err := r.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
		if err != nil {
			t.Fatal(err)
		}
		add := func(key string) {
			t.Helper()
			r.signIn(t, profile, account.Session{Key: key})
			if _, err := r.AddGrant(t.Context(), ana, account.Grant{ID: account.NewGrantID(), ClientID: "app", Key: key}); err != nil {
				t.Fatal(err)
			}
		}
		want := func(when string, sessions, grants int) {
			t.Helper()
			one, known := r.Live(ana)
			if !known || len(one.Sessions) != sessions || len(one.Grants) != grants {
				t.Errorf("%s: %d sessions and %d grants, want %d and %d", when, len(one.Sessions), len(one.Grants), sessions, grants)
			}
		}
		add("")
		add(key.ID)
		want("at first", 2, 2)
		if _, err := r.keys.Revoke(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		want("after the key was revoked", 1, 1)
		time.Sleep(24 * time.Hour)
		want("after a day without use", 0, 1)
		if one := mustAccount(t, r); len(one.Sessions) != 2 || one.Sessions[0].ID == "" || len(one.Grants) != 2 {
			t.Errorf("the account that others read has changed: %+v", one)
		}
		end := mustAccount(t, r).Grants[0].ExpiresAt
		time.Sleep(time.Until(end) - 1)
		want("before the end of the grant", 0, 1)
		time.Sleep(time.Nanosecond)
		want("at the end of the grant", 0, 0)
		id := mustAccount(t, r).Grants[0].ID
		if o, known := r.Grant(ana, id); !known || o.Gone != "its grant has expired" {
			t.Errorf("the grant is %+v, %v", o, known)
		}
	})
}

// An account that was read before a change stays as it was.
func TestSnapshotsDoNotChange(t *testing.T) {
	r := replicas(t, 1)[0]
	first, _ := r.signIn(t, profile, account.Session{})
	r.signIn(t, profile, account.Session{})
	granted, _ := grant(t, r)
	before := mustAccount(t, r)
	if err := errors.Join(r.EndSession(t.Context(), ana, first.ID), r.EndGrant(t.Context(), ana, granted.ID)); err != nil {
		t.Fatal(err)
	}
	if before.Sessions[0].ID != first.ID || before.Sessions[2].ID == "" || before.Grants[0].ID != granted.ID {
		t.Errorf("a change of an account changed what was read before: %+v", before)
	}
}

// While the store cannot be read, what needs it fails and nothing is opened.
func TestStoreCannotBeRead(t *testing.T) {
	r := replicas(t, 1)[0]
	s, raw := r.signIn(t, profile, account.Session{})
	_, refresh := grant(t, r)
	unread := new(atomic.Bool)
	accounts := account.New(account.Options{
		Store:      failing{r.db, new(atomic.Bool), unread},
		Key:        r.keys.State,
		Configured: func(string, string) bool { return true },
	})
	unread.Store(true)
	if _, _, ok := accounts.FindSession(t.Context(), ana, s.ID, raw); ok {
		t.Error("a session is open that could not be read")
	}
	if all, err := accounts.All(t.Context()); err == nil {
		t.Errorf("all accounts are %v", all)
	}
	if err := accounts.Wake(t.Context()); err == nil {
		t.Error("Wake reports no failure")
	}
	if err := accounts.Block(t.Context(), ana, true); err == nil || fault.KindOf(err) == fault.NotFound {
		t.Errorf("an account that could not be read: %v", err)
	}
	if _, _, next, err := accounts.RotateGrant(t.Context(), refresh, "app"); err == nil || next != "" || fault.KindOf(err) == fault.NotFound {
		t.Errorf("a refresh token while the store fails: %q, %v", next, err)
	}
	if _, err := accounts.EndRestored(t.Context(), disclosure.Head{Cursor: disclosure.Cursor{Epoch: "one"}}); err == nil {
		t.Error("the epoch cannot be read, and the restored backup is not reported as a failure")
	}
	if _, _, err := accounts.SignIn(t.Context(), profile, account.Session{}); err == nil {
		t.Error("a person signed in although the account could not be read")
	}
	unread.Store(false)
	if _, _, ok := accounts.FindSession(t.Context(), ana, s.ID, raw); !ok {
		t.Error("the session is not open after the store is back")
	}
}

// Only accounts that had access count as ended after a restored backup.
func TestEndRestoredCountsAccess(t *testing.T) {
	r := replicas(t, 1)[0]
	r.signIn(t, profile, account.Session{})
	r.signIn(t, evaProfile(), account.Session{})
	if err := r.EndSessions(t.Context(), eva); err != nil {
		t.Fatal(err)
	}
	log := disclosure.Head{Cursor: disclosure.Cursor{Epoch: "two"}, Past: []disclosure.Cursor{{Epoch: "one", Seq: 1}}}
	if n, err := r.EndRestored(t.Context(), log); n != 1 || err != nil {
		t.Errorf("the access of %d accounts ended, %v, want 1", n, err)
	}
	if r.audited("session.all_ended") != 2 {
		t.Errorf("audited %q", r.events)
	}
}

// Two processes that create the account of a person at the same moment both sign the
// person in.
func TestAccountThatAnotherProcessCreated(t *testing.T) {
	rs := replicas(t, 2)
	one, first := rs[0].signIn(t, profile, account.Session{})
	two, second := rs[1].signIn(t, profile, account.Session{})
	if !rs[1].open(t, one, first) || !rs[1].open(t, two, second) {
		t.Error("a session is not open")
	}
	if created := mustAccount(t, rs[1]); len(created.Sessions) != 2 {
		t.Errorf("the account has %d sessions", len(created.Sessions))
	}
}

// unwritable is a store that cannot be written while err is set.
type unwritable struct {
	store.Store
	err error
}

func (u *unwritable) PutRecords(ctx context.Context, lease *store.Lease, records ...store.Record) ([]store.Record, error) {
	if u.err != nil {
		return nil, u.err
	}
	return u.Store.PutRecords(ctx, lease, records...)
}

// What could not be stored is not opened, and is reported.
func TestStoreCannotBeWritten(t *testing.T) {
	r := replicas(t, 1)[0]
	db := &unwritable{Store: r.db, err: errors.New("gone")}
	accounts := account.New(account.Options{Store: db, Key: r.keys.State, Audit: r.audit, Configured: func(string, string) bool { return true }})
	if _, raw, err := accounts.SignIn(t.Context(), profile, account.Session{}); !errors.Is(err, db.err) || raw != "" {
		t.Errorf("a new person signs in: %q, %v", raw, err)
	}
	failure := db.err
	db.err = nil
	if _, _, err := accounts.SignIn(t.Context(), profile, account.Session{}); err != nil {
		t.Fatal(err)
	}
	db.err = failure
	if err := accounts.Block(t.Context(), ana, true); !errors.Is(err, failure) || r.audited("account.blocked") != 0 {
		t.Errorf("a block: %v, audited %q", err, r.events)
	}
	log := disclosure.Head{Cursor: disclosure.Cursor{Epoch: "two"}, Past: []disclosure.Cursor{{Epoch: "one", Seq: 1}}}
	if n, err := accounts.EndRestored(t.Context(), log); !errors.Is(err, failure) || n != 0 {
		t.Errorf("the access of %d accounts ended, %v", n, err)
	}
	db.err = nil
	if n, err := accounts.EndRestored(t.Context(), log); err != nil || n != 1 {
		t.Errorf("the access of %d accounts ended after the store is back, %v", n, err)
	}
}

// The first start of this version on a log that was never restored ends nothing.
func TestFirstStartEndsNothing(t *testing.T) {
	r := replicas(t, 1)[0]
	s, raw := r.signIn(t, profile, account.Session{})
	if n, err := r.EndRestored(t.Context(), disclosure.Head{Cursor: disclosure.Cursor{Epoch: "one"}}); n != 0 || err != nil || !r.open(t, s, raw) {
		t.Errorf("the access of %d accounts ended, %v", n, err)
	}
}

// Blocks are audited under their own names.
func TestBlocksAreAudited(t *testing.T) {
	r := replicas(t, 1)[0]
	r.signIn(t, profile, account.Session{})
	for _, blocked := range []bool{true, false} {
		if err := r.Block(t.Context(), ana, blocked); err != nil {
			t.Fatal(err)
		}
	}
	if r.audited("account.blocked") != 1 || r.audited("account.unblocked") != 1 {
		t.Errorf("audited %q", r.events)
	}
}

// The least recently used grant is dropped for a new one, and names of applications are
// shortened.
func TestGrantsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := replicas(t, 1)[0]
		first, refresh := grant(t, r)
		time.Sleep(time.Minute)
		second, _ := grant(t, r)
		time.Sleep(time.Minute)
		if _, _, _, err := r.RotateGrant(t.Context(), refresh, "app"); err != nil { // it was used last
			t.Fatal(err)
		}
		long := account.Grant{ClientID: "app", ClientName: "\u202e" + strings.Repeat("x", 1000), ClientHost: strings.Repeat("y", 1000)}
		for range 49 {
			time.Sleep(time.Second)
			long.ID = account.NewGrantID()
			if _, err := r.AddGrant(t.Context(), ana, long); err != nil {
				t.Fatal(err)
			}
		}
		_, keptFirst := r.Grant(ana, first.ID)
		_, keptSecond := r.Grant(ana, second.ID)
		if !keptFirst || keptSecond {
			t.Errorf("kept the grant that was used last: %v, the other: %v", keptFirst, keptSecond)
		}
		_, stored, _ := r.FindGrant(long.ID)
		if len(stored.ClientName) > 250 || len(stored.ClientHost) > 250 || strings.Contains(stored.ClientName, "\u202e") {
			t.Errorf("the name has %d bytes, the host %d", len(stored.ClientName), len(stored.ClientHost))
		}
	})
}

// A refresh token lasts as long as its grant, which every use renews.
func TestRefreshTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := replicas(t, 1)[0]
		_, refresh := grant(t, r)
		const day = 24 * time.Hour
		time.Sleep(90*day - time.Second)
		_, _, next, err := r.RotateGrant(t.Context(), refresh, "app")
		if err != nil {
			t.Fatalf("before its end: %v", err)
		}
		time.Sleep(90 * day)
		if _, _, _, err := r.RotateGrant(t.Context(), next, "app"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("at its end: %v", err)
		}
		other := "pregon_rEfresh_" + next[len("pregon_refresh_"):]
		if _, _, found := r.RefreshGrant(other); found {
			t.Error("a token with another prefix is found")
		}
	})
}

// The least recently used session is dropped for a new one.
func TestSessionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := replicas(t, 1)[0]
		first, raw := r.signIn(t, profile, account.Session{})
		time.Sleep(time.Minute)
		second, other := r.signIn(t, profile, account.Session{})
		time.Sleep(10 * time.Minute)
		if !r.open(t, first, raw) { // it was used last
			t.Fatal("the session is not open")
		}
		for range 19 {
			time.Sleep(time.Second)
			r.signIn(t, profile, account.Session{})
		}
		if !r.open(t, first, raw) || r.open(t, second, other) {
			t.Error("another session than the least recently used one was dropped")
		}
	})
}

// The epoch of a restored backup is stored only when all access has ended. What fails is
// done at the next start.
func TestEndRestoredIsRepeated(t *testing.T) {
	r := replicas(t, 1)[0]
	r.signIn(t, profile, account.Session{})
	db := &unwritable{Store: r.db}
	accounts := account.New(account.Options{Store: db, Key: r.keys.State, Configured: func(string, string) bool { return true }, Audit: func(context.Context, string, ...slog.Attr) {
		db.err = errors.New("gone") // after the first account was changed
	}})
	log := disclosure.Head{Cursor: disclosure.Cursor{Epoch: "two"}, Past: []disclosure.Cursor{{Epoch: "one", Seq: 1}}}
	if n, err := accounts.EndRestored(t.Context(), log); !errors.Is(err, db.err) || n != 1 {
		t.Errorf("the epoch cannot be stored: %d, %v", n, err)
	}
	db.err = nil
	r.signIn(t, profile, account.Session{})
	if n, err := r.EndRestored(t.Context(), log); err != nil || n != 1 {
		t.Errorf("at the next start the access of %d accounts ended, %v, want 1", n, err)
	}
}

// Follow reads what other processes write, until its context ends.
func TestFollow(t *testing.T) {
	rs := replicas(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- rs[0].Follow(ctx) }()
	rs[1].signIn(t, profile, account.Session{})
	waittest.For(t, "the account is known", func() bool {
		_, known := rs[0].Account(ana)
		return known
	})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Follow returned %v", err)
	}
}
