package history

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/search/saved"
)

const (
	// maxWait is how long a request waits for the beginning of a build.
	maxWait = 5 * time.Second
	// maxBuild is how long a build may take.
	maxBuild = 30 * time.Second

	maxOwnWaiting = 8  // builds of one caller that wait
	maxWaiting    = 64 // builds of all callers that wait
)

// queue runs builds, one at a time, so that requests about the past take a bounded part
// of the machine. Each build runs once for all requests that want its result, as long
// as at least one does.
//
// Callers take turns: the next build is of the caller that has waited longest for a
// turn, no matter how many of its builds wait. A build that several callers want
// begins when the first of them has its turn.
type queue struct {
	mu       sync.Mutex
	builds   map[any]*build          // guarded by mu: those that wait or run, by key
	lines    map[access.Caller]*line // guarded by mu: callers with builds that wait or run
	waiting  int                     // guarded by mu: the sum of the lengths of all lines
	running  bool                    // guarded by mu
	arrivals uint64                  // guarded by mu: numbers builds
	turns    uint64                  // guarded by mu: numbers turns
}

// line is the builds of one caller. queue.mu guards it.
type line struct {
	builds []*build // that wait, the oldest first
	since  uint64   // the turn since which it waits: its last one, or the one of its arrival
	served bool     // it had a turn
	inWork bool     // a build that began in its turn runs
}

// build is one thing that is built. queue.mu guards all fields but done, and value and
// err, which are set before done is closed.
type build struct {
	key     any
	run     func(context.Context) (any, error)
	ctx     context.Context // of run
	cancel  context.CancelFunc
	number  uint64
	wanted  map[access.Caller]int // requests that want it
	started bool
	turnOf  access.Caller // once started
	over    bool          // done is closed

	done  chan struct{}
	value any
	err   error
}

// share returns the result of run, which runs in its turn and once for all requests
// that want the same key at the same time. The keys of results of different types must
// have different types.
func share[V any](ctx context.Context, q *queue, key any, run func(context.Context) (V, error)) (value V, err error) {
	caller := access.CallerFrom(ctx)
	b, err := q.join(ctx, caller, key, func(ctx context.Context) (any, error) { return run(ctx) })
	if err != nil {
		return value, err
	}
	if err := q.wait(ctx, caller, b); err != nil {
		return value, err
	}
	return b.value.(V), nil
}

// join adds a request to those that want a build, and creates the build if there is
// none.
func (q *queue) join(
	ctx context.Context,
	caller access.Caller,
	key any,
	run func(context.Context) (any, error),
) (*build, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.builds[key]
	if b == nil || !b.started && b.wanted[caller] == 0 { // it takes a place in the line
		if err := q.makeRoom(caller); err != nil {
			return nil, err
		}
		b = q.builds[key] // it may be the one that gave way
	}
	if b == nil {
		b = q.newBuild(ctx, key, run)
	}
	if !b.started && b.wanted[caller] == 0 {
		q.enlist(caller, b)
	}
	b.wanted[caller]++
	q.next()
	return b, nil
}

func (q *queue) newBuild(ctx context.Context, key any, run func(context.Context) (any, error)) *build {
	if q.builds == nil {
		q.builds = map[any]*build{}
		q.lines = map[access.Caller]*line{}
	}
	q.arrivals++
	b := &build{
		key:    key,
		run:    run,
		number: q.arrivals,
		wanted: map[access.Caller]int{},
		done:   make(chan struct{}),
	}
	// It goes on when the request that began it ends and another one wants it.
	b.ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
	q.builds[key] = b
	return b
}

func (q *queue) enlist(caller access.Caller, b *build) {
	l := q.lines[caller]
	if l == nil {
		l = &line{since: q.turns}
		q.lines[caller] = l
	}
	l.builds = append(l.builds, b)
	q.waiting++
}

// withdraw removes a build from the line of a caller.
func (q *queue) withdraw(caller access.Caller, b *build) {
	l := q.lines[caller]
	if l == nil {
		return
	}
	if n := slices.Index(l.builds, b); n >= 0 {
		l.builds = slices.Delete(l.builds, n, n+1)
		q.waiting--
	}
	q.tidy(caller, l)
}

// tidy forgets a caller without builds.
func (q *queue) tidy(caller access.Caller, l *line) {
	if len(l.builds) == 0 && !l.inWork {
		delete(q.lines, caller)
	}
}

// makeRoom fails if the caller has too many builds that wait. If all callers together
// have too many, the last one of the caller with the longest line gives way, unless
// the line of this caller would be as long.
func (q *queue) makeRoom(caller access.Caller) error {
	own := 0
	if l := q.lines[caller]; l != nil {
		own = len(l.builds)
	}
	if own >= maxOwnWaiting {
		return errOwnWaiting()
	}
	if q.waiting < maxWaiting {
		return nil
	}
	var longest access.Caller
	most := 0
	for c, l := range q.lines {
		if len(l.builds) > most {
			longest, most = c, len(l.builds)
		}
	}
	if most <= own+1 {
		return errBusy()
	}
	last := q.lines[longest].builds[most-1]
	q.withdraw(longest, last)
	if !q.inLine(last) { // of another caller
		q.finish(last, nil, errOwnWaiting())
	}
	return nil
}

// next starts the next build if none runs.
func (q *queue) next() {
	if q.running || q.waiting == 0 {
		return
	}
	var caller access.Caller
	var chosen *line
	for c, l := range q.lines {
		if len(l.builds) > 0 && (chosen == nil || l.before(chosen)) {
			caller, chosen = c, l
		}
	}
	b := chosen.builds[0]
	q.turns++
	chosen.since = q.turns
	chosen.served = true
	chosen.inWork = true
	for c := range b.wanted {
		q.withdraw(c, b)
	}
	b.started = true
	b.turnOf = caller
	q.running = true
	go q.work(b)
}

// before reports whether the turn of a line is before that of another one. A caller that
// arrived during the turn of another one is before it, but new callers are not before
// one that already waited when they arrived.
func (l *line) before(other *line) bool {
	if l.since != other.since {
		return l.since < other.since
	}
	if l.served != other.served {
		return !l.served
	}
	return l.builds[0].number < other.builds[0].number
}

// work runs a build and starts the next one.
func (q *queue) work(b *build) {
	ctx, cancel := context.WithTimeout(b.ctx, maxBuild)
	defer cancel()
	value, err := protect(ctx, b.run)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finish(b, value, err)
	q.running = false
	l := q.lines[b.turnOf]
	l.inWork = false
	q.tidy(b.turnOf, l)
	q.next()
}

// protect calls a function. A panic is an error, as it is in a handler of requests.
func protect(ctx context.Context, run func(context.Context) (any, error)) (value any, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if saved.Broken(p) != nil {
			err = &broken{p}
			return
		}
		if p != nil {
			err = fmt.Errorf("building a past state panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return run(ctx)
}

// broken is the error of a build that a damaged file has ended. It is a panic in each request
// that waits for the build, since the handlers of requests know what to do: see
// saved.Broken.
type broken struct{ cause any }

func (b *broken) Error() string { return fmt.Sprint(b.cause) }

// finish passes the result of a build to the requests that want it.
func (q *queue) finish(b *build, value any, err error) {
	b.over = true
	b.value = value
	b.err = err
	close(b.done)
	b.cancel()
	q.forget(b)
}

// forget removes a build, so that a later request for its key begins another one.
func (q *queue) forget(b *build) {
	if q.builds[b.key] == b {
		delete(q.builds, b.key)
	}
}

// wait waits for the end of a build.
func (q *queue) wait(ctx context.Context, caller access.Caller, b *build) error {
	late := time.NewTimer(maxWait)
	defer late.Stop()
	for {
		select {
		case <-b.done:
			if end, ok := b.err.(*broken); ok {
				panic(end.cause)
			}
			return b.err
		case <-ctx.Done():
			q.mu.Lock()
			q.leave(caller, b)
			q.mu.Unlock()
			return fault.Wrap(fault.Unavailable, ctx.Err(),
				"Other requests about the past are being answered. Try again in a few seconds.")
		case <-late.C:
			if err := q.giveUp(caller, b); err != nil {
				return err
			}
		}
	}
}

// giveUp removes a request from those that want a build that has not begun in time, and
// returns the reason. It returns nil if the build has begun.
func (q *queue) giveUp(caller access.Caller, b *build) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if b.started {
		return nil
	}
	l := q.lines[caller]
	own := l != nil && (l.served || len(l.builds) > 1)
	q.leave(caller, b)
	if own {
		return errOwnWaiting()
	}
	return errBusy()
}

// leave removes a request from those that want a build. When none is left, the build
// ends.
func (q *queue) leave(caller access.Caller, b *build) {
	if b.over { // at the same moment
		return
	}
	if b.wanted[caller]--; b.wanted[caller] > 0 {
		return
	}
	delete(b.wanted, caller)
	if !b.started {
		q.withdraw(caller, b)
	}
	switch {
	case len(b.wanted) == 0:
		b.cancel()
		q.forget(b)
	case !b.started && !q.inLine(b): // it gave way in the lines of those who still want it
		q.finish(b, nil, errOwnWaiting())
	}
}

// inLine reports whether a build waits in the line of a caller that wants it.
func (q *queue) inLine(b *build) bool {
	for caller := range b.wanted {
		if l := q.lines[caller]; l != nil && slices.Contains(l.builds, b) {
			return true
		}
	}
	return false
}

const retryAfter = 5 * time.Second

func errOwnWaiting() error {
	e := fault.New(fault.RateLimited,
		"Your other requests about the past are being answered first: up to %d points wait for one caller. "+
			"Send fewer at once, or the same as_of for all pages.", maxOwnWaiting)
	e.RetryAfter = retryAfter
	return e
}

func errBusy() error {
	e := fault.New(fault.Unavailable, "Requests of many callers about the past are being answered. Try again "+
		"in a few seconds.")
	e.RetryAfter = retryAfter
	return e
}
