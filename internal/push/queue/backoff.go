package queue

import (
	"maps"
	"math"
	mathrand "math/rand/v2"
	"time"

	"pregon/internal/store"
)

// MaxDelay is the time after which a due delivery is not sent any more.
const MaxDelay = 4 * 24 * time.Hour

const (
	// MaxAttempts is how often a delivery is attempted.
	MaxAttempts = 10
	// MaxRetryAfter is the longest wait that a receiver may ask for.
	MaxRetryAfter = 24 * time.Hour
	// MaxWait is the longest wait between two attempts, also of the last delay with its
	// jitter.
	MaxWait = MaxRetryAfter + MaxRetryAfter/10

	jitter     = 0.1
	maxBackoff = 30 * time.Second
)

// Delays are the times between the attempts at a delivery.
type Delays [MaxAttempts - 1]time.Duration

// DefaultDelays are 75 and a half hours in all, so that an outage over a weekend loses
// nothing.
var DefaultDelays = Delays{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute,
	2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// Failed sets the state of a delivery after an attempt that failed: it is due again, not
// before the receiver asked for, or dead after the last one.
func (d *Delays) Failed(r *store.Result, earlier int, retryAfter time.Duration) {
	if earlier+1 >= MaxAttempts {
		r.State = store.DeliveryDead
		return
	}
	wait := time.Duration(float64(d[earlier]) * (1 + jitter*(2*mathrand.Float64()-1)))
	r.State = store.DeliveryPending
	r.Wait = max(wait, retryAfter)
}

// backoff is the time during which nothing is sent to an endpoint.
type backoff struct {
	failures int // in a row
	until    time.Time
	revision int64 // of the endpoint
}

// BackOff sends nothing to an endpoint that failed for a while: each time twice
// as long, and as long as it asked for.
func (q *Queue) BackOff(e Endpoint, asked time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.backoffs[e.ID]
	wait := time.Duration(min(float64(q.o.Timing.Backoff)*math.Exp2(float64(r.failures)), float64(maxBackoff)))
	q.backoffs[e.ID] = backoff{
		failures: r.failures + 1,
		until:    time.Now().Add(max(wait, asked)),
		revision: e.Revision,
	}
}

// ClearBackoff is called after a success.
func (q *Queue) ClearBackoff(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.backoffs, id)
}

// forget drops the state of endpoints that no longer exist.
func (q *Queue) forget() {
	known := map[string]bool{}
	for id := range q.ids() {
		known[id] = true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	maps.DeleteFunc(q.backoffs, func(id string, _ backoff) bool { return !known[id] })
}
