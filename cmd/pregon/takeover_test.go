package main_test

import (
	"errors"
	"fmt"
	"regexp"
	"syscall"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/test/longtest"
)

var holdingMetric = regexp.MustCompile(`(?m)^pregon_ingest_lease_held(?:\{[^}]*\})? 1$`)

// holds reports whether a serve reads the source, by its metrics.
func holds(s *service) bool {
	page, err := s.metrics()
	return err == nil && holdingMetric.MatchString(page)
}

// TestTakeOver has two serves on one store, of which one reads the source.
// When that one dies, or is stopped, the other does.
func TestTakeOver(t *testing.T) {
	longtest.Skip(t, "it kills and freezes replicas")
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReader(t, startSource(t), newStore(t))
			debug := []string{"--debug-listen", "127.0.0.1:0"}
			holder, other := r.startServe(t, debug...), r.startServe(t, debug...)
			eventually(t, func() error {
				a, b := holds(holder), holds(other)
				if a == b {
					return fmt.Errorf("the serves hold the lease: %v and %v, want one", a, b)
				}
				if b {
					holder, other = other, holder
				}
				return nil
			})
			r.serve = other
			r.started(t)
			ids := []string{r.publish(t, `{"type":"oir"}`)}
			r.waitListed(t, ids...)

			// The holder dies while reports are published.
			publish := func() {
				for n := range 12 {
					ids = append(ids, r.publish(t, `{"type":%q}`, []string{"oir", "ip", "oir"}[n%3]))
				}
			}
			publish()
			_ = holder.end(syscall.SIGKILL)
			publish()
			r.waitListed(t, ids...)
			eventually(t, func() error { // on a busy machine it may lose the lease for a moment
				if !holds(other) {
					return errors.New("the other serve has all reports, but does not hold the lease")
				}
				return nil
			})

			// A clean stop releases the lease: the next holder does not wait for it to expire.
			third := r.startServe(t, debug...)
			if err := other.end(syscall.SIGTERM); err != nil {
				t.Errorf("serve did not end cleanly: %v\n%s", err, other.log)
			}
			publish()
			r.serve = third
			r.waitListed(t, ids...)
			today := disclosure.DayOf(time.Now())
			r.exact(t, today-7, today, disclosure.IP, disclosure.OIR)
			r.stop(t)
		})
	}
}
