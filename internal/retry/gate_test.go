package retry_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/retry"
)

// TestGate: failures of one or two ids delay no other, failures of many are tried
// seldom, and a success opens the gate.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g retry.Gate
		backoff := func(tries int) time.Duration { return retry.Backoff(tries, time.Second, 5*time.Minute) }
		for range 10 {
			g.Fail("hr-1", backoff)
			g.Fail("hr-2", backoff)
		}
		if wait := g.Wait(); wait > 0 {
			t.Errorf("wait after two failed ids: got %v, want none", wait)
		}
		tries := 0
		for end := time.Now().Add(24 * time.Hour); time.Now().Before(end); time.Sleep(time.Second) {
			if g.Wait() <= 0 {
				g.Fail(fmt.Sprint("hr-", tries), backoff)
				tries++
			}
		}
		if tries > 310 || tries < 200 { // every five minutes
			t.Errorf("tries in a day of failures: got %d, want one every five minutes", tries)
		}
		g.OK()
		if wait := g.Wait(); wait > 0 {
			t.Errorf("wait after a success: got %v, want none", wait)
		}
	})
}
