package ingest

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

var storm = flag.Duration("storm", 10*time.Second, "how long TestStorm mixes faults")

// TestFaults arms each fault on everything, publishes reports meanwhile,
// and checks the status during the fault and the reports after it.
func TestFaults(t *testing.T) {
	seen := []health.State{health.Live, health.Quiet, health.Degraded, health.Blind}
	for _, test := range []struct {
		fault string
		state []health.State // while it lasts
		named string         // what a surface among the reasons begins with
	}{
		{`"kind":"error500"`, []health.State{health.Blind}, "feed-oir"},
		{`"kind":"error403"`, []health.State{health.Blind}, "feed-oir"},
		{`"kind":"errorpage"`, []health.State{health.Blind}, "feed-oir"},
		{`"kind":"markup"`, []health.State{health.Blind}, "feed-ip"},
		{`"kind":"truncate"`, []health.State{health.Blind}, "feed-oir"},
		{`"kind":"redirectloop"`, []health.State{health.Blind}, "feed-oir"},
		{`"kind":"reset"`, []health.State{health.Blind}, "feed-oir"},
		{`"kind":"bomb"`, []health.State{health.Blind}, "feed-oir"},
		{`"kind":"huge"`, []health.State{health.Blind}, "feed-oir"},
		{`"kind":"stall","by":"1h"`, []health.State{health.Blind}, "feed-oir"},
		{`"kind":"endless"`, []health.State{health.Blind}, "feed-oir"},
		{`"kind":"error500","surface":"feed"`, []health.State{health.Degraded}, "feed-oir"},
		{`"kind":"markup","surface":"feed","type":"ip"`, []health.State{health.Degraded}, "feed-ip"},
		{`"kind":"markup","surface":"list","type":"oir"`, []health.State{health.Degraded}, "list-oir"},
		{`"kind":"errorpage","surface":"permalink"`, []health.State{health.Degraded}, "permalink"},
		{`"kind":"errorpage","surface":"hr"`, []health.State{health.Degraded}, "list-hr"},
		{`"kind":"errorpage","surface":"feed","type":"hr"`, []health.State{health.Degraded}, "feed-hr"},
		{`"kind":"stall","surface":"feed","type":"hr","by":"1h"`, []health.State{health.Degraded}, "feed-hr"},
		{`"kind":"markup","surface":"permalink","type":"hr"`, []health.State{health.Degraded}, "permalink-hr"},
		{`"kind":"feedcut","type":"hr","by":"1ms"`, seen, ""},
		{`"kind":"runaway"`, []health.State{health.Live, health.Quiet}, ""},
		{`"kind":"feedcut","by":"1s"`, seen, ""},
		{`"kind":"error500","share":0.5`, seen, ""},
		{`"kind":"truncate","share":0.5`, seen, ""},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.hasty = strings.Contains(test.fault, "stall") || strings.Contains(test.fault, "endless")
			w.start()
			w.arm(`{` + test.fault + `,"for":"1h"}`)
			var filed time.Time
			w.eventually(func() error {
				// Once may not be enough: the lists may show a report before its page is read.
				if time.Since(filed) > time.Second {
					for _, series := range []string{"ip", "oir", "hr"} {
						w.publish(`{"type":"` + series + `"}`)
					}
					filed = time.Now()
				}
				status, _ := w.coverage.Status()
				for _, r := range status.Reasons {
					if strings.Contains(r.Text(), "an internal error") {
						t.Fatalf("reason %+v is not specific", r)
					}
				}
				named := test.named == "" || slices.ContainsFunc(status.Reasons, func(r health.Reason) bool { return strings.HasPrefix(r.Surface, test.named) })
				if named && slices.Contains(test.state, status.State) {
					return nil
				}
				return fmt.Errorf("the source is %q because of %v, want %v because of %s", status.State, status.Reasons, test.state, test.named)
			})
			w.publish(`{"type":"oir"}`)
			w.publish(`{"type":"hr"}`)
			w.disarm()
			w.publish(`{"type":"oir"}`)
			w.whole()
			w.state(health.Live)
		})
	}
}

// TestSkew: a feed whose clock is wrong does not make the report's time wrong.
func TestSkew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.arm(`{"kind":"skew","surface":"feed","by":"90s","for":"1h"}`)
	id := w.publish(`{"type":"oir"}`)
	w.eventually(func() error { return w.has(id) })
	w.disarm()
	w.eventually(func() error {
		r := w.report(id)
		return w.truthOf(id, disclosure.OIR).differs(r)
	})
}

// TestStorm mixes all faults on all surfaces while reports are published.
func TestStorm(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	w := newWorld(t)
	w.hasty = true
	w.start()
	dice := rand.New(rand.NewPCG(1, 2))
	kinds := []string{"error500", "error403", "errorpage", "stall", "truncate", "markup", "runaway", "feedcut", "huge", "endless", "bomb", "redirectloop", "reset"}
	surfaces := []string{"feed", "list", "permalink", "hr", "register", "exchange", "all"}
	n := 0
	for end := time.Now().Add(*storm); time.Now().Before(end); {
		w.arm(fmt.Sprintf(`{"kind":%q,"surface":%q,"share":%.1f,"for":"%dms","by":"500ms"}`,
			kinds[dice.IntN(len(kinds))], surfaces[dice.IntN(len(surfaces))], 0.2+0.8*dice.Float64(), 200+dice.IntN(2000)))
		for range 1 + dice.IntN(4) {
			w.publish(fmt.Sprintf(`{"type":%q}`, []string{"ip", "oir", "oir", "hr"}[dice.IntN(4)]))
			n++
		}
		waittest.Pace(t.Context(), time.Duration(dice.IntN(200))*time.Millisecond)
	}
	w.disarm()
	w.whole()
	w.state(health.Live)
	t.Logf("%d reports, every one exact", n)
}

// TestStoreAway: reports that cannot be stored are stored later, and the status
// is blind meanwhile.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.newIngest("first")
	broken := &brokenStore{Store: w.store}
	i.Store = broken
	w.run(i.Run)
	w.eventually(func() error {
		if !Started(w.coverage) {
			return errors.New("not started")
		}
		return nil
	})
	broken.fail(errors.New("disk full"))
	w.publish(`{"type":"oir"}`)
	w.eventually(func() error {
		if s := i.Status(); s.State != health.Blind || len(s.Reasons) == 0 {
			return fmt.Errorf("got state %s, %v; want blind", s.State, s.Reasons)
		}
		return nil
	})
	broken.fail(nil)
	w.whole()
}
