package main_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// behindProxies returns two replicas on one database, each behind a proxy of its own.
func behindProxies(t *testing.T) (*trial, []*storeProxy) {
	t.Helper()
	spec := pgtest.Database(t)
	proxies := []*storeProxy{newStoreProxy(t, spec), newStoreProxy(t, spec)}
	return newTrialOf(t, spec, proxies[0].url, proxies[1].url), proxies
}

// holder returns the replica that reads the source.
func (w *trial) holder(t *testing.T) (i int) {
	t.Helper()
	eventually(t, func() error {
		i = slices.IndexFunc(w.serves, func(s *service) bool { return holds(s) })
		if i < 0 || holds(w.serves[1-i]) {
			return errors.New("not exactly one replica holds the lease")
		}
		return nil
	})
	return i
}

// TestHolderLost freezes the replica that reads the source, or takes the database
// from it, while reports are published. The other replica publishes them, and when
// the first one continues, which it does under a term that has ended, nothing is
// written twice.
func TestHolderLost(t *testing.T) {
	longtest.Skip(t, "it freezes replicas")
	t.Parallel()
	w, proxies := behindProxies(t)
	signal := func(i int, s syscall.Signal) {
		if err := w.serves[i].cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []struct {
		name       string
		begin, end func(holder int)
	}{
		{"the process is frozen", func(i int) { signal(i, syscall.SIGSTOP) }, func(i int) { signal(i, syscall.SIGCONT) }},
		{"its connections are cut", func(i int) { proxies[i].closed.Store(true); proxies[i].cut() }, func(i int) { proxies[i].closed.Store(false) }},
		{"its packets are dropped", func(i int) { proxies[i].freeze(true) }, func(i int) { proxies[i].freeze(false) }},
	} {
		t.Run(f.name, func(t *testing.T) {
			for range 2 { // each replica once
				i := w.holder(t)
				w.burst(t, 3) // some are being written
				f.begin(i)
				began := time.Now()
				newest := w.burst(t, 3)[0]
				for other := w.serves[1-i]; other.status(t, "/api/v1/reports/"+newest, "", "") != http.StatusOK; {
					waittest.Pace(t.Context(), comeBack)
				}
				t.Logf("the other replica has a new report after %v", time.Since(began).Round(100*time.Millisecond))
				f.end(i)
				w.burst(t, 3)
				w.agree(t)
				w.holder(t)
			}
		})
	}
	w.end(t)
}

// TestSlowDatabase: each answer of PostgreSQL takes 200 ms more. Reports arrive,
// nothing fails, and reads do not depend on it.
func TestSlowDatabase(t *testing.T) {
	longtest.Skip(t, "the database is slow")
	t.Parallel()
	w, proxies := behindProxies(t)
	for _, p := range proxies {
		p.delay.Store(int64(100 * time.Millisecond))
	}
	began, reads := time.Now(), 0
	var longest time.Duration
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for ; ; waittest.Pace(t.Context(), comeBack) {
			select {
			case <-done:
				return
			default:
			}
			for i, s := range w.serves {
				asked := time.Now()
				for _, path := range []string{"/readyz", "/api/v1/reports?limit=5", "/api/v1/reports/" + w.known} {
					if got := s.status(t, path, "", ""); got != http.StatusOK {
						t.Errorf("%s of replica %d: got %d, want 200", path, i, got)
					}
				}
				if got := s.storeReasons(t); len(got) > 0 {
					t.Errorf("reasons of the store at replica %d: got %q, want none", i, got)
				}
				longest, reads = max(longest, time.Since(asked)), reads+4
			}
		}
	})
	w.burst(t, 3)
	w.agree(t)
	w.writes(t, w.serves[0], http.StatusCreated)
	close(done)
	watching.Wait()
	t.Logf("three reports are complete after %v; the slowest four of %d reads took %v", time.Since(began), reads, longest)
	for _, s := range w.serves {
		for line := range strings.Lines(s.log.events()) {
			if strings.Contains(line, "level=ERROR") || strings.Contains(line, "no longer reading") {
				t.Errorf("the log has %s", line)
			}
		}
	}
	w.end(t)
}
