package access_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// made makes a key for a caller.
func made(t *testing.T, keys *access.Keyring, by access.Principal) access.Key {
	t.Helper()
	k, _, err := keys.CreateFor(t.Context(), by, access.Key{})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// sender is the caller that sends a key.
func sender(k access.Key) access.Principal {
	return access.Principal{ID: k.Account(), Mode: access.ByKey, Scope: k.Scopes, Key: k.ID, Plan: k.Plan}
}

func TestReach(t *testing.T) {
	keys, other, _ := replicas(t)
	root, _, err := keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	child, sibling := made(t, keys, sender(root)), made(t, keys, sender(root))
	grandchild := made(t, keys, sender(child))
	ana := access.Principal{ID: "https://idp.example#ana", Mode: access.BySession, Scope: access.AllScopes, Plan: "pro"}
	ofAna := made(t, keys, ana)
	belowAna := made(t, keys, sender(ofAna))
	session := func(p access.Principal) access.Principal { p.Mode = access.BySession; return p }
	type thing struct{ account, maker string }
	all := map[string]thing{
		"of root":       {root.ID, ""},
		"of root's key": {root.ID, root.ID}, // the key itself
		"of child":      {root.ID, child.ID},
		"of sibling":    {root.ID, sibling.ID},
		"of grandchild": {root.ID, grandchild.ID},
		"of a lost key": {root.ID, "key_lost"},
		"of ana":        {ana.ID, ""},
		"of ana's key":  {ana.ID, ofAna.ID},
		"below it":      {ana.ID, belowAna.ID},
		"of nobody":     {"", ""},
	}
	for name, c := range map[string]struct {
		by    access.Principal
		has   string // names of things
		maker string
	}{
		"root":            {sender(root), "of root, of root's key, of child, of sibling, of grandchild, of a lost key", ""},
		"root's session":  {session(sender(root)), "of root, of root's key, of child, of sibling, of grandchild, of a lost key", ""},
		"child":           {sender(child), "of child, of grandchild", child.ID},
		"child's session": {session(sender(child)), "of child, of grandchild", child.ID},
		"sibling":         {sender(sibling), "of sibling", sibling.ID},
		"grandchild":      {sender(grandchild), "of grandchild", grandchild.ID},
		"ana":             {ana, "of ana, of ana's key, below it", ""},
		"ana's key":       {sender(ofAna), "of ana's key, below it", ofAna.ID},
		"below it":        {sender(belowAna), "below it", belowAna.ID},
		"a subject":       {access.Principal{ID: ana.ID, Mode: access.ByToken}, "of ana, of ana's key, below it", ""},
		"nobody":          {access.Principal{}, "", ""},
	} {
		reach := keys.Reach(c.by)
		if reach.Account() != c.by.ID || reach.Maker() != c.maker || c.by.Whole() != (c.maker == "") {
			t.Errorf("%s: the account %q and the maker %q, whole %t", name, reach.Account(), reach.Maker(), c.by.Whole())
		}
		err := c.by.CheckWhole("Sessions")
		if (err == nil) != (c.maker == "") || err != nil && (fault.KindOf(err) != fault.Forbidden || !strings.Contains(err.Error(), "sign in")) {
			t.Errorf("%s: CheckWhole returns %v", name, err)
		}
		for what, is := range all {
			want := c.has != "" && strings.Contains(", "+c.has+",", ", "+what+",")
			if got := reach.Has(is.account, is.maker); got != want {
				t.Errorf("%s has what is %s: %t, want %t", name, what, got, want)
			}
		}
	}

	// Revoking a key in the middle changes nothing about who may see what: the owner
	// still does, and the callers below are refused before.
	if _, err := keys.Revoke(t.Context(), child.ID); err != nil {
		t.Fatal(err)
	}
	if !keys.Reach(sender(root)).Has(root.ID, grandchild.ID) || keys.Reach(sender(sibling)).Has(root.ID, grandchild.ID) {
		t.Error("a revoked key in the middle changes the reach")
	}
	// A process that has not read the keys reveals nothing.
	if other.Reach(sender(child)).Has(root.ID, grandchild.ID) {
		t.Error("an unknown key is below another")
	}
}

// Keys that are damaged so that each is above the other end no search.
func TestReachEnds(t *testing.T) {
	path := t.TempDir() + "/pregon.db"
	db := openStore(t, path)
	keys := access.NewKeyring(db, nil)
	for id, parent := range map[string]string{"key_a": "key_b", "key_b": "key_a", "key_c": "key_c"} {
		body, err := json.Marshal(access.Key{ID: id, AccountID: "key_root", Parent: parent})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.PutRecord(t.Context(), db, store.Record{Kind: "key", ID: id, Body: string(body)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := keys.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	reach := keys.Reach(access.Principal{ID: "key_root", Key: "key_x"})
	if reach.Has("key_root", "key_a") || reach.Has("key_root", "key_c") {
		t.Error("a key sees others")
	}
}

// The state of a key says since when it, or one above it, is not valid.
func TestStateSince(t *testing.T) {
	keys, _, _ := replicas(t)
	root, _, err := keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	child := made(t, keys, sender(root))
	grandchild := made(t, keys, sender(child))
	if state, _ := keys.State(grandchild.ID); state.Gone != "" || !state.Since.IsZero() {
		t.Errorf("%+v", state)
	}
	revoked, err := keys.Revoke(t.Context(), child.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []access.Key{child, grandchild} {
		if state, known := keys.State(k.ID); !known || state.Gone == "" || !state.Since.Equal(revoked.RevokedAt) {
			t.Errorf("%+v", state)
		}
	}
}
