package account_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ana = "https://idp.example#ana"

// replica is the part of a process that decides on people.
type replica struct {
	*account.Accounts
	keys *access.Keyring
	db   store.Store

	mu     sync.Mutex
	events []string // guarded by mu
}

func (r *replica) audit(_ context.Context, event string, attrs ...slog.Attr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprint(event, " ", attrs))
}

func (r *replica) audited(event string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if strings.HasPrefix(e, event+" ") {
			n++
		}
	}
	return n
}

// replicas returns processes on one store.
func replicas(t *testing.T, n int) []*replica {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pregon.db")
	var out []*replica
	for range n {
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		r := &replica{db: db}
		r.keys = access.NewKeyring(db, r.audit)
		r.Accounts = account.New(account.Options{
			Store: db, Key: r.keys.State, Audit: r.audit, Configured: func(id, _ string) bool { return id == "corp" }, OnChange: r.keys.Broadcast,
		})
		r.keys.SetAccounts(r.Accounts)
		out = append(out, r)
	}
	return out
}

var profile = account.Account{ID: ana, Provider: "corp", Name: "Ana", Email: "ana@example.com", Plan: "pro", Scopes: access.AllScopes}

func (r *replica) signIn(t *testing.T, p account.Account, s account.Session) (account.Session, string) {
	t.Helper()
	opened, raw, err := r.SignIn(t.Context(), p, s)
	if err != nil {
		t.Fatal(err)
	}
	return opened, raw
}

func (r *replica) open(t *testing.T, s account.Session, raw string) bool {
	t.Helper()
	_, _, ok := r.FindSession(t.Context(), ana, s.ID, raw)
	return ok
}

func TestSessions(t *testing.T) {
	rs := replicas(t, 2)
	one, raw := rs[0].signIn(t, profile, account.Session{Agent: "a browser"})
	two, other := rs[1].signIn(t, profile, account.Session{})
	if !rs[1].open(t, one, raw) || !rs[0].open(t, two, other) {
		t.Fatal("a session is not known to the other replica")
	}
	for _, wrong := range []string{"", raw + "x", other, strings.ToLower(raw)} {
		if rs[0].open(t, one, wrong) {
			t.Errorf("the secret %q opens the session", wrong)
		}
	}
	if err := rs[0].EndSession(t.Context(), ana, one.ID); err != nil {
		t.Fatal(err)
	}
	if err := rs[1].Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rs[0].open(t, one, raw) || rs[1].open(t, one, raw) || !rs[1].open(t, two, other) {
		t.Error("one session should be closed, and the other open")
	}
	if err := rs[0].EndSession(t.Context(), ana, one.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("ended twice: %v", err)
	}
	if err := rs[0].EndSessions(t.Context(), ana); err != nil {
		t.Fatal(err)
	}
	if rs[0].open(t, two, other) {
		t.Error("a session is open after all were ended")
	}
	records, err := rs[0].db.RecordsSince(t.Context(), "account", 0)
	if err != nil || len(records) != 1 || strings.Contains(records[0].Body, raw) {
		t.Errorf("%v, %v", records, err)
	}
}

// A session ends after a day without use, and after two weeks in any case.
func TestLifetimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := replicas(t, 1)[0]
		idle, rawIdle := r.signIn(t, profile, account.Session{})
		used, rawUsed := r.signIn(t, profile, account.Session{})
		hours := 0
		for r.open(t, used, rawUsed) {
			if hours == 23 && len(mustAccount(t, r).Sessions) != 2 {
				t.Error("a session is gone within a day")
			}
			time.Sleep(time.Hour)
			hours++
		}
		if r.open(t, idle, rawIdle) {
			t.Error("a session is open that was not used")
		}
		if hours != 14*24 {
			t.Errorf("a session that was used lasted %d hours", hours)
		}
	})
}

func mustAccount(t *testing.T, r *replica) account.Account {
	t.Helper()
	one, ok := r.Account(ana)
	if !ok {
		t.Fatal("there is no account")
	}
	return one
}

func TestBounds(t *testing.T) {
	r := replicas(t, 1)[0]
	long := profile
	long.Name = "\u202e" + strings.Repeat("ñ", 1000)
	first, raw := r.signIn(t, long, account.Session{Agent: strings.Repeat("x", 10_000)})
	if got := mustAccount(t, r).Name; !strings.HasPrefix(got, "ñ") {
		t.Errorf("the name is %q", got)
	}
	for range 20 {
		r.signIn(t, profile, account.Session{})
	}
	for range 55 {
		if _, err := r.AddGrant(t.Context(), ana, account.Grant{ID: account.NewGrantID(), ClientID: "c", Scopes: access.ReadReports}); err != nil {
			t.Fatal(err)
		}
	}
	one := mustAccount(t, r)
	if len(one.Sessions) != 20 || len(one.Grants) != 50 || r.open(t, first, raw) {
		t.Errorf("%d sessions and %d grants", len(one.Sessions), len(one.Grants))
	}
	if len(one.Sessions[0].Agent) > 250 || len(one.Name) > 250 {
		t.Errorf("%d, %d bytes", len(one.Sessions[0].Agent), len(one.Name))
	}
	if got := r.ClientGrants("c"); got != 50 {
		t.Errorf("the client has %d grants", got)
	}
}

// Signing in with a key again and again ends older sessions of that key only.
func TestSessionsOfAKey(t *testing.T) {
	r := replicas(t, 1)[0]
	provider, secret := r.signIn(t, profile, account.Session{})
	by := access.Principal{ID: ana, Plan: "pro", Scope: access.AllScopes}
	var keys [2]access.Key
	for i := range keys {
		var err error
		if keys[i], _, err = r.keys.CreateFor(t.Context(), by, access.Key{Name: "laptop"}); err != nil {
			t.Fatal(err)
		}
	}
	other, otherSecret := r.signIn(t, profile, account.Session{Key: keys[1].ID})
	first, firstSecret := r.signIn(t, profile, account.Session{Key: keys[0].ID})
	for range 30 {
		r.signIn(t, profile, account.Session{Key: keys[0].ID})
	}
	if !r.open(t, provider, secret) || !r.open(t, other, otherSecret) {
		t.Error("sign-ins with one key ended a session of the provider or of another key")
	}
	if got := len(mustAccount(t, r).Sessions); got != 12 || r.open(t, first, firstSecret) {
		t.Errorf("%d sessions are left, want 10 of the key and two others", got)
	}
	for range 30 {
		r.signIn(t, profile, account.Session{})
	}
	if got := len(mustAccount(t, r).Sessions); got != 31 || !r.open(t, other, otherSecret) {
		t.Errorf("%d sessions are left, want 20 of the provider and 11 of keys", got)
	}
	if _, err := r.keys.Revoke(t.Context(), keys[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := r.keys.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.signIn(t, profile, account.Session{Key: keys[1].ID})
	if got := len(mustAccount(t, r).Sessions); got != 22 {
		t.Errorf("%d sessions are left, want those of the revoked key gone", got)
	}
}

func grant(t *testing.T, r *replica) (account.Grant, string) {
	t.Helper()
	r.signIn(t, profile, account.Session{})
	g := account.Grant{ID: account.NewGrantID(), ClientID: "app", ClientName: "App", Scopes: access.ReadReports, Resource: "https://pregon.example/api/mcp"}
	refresh, err := r.AddGrant(t.Context(), ana, g)
	if err != nil {
		t.Fatal(err)
	}
	return g, refresh
}

// Hosts that an earlier version stored with other letters are read in ASCII.
func TestHostOfAGrant(t *testing.T) {
	r := replicas(t, 1)[0]
	r.signIn(t, profile, account.Session{})
	if _, err := r.AddGrant(t.Context(), ana, account.Grant{ID: account.NewGrantID(), ClientID: "c", ClientHost: "\u0441laude.ai"}); err != nil {
		t.Fatal(err)
	}
	if got := mustAccount(t, r).Grants[0].ClientHost; got != "xn--laude-0ye.ai" {
		t.Errorf("the host is %q", got)
	}
}

func TestRefresh(t *testing.T) {
	rs := replicas(t, 2)
	g, first := grant(t, rs[0])
	if _, _, _, err := rs[1].RotateGrant(t.Context(), first, "another"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("another client: %v", err)
	}
	who, got, second, err := rs[1].RotateGrant(t.Context(), first, "app")
	if err != nil || who.ID != ana || got.ID != g.ID || second == first {
		t.Fatalf("%v %v %v", who, got, err)
	}
	_, _, third, err := rs[0].RotateGrant(t.Context(), second, "app")
	if err != nil {
		t.Fatal(err)
	}
	o, known := rs[0].Grant(ana, g.ID)
	if !known || o.Gone != "" || o.Scope != access.ReadReports {
		t.Errorf("%+v", o)
	}
	if _, known := rs[0].Grant("another", g.ID); known {
		t.Error("a grant is known under another account")
	}
	// The first is two uses old: who sends it may have stolen it.
	if _, _, _, err := rs[1].RotateGrant(t.Context(), first, "app"); !errors.Is(err, account.ErrReused) {
		t.Errorf("reuse: %v", err)
	}
	if _, _, _, err := rs[0].RotateGrant(t.Context(), third, "app"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the newest after a reuse: %v", err)
	}
	if _, known := rs[0].Grant(ana, g.ID); known {
		t.Error("the grant is still there")
	}
	if rs[1].audited("app.refresh_reused") != 1 {
		t.Errorf("%q", rs[1].events)
	}
}

// After a restored backup, which the epoch shows, nobody stays signed in.
func TestEndRestored(t *testing.T) {
	rs := replicas(t, 2)
	var log disclosure.Head
	end := func(r *replica, epoch string, want int) {
		t.Helper()
		log.Epoch = epoch
		if got, err := r.EndRestored(t.Context(), log); got != want || err != nil {
			t.Errorf("epoch %s ends the access of %d accounts, %v, want %d", epoch, got, err, want)
		}
	}
	end(rs[0], "one", 0) // the first time
	_, refresh := grant(t, rs[0])
	session, raw := rs[0].signIn(t, profile, account.Session{})
	end(rs[1], "one", 0)
	if !rs[1].open(t, session, raw) {
		t.Fatal("the session is not open")
	}
	end(rs[1], "two", 1)
	end(rs[0], "two", 0)
	if err := rs[0].Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rs[0].open(t, session, raw) {
		t.Error("the session is open after another epoch")
	}
	if _, _, _, err := rs[0].RotateGrant(t.Context(), refresh, "app"); fault.KindOf(err) != fault.NotFound || errors.Is(err, account.ErrReused) {
		t.Errorf("the refresh token after another epoch: %v", err)
	}
	session, raw = rs[0].signIn(t, profile, account.Session{})
	end(rs[1], "two", 0)
	if !rs[0].open(t, session, raw) {
		t.Error("a new session is not open")
	}
	// An earlier version made a backup, in which there is no record of the epoch.
	old := replicas(t, 1)[0]
	grant(t, old)
	log.Past = []disclosure.Cursor{{Epoch: "one", Seq: 1}}
	end(old, "two", 1)
}

// Guesses neither refresh nor end a grant.
func TestRefreshGuesses(t *testing.T) {
	r := replicas(t, 1)[0]
	g, good := grant(t, r)
	for _, bad := range []string{
		"", good[:len(good)-1], good + "x", strings.ToUpper(good), "pregon_refresh_" + strings.Repeat("0", 56),
		good[:len(good)-44] + strings.Repeat("0", 44), // the id of the grant alone
	} {
		if _, _, _, err := r.RotateGrant(t.Context(), bad, "app"); fault.KindOf(err) != fault.NotFound || errors.Is(err, account.ErrReused) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, known := r.Grant(ana, g.ID); !known {
		t.Error("a guess ended the grant")
	}
	if _, _, ok := r.RefreshGrant(good); !ok {
		t.Error("the grant of a good token is not found")
	}
}

// Of many that use one refresh token at the same moment, one succeeds at most, and
// nobody keeps access.
func TestConcurrentRefresh(t *testing.T) {
	rs := replicas(t, 2)
	g, first := grant(t, rs[0])
	var wg sync.WaitGroup
	var mu sync.Mutex
	good := 0
	for i := range 8 {
		wg.Go(func() {
			_, _, _, err := rs[i%2].RotateGrant(t.Context(), first, "app")
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				good++
			} else if fault.KindOf(err) != fault.NotFound {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := rs[0].Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, known := rs[0].Grant(ana, g.ID); good != 1 || known {
		t.Errorf("%d succeeded, and the grant exists: %v", good, known)
	}
}

func TestBlocked(t *testing.T) {
	r := replicas(t, 1)[0]
	s, raw := r.signIn(t, profile, account.Session{})
	g, refresh := grant(t, r)
	_, key, err := r.keys.CreateFor(t.Context(), access.Principal{ID: ana, Mode: access.BySession, Scope: access.AllScopes, Plan: "pro"}, access.Key{})
	if err != nil {
		t.Fatal(err)
	}
	guard := access.NewGuard(access.Options{Keys: r.keys, Accounts: r.Accounts})
	if p, err := admit(guard, key); err != nil || p.ID != ana {
		t.Fatalf("%+v, %v", p, err)
	}
	if err := r.Block(t.Context(), ana, true); err != nil {
		t.Fatal(err)
	}
	if _, err := admit(guard, key); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("a key of a blocked person: %v", err)
	}
	if r.open(t, s, raw) {
		t.Error("a session of a blocked person is open")
	}
	if _, _, _, err := r.RotateGrant(t.Context(), refresh, "app"); err == nil {
		t.Error("an application of a blocked person goes on")
	}
	if _, known := r.Grant(ana, g.ID); known {
		t.Error("a grant of a blocked person is there")
	}
	if _, _, err := r.SignIn(t.Context(), profile, account.Session{}); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("a blocked person signs in: %v", err)
	}
	if err := r.Block(t.Context(), ana, false); err != nil {
		t.Fatal(err)
	}
	if _, err := admit(guard, key); err != nil {
		t.Errorf("after the block: %v", err)
	}
}

// What was made with a key ends with it.
func TestMadeWithAKey(t *testing.T) {
	r := replicas(t, 1)[0]
	root, raw, err := r.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.ReadReports | access.ReadIssuers})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.keys.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	holder := account.Account{ID: root.ID, Plan: "pro", Scopes: root.Scopes}
	s, secret := r.signIn(t, holder, account.Session{Key: root.ID})
	refresh, err := r.AddGrant(t.Context(), root.ID, account.Grant{ID: account.NewGrantID(), ClientID: "app", Key: root.ID, Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	guard := access.NewGuard(access.Options{Keys: r.keys, Accounts: r.Accounts})
	by, err := admit(guard, raw)
	if err != nil {
		t.Fatal(err)
	}
	child, childKey, err := r.keys.CreateFor(t.Context(), by, access.Key{Name: "child"})
	if err != nil || child.Scopes != root.Scopes || child.Parent != root.ID {
		t.Fatalf("%+v, %v", child, err)
	}
	if _, _, err := r.keys.CreateFor(t.Context(), by, access.Key{Scopes: access.AllScopes}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a key with more scopes than its maker: %v", err)
	}
	if p, err := admit(guard, childKey); err != nil || p.ID != root.ID || p.Credential != child.ID {
		t.Fatalf("%+v, %v", p, err)
	}
	if _, err := r.keys.Revoke(t.Context(), root.ID); err != nil {
		t.Fatal(err)
	}
	if err := r.keys.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := admit(guard, childKey); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("the child of a revoked key: %v", err)
	}
	if _, _, ok := r.FindSession(t.Context(), root.ID, s.ID, secret); ok {
		t.Error("the session of a revoked key is open")
	}
	if _, _, _, err := r.RotateGrant(t.Context(), refresh, "app"); err == nil {
		t.Error("an application goes on after the key was revoked")
	}
}

// A person who is no longer an operator does not become one again by signing in with a
// key on a replica that has not heard of it yet.
func TestKeyDoesNotRestoreTheProfile(t *testing.T) {
	r := replicas(t, 2)
	operator := profile
	operator.Operator = true
	r[0].signIn(t, operator, account.Session{})
	key, _, err := r[0].keys.CreateFor(t.Context(), access.Principal{ID: ana, Plan: "pro", Scope: access.AllScopes}, access.Key{Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r[1].keys.Refresh(t.Context()), r[1].Refresh(t.Context())); err != nil {
		t.Fatal(err)
	}
	old, _ := r[1].Account(ana)
	r[0].signIn(t, profile, account.Session{})
	r[1].signIn(t, old, account.Session{Key: key.ID})
	if now := mustAccount(t, r[1]); now.Operator || len(now.Sessions) != 3 {
		t.Errorf("operator: %v, sessions: %d", now.Operator, len(now.Sessions))
	}
}

// A person whose provider is no longer in the configuration has no access.
func TestProviderRemoved(t *testing.T) {
	r := replicas(t, 1)[0]
	gone := profile
	gone.ID, gone.Provider = "https://old.example#ana", "old"
	if _, _, err := r.SignIn(t.Context(), gone, account.Session{}); fault.KindOf(err) != fault.Forbidden {
		t.Error(err)
	}
}

// failing is a store that hangs when it is written to, or that fails when it is read.
type failing struct {
	store.Store
	hangs, unread *atomic.Bool
}

func (f failing) PutRecords(ctx context.Context, lease *store.Lease, records ...store.Record) ([]store.Record, error) {
	if f.hangs.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return f.Store.PutRecords(ctx, lease, records...)
}

func (f failing) RecordsSince(ctx context.Context, kind string, revision int64) ([]store.Record, error) {
	if f.unread.Load() {
		return nil, errors.New("down")
	}
	return f.Store.RecordsSince(ctx, kind, revision)
}

// A request does not wait for a store that hangs, and what was written is not reported
// as a failure.
func TestStoreFails(t *testing.T) {
	r := replicas(t, 1)[0]
	db := failing{r.db, new(atomic.Bool), new(atomic.Bool)}
	accounts := account.New(account.Options{Store: db, Key: r.keys.State, Audit: r.audit, Configured: func(string, string) bool { return true }})
	if _, _, err := accounts.SignIn(t.Context(), profile, account.Session{}); err != nil {
		t.Fatal(err)
	}
	db.hangs.Store(true)
	synctest.Test(t, func(t *testing.T) {
		if err := accounts.EndSessions(t.Context(), ana); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("while the store hangs: %v", err)
		}
	})
	db.hangs.Store(false)
	db.unread.Store(true)
	if err := accounts.EndSessions(t.Context(), ana); err != nil || r.audited("session.all_ended") != 1 {
		t.Errorf("%v, audited %d times", err, r.audited("session.all_ended"))
	}
	db.unread.Store(false)
	if err := accounts.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if one, _ := accounts.Account(ana); len(one.Sessions) != 0 {
		t.Error("the session is open")
	}
}

// The keys of a person have the plan that the person has now.
func TestPlanOfKeys(t *testing.T) {
	r := replicas(t, 1)[0]
	better := profile
	better.Plan = "enterprise"
	r.signIn(t, better, account.Session{})
	key, raw, err := r.keys.CreateFor(t.Context(), access.Principal{ID: ana, Plan: "enterprise", Scope: access.AllScopes}, access.Key{Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	r.signIn(t, profile, account.Session{})
	p, err := admit(access.NewGuard(access.Options{BaseURL: "https://pregon.example", Keys: r.keys, Accounts: r.Accounts}), raw)
	if err != nil || p.Plan != "pro" {
		t.Errorf("the plan is %s (%v)", p.Plan, err)
	}
	if state, _ := r.keys.State(key.ID); state.Plan != "pro" {
		t.Errorf("the plan of a session with the key is %s", state.Plan)
	}
}
