package events

import (
	"context"
	"sync/atomic"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
)

const (
	askInterval = 200 * time.Millisecond // minimum time between two questions to the primary
	askTimeout  = 2 * time.Second        // of one question
	answerTime  = 10 * time.Second       // for which an answer is trusted: a fail-over may lose the end of the log
)

// Primary is the store that has the whole log. The log that a hub reads may be a copy
// that is behind it.
type Primary interface {
	Head(ctx context.Context) (disclosure.Head, error)
}

// primaryHead is the end of the log on the primary, as far as this process has asked.
// It is asked only about cursors that the catalogue has not reached and that it was
// not known to have. All callers together ask five times a second at most.
type primaryHead struct {
	store Primary
	last  atomic.Pointer[answer] // nil before the first

	lock    retry.Lock // held during a question; guards the fields below
	askedAt time.Time  // when the last question began
	err     error      // of the last question
}

// answer is what the primary said.
type answer struct {
	disclosure.Head
	at time.Time
}

// has reports whether the primary is known to have the change of a cursor in the log of
// an epoch. It does not ask.
func (p *primaryHead) has(epoch string, seq int64) bool {
	last := p.last.Load()
	return last != nil && last.Epoch == epoch && last.Seq >= seq && time.Since(last.at) < answerTime
}

// ask returns the end of the log on the primary, by a question that began after the
// call. Concurrent callers share one question.
func (p *primaryHead) ask(ctx context.Context) (disclosure.Head, error) {
	called := time.Now()
	if err := p.lock.Acquire(ctx); err != nil {
		return disclosure.Head{}, err
	}
	defer p.lock.Release()
	if !p.askedAt.After(called) {
		if err := retry.Sleep(ctx, askInterval-time.Since(p.askedAt)); err != nil {
			return disclosure.Head{}, err
		}
		p.askedAt = time.Now()
		p.err = p.read(ctx)
	}
	if p.err != nil {
		return disclosure.Head{}, p.err
	}
	return p.last.Load().Head, nil
}

// read asks the primary. Other callers wait for the answer too: it does not end with
// this request.
func (p *primaryHead) read(ctx context.Context) error {
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	head, err := p.store.Head(asking)
	if err == nil {
		p.last.Store(&answer{head, time.Now()})
	}
	return err
}
