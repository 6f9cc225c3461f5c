package subscription

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/push/alert"
)

// Limits of requests to confirm, so that nobody can use this service to write to
// strangers.
const (
	confirmationsPerAddress = 3  // a day
	confirmationsPerAccount = 20 // a day
)

// ConfirmPath and EndPath are the pages that links in messages open.
const (
	ConfirmPath = "/alerts/confirm"
	EndPath     = "/alerts/end"
)

// AskToConfirm sends the request to confirm a channel, with a new link, or returns the
// address at which the person confirms it. Earlier links are not valid any more.
func (r *Registry) AskToConfirm(
	ctx context.Context, by access.Reach, id string,
) (c *Channel, invite string, err error) {
	found, err := r.FindChannel(ctx, by, id)
	if err != nil {
		return nil, "", err
	}
	if found.State == alert.Active || found.State == alert.Paused {
		return nil, "", fault.New(fault.Conflict, "This channel is confirmed already.")
	}
	if r.refuses(found.Receiver()) && !r.o.Senders.Invites(found.Kind) {
		return nil, "", errRefused()
	}
	if err := r.countConfirmation(ctx, found); err != nil {
		return nil, "", err
	}
	token := newToken(confirmPrefix, id)
	c, err = r.change(ctx, by, id, "channel.asked", func(c *Channel, now time.Time) (bool, error) {
		c.setState(alert.Unconfirmed, "", now)
		c.confirmation = confirmation{
			Digest:  digest(token),
			Expires: now.Add(linkValid),
		}
		return true, nil
	})
	if err != nil {
		return nil, "", err
	}
	if r.o.Senders.Invites(c.Kind) {
		invite, err := r.o.Senders.Invite(ctx, c.Kind, token)
		return c, invite, err
	}
	if err := r.o.Senders.Confirm(ctx, c.Channel, r.o.Link(ConfirmPath+"?code="+token)); err != nil {
		return r.failed(ctx, by, id, err)
	}
	return c, "", nil
}

// failed records why the request to confirm could not be sent. The channel stays, so that
// its page shows the reason and the account can try again.
func (r *Registry) failed(ctx context.Context, by access.Reach, id string, cause error) (*Channel, string, error) {
	c, err := r.change(ctx, by, id, "channel.unreached", func(c *Channel, now time.Time) (bool, error) {
		c.setState(alert.Unconfirmed, "the request to confirm could not be sent: "+cause.Error(), now)
		return true, nil
	})
	return c, "", err
}

// countConfirmation counts a request to confirm for its account and its address.
func (r *Registry) countConfirmation(ctx context.Context, c *Channel) error {
	until := time.Now().Add(day)
	if ok, err := r.claim(ctx, "account/"+digest(c.Account), confirmationsPerAccount, until); err != nil || !ok {
		return limited(err, "This account has asked for %d confirmations within a day. Try again tomorrow.",
			confirmationsPerAccount)
	}
	if c.Address == "" {
		return nil
	}
	ok, err := r.claim(ctx, "address/"+digest(mailbox(c.Receiver())), confirmationsPerAddress, until)
	if err != nil || !ok {
		return limited(err, "This address was asked to confirm %d times within a day. Try again tomorrow.",
			confirmationsPerAddress)
	}
	return nil
}

// mailbox returns a receiver without what some mail servers ignore of an address, so that
// variants of one address are counted together.
func mailbox(receiver string) string {
	local, domain, ok := strings.Cut(receiver, "@")
	if !ok {
		return receiver
	}
	local, _, _ = strings.Cut(local, "+")
	return local + "@" + domain
}

// limited returns an error of the store, or that a limit is reached.
func limited(err error, message string, most int) error {
	if err != nil {
		return err
	}
	refused := fault.New(fault.RateLimited, message, most)
	refused.RetryAfter = day
	return refused
}

// claim reports whether something that may happen a number of times until a time may
// happen once more.
func (r *Registry) claim(ctx context.Context, name string, most int, until time.Time) (bool, error) {
	for n := range most {
		ok, err := r.o.Store.ClaimNonce(ctx, fmt.Sprintf("alert confirmation %s %d", name, n), until)
		if ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// Asked returns the channel that a token of a link confirms, for the page with the button.
func (r *Registry) Asked(ctx context.Context, token string) (alert.Channel, error) {
	c, err := r.asked(ctx, token)
	if err != nil {
		return alert.Channel{}, err
	}
	return c.Channel, nil
}

func (r *Registry) asked(ctx context.Context, token string) (*Channel, error) {
	id, ok := channelOf(confirmPrefix, token)
	if !ok {
		return nil, errToken()
	}
	confirms := func() bool {
		c := r.Known().Channels[id]
		return c != nil && matches(token, c.confirmation.Digest) && time.Now().Before(c.confirmation.Expires)
	}
	if err := r.find(ctx, confirms); err != nil {
		return nil, err
	}
	return r.Known().Channels[id], nil
}

// find returns nil if something is known, perhaps after asking the store for what other
// processes wrote a moment ago. Those who guess tokens share the questions.
func (r *Registry) find(ctx context.Context, known func() bool) error {
	if known() {
		return nil
	}
	if err := r.follower.Wake(ctx); err != nil {
		return err
	}
	if !known() {
		return errToken()
	}
	return nil
}

// Confirm makes the channel active that a token of a link confirms.
func (r *Registry) Confirm(ctx context.Context, token string) (alert.Channel, error) {
	return r.confirm(ctx, token, func(*Channel) {})
}

// ConfirmAt confirms a channel whose address is known only now, because the person came
// to the service with the token: see Senders.Invite.
func (r *Registry) ConfirmAt(
	ctx context.Context, kind alert.Kind, token, address, shown string,
) (alert.Channel, error) {
	c, err := r.asked(ctx, token)
	if err != nil {
		return alert.Channel{}, err
	}
	if c.Kind != kind {
		return alert.Channel{}, errToken()
	}
	there := alert.Channel{Kind: kind, Address: address}
	if same := r.ofReceiver(access.WholeAccount(c.Account), there.Receiver()); same != nil && same.ID != c.ID {
		return alert.Channel{}, fault.New(fault.Conflict, "This chat is a channel of the account already.")
	}
	if err := r.allow(ctx, there.Receiver()); err != nil { // the person came of their own accord
		return alert.Channel{}, err
	}
	return r.confirm(ctx, token, func(c *Channel) {
		c.Address = address
		c.Shown = shown
	})
}

func (r *Registry) confirm(ctx context.Context, token string, set func(*Channel)) (alert.Channel, error) {
	found, err := r.asked(ctx, token)
	if err != nil {
		return alert.Channel{}, err
	}
	by := access.WholeAccount(found.Account)
	c, err := r.change(ctx, by, found.ID, "channel.confirmed", func(c *Channel, now time.Time) (bool, error) {
		if !matches(token, c.confirmation.Digest) || c.Address != "" && r.refuses(c.Receiver()) {
			return false, errToken()
		}
		set(c)
		c.setState(alert.Active, "", now)
		c.ConfirmedAt = now
		return true, nil
	})
	if err != nil {
		return alert.Channel{}, err
	}
	return c.Channel, nil
}

// TestChannel sends a sample to an active channel.
func (r *Registry) TestChannel(ctx context.Context, by access.Reach, id string) error {
	c, err := r.FindChannel(ctx, by, id)
	if err != nil {
		return err
	}
	if c.State != alert.Active {
		return fault.New(fault.Conflict, "This channel is not active: confirm or resume it first.")
	}
	ok, err := r.claim(ctx, "test/"+digest(c.Account+" "+c.Receiver()), testsPerChannel, time.Now().Add(day))
	if err != nil || !ok {
		return limited(err, "This channel was tested %d times within a day. Try again tomorrow.", testsPerChannel)
	}
	err = r.o.Senders.Test(ctx, c.Channel)
	if err != nil && fault.KindOf(err) == fault.Internal {
		return fault.New(fault.Conflict, "The sample could not be sent: %v.", err)
	}
	return err
}

// testsPerChannel is how many samples are sent to a channel in a day.
const testsPerChannel = 10
