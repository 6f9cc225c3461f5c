package subscription

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/push/alert"
)

// EndedByReceiver is why a channel ended that its receiver ended.
const EndedByReceiver = "the receiver wants no more messages"

// Reached returns the channel whose messages have a token, for the page with the button,
// and whether its receiver refuses messages. Of a channel that was deleted it has no
// address.
func (r *Registry) Reached(ctx context.Context, token string) (c alert.Channel, refused bool, err error) {
	receiver, err := r.reached(ctx, token)
	if err != nil {
		return alert.Channel{}, false, err
	}
	id, _ := channelOf(endPrefix, token)
	if found := r.Known().Channels[id]; found != nil {
		c = found.Channel
	}
	return c, r.Known().refused(receiver), nil
}

// reached returns the digest of the receiver whose messages have a token.
func (r *Registry) reached(ctx context.Context, token string) (receiver string, err error) {
	id, ok := channelOf(endPrefix, token)
	if !ok {
		return "", errToken()
	}
	err = r.find(ctx, func() bool {
		known := r.Known()
		if c := known.Channels[id]; c != nil && matches(token, c.endDigest) {
			receiver = digest(c.Receiver())
			return true
		}
		if gone, ok := known.removed[id]; ok && matches(token, gone.End) {
			receiver = gone.Receiver
			return true
		}
		return false
	})
	return receiver, err
}

// End ends all channels that lead to the same receiver as the one whose messages have a
// token, of all accounts, and refuses further ones until the receiver allows them.
func (r *Registry) End(ctx context.Context, token string) error {
	receiver, err := r.reached(ctx, token)
	if err != nil {
		return err
	}
	return r.end(ctx, receiver)
}

// EndAddress ends all channels with an address, and refuses further ones.
func (r *Registry) EndAddress(ctx context.Context, kind alert.Kind, address string) error {
	if address == "" {
		return nil
	}
	there := alert.Channel{Kind: kind, Address: address}
	return r.end(ctx, digest(there.Receiver()))
}

// end ends the channels of a receiver, which is named by its digest.
func (r *Registry) end(ctx context.Context, receiver string) error {
	if err := r.refuse(ctx, receiver); err != nil {
		return err
	}
	for _, c := range r.Known().Channels {
		if digest(c.Receiver()) != receiver || c.State == alert.Ended {
			continue
		}
		if err := r.stop(ctx, c, alert.Ended, EndedByReceiver); err != nil {
			return err
		}
	}
	return nil
}

// Pause stops messages to a channel because its receiver refuses them for good. What
// waits stays for some days: see package delivery. A channel that was changed since the
// attempt is left alone.
func (r *Registry) Pause(ctx context.Context, id string, revision int64, reason string) error {
	c := r.Known().Channels[id]
	if c == nil || c.revision != revision || c.State != alert.Active {
		return nil
	}
	return r.stop(ctx, c, alert.Paused, reason)
}

// PauseAddress pauses the active channels with an address, and returns how many there were.
func (r *Registry) PauseAddress(ctx context.Context, kind alert.Kind, address, reason string) (n int, err error) {
	if err := r.Refresh(ctx); err != nil {
		return 0, err
	}
	there := alert.Channel{Kind: kind, Address: address}
	for _, c := range r.Known().Channels {
		if c.Kind != kind || c.Receiver() != there.Receiver() || c.State != alert.Active {
			continue
		}
		if err := r.stop(ctx, c, alert.Paused, reason); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// AllChannels returns the channels of all accounts, ordered by account and age, for
// operators.
func (r *Registry) AllChannels(ctx context.Context) ([]*Channel, error) {
	if err := r.Refresh(ctx); err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(r.Known().Channels), func(a, b *Channel) int {
		return cmp.Or(
			strings.Compare(a.Account, b.Account),
			a.CreatedAt.Compare(b.CreatedAt),
			strings.Compare(a.ID, b.ID),
		)
	}), nil
}

// stop changes the state of a channel to paused or ended.
func (r *Registry) stop(ctx context.Context, c *Channel, s alert.State, reason string) error {
	event := "channel." + string(s)
	_, err := r.change(ctx, access.WholeAccount(c.Account), c.ID, event, func(c *Channel, now time.Time) (bool, error) {
		if c.State == s || c.State == alert.Ended {
			return false, nil
		}
		c.setState(s, reason, now)
		c.confirmation = confirmation{}
		return true, nil
	})
	if err != nil {
		return err
	}
	if s == alert.Ended {
		if err := r.o.Store.DropDeliveries(ctx, c.ID); err != nil {
			r.log.WarnContext(ctx, "the messages of an ended channel could not be dropped yet",
				"channel", c.ID, "err", err)
		}
	}
	return nil
}

// DropAccount removes everything of an account. It may be called again after a failure.
func (r *Registry) DropAccount(ctx context.Context, account string) error {
	by := access.WholeAccount(account)
	channels, err := r.ListChannels(ctx, by)
	if err != nil {
		return err
	}
	for _, c := range channels {
		if err := r.DeleteChannel(ctx, by, c.ID); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	alerts, err := r.ListAlerts(ctx, by)
	if err != nil {
		return err
	}
	for _, a := range alerts { // made while its channel was deleted
		if err := r.DeleteAlert(ctx, by, a.ID); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	return nil
}
