package webhook_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/webhook"
	"pregon/internal/store"
)

const day = 24 * time.Hour

// standing sets a fixed status of the owner in Options.
func standing(s webhook.OwnerStatus) func(*webhook.Options) {
	return func(o *webhook.Options) {
		s.Scope = access.AllScopes
		o.OwnerStatus = func(string) webhook.OwnerStatus { return s }
		o.OwnerTimeout = 30 * day
	}
}

// issuer of an owner, where it is the subject of a token.
const issuer = "https://id.example"

// A webhook whose owner is gone is kept for a week. Then it is removed with its
// rows if the owner cannot return, and disabled otherwise.
func TestOwnersThatAreGone(t *testing.T) {
	for name, test := range map[string]struct {
		standing webhook.OwnerStatus
		seen     time.Duration // time since the owner was last seen
		trusted  time.Duration // time since its issuer was last trusted
		want     string        // reason why it is disabled; empty: it stays enabled; "removed"
	}{
		"a key that is good":               {},
		"a key revoked six days ago":       {standing: webhook.OwnerStatus{Gone: "its key was revoked", Since: time.Now().Add(-6 * day), Permanent: true}},
		"a key revoked eight days ago":     {standing: webhook.OwnerStatus{Gone: "its key was revoked", Since: time.Now().Add(-8 * day), Permanent: true}, want: "removed"},
		"a key that expired":               {standing: webhook.OwnerStatus{Gone: "its key has expired", Since: time.Now().Add(-8 * day)}, want: "its key has expired"},
		"a subject that was seen":          {standing: webhook.OwnerStatus{Issuer: issuer}, seen: 36 * day},
		"a subject that was not":           {standing: webhook.OwnerStatus{Issuer: issuer}, seen: 38 * day, want: "was not seen since"},
		"an issuer trusted six days ago":   {standing: webhook.OwnerStatus{Issuer: issuer, Gone: "its issuer"}, seen: 20 * day, trusted: 6 * day},
		"an issuer trusted eight days ago": {standing: webhook.OwnerStatus{Issuer: issuer, Gone: "its issuer"}, seen: 20 * day, trusted: 8 * day, want: "its issuer"},
		"an issuer never trusted":          {standing: webhook.OwnerStatus{Issuer: issuer, Gone: "its issuer"}, seen: 20 * day},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			hook, _ := create(t, w.idle(t, quick, nil), newReceiver(t, ok))
			p := w.idle(t, quick, standing(test.standing)) // a process that has not seen the owner
			if err := p.db.Enqueue(t.Context(), store.Delivery{Webhook: hook.ID, Seq: 1, Event: "report.published"}); err != nil {
				t.Fatal(err)
			}
			for name, ago := range map[string]time.Duration{ownerID: test.seen, issuer: test.trusted} {
				if ago == 0 {
					continue
				}
				if _, err := p.db.RecordUse(t.Context(), "webhook-owner "+name, time.Now().Add(-ago)); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.CheckOwners(t.Context())
			got, e, err := p.Get(t.Context(), owner, hook.ID)
			switch {
			case test.want == "removed":
				left, _ := p.db.Endpoints(t.Context(), hook.ID)
				if fault.KindOf(err) != fault.NotFound || len(left) != 0 || p.audit.count("webhook.removed") != 1 {
					t.Errorf("%+v, %v, %v: %s", got, err, left, p.audit)
				}
			case test.want == "":
				if err != nil || !got.Enabled || e.Pending != 1 {
					t.Errorf("%+v, %+v, %v", got, e, err)
				}
			case err != nil || got.Enabled || !strings.Contains(got.DisabledReason, test.want) || e.Pending != 0 || p.audit.count("webhook.disabled") != 1:
				t.Errorf("%+v, %+v, %v: %s", got, e, err, p.audit)
			}
		})
	}
}

// counted is a store that counts writes about owners.
type counted struct {
	webhook.Store
	uses atomic.Int32
}

func (c *counted) RecordUse(ctx context.Context, name string, at time.Time) (time.Time, error) {
	c.uses.Add(1)
	return c.Store.RecordUse(ctx, name, at)
}

// The use of an owner is written once a day, as is that of its issuer. It is never
// written for an owner without webhooks.
func TestSeenIsWrittenRarely(t *testing.T) {
	w := newWorld(t)
	db := &counted{}
	p := w.idle(t, quick, func(o *webhook.Options) {
		standing(webhook.OwnerStatus{Issuer: issuer})(o)
		db.Store, o.Store = o.Store, db
	})
	create(t, p, newReceiver(t, ok))
	for range 3 {
		for range 100 {
			p.Seen(ownerID)
			p.Seen("https://id.example#somebody")
		}
		p.CheckOwners(t.Context())
	}
	uses, err := p.db.Uses(t.Context())
	if err != nil || db.uses.Load() != 2 || len(uses) != 2 || time.Since(uses["webhook-owner "+ownerID].Last) > time.Hour {
		t.Errorf("%d writes, %v, %v", db.uses.Load(), uses, err)
	}
}

// Deliveries that were due for days while the owner was gone are not sent when it
// returns, nor are those that it may not read.
func TestExpiredDeliveriesAreNotSent(t *testing.T) {
	w := newWorld(t)
	idle, r := w.idle(t, quick, nil), newReceiver(t, ok)
	hook, _ := create(t, idle, r)
	w.publish(t, idle.db, 3)
	var waiting []store.Delivery
	for seq := int64(1); seq <= 3; seq++ {
		waiting = append(waiting, store.Delivery{Webhook: hook.ID, Seq: seq, Event: "report.published"})
	}
	waiting[1].Event = string(disclosure.IssuerUpdated)
	if err := idle.db.Enqueue(t.Context(), waiting...); err != nil {
		t.Fatal(err)
	}
	head, err := idle.db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = idle.db.Settle(t.Context(), store.Result{
		Webhook: hook.ID, Epoch: head.Epoch, Seq: 1, State: store.DeliveryPending, Wait: -5 * day, Attempt: store.Attempt{At: time.Now().Add(-5 * day)},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := w.process(t, quick, func(o *webhook.Options) {
		o.OwnerStatus = func(string) webhook.OwnerStatus { return webhook.OwnerStatus{Scope: access.ReadReports} }
	})
	got := settled(t, p, hook.ID, 3)
	for i, want := range []string{"due for more than four days", "may not read", ""} {
		last := got[i].History[len(got[i].History)-1]
		if dead := got[i].State == store.DeliveryDead; dead != (want != "") || !strings.Contains(last.Error, want) {
			t.Errorf("change %d is %s: %+v", i+1, got[i].State, last)
		}
	}
	if len(r.requests()) != 1 {
		t.Errorf("sent: %v", r.ids())
	}
}

func TestOperator(t *testing.T) {
	w := newWorld(t)
	p := w.idle(t, quick, nil)
	if all, _, err := p.All(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("an empty store: %v, %v", all, err)
	}
	hook, _ := create(t, p, newReceiver(t, ok))
	operator := w.idle(t, quick, func(o *webhook.Options) { o.Encoder = nil })
	for range 2 { // the second call has no effect
		if err := operator.Disable(t.Context(), hook.ID, "it floods us"); err != nil {
			t.Fatal(err)
		}
	}
	if operator.audit.count("webhook.disabled") != 1 {
		t.Errorf("the audit: %s", operator.audit)
	}
	got, _, err := p.Get(t.Context(), owner, hook.ID)
	if err != nil || got.Enabled || got.DisabledReason != "it floods us" {
		t.Errorf("%+v, %v", got, err)
	}
	all, _, err := operator.All(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != hook.ID {
		t.Errorf("%+v, %v", all, err)
	}
	if err := operator.Disable(t.Context(), "wh_nothing", ""); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}
