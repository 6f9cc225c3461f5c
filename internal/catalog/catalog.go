// Package catalog is the read model: every filing and issuer, in memory, in
// the order in which lists show them. It answers every read of the service; no
// read touches the database.
//
// A Snapshot is immutable. A request takes one and uses only that, so that all
// parts of its answer agree. The catalogue loads everything at one seq, then
// follows the log, builds the next snapshot beside the present one, and swaps
// them through one pointer: readers never wait.
package catalog

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"pregon/internal/disclosure"
)

// Log is the part of the store that the catalogue follows.
type Log interface {
	Current(ctx context.Context, fn func(disclosure.Change) error) (seq int64, err error)
	Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error)
	Wait(ctx context.Context, after int64) error
}

// Catalog holds the present snapshot.
type Catalog struct {
	log  Log
	slog *slog.Logger
	now  atomic.Pointer[Snapshot] // nil until loaded
}

// New returns a catalogue that has nothing to show until Load.
func New(log Log, logger *slog.Logger) *Catalog { return &Catalog{log: log, slog: logger} }

// Snapshot returns the present state, nil until the first is loaded.
func (c *Catalog) Snapshot() *Snapshot { return c.now.Load() }

// Load reads everything there is.
func (c *Catalog) Load(ctx context.Context) error {
	start := time.Now()
	b := newBuilder(nil)
	seq, err := c.log.Current(ctx, func(ch disclosure.Change) error {
		b.add(ch)
		return nil
	})
	if err != nil {
		return fmt.Errorf("loading the catalogue: %w", err)
	}
	s := b.build(seq)
	c.now.Store(s)
	c.slog.Info("catalogue loaded", "reports", s.Len(), "issuers", len(s.entities), "seq", seq, "took", time.Since(start))
	return nil
}

// batch is how many changes are read and applied at once.
const batch = 2000

// Follow applies changes as they come until the context ends. While the log
// cannot be read the last snapshot stands.
func (c *Catalog) Follow(ctx context.Context) error {
	failures := 0
	for {
		err := c.step(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			failures = 0
			continue
		}
		failures++
		c.slog.Warn("the catalogue cannot follow the log", "err", err, "failures", failures, "seq", c.Snapshot().Seq())
		select {
		case <-ctx.Done():
		case <-time.After(backoff(failures)):
		}
	}
}

func (c *Catalog) step(ctx context.Context) error {
	s := c.Snapshot()
	if err := c.log.Wait(ctx, s.Seq()); err != nil {
		return err
	}
	changes, err := c.log.Changes(ctx, s.Seq(), batch)
	if err != nil || len(changes) == 0 {
		return err
	}
	b := newBuilder(s)
	for _, ch := range changes {
		b.add(ch)
	}
	c.now.Store(b.build(changes[len(changes)-1].Seq))
	return nil
}

// backoff doubles from 100 ms to 5 s, with jitter so that replicas spread.
func backoff(failures int) time.Duration {
	d := min(100*time.Millisecond<<min(failures-1, 10), 5*time.Second)
	return d/2 + rand.N(d/2)
}
