package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/service/lifecycle"
)

// journal records in which order components end.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

// component runs until its context ends.
func (j *journal) component(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		j.add(name)
		return ctx.Err()
	}
}

// TestOrderOfStop: what requests need ends after the last request, and the rest before.
func TestOrderOfStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		g := lifecycle.New(ctx)
		j := &journal{}
		g.OnStop(func() { j.add("told") })
		g.Serve(func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(time.Minute) // requests are drained
			j.add("server")
			return nil
		})
		g.UntilServed(func(ctx context.Context) error {
			err := j.component("catalogue")(ctx)
			return err
		})
		g.UntilStop(func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(time.Second)
			j.add("reader")
			return ctx.Err()
		})
		synctest.Wait()
		stop()
		if err := g.Wait(); err != nil {
			t.Errorf("a stop that was requested is the error %v", err)
		}
		if want := []string{"told", "reader", "server", "catalogue"}; !slices.Equal(j.lines, want) {
			t.Errorf("components ended in the order %q, want %q", j.lines, want)
		}
	})
}

// TestLoaded: components that need the first data start with it, and never if the
// service stops before.
func TestLoaded(t *testing.T) {
	for _, loads := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			g := lifecycle.New(ctx)
			j := &journal{}
			g.Serve(func(ctx context.Context) error { <-ctx.Done(); return nil })
			start := func(context.Context) error { j.add("started"); return nil }
			g.LoadedUntilStop(start)
			g.LoadedUntilServed(start)
			synctest.Wait()
			if len(j.lines) > 0 {
				t.Error("a component started before the data was loaded")
			}
			want := 0
			if loads {
				g.SetLoaded()
				want = 2
			}
			synctest.Wait()
			stop()
			if err := g.Wait(); err != nil || len(j.lines) != want {
				t.Errorf("loaded %t: %d components started, %v; want %d", loads, len(j.lines), err, want)
			}
		})
	}
}

// TestFailure: the first component that fails stops the others, and is the error.
func TestFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := lifecycle.New(t.Context())
		j := &journal{}
		g.Serve(func(ctx context.Context) error { <-ctx.Done(); return nil })
		g.UntilServed(j.component("catalogue"))
		failed := errors.New("it failed")
		g.UntilStop(func(context.Context) error { return failed })
		if err := g.Wait(); !errors.Is(err, failed) || !slices.Equal(j.lines, []string{"catalogue"}) {
			t.Errorf("got %v and %q", err, j.lines)
		}
	})
}
