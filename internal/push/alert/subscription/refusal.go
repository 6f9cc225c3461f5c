package subscription

import (
	"context"
	"encoding/json"
	"time"

	"pregon/internal/fault"
	"pregon/internal/store"
)

// errRefused is the error for a receiver who wants no messages.
func errRefused() error {
	return fault.New(fault.Conflict, "The receiver has ended all messages of this service. Only the receiver can allow "+
		"them again, with the link in a message that came earlier.")
}

// refuses reports whether a receiver wants no messages.
func (r *Registry) refuses(receiver string) bool {
	return r.Known().refused(digest(receiver))
}

// refuse records that a receiver, who is named by its digest, wants no messages. It
// outlives the channels, so that nobody can ask the receiver again.
func (r *Registry) refuse(ctx context.Context, receiver string) error {
	if r.Known().refused(receiver) {
		return nil
	}
	id := refusalPrefix + receiver
	body, err := json.Marshal(refusal{ID: id, RefusedAt: present()})
	if err != nil {
		return err
	}
	// A refusal that was taken back before has a revision that is not known here.
	_, err = r.write(ctx, id, string(body), store.AnyRevision)
	return err
}

// allow takes a refusal back.
func (r *Registry) allow(ctx context.Context, receiver string) error {
	return r.allowDigest(ctx, digest(receiver))
}

func (r *Registry) allowDigest(ctx context.Context, receiver string) error {
	if !r.Known().refused(receiver) {
		return nil
	}
	_, err := r.write(ctx, refusalPrefix+receiver, "", store.AnyRevision)
	return err
}

// Allow takes back the refusal of the receiver whose messages have a token. Its channels
// stay ended until they are confirmed again.
func (r *Registry) Allow(ctx context.Context, token string) error {
	receiver, err := r.reached(ctx, token)
	if err != nil {
		return err
	}
	return r.allowDigest(ctx, receiver)
}

// removal returns what is kept of a channel that its account deletes, for the links in
// messages that its receiver has; empty if there are none.
func (c *Channel) removal(now time.Time) (string, error) {
	if c.Address == "" {
		return "", nil
	}
	body, err := json.Marshal(removal{
		ID:        c.ID,
		RemovedAt: now,
		Receiver:  digest(c.Receiver()),
		End:       c.endDigest,
	})
	return string(body), err
}
