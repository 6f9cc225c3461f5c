// Package proofs holds what the service can be held to: how far the log was served,
// which shows that a backup was restored, and the transparency log, which shows that
// nothing was changed.
package proofs

import (
	"context"
	"log/slog"

	"pregon/internal/auth/secret"
	"pregon/internal/disclosure"
	"pregon/internal/proof/transparency"
	"pregon/internal/server/ratelimit"
	"pregon/internal/server/telemetry"
	"pregon/internal/service/lifecycle"
	"pregon/internal/store"
	"pregon/internal/store/engine"
	"pregon/internal/store/highwater"
)

// Options are what a Proofs needs.
type Options struct {
	Address   engine.Address   // of the store
	CacheDir  string           // where marks are kept; empty for none
	Redis     *ratelimit.Redis // where marks are kept too; nil for none
	Primary   engine.Store     // the store itself: not a standby, which may be behind
	Log       store.Store
	Records   store.Records // followed for the keys of the log
	Box       *secret.Box   // seals the keys
	BaseURL   string        // part of the name of the log
	Publishes bool          // this process serves the transparency log
	Logger    *slog.Logger
	// EndRestored ends what a restored backup must not make valid again, and returns
	// how much it ended.
	EndRestored func(context.Context, disclosure.Head) (int, error)
}

// Proofs record how far the log was served, and publish it as a transparency log.
type Proofs struct {
	Publisher *transparency.Publisher

	keys      *transparency.Keys
	highwater *highwater.Keeper
	publishes bool
}

// New checks whether a backup was restored, before anything is served or written.
func New(ctx context.Context, o Options) (*Proofs, error) {
	places := o.Address.HighWater(o.CacheDir)
	if o.Redis != nil {
		places = append(places, highwater.Redis{Conn: o.Redis, Key: "pregon:served:" + o.Address.Digest()})
	}
	p := &Proofs{
		highwater: highwater.New(o.Primary, o.Logger, places...),
		publishes: o.Publishes,
	}
	head, _, err := p.highwater.Check(ctx)
	if err != nil {
		return nil, err
	}
	ended, err := o.EndRestored(ctx, head)
	if ended > 0 {
		o.Logger.Warn("a backup was restored: all sessions of people and the access of their applications were ended")
	}
	if err != nil {
		return nil, err
	}
	p.publish(o)
	return p, nil
}

// publish creates what publishes the log. The published root is recorded outside of the
// store, so that a rewritten store is noticed at the next start.
func (p *Proofs) publish(o Options) {
	p.keys = transparency.NewKeys(o.Records, o.Box, o.Logger)
	p.Publisher = transparency.New(transparency.Options{
		Log:    o.Log,
		Keys:   p.keys,
		Base:   o.BaseURL,
		Logger: o.Logger,
		Known: func(ctx context.Context, epoch string) transparency.Root {
			tree := p.highwater.Tree(ctx, epoch)
			return transparency.Root{Size: tree.Size, Hash: tree.Root}
		},
	})
	p.highwater.Publishes(func() (string, highwater.Tree) {
		epoch, root, ok := p.Publisher.Root()
		if !ok {
			return "", highwater.Tree{}
		}
		return epoch, highwater.Tree{Size: root.Size, Root: root.Hash}
	})
}

// Start publishes the log, and records how far it was served. Seen returns the newest
// change that clients may have seen.
func (p *Proofs) Start(g *lifecycle.Group, seen func() (disclosure.Head, disclosure.Mark)) {
	if p.publishes {
		g.UntilServed(p.keys.Follow)
		g.UntilServed(p.Publisher.Run)
	}
	g.LoadedUntilServed(func(ctx context.Context) error { p.highwater.Run(ctx, seen); return nil })
}

// Observe registers the metrics of the transparency log.
func (p *Proofs) Observe(m *telemetry.Metrics) {
	if !p.publishes {
		return
	}
	m.Gauge("pregon_transparency_leaves", "Changes in the transparency log of this process.", func() float64 {
		return float64(p.Publisher.Size())
	})
	m.Gauge("pregon_transparency_signing",
		"1 while checkpoints are signed; 0 while the log is loading, or because the history of the "+
			"store was rewritten.", func() float64 {
			_, _, ok := p.Publisher.Root()
			return telemetry.Bool(ok)
		})
}
