package account_test

import (
	"context"
	"sync"
	"testing"

	"pregon/internal/auth/account"
	"pregon/internal/store"
)

// A deleted account ends everywhere, and a person who signs in again gets a new one.
func TestDelete(t *testing.T) {
	rs := replicas(t, 2)
	one, raw := rs[0].signIn(t, profile, account.Session{})
	if !rs[1].open(t, one, raw) {
		t.Fatal("the session is not known")
	}
	first, _ := rs[0].Account(ana)
	if err := rs[1].Delete(t.Context(), ana); err != nil {
		t.Fatal(err)
	}
	if err := rs[0].Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, r := range rs {
		if _, known := r.Account(ana); known || r.open(t, one, raw) {
			t.Errorf("replica %d still has the account", i)
		}
		if r.audited("account.unreadable") > 0 {
			t.Errorf("replica %d cannot read the deletion", i)
		}
	}
	if rs[1].audited("account.deleted") != 1 {
		t.Error("the deletion is not audited")
	}
	if err := rs[0].Delete(t.Context(), ana); err != nil { // it may be repeated
		t.Error(err)
	}
	two, other := rs[0].signIn(t, profile, account.Session{})
	if !rs[1].open(t, two, other) || rs[1].open(t, one, raw) {
		t.Error("the new account has not exactly the new session")
	}
	if second, _ := rs[0].Account(ana); len(second.Sessions) != 1 || second.CreatedAt.Before(first.CreatedAt) {
		t.Errorf("%+v", second)
	}
	fresh := account.New(account.Options{Store: rs[0].db, Configured: func(string, string) bool { return true }})
	if all, err := fresh.All(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%d accounts, %v", len(all), err)
	}
}

// A deletion at the same time as other changes of the account wins in the end.
func TestDeleteWhileChanging(t *testing.T) {
	rs := replicas(t, 2)
	rs[0].signIn(t, profile, account.Session{})
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() { _ = rs[0].EndSessions(t.Context(), ana) }) // there may be no account any more
	}
	group.Go(func() {
		if err := rs[1].Delete(t.Context(), ana); err != nil {
			t.Error(err)
		}
	})
	group.Wait()
	for _, r := range rs {
		if err := r.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
		if _, known := r.Account(ana); known {
			t.Error("the account is back")
		}
	}
}

// lostWrites is a store that does not remove records.
type lostWrites struct{ store.Store }

func (lostWrites) PutRecords(context.Context, *store.Lease, ...store.Record) ([]store.Record, error) {
	return nil, context.DeadlineExceeded
}

// A deletion that the store did not write is not claimed.
func TestDeleteFails(t *testing.T) {
	rs := replicas(t, 1)
	rs[0].signIn(t, profile, account.Session{})
	failing := account.New(account.Options{Store: lostWrites{rs[0].db}, Configured: func(string, string) bool { return true }})
	if err := failing.Delete(t.Context(), ana); err == nil {
		t.Error("no error")
	}
	if _, known := failing.Account(ana); !known {
		t.Error("the account is gone")
	}
}
