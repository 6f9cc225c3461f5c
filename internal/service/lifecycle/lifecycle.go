// Package lifecycle runs the components of the service and stops them in order: reading
// the source stops at once, so that another process can take the lease, and what
// requests need runs until the last of them is answered.
package lifecycle

import (
	"context"

	"golang.org/x/sync/errgroup"

	"pregon/internal/fault"
)

// Group runs components until the service is to stop or one of them fails.
type Group struct {
	group    *errgroup.Group
	stopping context.Context // ends when the service is to stop, or a component failed
	serving  context.Context // ends when the last request is answered
	served   context.CancelFunc
	loaded   chan struct{}
}

// New returns a group that stops when the context ends. Every group must have one
// component that was started with Serve.
func New(ctx context.Context) *Group {
	g := &Group{loaded: make(chan struct{})}
	g.group, g.stopping = errgroup.WithContext(ctx)
	g.serving, g.served = context.WithCancel(context.WithoutCancel(g.stopping))
	return g
}

// OnStop calls fn, in its own goroutine, when the group begins to stop: the context of
// New has ended, or a component has failed.
func (g *Group) OnStop(fn func()) { context.AfterFunc(g.stopping, fn) }

// Serve runs what answers requests. It gets the context that ends when the service is to
// stop, and returns once the last request is answered.
func (g *Group) Serve(run func(context.Context) error) {
	g.group.Go(func() error {
		defer g.served()
		return run(g.stopping)
	})
}

// UntilStop runs a component until the service is to stop.
func (g *Group) UntilStop(run func(context.Context) error) { g.start(g.stopping, run) }

// UntilServed runs a component until the last request is answered.
func (g *Group) UntilServed(run func(context.Context) error) { g.start(g.serving, run) }

// LoadedUntilStop is like UntilStop, but waits until the first data is loaded.
func (g *Group) LoadedUntilStop(run func(context.Context) error) { g.startLoaded(g.stopping, run) }

// LoadedUntilServed is like UntilServed, but waits until the first data is loaded.
func (g *Group) LoadedUntilServed(run func(context.Context) error) { g.startLoaded(g.serving, run) }

// SetLoaded reports, once, that the first data is loaded.
func (g *Group) SetLoaded() { close(g.loaded) }

// Loaded returns a channel that is closed when the first data is loaded.
func (g *Group) Loaded() <-chan struct{} { return g.loaded }

// Wait waits for the end of all components, and returns the first error. An error that
// says only that the context has ended is none.
func (g *Group) Wait() error {
	defer g.served()
	return g.group.Wait()
}

func (g *Group) start(ctx context.Context, run func(context.Context) error) {
	g.group.Go(func() error { return fault.UnlessCanceled(run(ctx)) })
}

func (g *Group) startLoaded(ctx context.Context, run func(context.Context) error) {
	g.start(ctx, func(ctx context.Context) error {
		select {
		case <-g.loaded:
			return run(ctx)
		case <-ctx.Done():
			return nil
		}
	})
}
