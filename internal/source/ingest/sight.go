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

// sightKey is the key under which a standby process stores its name and the
// time when it can read the source while the holder of the lease cannot.
const sightKey = "sight"

// errBlind ends the term of a process that cannot read the source while another
// can.
var errBlind = errors.New("the source cannot be read from here, and another process can read it")

// offerSight probes the source while the holder of the lease is blind, until the
// context ends. It makes no requests while the holder is healthy. All feeds must
// answer: otherwise the lease could go back and forth between two processes that
// each read only some.
func (i *Ingest) offerSight(ctx context.Context) {
	const checks = 10  // for each probe
	var next time.Time // earliest time of the next probe
	memo := i.Coverage.Value(sightKey)
	for retry.Sleep(ctx, i.intervals.probe/checks) == nil {
		unseen := i.Coverage.SourceStatus(true).Unseen
		if len(unseen) == 0 {
			next = time.Time{}
			continue
		}
		if next.IsZero() {
			next = time.Now().Add(rand.N(i.intervals.probe / 2)) // standby processes do not probe all at once
		}
		if other := i.Coverage.Value(sightKey); other != memo {
			memo, next = other, time.Now().Add(i.intervals.probe) // one offer is enough
		}
		yielded := i.yieldedAt.Load()
		if time.Now().Before(next) || yielded != nil && time.Since(*yielded) < i.intervals.unoffered {
			continue
		}
		next = time.Now().Add(i.intervals.probe)
		if err := i.probe(ctx, unseen); err != nil {
			i.Logger.Debug("the source cannot be read from here either", "err", err)
			continue
		}
		writing, cancel := context.WithTimeout(ctx, storeTime)
		offer := fmt.Sprintf("%s at %s", i.Holder, time.Now().UTC().Format(time.RFC3339Nano))
		_ = i.Coverage.SetValue(writing, nil, sightKey, offer) // if this fails, the next probe repeats it
		cancel()
	}
}

// probe reads each feed once, first those that the holder lacks, and stops at the
// first that fails.
func (i *Ingest) probe(ctx context.Context, unseen []disclosure.Type) error {
	rest := slices.DeleteFunc(slices.Clone(disclosure.Types), func(t disclosure.Type) bool { return slices.Contains(unseen, t) })
	for _, t := range slices.Concat(unseen, rest) {
		if _, err := i.Regulator.For(throttle.Feeds).Feed(ctx, t, [32]byte{}); err != nil {
			return err
		}
	}
	return nil
}

// yield ends the term once this process has been blind for a while and another
// offers to read the source.
func (s *session) yield(ctx context.Context) error {
	var v sight
	for {
		if err := retry.Sleep(ctx, s.intervals.probe/10); err != nil {
			return err
		}
		if v.lost(time.Now(), len(s.monitor.Unseen()) > 0, s.Coverage.Value(sightKey), &s.intervals) {
			return fmt.Errorf("%w: %s", errBlind, v.memo)
		}
	}
}

// sight is what the holder of the lease knows about its own sight and the offers
// of others.
type sight struct {
	since time.Time // when it became blind; zero while it is not
	memo  string    // the last offer
	seen  time.Time // when the offer last changed while it was blind, by this process's clock
}

// lost reports whether the lease is to be given up: this process has been blind
// for long enough, and another made an offer meanwhile.
func (v *sight) lost(now time.Time, blind bool, memo string, r *intervals) bool {
	if !blind {
		*v = sight{memo: memo}
		return false
	}
	if v.since.IsZero() {
		v.since = now
	}
	if memo != v.memo {
		v.memo, v.seen = memo, now
	}
	return now.Sub(v.since) >= r.blind && !v.seen.IsZero() && now.Sub(v.seen) <= 2*r.probe
}
