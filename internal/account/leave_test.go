package account_test

import (
	"database/sql"
	"encoding/json"
	"strings"
	"testing"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/fault"
)

// full gives an account something of each kind.
func (w world) full(by access.Principal) {
	w.t.Helper()
	w.make(by, "key")
	w.Grant(by.ID, "Desk")
	name, address := "list", "http://127.0.0.1:1/hook"
	if _, err := w.Account.CreateWatchlist(w.t.Context(), by, account.WatchlistDraft{Name: &name}); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.Account.CreateWebhook(w.t.Context(), by, account.WebhookDraft{URL: &address}); err != nil {
		w.t.Fatal(err)
	}
}

// count returns how much an account has.
func (w world) count(by access.Principal) int {
	w.t.Helper()
	found, err := w.Account.Export(w.t.Context(), by)
	if err != nil {
		w.t.Fatal(err)
	}
	n := len(found.Sessions) + len(found.Apps) + len(found.Webhooks) + len(found.Watchlists)
	for _, k := range found.Keys {
		if k.State == "active" {
			n++
		}
	}
	return n
}

// A deletion that the store interrupts at any step leaves the person access, and can be
// repeated.
func TestDeletionIsInterrupted(t *testing.T) {
	for _, kind := range []string{"watchlist", "webhook", "key", "account"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			ana, luis := w.person("ana", false), w.person("luis", false)
			w.full(ana)
			w.full(luis)
			db, err := sql.Open("sqlite", w.Path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), "CREATE TRIGGER broken BEFORE UPDATE ON record WHEN NEW.kind = '"+kind+
				"' BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"); err != nil {
				t.Fatal(err)
			}
			confirmed := account.Deletion{Confirm: ana.ID}
			if err := w.Account.DeleteAccount(t.Context(), ana, confirmed); err == nil {
				t.Fatal("a deletion that the store did not write succeeded")
			}
			if one, known := w.Auth.Accounts.Live(ana.ID); !known || len(one.Sessions) != 1 {
				t.Errorf("%+v, %v: the person is signed out", one.Sessions, known)
			}
			if _, err := db.ExecContext(t.Context(), "DROP TRIGGER broken"); err != nil {
				t.Fatal(err)
			}
			if err := w.Account.DeleteAccount(t.Context(), ana, confirmed); err != nil {
				t.Fatal(err)
			}
			if _, known := w.Auth.Accounts.Account(ana.ID); known || w.count(ana) != 0 {
				t.Errorf("%d things are left", w.count(ana))
			}
			if n := w.count(luis); n != 5 {
				t.Errorf("another account has %d things, want 5", n)
			}
		})
	}
}

// A request that was admitted before its account was deleted leaves nothing behind.
func TestRequestsAfterDeletion(t *testing.T) {
	w := start(t)
	ana := w.person("ana", false)
	sender, _ := w.make(ana, "sender")
	if err := w.Account.DeleteAccount(t.Context(), ana, account.Deletion{Confirm: ana.ID}); err != nil {
		t.Fatal(err)
	}
	name, url, kind, to := "list", "http://127.0.0.1:1/hook", "email", "ana@example.com"
	for what, by := range map[string]access.Principal{"the session": ana, "the key": sender} {
		_, err := w.Account.CreateWatchlist(t.Context(), by, account.WatchlistDraft{Name: &name})
		w.is(err, fault.Conflict, "a list of "+what)
		_, err = w.Account.CreateWebhook(t.Context(), by, account.WebhookDraft{URL: &url})
		w.is(err, fault.Conflict, "a webhook of "+what)
		_, err = w.Account.CreateChannel(t.Context(), by, account.ChannelDraft{Kind: &kind, To: &to})
		w.is(err, fault.Conflict, "a channel of "+what)
	}
	found, err := w.Account.Export(t.Context(), ana)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(found.Watchlists) + len(found.Webhooks) + len(found.Channels); n != 0 {
		t.Errorf("%d things are left", n)
	}
}

// A file with everything of an account has no secret with which others read its lists.
func TestExportHasNoLinks(t *testing.T) {
	w := start(t)
	ana := w.person("ana", false)
	w.full(ana)
	lists, err := w.Account.ListWatchlists(t.Context(), ana)
	if err != nil {
		t.Fatal(err)
	}
	id := lists.Data[0].ID
	if _, err := w.Account.ShareWatchlist(t.Context(), ana, id); err != nil {
		t.Fatal(err)
	}
	linked, err := w.Account.RenewWatchlistFeed(t.Context(), ana, id)
	if err != nil {
		t.Fatal(err)
	}
	found, err := w.Account.Export(t.Context(), ana)
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"link": linked.Share.Secret, "private address": linked.Feed.Secret} {
		if strings.Contains(string(file), text) {
			t.Errorf("the file has the %s of a list", what)
		}
	}
	if !strings.Contains(string(file), id) {
		t.Error("the file does not have the list")
	}
}

// An application of a person reads lists, but does not see their links.
func TestLinksAreNotForApplications(t *testing.T) {
	w := start(t)
	ana := w.person("ana", false)
	w.full(ana)
	lists, err := w.Account.ListWatchlists(t.Context(), ana)
	if err != nil {
		t.Fatal(err)
	}
	id := lists.Data[0].ID
	for _, link := range []func() (account.Watchlist, error){
		func() (account.Watchlist, error) { return w.Account.ShareWatchlist(t.Context(), ana, id) },
		func() (account.Watchlist, error) { return w.Account.RenewWatchlistFeed(t.Context(), ana, id) },
	} {
		if _, err := link(); err != nil {
			t.Fatal(err)
		}
	}
	application := access.Principal{ID: ana.ID, Mode: access.ByToken, Credential: "grant_1", Scope: access.ReadReports}
	for by, want := range map[*access.Principal]bool{&ana: true, &application: false} {
		found, err := w.Account.Watchlist(t.Context(), *by, id)
		if err != nil || (found.Share != nil) != want || (found.Feed != nil) != want {
			t.Errorf("%+v, %v: links %v", found, err, want)
		}
	}
	// The list of a key stays when the key ends.
	sender, key := w.make(ana, "sender")
	name := "of the key"
	made, err := w.Account.CreateWatchlist(t.Context(), sender, account.WatchlistDraft{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Account.Watchlist(t.Context(), sender, id); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v: the key sees a list of the account", err)
	}
	if err := w.Account.RevokeKey(t.Context(), ana, key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Account.Watchlist(t.Context(), ana, made.ID); err != nil {
		t.Errorf("%v: the list of a key ended with it", err)
	}
}
