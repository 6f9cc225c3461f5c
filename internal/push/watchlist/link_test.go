package watchlist_test

import (
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/push/watchlist"
)

// nobody is a caller without a credential.
var nobody = access.Principal{Mode: access.Anonymous}

// A shared list is read with the secret of its link until the link ends, in every process.
func TestShare(t *testing.T) {
	w := newWorld(t)
	p := w.process(nil)
	l := p.create(ana, "banks", "fi-1")
	shared, err := p.Share(t.Context(), ana, l.ID)
	if err != nil || !strings.HasPrefix(shared.Share.Secret, watchlist.SharePrefix) {
		t.Fatalf("%+v, %v", shared.Share, err)
	}
	secret := shared.Share.Secret
	again, err := p.Share(t.Context(), ana, l.ID)
	if err != nil || again.Share.Secret != secret {
		t.Errorf("%+v, %v: a list that is shared keeps its link", again.Share, err)
	}
	other := w.process(nil)
	ref, entries, err := other.Resolve(nobody, secret)
	if err != nil || len(entries.Issuers) != 1 || other.Entries(ref) != entries {
		t.Fatalf("%q %+v %v", ref, entries, err)
	}
	if strings.Contains(ref, secret) || strings.Contains(ref, strings.TrimPrefix(secret, "wls_")) {
		t.Errorf("the reference %q has the secret", ref)
	}
	if name, known := other.NameOf(ref); name != "banks" || !known {
		t.Errorf("%q, %v", name, known)
	}
	if _, err := p.EndShare(t.Context(), ana, l.ID); err != nil {
		t.Fatal(err)
	}
	other.refresh()
	for _, p := range []*process{p, other} {
		_, _, err := p.Resolve(nobody, secret)
		wantKind(t, err, fault.NotFound, "was ended")
		if p.Entries(ref) != nil {
			t.Error("a link that ended still selects")
		}
		if p.Entries(l.ID) == nil {
			t.Error("the list itself selects nothing")
		}
	}
	renewed, err := p.Share(t.Context(), ana, l.ID)
	if err != nil || renewed.Share.Secret == secret {
		t.Errorf("%v: the link that ended is back", err)
	}
	if p.Entries(ref) != nil {
		t.Error("the new link revives the earlier one")
	}
	if text := p.audit.String(); strings.Contains(text, secret) || p.audit.count("watchlist.shared") != 2 ||
		p.audit.count("watchlist.share_ended") != 1 {
		t.Error(text)
	}
}

// A new private address ends the one before, and leaves the shared link.
func TestFeed(t *testing.T) {
	p := newWorld(t).process(nil)
	l := p.create(ana, "banks", "fi-1")
	if _, err := p.Share(t.Context(), ana, l.ID); err != nil {
		t.Fatal(err)
	}
	first, err := p.RenewFeed(t.Context(), ana, l.ID)
	if err != nil {
		t.Fatal(err)
	}
	ref, _, err := p.Resolve(nobody, first.Feed.Secret)
	if err != nil || !strings.HasPrefix(first.Feed.Secret, watchlist.FeedPrefix) {
		t.Fatal(err)
	}
	second, err := p.RenewFeed(t.Context(), ana, l.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = p.Resolve(nobody, first.Feed.Secret)
	wantKind(t, err, fault.NotFound, "was ended")
	if p.Entries(ref) != nil {
		t.Error("the earlier address still selects")
	}
	for _, secret := range []string{second.Feed.Secret, second.Share.Secret} {
		if _, entries, err := p.Resolve(nobody, secret); err != nil || len(entries.Issuers) != 1 {
			t.Errorf("%+v, %v", entries, err)
		}
	}
	if _, err := p.EndFeed(t.Context(), ana, l.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = p.Resolve(nobody, second.Feed.Secret)
	wantKind(t, err, fault.NotFound, "was ended")
	if err := p.Delete(t.Context(), ana, l.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = p.Resolve(nobody, second.Share.Secret)
	wantKind(t, err, fault.NotFound, "was ended")
}

// Links that a key made end with it, and those of an account with its access.
func TestLinksOfWhoHasNoAccess(t *testing.T) {
	gone := map[string]bool{}
	p := newWorld(t).process(func(o *watchlist.Options) {
		o.Serves = func(account, key string) bool { return !gone[account] && !gone[key] }
	})
	l := p.create(ana, "banks", "fi-1")
	shared, err := p.Share(t.Context(), ana, l.ID)
	if err != nil {
		t.Fatal(err)
	}
	ref, _, err := p.Resolve(nobody, shared.Share.Secret)
	if err != nil {
		t.Fatal(err)
	}
	gone["key_ana"] = true
	_, _, err = p.Resolve(nobody, shared.Share.Secret)
	wantKind(t, err, fault.NotFound, "was ended")
	if p.Entries(ref) != nil {
		t.Error("the link of a blocked account selects")
	}
	gone["key_ana"] = false
	if _, _, err = p.Resolve(nobody, shared.Share.Secret); err != nil {
		t.Error(err)
	}
}

// What names no list is refused, and not told from what one may not read.
func TestResolve(t *testing.T) {
	p := newWorld(t).process(nil)
	l := p.create(ana, "banks", "fi-1")
	_, _, err := p.Resolve(nobody, l.ID)
	wantKind(t, err, fault.Unauthorized, "with a key or token")
	for value, kind := range map[string]fault.Kind{
		"wl_":                 fault.NotFound,
		"wl_nothing":          fault.NotFound,
		"wls_nothing":         fault.NotFound,
		"wlf_nothing":         fault.NotFound,
		"banks":               fault.Invalid,
		"":                    fault.Invalid,
		l.ID + "~":            fault.NotFound,
		l.ID + "~0000000000a": fault.NotFound,
	} {
		if _, entries, err := p.Resolve(principal("key_ana"), value); fault.KindOf(err) != kind || entries != nil {
			t.Errorf("%q: %+v, %v, want %v", value, entries, err, kind)
		}
	}
	id, entries, err := p.Resolve(principal("key_ana"), l.ID)
	if id != l.ID || err != nil || p.Entries(id) != entries {
		t.Errorf("%q, %+v, %v", id, entries, err)
	}
	for _, id := range []string{"", "~", l.ID + "~", l.ID + "~0", "wl_nothing"} {
		if p.Entries(id) != nil {
			t.Errorf("%q selects", id)
		}
	}
	if name, known := p.NameOf("wl_nothing"); name != "" || known {
		t.Errorf("%q, %v", name, known)
	}
}

// Secrets are sealed in the store. Without the key they work, but are not shown.
func TestSealed(t *testing.T) {
	w := newWorld(t)
	p := w.process(nil)
	l := p.create(ana, "banks", "fi-1")
	shared, err := p.Share(t.Context(), ana, l.ID)
	if err != nil {
		t.Fatal(err)
	}
	records, err := w.db.RecordsSince(t.Context(), "watchlist", 0)
	if err != nil || len(records) != 1 || strings.Contains(records[0].Body, shared.Share.Secret) {
		t.Fatalf("%+v, %v", records, err)
	}
	other := w.process(func(o *watchlist.Options) { o.Sealer = box(t, "another key of forty characters, for this") })
	found, err := other.Find(t.Context(), ana, l.ID)
	if err != nil || found.Share == nil || found.Share.Secret != "" {
		t.Errorf("%+v, %v", found.Share, err)
	}
	if _, _, err := other.Resolve(nobody, shared.Share.Secret); err != nil {
		t.Error(err)
	}
	renewed, err := other.Share(t.Context(), ana, l.ID)
	if err != nil || renewed.Share.Secret == "" || renewed.Share.Secret == shared.Share.Secret {
		t.Errorf("%+v, %v: a link that cannot be shown is replaced", renewed.Share, err)
	}
}
