package history_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog/history"
	"pregon/internal/fault"
)

// workshop is a queue whose builds end when the test says so.
type workshop struct {
	*history.Queue
	t *testing.T

	mu      sync.Mutex
	began   []string // keys of the builds, in their order
	ended   map[string]error
	release chan error // one value ends the build that runs
	answers map[string][]error
}

func newWorkshop(t *testing.T) *workshop {
	return &workshop{
		Queue:   history.NewQueue(),
		t:       t,
		ended:   map[string]error{},
		release: make(chan error),
		answers: map[string][]error{},
	}
}

// ask sends a request in the background, with which a build ends that the test
// releases or nobody wants.
func (w *workshop) ask(ctx context.Context, caller, key string) {
	go func() {
		got, err := w.Share(access.WithCaller(ctx, access.Caller(caller)), key, func(ctx context.Context) (string, error) {
			w.mu.Lock()
			w.began = append(w.began, key)
			w.mu.Unlock()
			select {
			case err := <-w.release:
				return "built " + key, err
			case <-ctx.Done():
				w.mu.Lock()
				w.ended[key] = ctx.Err()
				w.mu.Unlock()
				return "", ctx.Err()
			}
		})
		if err == nil && got != "built "+key {
			err = fmt.Errorf("got %q for %s", got, key)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.answers[caller+" "+key] = append(w.answers[caller+" "+key], err)
	}()
	synctest.Wait()
}

// build ends the build that runs.
func (w *workshop) build(err error) {
	w.release <- err
	synctest.Wait()
}

func (w *workshop) wantBegan(want string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := strings.Join(w.began, " "); got != want {
		w.t.Errorf("builds began in the order %q, want %q", got, want)
	}
}

// wantAnswers checks the kinds of the answers of a caller for a key.
func (w *workshop) wantAnswers(of string, want ...fault.Kind) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var got []fault.Kind
	for _, err := range w.answers[of] {
		kind := answered
		if err != nil {
			kind = fault.KindOf(err)
		}
		got = append(got, kind)
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("%s: %v, want the kinds %v", of, w.answers[of], want)
	}
}

const answered = fault.Kind(255) // no error

// TestCallersTakeTurns: another caller waits for at most one build of a caller with many.
// A new caller is not before one that waited when it came.
func TestCallersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t)
		for n := range 5 {
			w.ask(t.Context(), "ana", fmt.Sprint("a", n))
		}
		w.ask(t.Context(), "bea", "b0")
		w.ask(t.Context(), "bea", "b1")
		w.wantBegan("a0")
		w.build(nil)
		w.wantBegan("a0 b0")
		w.ask(t.Context(), "cai", "c0") // during the turn of bea: after ana, who has waited since before
		w.build(nil)
		w.build(nil)
		w.build(nil)
		w.wantBegan("a0 b0 a1 c0 b1")
		for range 4 {
			w.build(nil)
		}
		w.wantBegan("a0 b0 a1 c0 b1 a2 a3 a4")
		w.wantAnswers("bea b1", answered)
		if n := w.Waiting(); n != 0 {
			t.Errorf("%d callers are left", n)
		}
	})
}

// TestBuildIsShared: a build runs once for all requests that want it at the same time,
// and begins in the turn of the first caller that wants it.
func TestBuildIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t)
		for range 50 {
			w.ask(t.Context(), "ana", "a0")
		}
		w.ask(t.Context(), "ana", "a1")
		w.ask(t.Context(), "ana", "same")
		w.ask(t.Context(), "bea", "same")
		w.build(nil)
		w.wantBegan("a0 same")
		w.build(nil)
		w.build(nil)
		w.wantBegan("a0 same a1")
		w.wantAnswers("ana a0", slices.Repeat([]fault.Kind{answered}, 50)...)
		w.wantAnswers("ana same", answered)
		w.wantAnswers("bea same", answered)

		w.ask(t.Context(), "ana", "a0") // it is not kept here
		w.build(fault.New(fault.Invalid, "no"))
		w.wantBegan("a0 same a1 a0")
		w.wantAnswers("ana a0", append(slices.Repeat([]fault.Kind{answered}, 50), fault.Invalid)...)
	})
}

// TestBuildGoesOnWhileItIsWanted: a request that ends leaves a build to the others, and
// the last one ends it, or removes it from the queue.
func TestBuildGoesOnWhileItIsWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t)
		first, endFirst := context.WithCancel(t.Context())
		second, endSecond := context.WithCancel(t.Context())
		w.ask(first, "ana", "a0")
		w.ask(second, "bea", "a0")
		w.ask(first, "ana", "a1")
		endFirst()
		synctest.Wait()
		w.wantAnswers("ana a0", fault.Unavailable)
		w.wantAnswers("ana a1", fault.Unavailable)
		w.wantBegan("a0")
		if w.ended["a0"] != nil {
			t.Error("a build ended that is still wanted")
		}
		endSecond()
		synctest.Wait()
		if !errors.Is(w.ended["a0"], context.Canceled) {
			t.Errorf("a build that nobody wants ended with %v", w.ended["a0"])
		}
		w.wantBegan("a0") // and nothing that waited
		w.ask(t.Context(), "ana", "a0")
		w.build(nil)
		w.wantBegan("a0 a0")
		if n := w.Waiting(); n != 0 {
			t.Errorf("%d callers are left", n)
		}
	})
}

// TestWaitEnds: after some seconds a request that waits is refused. It is the caller's
// own fault if other requests of it were before.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t)
		w.ask(t.Context(), "ana", "a0")
		w.ask(t.Context(), "ana", "a1")
		w.ask(t.Context(), "bea", "b0")
		time.Sleep(history.MaxWait)
		synctest.Wait()
		w.wantAnswers("ana a1", fault.RateLimited)
		w.wantAnswers("bea b0", fault.Unavailable)
		for _, of := range []string{"ana a1", "bea b0"} {
			if e, ok := errors.AsType[*fault.Error](w.answers[of][0]); !ok || e.RetryAfter <= 0 {
				t.Errorf("%s: %v does not say when to try again", of, w.answers[of])
			}
		}
		w.wantAnswers("ana a0") // it is being built
		w.build(nil)
		w.wantAnswers("ana a0", answered)
		w.wantBegan("a0")
	})
}

// TestBuildEnds: a build has a deadline, and a panic in it is an error.
func TestBuildEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t)
		w.ask(t.Context(), "ana", "a0")
		time.Sleep(history.MaxBuild)
		synctest.Wait()
		if !errors.Is(w.ended["a0"], context.DeadlineExceeded) {
			t.Errorf("a build ended with %v", w.ended["a0"])
		}
		_, err := w.Share(t.Context(), "broken", func(context.Context) (string, error) { panic("broken") })
		if err == nil || fault.KindOf(err) != fault.Internal {
			t.Errorf("a panic is %v", err)
		}
		w.ask(t.Context(), "ana", "a1")
		w.build(nil)
		w.wantAnswers("ana a1", answered)
	})
}

// TestQueueIsBounded: a caller has a few places. When all are taken, the last one of the
// caller with the most gives way.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t)
		ctx, cancel := context.WithCancel(t.Context())
		w.ask(ctx, "first", "runs")
		for n := range history.MaxOwnWaiting + 1 {
			w.ask(ctx, "ana", fmt.Sprint("a", n))
		}
		w.wantAnswers(fmt.Sprint("ana a", history.MaxOwnWaiting), fault.RateLimited)
		for c := range history.MaxWaiting/history.MaxOwnWaiting - 1 {
			for n := range history.MaxOwnWaiting {
				if c == 0 && n == 0 {
					continue
				}
				w.ask(ctx, fmt.Sprint("other", c), fmt.Sprint(c, "-", n))
			}
		}
		w.ask(ctx, "bea", "b0") // takes the last place
		last := fmt.Sprint("ana a", history.MaxOwnWaiting-1)
		w.wantAnswers(last)
		refused := 0
		for n := range history.MaxOwnWaiting - 1 {
			w.ask(ctx, "cai", fmt.Sprint("c", n))
			w.wantAnswers(fmt.Sprint("cai c", n))
		}
		w.mu.Lock()
		for _, errs := range w.answers {
			for _, err := range errs {
				if fault.KindOf(err) != fault.RateLimited {
					t.Errorf("a request that gives way ends with %v", err)
				}
				refused++
			}
		}
		w.mu.Unlock()
		if want := 1 + history.MaxOwnWaiting - 1; refused != want {
			t.Errorf("%d requests were refused, want %d", refused, want)
		}
		cancel()
		synctest.Wait()
		if n := w.Waiting(); n != 0 {
			t.Errorf("%d callers are left", n)
		}

		end, cancel := context.WithCancel(t.Context())
		defer cancel()
		for c := range history.MaxWaiting + 1 { // the first one is built at once
			w.ask(end, fmt.Sprint("one", c), fmt.Sprint("of", c))
		}
		w.ask(end, "late", "l0")
		w.wantAnswers("late l0", fault.Unavailable)
		cancel()
		synctest.Wait()
	})
}

// A caller may want the very build that gives way for it.
func TestJoinBuildThatGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w := newWorkshop(t)
		w.ask(ctx, "first", "runs")
		for n := range history.MaxWaiting - history.MaxOwnWaiting {
			w.ask(ctx, fmt.Sprint("c", n), fmt.Sprint("k", n))
		}
		for n := range history.MaxOwnWaiting { // the longest line
			w.ask(ctx, "long", fmt.Sprint("long", n))
		}
		last := fmt.Sprint("long", history.MaxOwnWaiting-1)
		w.ask(ctx, "new", last)
		for range history.MaxWaiting + 1 {
			w.build(nil)
		}
		w.wantAnswers("long "+last, fault.RateLimited)
		w.wantAnswers("new "+last, answered)
		if n := w.Waiting(); n != 0 {
			t.Errorf("%d are left", n)
		}
	})
}

// A build that gave way in the line of one caller ends when the other one that wants it
// leaves. Otherwise it would be in no line, and never begin.
func TestBuildInNoLineEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w := newWorkshop(t)
		w.ask(ctx, "first", "runs")
		for n := range history.MaxWaiting - history.MaxOwnWaiting - 1 {
			w.ask(ctx, fmt.Sprint("c", n), fmt.Sprint("k", n))
		}
		for n := range history.MaxOwnWaiting {
			w.ask(ctx, "long", fmt.Sprint("long", n))
		}
		last := fmt.Sprint("long", history.MaxOwnWaiting-1)
		other, leave := context.WithCancel(ctx)
		w.ask(other, "other", last) // shares it
		w.ask(ctx, "new", "n0")     // long gives way
		leave()
		synctest.Wait()
		w.wantAnswers("long "+last, fault.RateLimited)
		w.build(nil)
		w.ask(ctx, "long", last) // begins another one
		for range history.MaxWaiting {
			w.build(nil)
		}
		w.wantAnswers("long "+last, fault.RateLimited, answered)
	})
}

// Whatever callers want and when they leave, every request is answered, and nothing is
// left.
func TestQueueAtRandom(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			w := newWorkshop(t)
			asked := 0
			var leave []context.CancelFunc
			for range 600 {
				switch n := random.IntN(20); {
				case n < 14:
					ctx, cancel := context.WithCancel(t.Context())
					leave = append(leave, cancel)
					w.ask(ctx, fmt.Sprint("caller", random.IntN(20)), fmt.Sprint("key", random.IntN(60)))
					asked++
				case n < 17 && len(leave) > 0:
					leave[random.IntN(len(leave))]()
					synctest.Wait()
				case n < 18:
					time.Sleep(time.Duration(random.IntN(2)) * time.Second)
				default:
					select {
					case w.release <- nil:
					default: // no build runs
					}
					synctest.Wait()
				}
			}
			for range 2 * asked {
				select {
				case w.release <- nil:
				default:
				}
				synctest.Wait()
			}
			w.mu.Lock()
			answers := 0
			for _, of := range w.answers {
				answers += len(of)
			}
			w.mu.Unlock()
			if n := w.Waiting(); n != 0 || answers != asked {
				t.Errorf("seed %d: %d wait, and %d of %d are answered", seed, n, answers, asked)
			}
			for _, cancel := range leave {
				cancel()
			}
		})
	}
}
