package main_test

import (
	"errors"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/waittest"
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
