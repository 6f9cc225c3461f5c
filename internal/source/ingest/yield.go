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

// sightMemo is where a process that stands by notes that it sees the source
// while the holder of the lease does not: its name and the time.
const sightMemo = "sight"

// errBlind ends the term of a process that is blind while another is not.
var errBlind = errors.New("the source cannot be seen from here, and another process sees it")

// offerSight probes the source while the holder of the lease is blind, until
// the context ends. While the holder is well it asks for nothing. All feeds
// must answer: a process that sees others than the holder, but no more, would
// lose the lease to it again.
func (i *Ingest) offerSight(ctx context.Context) {
	const checks = 10  // for each probe
	var next time.Time // not before
	memo := i.Coverage.Value(sightMemo)
	for retry.Sleep(ctx, i.intervals.probe/checks) == nil {
		unseen := i.Coverage.SourceStatus(true).Unseen
		if len(unseen) == 0 {
			next = time.Time{}
			continue
		}
		if next.IsZero() {
			next = time.Now().Add(rand.N(i.intervals.probe / 2)) // the processes that stand by do not ask all at once
		}
		if other := i.Coverage.Value(sightMemo); other != memo {
			memo, next = other, time.Now().Add(i.intervals.probe) // one that sees the source is enough
		}
		yielded := time.Unix(0, i.yieldedAt.Load())
		if time.Now().Before(next) || time.Since(yielded) < i.intervals.unoffered {
			continue
		}
		next = time.Now().Add(i.intervals.probe)
		if err := i.probe(ctx, unseen); err != nil {
			i.Logger.Debug("the source cannot be seen from here either", "err", err)
			continue
		}
		writing, cancel := context.WithTimeout(ctx, storeTime)
		_ = i.Coverage.SetValue(writing, nil, sightMemo, fmt.Sprintf("%s at %s", i.Holder, time.Now().UTC().Format(time.RFC3339Nano))) // else after the next probe
		cancel()
	}
}

// probe reads each feed once, those that the holder lacks first, and stops at
// the first that fails.
func (i *Ingest) probe(ctx context.Context, unseen []disclosure.Type) error {
	rest := slices.DeleteFunc(slices.Clone(disclosure.Types), func(t disclosure.Type) bool { return slices.Contains(unseen, t) })
	for _, t := range slices.Concat(unseen, rest) {
		if _, err := i.Regulator.For(throttle.Feeds).Feed(ctx, t, [32]byte{}); err != nil {
			return err
		}
	}
	return nil
}

// yield ends the term once this process is blind for a while and another sees
// the source.
func (s *session) yield(ctx context.Context) error {
	var v sight
	for {
		if err := retry.Sleep(ctx, s.intervals.probe/10); err != nil {
			return err
		}
		if v.lost(time.Now(), len(s.board.Unseen()) > 0, s.Coverage.Value(sightMemo), &s.intervals) {
			return fmt.Errorf("%w: %s", errBlind, v.memo)
		}
	}
}

// sight is what the holder of the lease knows of its own sight and of others'.
type sight struct {
	since time.Time // when it became blind; zero while it is not
	memo  string    // of the process that sees
	seen  time.Time // when the memo last changed while it was blind, by our own clock
}

// lost reports whether the lease is to be given up: blind for long enough, and
// another process has noted its sight meanwhile.
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
