package tail

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// The conditions of a service hold for a store: on positions, and on what cannot go together.
func TestStoreOfPositions(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, b := range []store.Batch{querytest.Market(), querytest.Positions()} {
		if _, err := db.Append(t.Context(), valid(t, b)); err != nil {
			t.Fatal(err)
		}
	}
	position := []disclosure.Event{disclosure.PositionPublished}
	for _, test := range []struct {
		filter disclosure.Filter
		want   int // lines
	}{
		{disclosure.Filter{}, 12},
		{disclosure.Filter{Positions: disclosure.NewPositionSet(disclosure.Short)}, 4},
		{disclosure.Filter{MinPercent: "1", HeldBy: "imaginaria"}, 2},
		{disclosure.Filter{HeldBy: "elena"}, 0},
		{disclosure.Filter{HeldBy: "elena", Issuer: "bvb"}, 4},
		{disclosure.Filter{Side: disclosure.Sell}, 1},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		lines := &counter{to: &out, stop: cancel, most: test.want}
		if test.want == 0 {
			time.AfterFunc(time.Second/2, cancel)
		}
		p := Printer{Out: lines, Err: io.Discard}
		err := p.Store(ctx, db, events.Selection{Events: position, Filter: test.filter}, "0")
		cancel()
		if !errors.Is(err, context.Canceled) || strings.Count(out.String(), "\n") != test.want {
			t.Errorf("%+v: got %s, %v; want %d lines", test.filter, &out, err, test.want)
		}
	}
	for _, test := range []struct {
		selection events.Selection
		want      string
	}{
		{events.Selection{Filter: disclosure.Filter{Side: disclosure.Buy}}, "must have an event of positions"},
		{events.Selection{Events: position, Filter: disclosure.Filter{Type: disclosure.IP}}, "must have an event of reports"},
		{events.Selection{Events: position, Filter: disclosure.Filter{Side: "gift"}}, "must be buy, sell or other"},
		{events.Selection{Events: position, Filter: disclosure.Filter{MinPercent: "x"}}, "must be a percentage"},
	} {
		p := Printer{Out: io.Discard, Err: io.Discard}
		err := p.Store(t.Context(), db, test.selection, "0")
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.selection, err, test.want)
		}
	}
}

// valid completes the records of a batch.
func valid(t *testing.T, b store.Batch) store.Batch {
	t.Helper()
	for i := range b.Reports {
		if err := b.Reports[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range b.Issuers {
		if err := b.Issuers[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range b.Positions {
		if err := b.Positions[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// counter calls stop after some writes.
type counter struct {
	to   io.Writer
	stop func()
	most int
	n    int
}

func (c *counter) Write(b []byte) (int, error) {
	if c.n++; c.n == c.most {
		c.stop()
	}
	return c.to.Write(b)
}

// TestStoreRefuses: a cursor that the log never had ends the command with the reason.
func TestStoreRefuses(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p := Printer{Out: io.Discard, Err: io.Discard}
	err = p.Store(t.Context(), db, events.Selection{}, "99")
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "99 is ahead of all changes") {
		t.Errorf("got %v, want the reason", err)
	}
}
