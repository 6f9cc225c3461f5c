package subscription_test

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/push/webhook/subscription"
)

func TestCreate(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, nil)
	publish(t, p.db, 3)
	hook, raw := create(t, p, func(d *subscription.Draft) {
		d.Description = "Señales"
		d.Events = []disclosure.Event{disclosure.Backfilled, disclosure.Published, disclosure.Backfilled}
		d.Filter = disclosure.Filter{
			Search: "dividendo", Type: disclosure.IP, Issuer: "a48010615", From: 40000, To: 40001, Category: "Otros", Kind: "company", Market: "SIBE",
			Sector: "bancos", SectorWords: true, NoSecuritisation: true, NoRoutine: true,
		}
	})
	if !regexp.MustCompile(`^wh_[0-9A-Za-z]{16}$`).MatchString(hook.ID) || !strings.HasPrefix(raw, "whsec_") {
		t.Errorf("%s with %s", hook.ID, raw)
	}
	if hook.StartsAfter != 3 || !hook.Enabled || hook.EnabledAt.IsZero() || !slices.Equal(hook.Events, []disclosure.Event{disclosure.Published, disclosure.Backfilled}) {
		t.Errorf("%+v", hook)
	}
	// Another process sees the same.
	got, err := w.process(t, nil).Find(t.Context(), owner, hook.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Events, hook.Events) || got.Filter != hook.Filter || got.URL != hook.URL || got.Description != hook.Description || got.StartsAfter != 3 || !got.CreatedAt.Equal(hook.CreatedAt) {
		t.Errorf("%+v, want %+v", got, hook)
	}
	records, err := p.db.RecordsSince(t.Context(), "webhook", 0)
	if err != nil || len(records) != 1 || strings.Contains(records[0].Body, raw[6:20]) {
		t.Errorf("%v, %v", records, err)
	}
	if p.audit.count("webhook.created") != 1 || strings.Contains(p.audit.String(), "hunter2") || strings.Contains(p.audit.String(), raw) {
		t.Errorf("the audit: %s", p.audit)
	}
	if d, _ := create(t, p); !slices.Equal(d.Events, []disclosure.Event{disclosure.Published, disclosure.Updated, disclosure.Corrected, disclosure.IssuerUpdated}) || len(d.Events) != len(events.DefaultEvents) {
		t.Errorf("without events: %v", d.Events)
	}
}

func TestLimit(t *testing.T) {
	w := newWorld(t)
	ps := []*process{w.process(t, nil), w.process(t, nil)}
	for range subscription.MostPerAccount - 1 {
		create(t, ps[0])
	}
	// Concurrent creation in several processes does not exceed the limit.
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			_, _, err := ps[i%2].Create(t.Context(), owner, subscription.Draft{URL: address})
			if err != nil && fault.KindOf(err) != fault.Conflict {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all, err := ps[0].List(t.Context(), owner)
	if err != nil || len(all) > subscription.MostPerAccount || len(all) < subscription.MostPerAccount-1 {
		t.Fatalf("%d, %v", len(all), err)
	}
	if len(all) < subscription.MostPerAccount {
		create(t, ps[0])
	}
	if _, _, err := ps[1].Create(t.Context(), owner, subscription.Draft{URL: address}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("one too many: %v", err)
	}
	if _, _, err := ps[1].Create(t.Context(), other, subscription.Draft{URL: address}); err != nil {
		t.Errorf("another owner: %v", err)
	}
	if err := ps[0].Delete(t.Context(), owner, all[0].ID); err != nil {
		t.Fatal(err)
	}
	create(t, ps[1])
}

// Concurrent updates are all applied.
func TestUpdatesAtOnce(t *testing.T) {
	w := newWorld(t)
	ps := []*process{w.process(t, nil), w.process(t, nil)}
	hook, _ := create(t, ps[0])
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			_, err := ps[i%2].Update(t.Context(), owner, hook.ID, func(d *subscription.Draft) error { d.Description += string(rune('a' + i)); return nil })
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := ps[0].Find(t.Context(), owner, hook.ID)
	letters := []byte(got.Description)
	slices.Sort(letters)
	if err != nil || string(letters) != "abcdefghijklmnopqrst" {
		t.Errorf("%q, %v", got.Description, err)
	}
}

// Accounts do not see the webhooks of others, and there is no webhook without an account.
func TestOtherAccounts(t *testing.T) {
	p := newWorld(t).process(t, nil)
	hook, _ := create(t, p)
	ctx := t.Context()
	for _, c := range []struct {
		by access.Reach
		id string
	}{
		{other, hook.ID},
		{owner, "wh_0000000000000000"},
		{owner, ""},
		{access.Reach{}, hook.ID},
	} {
		for name, do := range map[string]func() error{
			"Find":        func() error { _, err := p.Find(ctx, c.by, c.id); return err },
			"FindEnabled": func() error { _, err := p.FindEnabled(ctx, c.by, c.id); return err },
			"Update": func() error {
				_, err := p.Update(ctx, c.by, c.id, func(*subscription.Draft) error { return nil })
				return err
			},
			"Delete": func() error { return p.Delete(ctx, c.by, c.id) },
			"Adopt":  func() error { _, err := p.Adopt(ctx, c.by, c.id, nil); return err },
			"Rotate": func() error { _, _, err := p.Rotate(ctx, c.by, c.id); return err },
		} {
			if err := do(); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s of %v: %v", name, c, err)
			}
		}
	}
	if all, err := p.List(ctx, other); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
}

// A webhook has a limited number of valid secrets, since each adds a signature.
func TestMostSecrets(t *testing.T) {
	p := newWorld(t).process(t, nil)
	hook, first := create(t, p)
	for n := 1; n < subscription.MostSecrets; n++ {
		_, text, err := p.Rotate(t.Context(), owner, hook.ID)
		if err != nil || text == first {
			t.Fatalf("secret %d: %v", n+1, err)
		}
	}
	if _, _, err := p.Rotate(t.Context(), owner, hook.ID); fault.KindOf(err) != fault.Conflict {
		t.Errorf("once more: %v", err)
	}
	known, err := p.Find(t.Context(), owner, hook.ID)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(known.SigningKeys(time.Now())); n != subscription.MostSecrets {
		t.Errorf("%d secrets sign now, want %d", n, subscription.MostSecrets)
	}
	if n := len(known.SigningKeys(time.Now().Add(25 * time.Hour))); n != 1 {
		t.Errorf("%d secrets sign tomorrow, want the newest", n)
	}
}
