package access

import (
	"context"
	"slices"
	"sync"
	"time"

	"pregon/internal/fault"
)

// Turns bounds work of one kind that the whole service does at the same time, such
// as rendering pages. Callers take turns: while several wait, each gets one turn
// before any gets a second. So a caller with many requests delays another by about
// one piece of work, and not by all of its own.
type Turns struct {
	max  int           // at the same time
	wait time.Duration // how long Acquire waits

	mu      sync.Mutex         // held for a few operations on memory
	running int                // guarded by mu
	waiting map[Caller][]*Turn // guarded by mu: by caller, the oldest first
	order   []Caller           // guarded by mu: the callers that wait, the next one first
}

// NewTurns returns turns for so much work at the same time. Acquire waits for a turn
// no longer than wait.
func NewTurns(most int, wait time.Duration) *Turns {
	return &Turns{
		max:     most,
		wait:    wait,
		waiting: map[Caller][]*Turn{},
	}
}

// Turn is a place in the queue, and later the right to work.
type Turn struct {
	of      *Turns
	caller  Caller
	granted chan struct{} // closed when the work may start
	running bool          // guarded by of.mu
	over    bool          // guarded by of.mu
}

// Ask joins the queue. The caller must call End, whether the turn is granted or not.
func (t *Turns) Ask(caller Caller) *Turn {
	turn := &Turn{
		of:      t,
		caller:  caller,
		granted: make(chan struct{}),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting[caller]) == 0 {
		t.order = append(t.order, caller)
	}
	t.waiting[caller] = append(t.waiting[caller], turn)
	t.grant()
	return turn
}

// Acquire waits for a turn. It returns Unavailable if there is none in time.
func (t *Turns) Acquire(ctx context.Context, caller Caller) (*Turn, error) {
	turn := t.Ask(caller)
	timer := time.NewTimer(t.wait)
	defer timer.Stop()
	select {
	case <-turn.granted:
		return turn, nil
	case <-ctx.Done():
		turn.End()
		return nil, ctx.Err()
	case <-timer.C:
		turn.End()
		return nil, ErrBusy()
	}
}

// ErrBusy returns the error of a request that got no turn in time.
func ErrBusy() *fault.Error {
	e := fault.New(fault.Unavailable, "The service is busy with requests of this kind. Try again in a few seconds.")
	e.RetryAfter = 2 * time.Second
	return e
}

// Granted returns a channel that is closed when the work may start.
func (u *Turn) Granted() <-chan struct{} { return u.granted }

// End returns the turn, or leaves the queue. Further calls have no effect.
func (u *Turn) End() {
	t := u.of
	t.mu.Lock()
	defer t.mu.Unlock()
	if u.over {
		return
	}
	u.over = true
	if u.running {
		t.running--
		t.grant()
		return
	}
	t.remove(u)
}

// grant starts as many turns as there is room for. t.mu is held.
func (t *Turns) grant() {
	for t.running < t.max && len(t.order) > 0 {
		caller := t.order[0]
		t.order = t.order[1:]
		queue := t.waiting[caller]
		turn := queue[0]
		if len(queue) > 1 {
			t.waiting[caller] = queue[1:]
			t.order = append(t.order, caller) // after all others
		} else {
			delete(t.waiting, caller)
		}
		turn.running = true
		t.running++
		close(turn.granted)
	}
}

// remove takes a turn out of the queue. t.mu is held.
func (t *Turns) remove(u *Turn) {
	queue := slices.DeleteFunc(t.waiting[u.caller], func(other *Turn) bool { return other == u })
	if len(queue) > 0 {
		t.waiting[u.caller] = queue
		return
	}
	delete(t.waiting, u.caller)
	t.order = slices.DeleteFunc(t.order, func(caller Caller) bool { return caller == u.caller })
}
