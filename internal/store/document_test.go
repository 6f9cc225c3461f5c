package store_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// TestChangedDocuments: only changes of a document count, and of two changes of a
// report the last.
func TestChangedDocuments(t *testing.T) {
	a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
	change := func(id string, status disclosure.DocumentStatus, hash string, changed ...string) disclosure.Change {
		r := disclosure.Report{ID: id, Document: disclosure.Document{Status: status, SHA256: hash}}
		return disclosure.Change{Changed: changed, Report: &r}
	}
	const ready, failed = disclosure.DocumentReady, disclosure.DocumentFailed
	got := store.ChangedDocuments([]disclosure.Change{
		{Issuer: &disclosure.Issuer{ID: "issuer"}, Changed: []string{"document"}},
		change("new", ready, a),
		change("new without", "", ""),
		change("new and failed", failed, a),
		change("changed", ready, b, "title", "document"),
		change("otherwise changed", ready, a, "title"),
		change("lost", failed, a, "document"),
		change("odd", ready, "x", "document"),
		change("twice", ready, a),
		change("twice", ready, b, "document"),
		change("back", failed, "", "document"),
		change("back", ready, a, "document"),
		change("gone", ready, a),
		change("gone", failed, a, "document"),
	})
	want := map[string]string{"new": a, "changed": b, "lost": "", "odd": "", "twice": b, "back": a, "gone": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestClean: the caller's document is not modified.
func TestClean(t *testing.T) {
	d := store.Document{SHA256: strings.Repeat("a", 64), Head: "\x00", Pages: []string{"a\xff"}}
	want := d
	want.Head, want.Pages = "\uFFFD", []string{"a\uFFFD"}
	got, err := d.Clean()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d.Pages[0] != "a\xff" {
		t.Errorf("Clean modified the caller's document: %+v", d)
	}
	d.SHA256 = "x"
	if _, err := d.Clean(); fault.KindOf(err) != fault.Invalid {
		t.Errorf("Clean with a wrong hash = %v, want Invalid", err)
	}
}
