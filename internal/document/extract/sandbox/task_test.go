package sandbox

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/document/extract"
)

func TestSteps(t *testing.T) {
	l := extract.Limits{}.WithDefaults()
	list := []skip{{Step: 2, Reason: "a"}, {Step: 4, Reason: "b", Rest: true}}
	k := &task{out: io.Discard, limits: l, begun: time.Now(), skips: list}
	for i, want := range []string{"", "left out: a", "", "end: b", "end: b"} {
		if got := result(k.Step()); got != want {
			t.Errorf("got %q in step %d, want %q", got, i+1, want)
		}
	}

	// A child must stop before the parent kills it.
	k = &task{out: io.Discard, limits: l, begun: time.Now().Add(-50 * time.Second)}
	if got, want := result(k.Step()), "end: reading took more than 45 s"; got != want {
		t.Errorf("got %q after 50 s, want %q", got, want)
	}
	k.OCR(1)
	if got := result(k.Step()); got != "" {
		t.Errorf("got %q after 50 s with a page of OCR, want it to continue", got)
	}
}

// result describes an error of a step.
func result(err error) string {
	switch {
	case extract.IsStopped(err):
		return "end: " + extract.Reason(err)
	case extract.IsUnreadable(err):
		return "left out: " + extract.Reason(err)
	case err != nil:
		return err.Error()
	}
	return ""
}

func TestClock(t *testing.T) {
	l := extract.Limits{}.WithDefaults()
	for _, test := range []struct {
		name          string
		use           func(*clock)
		after, allows time.Duration // when it ends, and the time that has run out then
	}{
		{"no step", func(*clock) {}, time.Minute, time.Minute},
		{"a step", (*clock).step, 30 * time.Second, 30 * time.Second},
		{"a page of OCR", func(c *clock) { c.grant(1) }, time.Minute, time.Minute},
		{"many pages of OCR", func(c *clock) { c.grant(1000); c.grant(1000) }, time.Minute, time.Minute},
		{"a late step", func(c *clock) {
			<-time.After(50 * time.Second)
			c.step()
		}, time.Minute, time.Minute},
		{"steps of OCR forever", func(c *clock) {
			c.grant(1000)
			for range 1000 {
				<-time.After(min(50*time.Second, time.Until(c.end)))
				c.step()
			}
		}, 21 * time.Minute, 21 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				c := newClock(l, l.Time)
				defer c.Stop()
				test.use(c)
				<-c.C
				if after := time.Since(begun); after != test.after || c.allowed != test.allows {
					t.Errorf("got the end after %v, of %v, want %v, of %v", after, c.allowed, test.after, test.allows)
				}
			})
		})
	}
}
