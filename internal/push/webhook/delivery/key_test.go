package delivery_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/webhook"
	"pregon/internal/store"
	"pregon/internal/store/clone"
	"pregon/internal/test/longtest"
)

// replica is a process with its own copy of the keys.
type replica struct {
	*process
	keys *access.Keyring
}

// replica starts a process that delivers and follows the keys.
func (w *world) replica(t testing.TB) *replica {
	t.Helper()
	p := &replica{}
	p.process = w.idle(t, quick, func(o *webhook.Options) {
		p.keys = access.NewKeyring(o.Store.(store.Store), nil)
		o.Keys = p.keys
	})
	background(t, p.keys.Follow)
	p.run(t)
	return p
}

// family are keys of one account: the first, two made with it, one made with one of
// these, and one made with that.
type family struct {
	root, child, sibling, grandchild, last access.Key
}

func newFamily(t testing.TB, keys *access.Keyring) family {
	t.Helper()
	root, _, err := keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	below := func(above access.Key) access.Key {
		t.Helper()
		k, _, err := keys.CreateFor(t.Context(), callerWith(above), access.Key{})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	f := family{root: root, child: below(root), sibling: below(root)}
	f.grandchild = below(f.child)
	f.last = below(f.grandchild)
	return f
}

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

// make makes a webhook with a key.
func (p *replica) make(t testing.TB, k access.Key, r *receiver) webhook.Webhook {
	t.Helper()
	h, _, err := p.Create(t.Context(), p.keys.Reach(callerWith(k)), webhook.Draft{URL: r.url, Enabled: true})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// paused returns why a webhook is paused.
func (p *replica) paused(t testing.TB, f family, id string) string {
	t.Helper()
	h, _, err := p.Get(t.Context(), access.WholeAccount(f.root.ID), id)
	if err != nil {
		t.Fatal(err)
	}
	return p.PausedReason(&h)
}

// A key sees and changes what it and the keys below it made. What it does not see is
// answered as if it did not exist, by every operation.
func TestReachOfKeys(t *testing.T) {
	w := newWorld(t)
	p, r := w.replica(t), newReceiver(t, ok)
	f := newFamily(t, p.keys)
	all := []access.Key{f.root, f.child, f.sibling, f.grandchild, f.last}
	made := map[string]webhook.Webhook{}
	for _, k := range all {
		made[k.ID] = p.make(t, k, r)
	}
	sees := map[string][]access.Key{
		f.root.ID:       all,
		f.child.ID:      {f.child, f.grandchild, f.last},
		f.sibling.ID:    {f.sibling},
		f.grandchild.ID: {f.grandchild, f.last},
		f.last.ID:       {f.last},
	}
	for _, by := range all {
		session := callerWith(by) // a session that was opened with the key has the same reach
		session.Mode, session.Credential = access.BySession, "ses_x"
		for _, caller := range []access.Principal{callerWith(by), session} {
			reach := p.keys.Reach(caller)
			var want, got []string
			for _, k := range sees[by.ID] {
				want = append(want, made[k.ID].ID)
			}
			list, err := p.List(t.Context(), reach)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range list {
				got = append(got, h.ID)
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s sees %v, want %v", by.ID, got, want)
			}
			for _, k := range all {
				if slices.ContainsFunc(sees[by.ID], func(s access.Key) bool { return s.ID == k.ID }) {
					if _, _, err := p.Get(t.Context(), reach, made[k.ID].ID); err != nil {
						t.Error(err)
					}
					continue
				}
				unknown := "wh_0000000000000000"
				for name, do := range p.operations(t.Context(), reach, made[k.ID].ID) {
					err, like := do(), p.operations(t.Context(), reach, unknown)[name]()
					if fault.KindOf(err) != fault.NotFound || strings.ReplaceAll(err.Error(), made[k.ID].ID, unknown) != like.Error() {
						t.Errorf("%s of what %s made, by %s: %v, and of an unknown webhook %v", name, k.ID, by.ID, err, like)
					}
				}
			}
		}
	}
	if len(r.requests()) != 0 {
		t.Errorf("sent %v", r.ids())
	}
}

// A webhook pauses with the key with which it was made, on all processes, and so does
// one that was made with a key below. Nothing is lost: once adopted, it sends what waited,
// in order. Webhooks of other keys continue.
func TestPausesWithItsKey(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	for name, end := range map[string]func(*testing.T, *access.Keyring, family){
		"revoked": func(t *testing.T, keys *access.Keyring, f family) { revoke(t, keys, f.grandchild) },
		"the key above is revoked": func(t *testing.T, keys *access.Keyring, f family) {
			revoke(t, keys, f.child)
		},
		"expired": func(t *testing.T, keys *access.Keyring, f family) {
			end := time.Now().Add(2 * time.Second).UTC().Truncate(time.Second)
			if _, err := keys.Change(t.Context(), f.grandchild.ID, access.KeyChange{ExpiresAt: &end}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, w *world) { testPause(t, w, end) })
		})
	}
}

func revoke(t testing.TB, keys *access.Keyring, k access.Key) {
	t.Helper()
	if _, err := keys.Revoke(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
}

func testPause(t *testing.T, w *world, end func(*testing.T, *access.Keyring, family)) {
	one, two := w.replica(t), w.replica(t)
	f := newFamily(t, one.keys)
	until(t, "the other process knows the keys", func() bool { return two.keys.Valid(f.last.ID) })
	whole := access.WholeAccount(f.root.ID)
	// The first attempt that begins after the key has ended hangs until it is released.
	var ending atomic.Bool
	began, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	r, kept := newReceiver(t, func(http.ResponseWriter, *http.Request, int) {
		if ending.Load() {
			once.Do(func() { close(began); <-release })
		}
	}), newReceiver(t, ok)
	hook, others := one.make(t, f.grandchild, r), one.make(t, f.sibling, kept)
	w.publish(t, one.db, 20)
	until(t, "both webhooks send", func() bool { return len(r.ids()) == 20 && len(kept.ids()) == 20 })

	// It ends in the middle of deliveries.
	ending.Store(true)
	w.publish(t, one.db, 20)
	<-began
	operator := access.NewKeyring(one.db, nil) // another process
	end(t, operator, f)
	for _, p := range []*replica{one, two} {
		until(t, "a process pauses the webhook", func() bool { return p.paused(t, f, hook.ID) != "" })
		if reason := p.paused(t, f, hook.ID); !strings.Contains(reason, f.grandchild.ID) || !strings.Contains(reason, "adopt") {
			t.Errorf("the reason is %q", reason)
		}
		if reason := p.paused(t, f, others.ID); reason != "" {
			t.Errorf("the webhook of a sibling is paused: %s", reason)
		}
	}
	close(release) // the attempt in progress ends, and no other begins
	last := w.publish(t, two.db, 20)
	until(t, "the other webhook gets everything", func() bool { return len(kept.ids()) == 60 })
	handedOut(t, one.process)
	until(t, "the attempt is settled", func() bool {
		_, e, err := one.Get(t.Context(), whole, hook.ID)
		return err == nil && e.Pending == 39
	})
	if n := len(r.ids()); n != 21 {
		t.Errorf("sent %d after the end of the key, want the one in progress: %v", n-20, r.ids())
	}

	// Keys that are not above it cannot adopt it.
	for _, k := range []access.Key{f.sibling, f.last} {
		if _, err := one.Adopt(t.Context(), one.keys.Reach(callerWith(k)), hook.ID, nil); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s adopts: %v", k.ID, err)
		}
	}
	// Both processes adopt it at the same time.
	var adopting sync.WaitGroup
	for _, p := range []*replica{one, two} {
		adopting.Go(func() {
			if h, err := p.Adopt(t.Context(), whole, hook.ID, nil); err != nil || h.Key != "" || h.Account != f.root.ID {
				t.Errorf("adopted: %+v, %v", h, err)
			}
		})
	}
	adopting.Wait()
	adopted := one.audit.count("webhook.adopted") + two.audit.count("webhook.adopted")
	if _, err := one.Adopt(t.Context(), whole, hook.ID, nil); err != nil { // again, which changes nothing
		t.Error(err)
	}
	if n := one.audit.count("webhook.adopted") + two.audit.count("webhook.adopted"); n == 0 || n != adopted {
		t.Errorf("%d adoptions in the audit, and then %d", adopted, n)
	}
	until(t, "the rest is sent", func() bool {
		_, e, err := one.Get(t.Context(), whole, hook.ID)
		return err == nil && e.Pending == 0
	})
	if got, want := r.ids(), wanted(hook.ID, last-60, last); !slices.Equal(got, want) {
		t.Errorf("sent %v, want %v", got, want)
	}
	if reason := two.paused(t, f, hook.ID); reason != "" {
		t.Errorf("it is still paused: %s", reason)
	}
}

// Rotation keeps the id of a key, so that its webhooks continue.
func TestRotatedKeyKeepsItsWebhooks(t *testing.T) {
	w := newWorld(t)
	p, r := w.replica(t), newReceiver(t, ok)
	f := newFamily(t, p.keys)
	hook := p.make(t, f.child, r)
	if _, _, err := p.keys.Rotate(t.Context(), f.child.ID, 0); err != nil {
		t.Fatal(err)
	}
	w.publish(t, p.db, 1)
	until(t, "it is sent", func() bool { return len(r.ids()) == 1 })
	if got, _, err := p.Get(t.Context(), p.keys.Reach(callerWith(f.child)), hook.ID); err != nil || got.Key != f.child.ID {
		t.Errorf("%+v, %v", got, err)
	}
}

// A key adopts what a key below it made. The webhook then belongs to that key, and
// pauses with it. It must have the address that the caller saw.
func TestAdoptedByAKey(t *testing.T) {
	w := newWorld(t)
	p, r := w.replica(t), newReceiver(t, ok)
	f := newFamily(t, p.keys)
	hook := p.make(t, f.last, r)
	revoke(t, p.keys, f.last)
	if p.paused(t, f, hook.ID) == "" {
		t.Error("it is not paused")
	}
	// The holder of the key changed the address after the one who adopts it saw it.
	seen := hook.URL
	moved, err := p.Update(t.Context(), p.keys.Reach(callerWith(f.child)), hook.ID, func(d *webhook.Draft) error {
		d.URL += "/elsewhere"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{seen, ""} {
		if _, err := p.Adopt(t.Context(), p.keys.Reach(callerWith(f.child)), hook.ID, &address); fault.KindOf(err) != fault.Conflict || p.audit.count("webhook.adopted") != 0 {
			t.Errorf("adopted with the address %q: %v", address, err)
		}
	}
	if p.paused(t, f, hook.ID) == "" {
		t.Error("it is not paused any more")
	}
	got, err := p.Adopt(t.Context(), p.keys.Reach(callerWith(f.child)), hook.ID, &moved.URL)
	if err != nil || got.Key != f.child.ID || p.paused(t, f, hook.ID) != "" {
		t.Errorf("adopted: %+v, %v", got, err)
	}
	if _, _, err := p.Get(t.Context(), p.keys.Reach(callerWith(f.grandchild)), hook.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a key below the new one: %v", err)
	}
	revoke(t, p.keys, f.child)
	if p.paused(t, f, hook.ID) == "" {
		t.Error("it does not pause with its new key")
	}
}

// A webhook from before there was a Key belongs to the account.
func TestRecordsWithoutAKey(t *testing.T) {
	w := newWorld(t)
	p, r := w.replica(t), newReceiver(t, ok)
	f := newFamily(t, p.keys)
	hook := p.make(t, f.child, r)
	records, err := p.db.RecordsSince(t.Context(), "webhook", 0)
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(records[0].Body), &body); err != nil || body["key"] != f.child.ID {
		t.Fatalf("%s, %v", records[0].Body, err)
	}
	delete(body, "key")
	old, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	records[0].Body = string(old)
	if _, err := store.PutRecord(t.Context(), p.db, records[0]); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Get(t.Context(), p.keys.Reach(callerWith(f.child)), hook.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a key sees it: %v", err)
	}
	if got, _, err := p.Get(t.Context(), p.keys.Reach(callerWith(f.root)), hook.ID); err != nil || got.Key != "" {
		t.Errorf("%+v, %v", got, err)
	}
	revoke(t, p.keys, f.child)
	w.publish(t, p.db, 1)
	until(t, "it is sent", func() bool { return len(r.ids()) == 1 })
}

// A copy of a store, to either engine, keeps the keys of webhooks.
func TestCopiesKeepTheKey(t *testing.T) {
	eachStore(t, func(t *testing.T, copied *world) {
		p, r := newWorld(t).replica(t), newReceiver(t, ok)
		f := newFamily(t, p.keys)
		hook := p.make(t, f.child, r)
		revoke(t, p.keys, f.child)
		p.stop()
		target, err := copied.open()
		if err != nil {
			t.Fatal(err)
		}
		defer target.Close()
		_, err = clone.Copy(t.Context(), clone.Options{
			From:       p.db.(clone.Store),
			To:         target.(clone.Store),
			FromSQLite: true,
			ToSQLite:   copied.postgres == "",
			Progress:   func(int, int64, int64) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		q := copied.replica(t)
		until(t, "the keys are read", func() bool { return strings.Contains(q.paused(t, f, hook.ID), "revoked") })
		if got, _, err := q.Get(t.Context(), access.WholeAccount(f.root.ID), hook.ID); err != nil || got.Key != f.child.ID {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// states is a set of keys whose states are given.
type states func(id string) (access.AccountState, bool)

func (s states) State(id string) (access.AccountState, bool) { return s(id) }
func (s states) Behind() time.Duration                       { return 0 }

// stale is a set of valid keys that were last known some time ago.
type stale struct {
	states
	behind *atomic.Int64
}

func (s stale) Behind() time.Duration { return time.Duration(s.behind.Load()) }

// While a process cannot read the keys it does not know which are revoked: nothing is
// sent to webhooks that were made with one. Those of the account continue.
func TestKeysThatAreNotRead(t *testing.T) {
	w := newWorld(t)
	var behind atomic.Int64
	p := w.process(t, quick, func(o *webhook.Options) {
		o.Keys = stale{func(string) (access.AccountState, bool) { return access.AccountState{Scope: access.AllScopes}, true }, &behind}
	})
	keys := access.NewKeyring(p.db, nil)
	f := newFamily(t, keys)
	r, kept := newReceiver(t, ok), newReceiver(t, ok)
	for k, r := range map[*access.Key]*receiver{&f.child: r, &f.root: kept} {
		if _, _, err := p.Create(t.Context(), keys.Reach(callerWith(*k)), webhook.Draft{URL: r.url, Enabled: true}); err != nil {
			t.Fatal(err)
		}
	}
	behind.Store(int64(2 * time.Second))
	w.publish(t, p.db, 3)
	until(t, "the webhook of the account is sent", func() bool { return len(kept.ids()) == 3 })
	if len(r.ids()) != 0 {
		t.Errorf("sent %v", r.ids())
	}
	behind.Store(int64(time.Second))
	until(t, "the other is sent", func() bool { return len(r.ids()) == 3 })
}

// A key that ends at any moment makes no delivery dead: one that was due waits.
func TestKeyEndsBeforeASend(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, func(o *webhook.Options) {
		o.Keys = states(func(string) (access.AccountState, bool) {
			if rand.IntN(2) == 0 {
				return access.AccountState{Gone: "this key was revoked"}, true
			}
			return access.AccountState{Scope: access.AllScopes}, true
		})
	})
	keys := access.NewKeyring(p.db, nil)
	f := newFamily(t, keys)
	r := newReceiver(t, ok)
	hook, _, err := p.Create(t.Context(), keys.Reach(callerWith(f.child)), webhook.Draft{URL: r.url, Enabled: true})
	if err != nil {
		t.Fatal(err)
	}
	last := w.publish(t, p.db, 20)
	until(t, "everything is sent", func() bool {
		_, e, err := p.Get(t.Context(), access.WholeAccount(f.root.ID), hook.ID)
		return err == nil && (e.Pending == 0 && len(r.ids()) >= 20 || e.Dead > 0)
	})
	if got, want := r.ids(), wanted(hook.ID, last-20, last); !slices.Equal(got, want) {
		t.Errorf("sent %v, want %v", got, want)
	}
}

// The rights of the key are checked, with those of the keys above it.
func TestScopeOfTheKey(t *testing.T) {
	w := newWorld(t)
	p, r := w.replica(t), newReceiver(t, ok)
	root, _, err := p.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	child, _, err := p.keys.CreateFor(t.Context(), callerWith(root), access.Key{Scopes: access.ReadIssuers})
	if err != nil {
		t.Fatal(err)
	}
	hook, kept := p.make(t, child, r), newReceiver(t, ok)
	p.make(t, root, kept)
	last := w.publish(t, p.db, 1)
	until(t, "the webhook of the first key is sent", func() bool { return len(kept.ids()) == 1 })
	list := func() []store.Delivered {
		t.Helper()
		all, err := p.Deliveries(t.Context(), access.WholeAccount(root.ID), hook.ID, store.DeliveryQuery{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := list(); len(all) != 0 {
		t.Errorf("what the key may not read is to be delivered: %+v", all)
	}
	// One that is due is given up.
	if err := p.db.Enqueue(t.Context(), store.Delivery{Webhook: hook.ID, Seq: last, Event: "report.published"}); err != nil {
		t.Fatal(err)
	}
	until(t, "it is given up", func() bool { all := list(); return len(all) == 1 && all[0].State == store.DeliveryDead })
	if len(r.ids()) != 0 {
		t.Errorf("sent %v", r.ids())
	}
}

// Deliveries that were due for days while the owner was gone are not sent when it
// returns, nor are those that it may not read.
func TestExpiredDeliveriesAreNotSent(t *testing.T) {
	w := newWorld(t)
	idle, r := w.idle(t, quick, nil), newReceiver(t, ok)
	hook, _ := create(t, idle, r)
	w.publish(t, idle.db, 3)
	var waiting []store.Delivery
	for seq := int64(1); seq <= 3; seq++ {
		waiting = append(waiting, store.Delivery{Webhook: hook.ID, Seq: seq, Event: "report.published"})
	}
	waiting[1].Event = string(disclosure.IssuerUpdated)
	if err := idle.db.Enqueue(t.Context(), waiting...); err != nil {
		t.Fatal(err)
	}
	head, err := idle.db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = idle.db.Settle(t.Context(), store.Result{
		Webhook: hook.ID, Epoch: head.Epoch, Seq: 1, State: store.DeliveryPending, Wait: -5 * 24 * time.Hour, Attempt: store.Attempt{At: time.Now().Add(-5 * 24 * time.Hour)},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := w.process(t, quick, func(o *webhook.Options) {
		o.AccountStatus = func(string) webhook.AccountStatus { return webhook.AccountStatus{Scope: access.ReadReports} }
	})
	got := settled(t, p, hook.ID, 3)
	for i, want := range []string{"due for more than four days", "may not read", ""} {
		last := got[i].History[len(got[i].History)-1]
		if dead := got[i].State == store.DeliveryDead; dead != (want != "") || !strings.Contains(last.Error, want) {
			t.Errorf("change %d is %s: %+v", i+1, got[i].State, last)
		}
	}
	if len(r.requests()) != 1 {
		t.Errorf("sent: %v", r.ids())
	}
}
