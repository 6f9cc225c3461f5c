package delivery_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/webhook"
	"pregon/internal/push/webhook/delivery"
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/server/outbound"
	"pregon/internal/server/outbound/outboundtest"
	"pregon/internal/store"
)

// A name that resolved to a public address on creation resolves to a private one
// on delivery.
func TestRebinding(t *testing.T) {
	w := newWorld(t)
	n := &outboundtest.Names{}
	n.Set("127.0.0.1")
	resolver := n.Resolver(t)
	p := w.idle(t, quick, func(o *webhook.Options) {
		o.AllowPrivate = false
		o.Client = outbound.NewClient(outbound.Options{Resolver: resolver})
	})
	before := &outboundtest.Names{}
	before.Set("93.184.216.34")
	creating := subscription.New(subscription.Options{Store: p.db, Sealer: testBox(t), Resolver: before.Resolver(t)})
	hook, _, err := creating.Create(t.Context(), owner, webhook.Draft{URL: "https://hook.example.com/", Enabled: true})
	if err != nil {
		t.Fatal(err)
	}
	p.run(t)
	w.publish(t, p.db, 1)
	const want = "refused: the address of hook.example.com is a loopback address"
	if d := settled(t, p, hook.ID, 1)[0]; d.State != store.DeliveryDead || d.History[0].Error != want {
		t.Errorf("%+v", d)
	}
	if a, err := p.Test(t.Context(), owner, hook.ID); err != nil || a.Error != want {
		t.Errorf("%+v, %v", a, err)
	}
}

// operations returns every operation on a webhook by name.
func (p *process) operations(ctx context.Context, by access.Reach, id string) map[string]func() error {
	return map[string]func() error{
		"Get": func() error { _, _, err := p.Get(ctx, by, id); return err },
		"Update": func() error {
			_, err := p.Update(ctx, by, id, func(*webhook.Draft) error { return nil })
			return err
		},
		"Delete":         func() error { return p.Delete(ctx, by, id) },
		"Adopt":          func() error { _, err := p.Adopt(ctx, by, id, nil); return err },
		"Rotate":         func() error { _, _, err := p.Rotate(ctx, by, id); return err },
		"Test":           func() error { _, err := p.Test(ctx, by, id); return err },
		"Deliveries":     func() error { _, err := p.Deliveries(ctx, by, id, store.DeliveryQuery{Limit: 1}); return err },
		"Redeliver":      func() error { return p.Redeliver(ctx, by, id, 1) },
		"RedeliverSince": func() error { _, err := p.RedeliverSince(ctx, by, id, 0); return err },
	}
}

func TestOtherOwners(t *testing.T) {
	p := newWorld(t).idle(t, quick, nil)
	r := newReceiver(t, ok)
	hook, _ := create(t, p, r)
	ctx := t.Context()
	for _, c := range []struct {
		owner access.Reach
		id    string
	}{{other, hook.ID}, {owner, "wh_0000000000000000"}, {owner, ""}, {access.Reach{}, hook.ID}} {
		for name, do := range p.operations(ctx, c.owner, c.id) {
			if err := do(); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s of %v: %v", name, c, err)
			}
		}
	}
	if all, err := p.List(ctx, other); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	// The query cannot select deliveries of another owner.
	if all, err := p.Deliveries(ctx, owner, hook.ID, store.DeliveryQuery{Webhook: "wh_0000000000000000", Limit: 1}); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
}

func TestUpdate(t *testing.T) {
	w := newWorld(t)
	p, q := w.process(t, quick, nil), w.idle(t, quick, nil)
	r, other := newReceiver(t, ok), newReceiver(t, ok)
	hook, _ := create(t, p, r)
	off, err := q.Update(t.Context(), owner, hook.ID, func(d *webhook.Draft) error { d.Enabled = false; return nil })
	if err != nil || off.Enabled || off.DisabledReason != "its owner disabled it" || off.DisabledAt.IsZero() {
		t.Fatalf("%+v, %v", off, err)
	}
	w.publish(t, p.db, 2)
	handedOut(t, p)
	if got := deliveries(t, p, hook.ID); len(got) != 0 {
		t.Errorf("while disabled: %v", got)
	}
	on, err := q.Update(t.Context(), owner, hook.ID, func(d *webhook.Draft) error {
		d.Enabled, d.URL = true, other.url
		d.Events = []disclosure.Event{disclosure.Published}
		return nil
	})
	if err != nil || !on.Enabled || on.DisabledReason != "" || on.StartsAfter != 2 {
		t.Fatalf("%+v, %v", on, err)
	}
	w.publish(t, p.db, 1)
	settled(t, p, hook.ID, 1)
	if len(r.ids()) != 0 || !slices.Equal(other.ids(), wanted(hook.ID, 2, 3)) {
		t.Errorf("%v and %v", r.ids(), other.ids())
	}
	// An update without changes is not written.
	if same, err := q.Update(t.Context(), owner, hook.ID, func(*webhook.Draft) error { return nil }); err != nil || !same.UpdatedAt.Equal(on.UpdatedAt) || q.audit.count("webhook.changed") != 2 {
		t.Errorf("%+v, %v, %s", same, err, q.audit)
	}
	if _, err := q.Update(t.Context(), owner, hook.ID, func(*webhook.Draft) error { return errFlaky }); !errors.Is(err, errFlaky) {
		t.Errorf("%v", err)
	}
}

func TestDelete(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	r := newReceiver(t, status(500))
	hook, _ := create(t, p, r)
	w.publish(t, p.db, 3)
	until(t, "something is sent", func() bool { return len(r.ids()) > 0 })
	if err := p.Delete(t.Context(), owner, hook.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Get(t.Context(), owner, hook.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the webhook still exists: %v", err)
	}
	until(t, "it is forgotten", func() bool {
		left, err := p.db.Endpoints(t.Context(), hook.ID)
		return err == nil && len(left) == 0
	})
	if err := p.Delete(t.Context(), owner, hook.ID); fault.KindOf(err) != fault.NotFound || p.audit.count("webhook.deleted") != 1 {
		t.Errorf("again: %v", err)
	}
	// Remaining rows of a deleted webhook are removed later.
	if err := p.db.Enqueue(t.Context(), store.Delivery{Webhook: hook.ID, Seq: 1, Event: "x"}); err != nil {
		t.Fatal(err)
	}
	fresh := w.idle(t, quick, nil)
	if err := errors.Join(fresh.Refresh(t.Context()), fresh.Tidy(t.Context())); err != nil {
		t.Fatal(err)
	}
	if left, err := p.db.Endpoints(t.Context(), hook.ID); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestTidy(t *testing.T) {
	w := newWorld(t)
	p := w.idle(t, quick, nil)
	hook, _ := create(t, p, newReceiver(t, ok), func(d *webhook.Draft) { d.Enabled = false })
	head, err := p.db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for seq, age := range map[int64]time.Duration{1: 31 * 24 * time.Hour, 2: 29 * 24 * time.Hour} {
		d := store.Delivery{Webhook: hook.ID, Seq: seq, Event: "x"}
		a := store.Attempt{At: time.Now().Add(-age), Status: 200}
		if err := errors.Join(p.db.Enqueue(t.Context(), d), p.db.Settle(t.Context(), store.Result{Webhook: hook.ID, Epoch: head.Epoch, Seq: seq, Attempt: a, State: store.DeliveryDelivered})); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := deliveries(t, p, hook.ID); len(got) != 1 || got[0].Seq != 2 {
		t.Errorf("%v", got)
	}
}

func TestRotate(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	r := newReceiver(t, ok)
	hook, first := create(t, p, r)
	_, second, err := w.idle(t, quick, nil).Rotate(t.Context(), owner, hook.ID)
	if err != nil || second == first {
		t.Fatal(err)
	}
	if err := p.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.publish(t, p.db, 1)
	settled(t, p, hook.ID, 1)
	q := r.requests()[0]
	if !verify(t, q, first) || !verify(t, q, second) || len(strings.Fields(q.header.Get("webhook-signature"))) != 2 {
		t.Errorf("the signature: %s", q.header.Get("webhook-signature"))
	}
}

// A secret that was replaced a day ago no longer signs.
func TestOldSecretEnds(t *testing.T) {
	w := newWorld(t)
	p := w.idle(t, quick, nil)
	r := newReceiver(t, ok)
	hook, first := create(t, p, r)
	_, second, err := p.Rotate(t.Context(), owner, hook.ID)
	if err != nil {
		t.Fatal(err)
	}
	records, err := p.db.RecordsSince(t.Context(), "webhook", 0)
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(records[0].Body), &body); err != nil {
		t.Fatal(err)
	}
	old := body["secrets"].([]any)[0].(map[string]any)
	end, err := time.Parse(time.RFC3339, old["expires_at"].(string))
	if d := time.Until(end); err != nil || d < 23*time.Hour || d > 24*time.Hour {
		t.Errorf("the old secret expires in %v, %v", d, err)
	}
	old["expires_at"] = time.Now().Add(-time.Second).Format(time.RFC3339)
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	records[0].Body = string(text)
	if _, err := store.PutRecord(t.Context(), p.db, records[0]); err != nil {
		t.Fatal(err)
	}
	if a, err := p.Test(t.Context(), owner, hook.ID); err != nil || a.Status != 200 {
		t.Fatalf("%+v, %v", a, err)
	}
	if q := r.requests()[0]; verify(t, q, first) || !verify(t, q, second) {
		t.Errorf("the signature: %s", q.header.Get("webhook-signature"))
	}
}

// With another PREGON_SECRET_KEY nothing can be signed, and nothing is sent.
func TestLostSecret(t *testing.T) {
	w := newWorld(t)
	r := newReceiver(t, ok)
	hook, _ := create(t, w.idle(t, quick, nil), r)
	box, err := secret.NewBox("another key that is long enough to be one")
	if err != nil {
		t.Fatal(err)
	}
	pace := quick
	pace.Delay = time.Minute
	p := w.process(t, pace, func(o *webhook.Options) { o.Sealer = box })
	w.publish(t, p.db, 1)
	const want = "the secret of this webhook cannot be decrypted: rotate it"
	until(t, "the owner sees the reason", func() bool {
		all := deliveries(t, p, hook.ID)
		return len(all) == 1 && len(all[0].History) == 1 && all[0].History[0].Error == want
	})
	_, raw, err := p.Rotate(t.Context(), owner, hook.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Redeliver(t.Context(), owner, hook.ID, 1); err != nil {
		t.Fatal(err)
	}
	settled(t, p, hook.ID, 1)
	if got := r.requests(); len(got) != 1 || !verify(t, got[0], raw) {
		t.Errorf("%d requests", len(got))
	}
}

func TestTest(t *testing.T) {
	w := newWorld(t)
	p := w.idle(t, quick, nil)
	r := newReceiver(t, status(202))
	hook, raw := create(t, p, r, func(d *webhook.Draft) { d.Enabled = false })
	a, err := p.Test(t.Context(), owner, hook.ID)
	if err != nil || a.Status != 202 || a.Error != "" || a.At.IsZero() {
		t.Fatalf("%+v, %v", a, err)
	}
	q := r.requests()[0]
	var body map[string]any
	if err := json.Unmarshal(q.body, &body); err != nil || body["event"] != "webhook.test" || body["test"] != true || body["title"] == "" {
		t.Errorf("%s, %v", q.body, err)
	}
	if !verify(t, q, raw) || !strings.HasPrefix(q.id, hook.ID+".test-") {
		t.Errorf("%s with %s", q.id, q.header.Get("webhook-signature"))
	}
	if got := deliveries(t, p, hook.ID); len(got) != 0 {
		t.Errorf("it is listed: %v", got)
	}
	r.set(status(418))
	if a, err := p.Test(t.Context(), owner, hook.ID); err != nil || a.Status != 418 || a.Error != "the answer was 418" {
		t.Errorf("%+v, %v", a, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Test(ctx, owner, hook.ID); err == nil {
		t.Error("who has gone away: no error")
	}
}

// behind is an encoder of a process that does not have the newest changes.
type behind struct{ webhook.Encoder }

func (behind) Lacks(context.Context, disclosure.Cursor) error {
	return fault.New(fault.Unavailable, "not yet")
}

// A change that this process does not have yet is not said to be missing.
func TestRedeliverBehind(t *testing.T) {
	w := newWorld(t)
	p := w.idle(t, quick, func(o *webhook.Options) { o.Encoder = behind{o.Encoder} })
	hook, _ := create(t, p, newReceiver(t, ok))
	if err := p.Redeliver(t.Context(), owner, hook.ID, 99); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Redeliver: got %v, want Unavailable", err)
	}
	if _, err := p.RedeliverSince(t.Context(), owner, hook.ID, 99); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("RedeliverSince: got %v, want Unavailable", err)
	}
}

func TestRedeliver(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	w.publish(t, p.db, 2)
	r := newReceiver(t, status(500))
	hook, _ := create(t, p, r, func(d *webhook.Draft) { d.Filter.Type = disclosure.OIR })
	w.publish(t, p.db, 1)
	if d := settled(t, p, hook.ID, 1)[0]; d.State != store.DeliveryDead || d.Seq != 3 {
		t.Fatalf("%+v", d)
	}
	r.set(ok)
	ctx := t.Context()
	if err := p.Redeliver(ctx, owner, hook.ID, 3); err != nil {
		t.Fatal(err)
	}
	if d := settled(t, p, hook.ID, 1)[0]; d.State != store.DeliveryDelivered || d.Attempts != 1 || len(d.History) != 11 {
		t.Errorf("%+v", d)
	}
	if ids := r.ids(); len(ids) != 11 || len(slices.Compact(ids)) != 1 {
		t.Errorf("%v", ids)
	}
	// A change from before its creation, one it does not select, and a missing one.
	if err := p.Redeliver(ctx, owner, hook.ID, 1); err != nil {
		t.Error(err)
	}
	settled(t, p, hook.ID, 2)
	ip := w.publish(t, p.db, 1, func(r *disclosure.Report) { r.Type = disclosure.IP })
	for _, seq := range []int64{ip, 99, 0, -1} {
		if err := p.Redeliver(ctx, owner, hook.ID, seq); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%d: %v", seq, err)
		}
	}
	handedOut(t, p)
	// A delivered change can be sent again, whatever the filter selects now.
	if _, err := p.Update(ctx, owner, hook.ID, func(d *webhook.Draft) error { d.Filter.Type = disclosure.IP; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := p.Redeliver(ctx, owner, hook.ID, 3); err != nil {
		t.Error(err)
	}
	until(t, "it comes again", func() bool { return len(r.ids()) > 12 })
	if got := r.ids()[11:]; !slices.Equal(got, []string{hook.ID + ".1", hook.ID + ".3"}) {
		t.Errorf("got %v", got)
	}
	if n, err := p.RedeliverSince(ctx, owner, hook.ID, 0); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	settled(t, p, hook.ID, 3)
	if _, err := p.Update(ctx, owner, hook.ID, func(d *webhook.Draft) error { d.Enabled = false; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := p.Redeliver(ctx, owner, hook.ID, 3); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a disabled one: %v", err)
	}
}

func TestRedeliverSince(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	last := w.publish(t, p.db, 1200)
	r := newReceiver(t, ok)
	hook, _ := create(t, p, r)
	n, err := p.RedeliverSince(t.Context(), owner, hook.ID, 100)
	if err != nil || n != 1100 {
		t.Fatalf("%d, %v", n, err)
	}
	settled(t, p, hook.ID, 1100)
	if got := r.ids(); !slices.Equal(got, wanted(hook.ID, 100, last)) {
		t.Errorf("%d requests", len(got))
	}
	if n, err := p.RedeliverSince(t.Context(), owner, hook.ID, last); err != nil || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
}

func TestRedeliverTooMuch(t *testing.T) {
	w := newWorld(t)
	p := w.idle(t, quick, nil)
	hook, _ := create(t, p, newReceiver(t, ok))
	p.LimitRedelivery(1000)
	w.publish(t, p.db, 1001)
	n, err := p.RedeliverSince(t.Context(), owner, hook.ID, 0)
	e, isFault := errors.AsType[*fault.Error](err)
	if n != 0 || !isFault || e.Kind != fault.Invalid || len(e.Fields) != 1 || e.Fields[0].Name != "since" {
		t.Errorf("%d, %v", n, err)
	}
	if got := deliveries(t, p, hook.ID); len(got) != 0 {
		t.Errorf("%d deliveries", len(got))
	}
	if n, err := p.RedeliverSince(t.Context(), owner, hook.ID, 1); err != nil || n != 1000 {
		t.Errorf("%d, %v", n, err)
	}
}

// The example of the specification of Standard Webhooks.
func TestSign(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	delivery.Sign(h, key, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if got := h.Get("webhook-signature"); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("the signature is %q", got)
	}
	if h.Get("webhook-id") != "msg_p5jXN8AQM9LWM0D4loKWxJek" || h.Get("webhook-timestamp") != "1614265330" {
		t.Errorf("%v", h)
	}
}

func TestExcerpt(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " ok \r\n": "ok", "a\nb\tc": "a\nb\tc", "\x00\x07\x1b[31mred\u0085": "[31mred", "\xff\xfeñ\xc3": "ñ",
	} {
		if got := delivery.Excerpt([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
