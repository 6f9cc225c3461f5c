// Package sealing seals values that browsers and clients keep for the service:
// cookies, authorization codes, the ids of registered clients. Nothing is stored for
// them, and every replica can open what another has sealed.
//
// The key is random and kept in the store, where it is sealed itself if there is a
// PREGON_SECRET_KEY.
package sealing

import (
	"context"
	"log/slog"
	"sync/atomic"

	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/follow"
)

const (
	kind      = "sealing-key"
	id        = "1"
	keyLength = 43 // characters: 256 bits
)

// Key is the key of a store.
type Key struct {
	records  store.Records
	outer    *secret.Box // seals the key in the store
	log      *slog.Logger
	follower *follow.Follower
	box      atomic.Pointer[secret.Box] // nil until it is read
}

// New returns a key that is not read yet. Without a log, failures are not logged.
func New(records store.Records, outer *secret.Box, log *slog.Logger) *Key {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	k := &Key{records: records, outer: outer, log: log}
	k.follower = follow.New(follow.Options{
		Kind:   kind,
		Noun:   "sealing key",
		Store:  records,
		Apply:  k.apply,
		Logger: log,
	})
	return k
}

// LoadOrCreate reads the key, and creates it if there is none. Concurrent processes
// agree on one.
func (k *Key) LoadOrCreate(ctx context.Context) error {
	if err := k.follower.Poll(ctx); err != nil || k.box.Load() != nil {
		return err
	}
	if err := k.put(ctx, 0); err != nil && fault.KindOf(err) != fault.Conflict {
		return err
	}
	if err := k.follower.Poll(ctx); err != nil {
		return err
	}
	if k.box.Load() == nil {
		return fault.New(fault.Internal, "the key that seals sessions cannot be opened: set PREGON_SECRET_KEY to "+
			"the key that it was sealed with, or replace it with pregon signing-key rotate --at-once --lost-secret")
	}
	return nil
}

// Replace creates a new key. Nothing that was sealed before opens from then on.
func (k *Key) Replace(ctx context.Context) error { return k.put(ctx, store.AnyRevision) }

// Follow keeps the key up to date until the context ends.
func (k *Key) Follow(ctx context.Context) error { return k.follower.Run(ctx) }

func (k *Key) put(ctx context.Context, revision int64) error {
	sealed := k.outer.Seal(kind, secret.RandomText(keyLength))
	_, err := store.PutRecord(ctx, k.records, store.Record{
		Kind:     kind,
		ID:       id,
		Body:     sealed,
		Revision: revision,
	})
	return err
}

func (k *Key) apply(ctx context.Context, u follow.Update) {
	for _, r := range u.Records {
		text, err := k.outer.Open(kind, r.Body)
		if err != nil {
			k.log.ErrorContext(ctx, "the key that seals sessions cannot be opened", "err", err)
			continue
		}
		box, err := secret.NewBox(text)
		if err != nil {
			k.log.ErrorContext(ctx, "the key that seals sessions cannot be used", "err", err)
			continue
		}
		k.box.Store(box)
	}
}

// SealToken encrypts a text under a name, in letters that need no escaping.
func (k *Key) SealToken(name, text string) string { return k.box.Load().SealToken(name, text) }

// OpenToken returns the text of a token that was sealed under a name.
func (k *Key) OpenToken(name, token string) (text string, ok bool) {
	return k.box.Load().OpenToken(name, token)
}
