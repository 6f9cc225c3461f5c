package access_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/access"
	"pregon/internal/fault"
)

func enter(t *testing.T, p *access.Places, id string) access.Place {
	t.Helper()
	place, err := p.Enter(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return place
}

// TestPlaces: a caller has so many, waits briefly for one more, and is refused;
// another has its own.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := access.NewPlaces(2, false)
		first, second := enter(t, p, "ana"), enter(t, p, "ana")
		start := time.Now()
		_, err := p.Enter(t.Context(), "ana")
		e, _ := errors.AsType[*fault.Error](err)
		if fault.KindOf(err) != fault.RateLimited || e.RetryAfter <= 0 || time.Since(start) != time.Second {
			t.Errorf("the third ends with %v after %v, want rate limited after a second", err, time.Since(start))
		}
		other := enter(t, p, "eva")
		other.Leave()
		go func() {
			time.Sleep(100 * time.Millisecond)
			first.Leave()
			first.Leave() // does nothing
		}()
		third := enter(t, p, "ana")
		third.Leave()
		second.Leave()
	})
}

// TestPlacesInTurn: a caller that is alone may use all its places; beside
// another it has its share, and the others of it come in their turn.
func TestPlacesInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := access.NewPlaces(64, true)
		share := 2 * runtime.GOMAXPROCS(0) // of both, beside the one of the other
		var flood []access.Place
		for range 64 {
			flood = append(flood, enter(t, p, "flood"))
		}
		other := enter(t, p, "other") // does not wait
		entered := make(chan access.Place, 1)
		go func() { entered <- enter(t, p, "flood") }()
		for i := range flood {
			synctest.Wait()
			if left := 64 - i; left+1 >= share && len(entered) > 0 {
				t.Fatalf("it is in while %d of the same caller run, want fewer than %d", left, share-1)
			}
			flood[i].Leave()
		}
		last := <-entered
		last.Leave()
		other.Leave()
		time.Sleep(time.Minute)
		for range 64 {
			place := enter(t, p, "flood") // the other is forgotten
			defer place.Leave()
		}
	})
}

// TestPlacesOfThoseWhoLeave: one who gives up waiting takes no place.
func TestPlacesOfThoseWhoLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := access.NewPlaces(1, false)
		only := enter(t, p, "ana")
		ctx, leave := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer leave()
		if _, err := p.Enter(ctx, "ana"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ends with %v, want the deadline", err)
		}
		for range 2 { // waiting has a bound
			go func() { _, _ = p.Enter(t.Context(), "ana") }()
		}
		synctest.Wait()
		start := time.Now()
		if _, err := p.Enter(t.Context(), "ana"); fault.KindOf(err) != fault.RateLimited || time.Since(start) != 0 {
			t.Errorf("with the waiting full it ends with %v after %v, want to be refused at once", err, time.Since(start))
		}
		only.Leave()
		time.Sleep(time.Minute)
	})
}
