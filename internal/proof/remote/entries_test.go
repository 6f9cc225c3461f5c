package remote_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/proof"
	"pregon/internal/proof/prooftest"
	"pregon/internal/proof/remote"
)

func TestEntries(t *testing.T) {
	s := prooftest.New(t, 300)
	s.Add([]byte(strings.Replace(string(prooftest.Change(301, "")), "ip-", strings.Repeat("x", proof.MaxEntry), 1))) // too long for a bundle
	s.Grow(700, "")
	c := newClient(t, s)
	c.check.Entries = true
	if result := c.ok(); result.Entries != 700 {
		t.Errorf("%d entries were read", result.Entries)
	}
	if !slices.ContainsFunc(s.Paths, func(path string) bool { return strings.HasSuffix(path, "changes/301/proof") }) {
		t.Error("the entry that is too long for a bundle was not read")
	}
	s.Grow(800, "")
	if result := c.ok(); result.Entries != 100 {
		t.Errorf("%d entries were read again, want the new ones", result.Entries)
	}
	c.restart()
	c.check.Entries = true
	if result := c.ok(); result.Entries != 800 {
		t.Errorf("%d entries were read by a new process", result.Entries)
	}
}

// TestWrongEntries: the tree is right, but the changes are not those that it was made
// of. Each is named.
func TestWrongEntries(t *testing.T) {
	for name, test := range map[string]struct {
		tamper func(l [][]byte) [][]byte
		text   string
	}{
		"one byte":  {func(l [][]byte) [][]byte { l[299] = prooftest.Change(300, "x"); return l }, "not the one that was signed"},
		"dropped":   {func(l [][]byte) [][]byte { return append(slices.Delete(l, 299, 300), prooftest.Change(601, "")) }, "has the change 301"},
		"reordered": {func(l [][]byte) [][]byte { l[299], l[300] = l[300], l[299]; return l }, "has the change 301"},
		"no change": {func(l [][]byte) [][]byte { l[299] = []byte("{}"); return l }, "not the one that was signed"},
	} {
		s := prooftest.New(t, 600)
		c := newClient(t, s)
		c.ok()
		s.Entries = test.tamper(slices.Clone(s.Leaves))
		c.check.Entries = true
		if m := c.wrong(remote.Entry); m.First != 300 || m.Last != 300 || !strings.Contains(m.Error(), test.text) {
			t.Errorf("%s: %v", name, m)
		}
	}
}

// TestLeavesThatAreNoChanges: a log that signed something else in the place of a
// change.
func TestLeavesThatAreNoChanges(t *testing.T) {
	for name, leaf := range map[string][]byte{"text": []byte("text"), "another change": prooftest.Change(7, "")} {
		s := prooftest.New(t, 299)
		s.Add(leaf)
		s.Grow(400, "")
		c := newClient(t, s)
		c.check.Entries = true
		if m := c.wrong(remote.Entry); m.First != 300 {
			t.Errorf("%s: %v", name, m)
		}
	}
}

func TestBrokenBundles(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"short": func(text string) string { return text[:100] },
		"long":  func(text string) string { return text + "x" },
		"none":  func(string) string { return "" },
	} {
		s := prooftest.New(t, 300)
		answer("/log/tile/entries/001.p/44", change)(s)
		c := newClient(t, s)
		c.check.Entries = true
		if m := c.wrong(remote.Tiles); !strings.Contains(m.Error(), "tile/entries/001.p/44") {
			t.Errorf("%s: %v", name, m)
		}
	}
}

func TestEntriesNeedAKey(t *testing.T) {
	s := prooftest.New(t, 3)
	c := newClient(t, s)
	c.check.Entries = true
	s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "entries") {
			return false
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"detail":"A key is needed."}`))
		return true
	}
	_, err := c.check.Check(t.Context())
	if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "A key is needed.") || !strings.Contains(err.Error(), "PREGON_KEY") {
		t.Errorf("the error is %v", err)
	}
}
