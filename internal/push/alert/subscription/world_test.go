package subscription_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/alerttest"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// world is a registry on a store.
type world struct {
	*subscription.Registry
	store   store.Store
	senders *alerttest.Senders
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return worldOn(t, db)
}

// worldOn returns another process on a store.
func worldOn(t *testing.T, db store.Store) *world {
	t.Helper()
	w := &world{store: db}
	w.Registry, w.senders = alerttest.New(t, db)
	return w
}

var ana = access.WholeAccount("https://id.example.com#ana")

func email(address string) subscription.ChannelDraft {
	return subscription.ChannelDraft{
		Kind:     alert.Email,
		Address:  address,
		Language: "en",
	}
}

// channel makes a channel for e-mails.
func (w *world) channel(t *testing.T, by access.Reach, address string) *subscription.Channel {
	t.Helper()
	c, _, err := w.CreateChannel(t.Context(), by, email(address))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// confirmed makes a channel for e-mails and confirms it.
func (w *world) confirmed(t *testing.T, by access.Reach, address string) alert.Channel {
	t.Helper()
	w.channel(t, by, address)
	c, err := w.Confirm(t.Context(), w.senders.Code(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func draft(channel string) subscription.AlertDraft {
	return subscription.AlertDraft{
		Channel: channel,
		Filter:  disclosure.Filter{Search: "dividendo"},
		Rhythm:  alert.AtOnce,
		Enabled: true,
	}
}

func wantKind(t *testing.T, err error, want fault.Kind) {
	t.Helper()
	if got := fault.KindOf(err); err == nil || got != want {
		t.Fatalf("got %v (%v), want an error of kind %v", err, got, want)
	}
}

var errDown = errors.New("the mail server does not answer")

func address(n int) string { return fmt.Sprintf("reader%d@example.com", n) }
