// Package usage counts what callers with a credential use, by day and operation.
//
// Requests are counted in memory. Run adds the counts to the store every 10 seconds
// and when the service stops, so that a process that is killed loses those of its last
// 10 seconds. While the store fails they are kept and tried again.
package usage

import (
	"cmp"
	"context"
	"hash/maphash"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/auth/secret"
	"pregon/internal/disclosure"
	"pregon/internal/fault/outage"
	"pregon/internal/store"
)

const (
	// Retention is how many days counts are kept.
	Retention = 400
	// Other is the operation of requests that are not counted under their own, since
	// there are too many counts in memory.
	Other = "other"

	flushInterval = 10 * time.Second
	flushTimeout  = 5 * time.Second
	pruneInterval = time.Hour
	// maxCounts bounds the counters in memory: further operations are counted as
	// Other. At twice this number no counter is added.
	maxCounts = 100_000
	// batchSize is the number of counts that are added, or deleted, at once. Other
	// writers wait meanwhile.
	batchSize = 5000
	shards    = 16
)

// Counter counts the requests of this process.
type Counter struct {
	store  store.Counts
	outage outage.Log // of Run

	today  atomic.Int32 // a disclosure.Day
	seed   maphash.Seed
	shards [shards]shard // by owner
	size   atomic.Int64  // the number of counts in shards

	mu      sync.RWMutex // held while counts move to the store, so that readers see each once
	pending []batch      // guarded by mu: taken from the shards and not in the store yet
}

type shard struct {
	mu     sync.Mutex
	counts map[key]*count // guarded by mu
	past   []store.Count  // guarded by mu: of the days before
}

// key has no day: a map of longer keys takes twice the time.
type key struct{ owner, operation string }

type count struct {
	day disclosure.Day
	n   int64
}

// batch is added to the store at once. It keeps its name, by which the store knows
// whether it was added already.
type batch struct {
	name   string
	counts []store.Count
}

// New returns a counter. It counts at once, and Run stores the counts.
func New(s store.Counts, log *slog.Logger) *Counter {
	c := &Counter{store: s, outage: outage.Log{Logger: log}, seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].counts = map[key]*count{}
	}
	c.today.Store(int32(disclosure.DayOf(time.Now())))
	return c
}

// Count counts a request of an owner.
func (c *Counter) Count(owner, operation string) {
	k, today := key{owner, operation}, disclosure.Day(c.today.Load())
	s := c.shardOf(owner)
	s.mu.Lock()
	n := s.counts[k]
	if n == nil || n.day != today {
		n = c.newCount(s, k, today)
	}
	if n != nil {
		n.n++
	}
	s.mu.Unlock()
}

func (c *Counter) shardOf(owner string) *shard {
	return &c.shards[maphash.String(c.seed, owner)%shards]
}

// newCount adds a count to a shard, which the caller has locked. It returns nil when
// there is no room.
func (c *Counter) newCount(s *shard, k key, today disclosure.Day) *count {
	if c.size.Load() >= maxCounts {
		k.operation = Other
	}
	n := s.counts[k]
	if n != nil && n.day == today {
		return n
	}
	if c.size.Load() >= 2*maxCounts {
		return nil
	}
	if n != nil {
		s.past = append(s.past, store.Count{
			Account:   k.owner,
			Day:       n.day,
			Operation: k.operation,
			N:         n.n,
		})
	}
	c.size.Add(1)
	k.owner = strings.Clone(k.owner) // it may be part of a longer text
	n = &count{day: today}
	s.counts[k] = n
	return n
}

// Counts returns the counts of an owner on the days from first to last, in order of
// day and operation: those in the store, and those of this process that are not there
// yet. Those of other processes are up to 10 seconds old.
func (c *Counter) Counts(ctx context.Context, owner string, first, last disclosure.Day) ([]store.Count, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all, err := c.store.Counts(ctx, owner, first, last)
	if err != nil {
		return nil, err
	}
	for _, b := range c.pending {
		all = append(all, b.counts...)
	}
	all = append(all, c.shardOf(owner).list()...)
	all = slices.DeleteFunc(all, func(n store.Count) bool {
		return n.Account != owner || n.Day < first ||
			n.Day > last
	})
	return sum(all), nil
}

// list returns the counts of a shard.
func (s *shard) list() []store.Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.past)
	for k, n := range s.counts {
		all = append(all, store.Count{
			Account:   k.owner,
			Day:       n.day,
			Operation: k.operation,
			N:         n.n,
		})
	}
	return all
}

// sum sorts counts of one owner and adds up those of the same day and operation.
func sum(counts []store.Count) []store.Count {
	slices.SortFunc(counts, func(a, b store.Count) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), strings.Compare(a.Operation, b.Operation))
	})
	summed := counts[:0]
	for _, n := range counts {
		if i := len(summed) - 1; i >= 0 && summed[i].Day == n.Day && summed[i].Operation == n.Operation {
			summed[i].N += n.N
		} else {
			summed = append(summed, n)
		}
	}
	return summed
}

// Run stores the counts and deletes old ones until the context ends. Then it stores
// the counts once more.
func (c *Counter) Run(ctx context.Context) {
	var follower sync.WaitGroup
	defer follower.Wait()
	follower.Go(func() { c.followDay(ctx) })
	flush, prune := time.NewTicker(flushInterval), time.NewTicker(pruneInterval)
	defer flush.Stop()
	defer prune.Stop()
	for {
		select {
		case <-flush.C:
			c.logged(c.flush(ctx))
		case <-prune.C:
			c.logged(c.prune(ctx))
		case <-ctx.Done():
			c.logged(c.flush(context.WithoutCancel(ctx)))
			return
		}
	}
}

// followDay changes the day at midnight. Each request would take longer to read the
// clock than to count.
func (c *Counter) followDay(ctx context.Context) {
	for {
		now := time.Now()
		day := disclosure.DayOf(now)
		c.today.Store(int32(day))
		select {
		case <-time.After(min((day + 1).Start().Sub(now), flushInterval)): // the clock may be set meanwhile
		case <-ctx.Done():
			return
		}
	}
}

func (c *Counter) logged(err error) {
	if err != nil {
		c.outage.Failed("cannot store the usage counts: retrying", "err", err)
		return
	}
	c.outage.Recovered("the usage counts are stored again")
}

// flush adds all counts to the store. After an error the rest is pending.
func (c *Counter) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.storePending(ctx); err != nil {
		return err
	}
	c.take()
	return c.storePending(ctx)
}

// take moves the counts from the shards to pending. The caller holds mu.
func (c *Counter) take() {
	var all []store.Count
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		taken := shard{counts: s.counts, past: s.past}
		s.counts, s.past = map[key]*count{}, nil
		s.mu.Unlock()
		all = append(all, taken.list()...)
	}
	c.size.Add(-int64(len(all)))
	for counts := range slices.Chunk(all, batchSize) {
		c.pending = append(c.pending, batch{secret.RandomText(22), counts})
	}
}

// storePending adds the pending batches to the store. The caller holds mu.
func (c *Counter) storePending(ctx context.Context) error {
	for len(c.pending) > 0 {
		if err := c.store.AddCounts(ctx, c.pending[0].name, c.pending[0].counts...); err != nil {
			return err
		}
		c.pending = c.pending[1:]
	}
	return nil
}

// prune deletes the counts that are older than Retention.
func (c *Counter) prune(ctx context.Context) error {
	for {
		n, err := c.store.PruneCounts(ctx, disclosure.DayOf(time.Now())-Retention, batchSize)
		if err != nil || n < batchSize {
			return err
		}
	}
}
