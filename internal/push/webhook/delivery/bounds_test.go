package delivery_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/fault"
	"pregon/internal/push/webhook"
	"pregon/internal/store"
)

// A stored filter over the bounds selects nothing, and its owner can see why.
func TestOversizedFilter(t *testing.T) {
	w := newWorld(t)
	idle, r := w.idle(t, quick, nil), newReceiver(t, ok)
	hook, _ := create(t, idle, r, func(d *webhook.Draft) { d.Filter.Search = "sociedad" })
	records, err := idle.db.RecordsSince(t.Context(), "webhook", 0)
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	old := records[0]
	old.Body = strings.Replace(old.Body, `"sociedad"`, `"`+strings.Repeat("sociedad ", 1000)+`"`, 1)
	if _, err := store.PutRecord(t.Context(), idle.db, old); err != nil {
		t.Fatal(err)
	}
	p := w.process(t, quick, nil)
	until(t, "the webhook is disabled", func() bool {
		got, _, err := p.Get(t.Context(), owner, hook.ID)
		return err == nil && !got.Enabled && strings.Contains(got.DisabledReason, "9000 characters")
	})
	until(t, "the audit has it", func() bool { return p.audit.count("webhook.disabled") == 1 })
	got, err := p.Update(t.Context(), owner, hook.ID, func(d *webhook.Draft) error {
		d.Filter.Search, d.Enabled = "", true
		return nil
	})
	if err != nil || !got.Enabled {
		t.Fatalf("a shorter filter: %+v, %v", got, err)
	}
	w.publish(t, p.db, 1)
	settled(t, p, hook.ID, 1)
	if st := p.Stats(); st.Matching <= 0 || st.CostliestAccount > st.Matching {
		t.Errorf("matching took %v, %v of it for one owner", st.Matching, st.CostliestAccount)
	}
}

func TestTestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := webhook.New(webhook.Options{})
		sent := func(id string) (n int) {
			for ; ; n++ {
				err := m.AllowTest(t.Context(), ownerID, id)
				if err == nil {
					continue
				}
				limited, is := errors.AsType[*fault.Error](err)
				if !is || limited.Kind != fault.RateLimited || limited.RetryAfter <= 0 || limited.RetryAfter > time.Minute {
					t.Fatal(err)
				}
				return n
			}
		}
		all := 0
		for i := range 6 {
			n := sent(fmt.Sprint("wh_", i))
			if all += n; n > 5 {
				t.Errorf("%d tests of one webhook", n)
			}
		}
		if all != 20 {
			t.Errorf("%d tests of one owner, want 20", all)
		}
		if err := m.AllowTest(t.Context(), "key_other", "wh_other"); err != nil {
			t.Errorf("another owner: %v", err)
		}
		time.Sleep(time.Minute)
		if n := sent("wh_0"); n != 5 {
			t.Errorf("%d tests a minute later", n)
		}
	})
}

// An owner whose receivers hang uses at most a quarter of the slots.
func TestSlotsOfOwner(t *testing.T) {
	w := newWorld(t)
	pace := quick
	pace.SendTimeout, pace.ClaimFor = time.Minute, 5*time.Minute
	p := w.idle(t, pace, nil)
	p.LimitSlots(8)
	release := make(chan struct{})
	slow := newReceiver(t, func(http.ResponseWriter, *http.Request, int) { <-release })
	fast := newReceiver(t, ok)
	var hooks []webhook.Webhook
	for range 10 {
		hook, _ := create(t, p, slow)
		hooks = append(hooks, hook)
	}
	if _, _, err := p.Create(t.Context(), other, webhook.Draft{URL: fast.url, Enabled: true}); err != nil {
		t.Fatal(err)
	}
	w.publish(t, p.db, 1)
	p.run(t)
	until(t, "both owners are served", func() bool { return len(fast.requests()) == 1 && len(slow.requests()) >= 2 })
	close(release)
	for _, h := range hooks {
		if d := settled(t, p, h.ID, 1); d[0].State != store.DeliveryDelivered {
			t.Errorf("%+v", d)
		}
	}
	slow.mu.Lock()
	defer slow.mu.Unlock()
	if slow.most > 2 {
		t.Errorf("one owner used %d slots of 8", slow.most)
	}
}
