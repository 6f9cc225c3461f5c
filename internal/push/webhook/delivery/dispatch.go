package delivery

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"pregon/internal/fault/outage"
)

const (
	maxSlots       = 256              // concurrent claims of working webhooks, and of failing ones
	claimBatch     = 100              // deliveries of one claim
	maxTurn        = 30 * time.Second // after which a claim returns to the end of the queue
	maxBackoff     = 30 * time.Second
	settleInterval = 5 * time.Millisecond
	maxSettled     = 500 // results of one transaction
	pruneInterval  = time.Hour
	retention      = 30 * 24 * time.Hour
)

// Run delivers until the context ends. Then it waits a while for requests in
// flight, writes their results and releases its claims.
func (s *Service) Run(ctx context.Context) error {
	detached := context.WithoutCancel(ctx)
	sending, cancelSending := context.WithCancel(detached)
	defer cancelSending()
	settling, cancelSettling := context.WithCancel(detached)
	defer cancelSettling()
	d := &dispatcher{
		Service:    s,
		holder:     rand.Text(),
		sending:    sending,
		ending:     ctx.Done(),
		outcomes:   make(chan outcome, maxSettled),
		clockCheck: outage.Log{Logger: s.log},
		held:       map[string]*claim{},
		backoffs:   map[string]backoff{},
	}
	// Claims are renewed until the last result is written: another process must
	// not send what this one is still sending.
	renewing, stopRenewing := context.WithCancel(settling)
	defer stopRenewing()
	var settler, renewer, loops sync.WaitGroup
	settler.Go(func() { d.settle(settling) })
	renewer.Go(func() { every(renewing, s.claimFor/4, d.renew) })
	loops.Go(func() { _ = s.hooks.Maintain(ctx) })
	loops.Go(func() { s.fanOut(ctx) })
	loops.Go(func() { d.dispatch(ctx) })
	loops.Go(func() { every(ctx, pruneInterval, d.cleanUp) })
	loops.Go(func() { every(ctx, clockInterval, d.correctTimes) })
	<-ctx.Done()
	defer time.AfterFunc(s.grace, cancelSending).Stop()
	defer time.AfterFunc(s.grace+s.settleTimeout, cancelSettling).Stop()
	loops.Wait()
	d.workers.Wait()
	close(d.outcomes)
	settler.Wait()
	stopRenewing()
	renewer.Wait()
	// Release all webhooks: a claim may have succeeded though its response was lost.
	releasing, cancelReleasing := context.WithTimeout(settling, s.claimFor/4) // other claims expire
	defer cancelReleasing()
	_ = s.store.Release(releasing, d.holder, slices.Collect(maps.Keys(s.hooks.Known().Hooks))...)
	s.sender.client.CloseIdleConnections()
	return ctx.Err()
}

// every calls do now and at every interval until the context ends.
func every(ctx context.Context, interval time.Duration, do func(context.Context)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		do(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// dispatcher claims webhooks and sends their due deliveries, during one Run.
type dispatcher struct {
	*Service
	holder   string
	sending  context.Context // ends when requests in flight are canceled
	ending   <-chan struct{} // closed when no new work is started
	workers  sync.WaitGroup
	outcomes chan outcome

	clockCheck outage.Log // of correctTimes, which one goroutine calls

	// mu guards held and backoffs: the dispatching goroutine, the workers, the renewal and
	// the settlement use them. It is never held during a call of the store or of a
	// receiver, so that one slow claim delays no other.
	mu       sync.Mutex
	held     map[string]*claim
	backoffs map[string]backoff // of receivers that failed
}

// dispatch claims until the context ends.
func (d *dispatcher) dispatch(ctx context.Context) {
	logged := false
	for {
		err := errors.Join(d.claim(ctx, false), d.claim(ctx, true))
		if err != nil && ctx.Err() == nil && !logged { // once, not each time
			d.log.WarnContext(ctx, "cannot claim webhooks: due deliveries wait", "err", err)
		}
		logged = err != nil
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		case <-d.hooks.Changed():
		case <-time.After(d.poll):
		}
	}
}
