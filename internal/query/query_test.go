package query_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/query"
)

// Params collect all errors, also those that a caller adds before reading.
func TestParamsCollectErrors(t *testing.T) {
	p := query.NewParams(nil)
	p.Reject("id", "", "is needed")
	p.SetValues(url.Values{"limit": {"99"}, "type": {"XX"}, "in": {"title"}})
	if p.Valid() {
		t.Error("Valid() = true after Reject, want false")
	}
	p.List(nil)
	e, ok := errors.AsType[*fault.Error](p.Err())
	if !ok || e.Kind != fault.Invalid || len(e.Fields) != 4 {
		t.Fatalf("got %+v, want 4 invalid fields", e)
	}
	for i, want := range []string{"id", "type", "limit", "in"} {
		if e.Fields[i].Name != want || !strings.Contains(e.Message, want) {
			t.Errorf("field %d: got %+v in %q, want %s", i, e.Fields[i], e.Message, want)
		}
	}
	if err := query.NewParams(url.Values{"search": {""}}).Err(); err != nil {
		t.Error(err)
	}
}

// Texts of documents are large: few requests hold one at once, and a canceled
// request stops waiting.
func TestTextSlots(t *testing.T) {
	d := query.New(query.Options{})
	var releases []func()
	for {
		ctx, cancel := context.WithCancel(t.Context())
		if len(releases) == 8 {
			cancel()
		}
		release, err := d.AcquireText(ctx)
		cancel()
		if err != nil {
			break
		}
		if releases = append(releases, release); len(releases) > 8 {
			t.Fatalf("got %d slots, want 8", len(releases))
		}
	}
	releases[0]()
	release, err := d.AcquireText(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
}
