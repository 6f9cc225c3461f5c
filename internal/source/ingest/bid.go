package ingest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
	"pregon/internal/source/throttle"
)

// bidKey is the key under which a standby process stores its bid for the lease: its
// name, and the time when it could read the source while the holder of the lease
// could not. Stores of earlier versions have this key, so it keeps its name.
const bidKey = "sight"

// errYield ends the term of a process that cannot read the source while another
// can.
var errYield = errors.New("the source cannot be read from here, and another process can read it")

// bid probes the source while the holder of the lease cannot read it, and bids for
// the lease if it can, until the context ends. It makes no requests while the holder
// is healthy. All feeds must answer: otherwise the lease could go back and forth
// between two processes that each read only some.
func (i *Ingest) bid(ctx context.Context) {
	const checks = 10  // for each probe
	var next time.Time // earliest time of the next probe
	last := i.Coverage.Value(bidKey)
	for retry.Sleep(ctx, i.intervals.probeInterval/checks) == nil {
		unseen := i.Coverage.SourceStatus(true).Unseen
		if len(unseen) == 0 {
			next = time.Time{}
			continue
		}
		if next.IsZero() {
			next = time.Now().Add(rand.N(i.intervals.probeInterval / 2)) // standby processes do not probe all at once
		}
		if other := i.Coverage.Value(bidKey); other != last {
			last = other
			next = time.Now().Add(i.intervals.probeInterval) // one bid is enough
		}
		yielded := i.yieldedAt.Load()
		if time.Now().Before(next) || yielded != nil && time.Since(*yielded) < i.intervals.bidInterval {
			continue
		}
		next = time.Now().Add(i.intervals.probeInterval)
		if err := i.probe(ctx, unseen); err != nil {
			i.Logger.Debug("the source cannot be read from here either", "err", err)
			continue
		}
		writing, cancel := context.WithTimeout(ctx, storeTime)
		bid := fmt.Sprintf("%s at %s", i.Holder, time.Now().UTC().Format(time.RFC3339Nano))
		_ = i.Coverage.SetValue(writing, nil, bidKey, bid) // if this fails, the next probe repeats it
		cancel()
	}
}

// probe reads each feed once, first those that the holder lacks, and stops at the
// first that fails.
func (i *Ingest) probe(ctx context.Context, unseen []disclosure.Type) error {
	rest := slices.DeleteFunc(slices.Clone(disclosure.Types),
		func(t disclosure.Type) bool { return slices.Contains(unseen, t) })
	for _, t := range slices.Concat(unseen, rest) {
		if _, err := i.Regulator.For(throttle.Feeds).Feed(ctx, t, [32]byte{}); err != nil {
			return err
		}
	}
	return nil
}

// yield ends the term once this process could not read the source for a while and
// another process has bid for the lease.
func (s *session) yield(ctx context.Context) error {
	var v holder
	for {
		if err := retry.Sleep(ctx, s.intervals.probeInterval/10); err != nil {
			return err
		}
		if v.shouldYield(time.Now(), len(s.monitor.Unseen()) > 0, s.Coverage.Value(bidKey), &s.intervals) {
			return fmt.Errorf("%w: %s", errYield, v.bid)
		}
	}
}

// holder is the state from which the holder of the lease decides to yield it.
type holder struct {
	failingSince time.Time // when it could no longer read the source; zero while it can
	bid          string    // the last bid of another process
	bidAt        time.Time // when the bid last changed while this process failed, by its own clock
}

// shouldYield reports whether the lease is to be yielded: this process has failed for
// long enough, and another has bid meanwhile.
func (h *holder) shouldYield(now time.Time, failing bool, bid string, r *intervals) bool {
	if !failing {
		*h = holder{bid: bid}
		return false
	}
	if h.failingSince.IsZero() {
		h.failingSince = now
	}
	if bid != h.bid {
		h.bid = bid
		h.bidAt = now
	}
	failedLong := now.Sub(h.failingSince) >= r.failingBeforeYield
	hasBid := !h.bidAt.IsZero() && now.Sub(h.bidAt) <= 2*r.probeInterval
	return failedLong && hasBid
}
