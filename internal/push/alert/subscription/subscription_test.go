package subscription_test

import (
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/subscription"
)

// TestConfirm: nothing is active before its receiver pressed the button, once, with the
// newest link.
func TestConfirm(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	c := w.channel(t, ana, "Reader@example.com")
	if c.State != alert.Unconfirmed || c.Address != "Reader@example.com" || c.Shown != "…@example.com" {
		t.Errorf("got %+v", c.Channel)
	}
	first := w.senders.Code(t)
	if _, _, err := w.AskToConfirm(ctx, ana, c.ID); err != nil {
		t.Fatal(err)
	}
	second := w.senders.Code(t)
	for name, token := range map[string]string{
		"older":    first,
		"empty":    "",
		"none":     "alc_" + strings.Repeat("x", 48),
		"changed":  second[:len(second)-1] + "!",
		"end link": c.EndToken,
	} {
		if _, err := w.Confirm(ctx, token); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: got %v, want not found", name, err)
		}
	}
	asked, err := w.Asked(ctx, second)
	if err != nil || asked.State != alert.Unconfirmed {
		t.Errorf("the page: got %v, %v", asked.State, err)
	}
	confirmed, err := w.Confirm(ctx, second)
	if err != nil || confirmed.State != alert.Active {
		t.Fatalf("got %v, %v", confirmed.State, err)
	}
	_, err = w.Confirm(ctx, second)
	wantKind(t, err, fault.NotFound)
	_, _, err = w.AskToConfirm(ctx, ana, c.ID)
	wantKind(t, err, fault.Conflict)
}

// TestSealed: neither addresses nor secrets are readable in the store.
func TestSealed(t *testing.T) {
	w := newWorld(t)
	c := w.channel(t, ana, "reader@example.com")
	records, err := w.store.RecordsSince(t.Context(), subscription.Kind, 0)
	if err != nil || len(records) == 0 {
		t.Fatalf("got %v, %v", records, err)
	}
	for _, r := range records {
		for _, word := range []string{"reader@", w.senders.Code(t), c.EndToken} {
			if strings.Contains(r.Body, word) {
				t.Errorf("the record %s has %q", r.ID, word)
			}
		}
	}
	again := worldOn(t, w.store)
	if read := again.Known().Channels[c.ID]; read == nil || read.Address != c.Address || read.EndToken != c.EndToken {
		t.Errorf("got %+v, want %+v", read, c)
	}
}

// TestConfirmationLimits: an address is asked three times a day at most, by all accounts together.
func TestConfirmationLimits(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	bob := access.WholeAccount("https://id.example.com#bob")
	mine := w.channel(t, ana, "reader@example.com")
	if _, _, err := w.AskToConfirm(ctx, ana, mine.ID); err != nil {
		t.Fatal(err)
	}
	w.channel(t, bob, "READER+news@example.com") // the same mailbox
	_, _, err := w.AskToConfirm(ctx, ana, mine.ID)
	wantKind(t, err, fault.RateLimited)
	if len(w.senders.Links()) != 3 {
		t.Errorf("%d requests were sent, want 3", len(w.senders.Links()))
	}

	carol := access.WholeAccount("https://id.example.com#carol")
	for n := range 20 {
		c := w.channel(t, carol, address(n))
		if err := w.DeleteChannel(ctx, carol, c.ID); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = w.CreateChannel(ctx, carol, email(address(20)))
	wantKind(t, err, fault.RateLimited)
}

// TestUnreached: a request to confirm that cannot be sent is shown, and may be repeated.
func TestUnreached(t *testing.T) {
	w := newWorld(t)
	w.senders.Fail(errDown)
	c := w.channel(t, ana, "reader@example.com")
	if c.State != alert.Unconfirmed || !strings.Contains(c.Reason, errDown.Error()) {
		t.Errorf("got %q, %q", c.State, c.Reason)
	}
	w.senders.Fail(nil)
	c, _, err := w.AskToConfirm(t.Context(), ana, c.ID)
	if err != nil || c.Reason != "" {
		t.Errorf("got %+v, %v", c, err)
	}
}

// TestInvited: a chat is a channel when the person comes with the token, in one account
// once.
func TestInvited(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	invite := func() string {
		t.Helper()
		_, link, err := w.CreateChannel(ctx, ana, subscription.ChannelDraft{
			Kind:     alert.Telegram,
			Language: "es",
		})
		if err != nil || len(w.senders.Links()) > 0 {
			t.Fatalf("got %v, and %d messages", err, len(w.senders.Links()))
		}
		_, token, _ := strings.Cut(link, "start=")
		return token
	}
	token := invite()
	_, err := w.ConfirmAt(ctx, alert.Email, token, "42", "Ana")
	wantKind(t, err, fault.NotFound)
	c, err := w.ConfirmAt(ctx, alert.Telegram, token, "42", "Ana")
	if err != nil || c.Address != "42" || c.Shown != "Ana" || c.State != alert.Active {
		t.Fatalf("got %+v, %v", c, err)
	}
	_, err = w.ConfirmAt(ctx, alert.Telegram, invite(), "42", "Ana")
	wantKind(t, err, fault.Conflict)
	if err := w.EndAddress(ctx, alert.Telegram, "42"); err != nil {
		t.Fatal(err)
	}
	if got := w.Known().Channels[c.ID].State; got != alert.Ended {
		t.Errorf("got %q after the person ended it", got)
	}
}

// TestEnd: one link ends what leads to a receiver in all accounts, and nothing else. Only
// the receiver can begin it again.
func TestEnd(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	bob := access.WholeAccount("https://id.example.com#bob")
	mine := w.confirmed(t, ana, "reader@example.com")
	other := w.confirmed(t, bob, "Reader@example.com") // the same mailbox
	apart := w.confirmed(t, bob, "somebody@example.com")
	wantKind(t, w.End(ctx, "ale_"+strings.Repeat("x", 48)), fault.NotFound)
	if _, refused, err := w.Reached(ctx, mine.EndToken); err != nil || refused {
		t.Fatal(refused, err)
	}
	if err := w.End(ctx, mine.EndToken); err != nil {
		t.Fatal(err)
	}
	if err := w.End(ctx, mine.EndToken); err != nil {
		t.Errorf("a second press: %v", err)
	}
	known := w.Known().Channels
	for id, want := range map[string]alert.State{
		mine.ID:  alert.Ended,
		other.ID: alert.Ended,
		apart.ID: alert.Active,
	} {
		if known[id].State != want {
			t.Errorf("%s is %s, want %s", id, known[id].State, want)
		}
	}
	_, err := w.ChangeChannel(ctx, ana, mine.ID, subscription.ChannelChange{Resume: true})
	wantKind(t, err, fault.Conflict)
	_, _, err = w.AskToConfirm(ctx, ana, mine.ID)
	wantKind(t, err, fault.Conflict)
	_, _, err = w.CreateChannel(ctx, access.WholeAccount("https://id.example.com#eve"), email("READER@example.com"))
	wantKind(t, err, fault.Conflict)
	if _, refused, err := w.Reached(ctx, mine.EndToken); err != nil || !refused {
		t.Errorf("refused is %v, %v after the receiver ended all", refused, err)
	}
	if err := w.Allow(ctx, mine.EndToken); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.AskToConfirm(ctx, ana, mine.ID); err != nil {
		t.Fatal(err)
	}
	if c, err := w.Confirm(ctx, w.senders.Code(t)); err != nil || c.State != alert.Active {
		t.Errorf("got %q, %v after the receiver confirmed it again", c.State, err)
	}
}

// TestPause: a refusal pauses the channel that was used, until its account resumes it.
func TestPause(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	made := w.confirmed(t, ana, "reader@example.com")
	c := w.Known().Channels[made.ID]
	if err := w.Pause(ctx, c.ID, c.Revision()-1, "no such mailbox"); err != nil {
		t.Fatal(err)
	}
	if got := w.Known().Channels[c.ID].State; got != alert.Active {
		t.Errorf("an attempt before a change made it %s", got)
	}
	if err := w.Pause(ctx, c.ID, c.Revision(), "no such mailbox"); err != nil {
		t.Fatal(err)
	}
	paused := w.Known().Channels[c.ID]
	if paused.State != alert.Paused || paused.Reason != "no such mailbox" || paused.Since.IsZero() {
		t.Errorf("got %+v", paused.Channel)
	}
	resumed, err := w.ChangeChannel(ctx, ana, c.ID, subscription.ChannelChange{Resume: true})
	if err != nil || resumed.State != alert.Active || resumed.Reason != "" {
		t.Errorf("got %+v, %v", resumed, err)
	}
}

// TestReach: another account cannot see, use or change a channel or an alert.
func TestReach(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	c := w.confirmed(t, ana, "reader@example.com")
	a, err := w.CreateAlert(ctx, ana, draft(c.ID))
	if err != nil {
		t.Fatal(err)
	}
	bob := access.WholeAccount("https://id.example.com#bob")
	_, err = w.FindChannel(ctx, bob, c.ID)
	wantKind(t, err, fault.NotFound)
	_, err = w.ChangeChannel(ctx, bob, c.ID, subscription.ChannelChange{})
	wantKind(t, err, fault.NotFound)
	wantKind(t, w.DeleteChannel(ctx, bob, c.ID), fault.NotFound)
	wantKind(t, w.TestChannel(ctx, bob, c.ID), fault.NotFound)
	_, err = w.CreateAlert(ctx, bob, draft(c.ID))
	wantKind(t, err, fault.Invalid)
	_, err = w.FindAlert(ctx, bob, a.ID)
	wantKind(t, err, fault.NotFound)
	wantKind(t, w.DeleteAlert(ctx, bob, a.ID), fault.NotFound)
	if all, err := w.ListAlerts(ctx, bob); err != nil || len(all) > 0 {
		t.Errorf("got %v, %v", all, err)
	}
}

// TestLimits: ten channels and fifty alerts, and not one more.
func TestLimits(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	var last *subscription.Channel
	for n := range subscription.DefaultChannels {
		last = w.channel(t, ana, address(n))
	}
	_, _, err := w.CreateChannel(ctx, ana, email(address(99)))
	wantKind(t, err, fault.Conflict)
	if same := w.channel(t, ana, address(3)); same.CreatedAt.IsZero() || len(w.Known().Channels) != 10 {
		t.Errorf("an address twice makes %d channels", len(w.Known().Channels))
	}
	for range subscription.DefaultAlerts {
		if _, err := w.CreateAlert(ctx, ana, draft(last.ID)); err != nil {
			t.Fatal(err)
		}
	}
	_, err = w.CreateAlert(ctx, ana, draft(last.ID))
	wantKind(t, err, fault.Conflict)
	if err := w.DropAccount(ctx, ana.Account()); err != nil {
		t.Fatal(err)
	}
	if k := w.Known(); len(k.Channels)+len(k.Alerts) > 0 {
		t.Errorf("%d channels and %d alerts are left", len(k.Channels), len(k.Alerts))
	}
}

// TestAlert: what is stored is what was asked for, and a change starts nothing twice.
func TestAlert(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	c := w.confirmed(t, ana, "reader@example.com")
	asked := draft(c.ID)
	asked.Filter = disclosure.Filter{Watchlist: "wl_1", Fact: disclosure.Dividend, Entries: &disclosure.Entries{}}
	asked.Rhythm = alert.Weekly
	asked.At = 495
	asked.Weekday = time.Friday
	a, err := w.CreateAlert(ctx, ana, asked)
	if err != nil {
		t.Fatalf("got %+v, %v", a, err)
	}
	again := worldOn(t, w.store)
	read := again.Known().Alerts[a.ID]
	asked.Filter.Entries = nil
	if read == nil || read.Filter != asked.Filter || read.At != 495 || read.Weekday != time.Friday {
		t.Errorf("got %+v, want %+v", read, asked)
	}
	changed, err := w.ChangeAlert(ctx, ana, a.ID, func(d *subscription.AlertDraft) error {
		d.Rhythm = alert.AtOnce
		return nil
	})
	if err != nil || changed.At != 0 || changed.Weekday != 0 {
		t.Errorf("got %+v, %v", changed, err)
	}
	for name, change := range map[string]func(*subscription.AlertDraft){
		"rhythm":  func(d *subscription.AlertDraft) { d.Rhythm = "hourly" },
		"time":    func(d *subscription.AlertDraft) { d.At = 24 * 60 },
		"channel": func(d *subscription.AlertDraft) { d.Channel = "ch_none" },
		"filter":  func(d *subscription.AlertDraft) { d.Filter.Search = strings.Repeat("a ", 300) },
	} {
		_, err := w.ChangeAlert(ctx, ana, a.ID, func(d *subscription.AlertDraft) error {
			change(d)
			return nil
		})
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: got %v, want invalid", name, err)
		}
	}
}

// TestKinds: a kind that is not offered says why, and an unknown one which there are.
func TestKinds(t *testing.T) {
	w := newWorld(t)
	for kind, want := range map[alert.Kind]string{
		alert.Slack: "not configured",
		"pigeon":    "telegram, slack",
	} {
		d := email("reader@example.com")
		d.Kind = kind
		_, _, err := w.CreateChannel(t.Context(), ana, d)
		wantKind(t, err, fault.Invalid)
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q", kind, err)
		}
	}
}

// TestTests: a sample is sent to active channels only, ten times a day.
func TestTests(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	c := w.channel(t, ana, "reader@example.com")
	wantKind(t, w.TestChannel(ctx, ana, c.ID), fault.Conflict)
	if _, err := w.Confirm(ctx, w.senders.Code(t)); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := w.TestChannel(ctx, ana, c.ID); err != nil {
			t.Fatal(err)
		}
	}
	wantKind(t, w.TestChannel(ctx, ana, c.ID), fault.RateLimited)
}

// TestRemoved: the link in a message works after the account deleted the channel.
func TestRemoved(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	bob := access.WholeAccount("https://id.example.com#bob")
	mine := w.confirmed(t, ana, "reader@example.com")
	other := w.confirmed(t, bob, "reader@example.com")
	if err := w.DeleteChannel(ctx, ana, mine.ID); err != nil {
		t.Fatal(err)
	}
	if err := worldOn(t, w.store).End(ctx, mine.EndToken); err != nil {
		t.Fatal(err)
	}
	if err := w.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	if got := w.Known().Channels[other.ID].State; got != alert.Ended {
		t.Errorf("the channel of another account is %s", got)
	}
	records, err := w.store.RecordsSince(ctx, subscription.Kind, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.ID == mine.ID && (strings.Contains(r.Body, "address") || strings.Contains(r.Body, "ana")) {
			t.Errorf("of a deleted channel remains %s", r.Body)
		}
	}
}
