package delivery_test

import (
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// keyed is an account with two keys, whose channel was made with the first.
type keyed struct {
	*process
	keys          *access.Keyring
	child         access.Key
	whole, byKey  access.Reach
	channelOfRoot alert.Channel
}

// keyed starts a process and makes keys. The second key may do what scope says.
func (w *world) keyed(t *testing.T, box *postbox, scope access.Scope) *keyed {
	t.Helper()
	k := &keyed{process: w.process(t, box, nil)}
	k.keys = access.NewKeyring(k.db, nil)
	w.keys.Store(k.keys)
	root, _, err := k.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	with := func(key access.Key) access.Principal {
		return access.Principal{
			ID:         key.Account(),
			Mode:       access.ByKey,
			Scope:      key.Scopes,
			Credential: key.ID,
			Key:        key.ID,
			Plan:       key.Plan,
		}
	}
	if k.child, _, err = k.keys.CreateFor(t.Context(), with(root), access.Key{Scopes: scope}); err != nil {
		t.Fatal(err)
	}
	k.whole = k.keys.Reach(with(root))
	k.byKey = k.keys.Reach(with(k.child))
	k.channelOfRoot = k.channel(t, k.whole, "ana@example.com")
	return k
}

// alertWithKey makes an alert with the second key, on a channel of it.
func (k *keyed) alertWithKey(t *testing.T, change func(*subscription.AlertDraft)) (id string) {
	t.Helper()
	return k.alert(t, k.byKey, k.channel(t, k.byKey, "bob@example.com").ID, alert.AtOnce, change)
}

// alertWithKeyOn makes an alert for all reports with the second key, on a channel of it.
func (k *keyed) alertWithKeyOn(t *testing.T, address string) {
	t.Helper()
	k.alert(t, k.byKey, k.channel(t, k.byKey, address).ID, alert.AtOnce, nil)
}

// move lets an alert use the channel of the first key, which outlasts the second one.
func (k *keyed) move(t *testing.T, id string) {
	t.Helper()
	_, err := k.alerts.ChangeAlert(t.Context(), k.whole, id, func(d *subscription.AlertDraft) error {
		d.Channel = k.channelOfRoot.ID
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (k *keyed) revoke(t *testing.T) {
	t.Helper()
	if _, err := k.keys.Revoke(t.Context(), k.child.ID); err != nil {
		t.Fatal(err)
	}
}

// An alert ends with the key with which it was made, also on a channel that stays: for what
// waits, and for what comes.
func TestRevokedKeyOfAnAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.keyed(t, box, access.AllScopes)
		id := p.alertWithKey(t, func(d *subscription.AlertDraft) { d.Rhythm = alert.Grouped })
		p.move(t, id)
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(6 * time.Minute)
		box.check(t, "", "Report 1")
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(time.Minute)
		p.revoke(t)
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(10 * time.Minute)
		box.check(t, "", "Report 1")
		if got := p.Stats(); got.Dropped != 1 {
			t.Errorf("got %+v, want one that was dropped, and none made after the end of the key", got)
		}
	})
}

// An alert tells only what its key may read.
func TestScopeOfTheKeyOfAnAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.keyed(t, box, access.ReadReports)
		filter := func(d *subscription.AlertDraft) { d.Filter = disclosure.Filter{MinPercent: "0.5"} }
		p.alert(t, p.whole, p.channelOfRoot.ID, alert.AtOnce, filter)
		p.alertWithKey(t, filter)
		p.alertWithKeyOn(t, "reports@example.com")
		short := querytest.Short(querytest.ISIN, "Alfa LLP", "2026-02-02", "0.6", disclosure.StateCurrent, 1)
		if _, err := p.db.Append(t.Context(), store.Batch{Positions: []disclosure.Position{short}}); err != nil {
			t.Fatal(err)
		}
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(time.Minute)
		if got := box.letters("ana@example.com"); len(got) != 1 {
			t.Errorf("the first key got %v, want the position", got)
		}
		box.check(t, "bob@example.com")
		box.check(t, "reports@example.com", "Report 1")
	})
}

// While the keys are not known as they are now, nothing is sent that was selected with one:
// it waits.
func TestKeysOfAlertsThatAreNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.keyed(t, box, access.AllScopes)
		p.alert(t, p.whole, p.channel(t, p.whole, "eva@example.com").ID, alert.AtOnce, nil)
		p.move(t, p.alertWithKey(t, nil))
		p.alertWithKeyOn(t, "reports@example.com")
		w.behind.Store(true)
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(time.Minute)
		box.check(t, "eva@example.com", "Report 1")
		box.check(t, "ana@example.com")
		box.check(t, "reports@example.com")
		w.behind.Store(false)
		time.Sleep(10 * time.Minute)
		box.check(t, "ana@example.com", "Report 1")
		box.check(t, "reports@example.com", "Report 1")
		if got := p.Stats(); got.Dropped != 0 {
			t.Errorf("got %+v, want none that was dropped", got)
		}
	})
}
